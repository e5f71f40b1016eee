"""The paper's protocol: settings, methods, significance, result tables."""
