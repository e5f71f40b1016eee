"""Compiled code: small functions on arrays."""
