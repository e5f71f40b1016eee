"""The old name of a part of ``gramshift.runtime.files``, until its importers are moved."""

from gramshift.runtime.files import is_url, locate, naming_url

reaching = naming_url
__all__ = ["is_url", "locate", "reaching"]
