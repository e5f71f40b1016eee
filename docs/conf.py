"""The documentation site: `make docs` builds it into site/, without network access.

Pages are Markdown; the menu is the list of pages at the end of index.md.
"""

import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "src")]

from make_command_reference import fill_options  # noqa: E402

from gramshift import __version__  # noqa: E402

project = "Gramshift"
copyright = "the Gramshift developers, BSD-3-Clause"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["*.py", "static", "images"]

myst_heading_anchors = 4  # links such as files.md#folders
myst_enable_extensions = ["deflist"]
suppress_warnings = [
    "myst.header"
]  # the reference of a command begins with a table, below any heading

autodoc_default_options = {"member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings tell
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
add_module_names = False
python_use_unqualified_type_names = True

smartquotes_action = "qe"  # no dashes: options begin with two hyphens
html_theme = "furo"
html_title = f"Gramshift {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # from a disk, browsers do not let a script read the pages
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#b3401a", "color-brand-content": "#a03a18"},
    "dark_css_variables": {"color-brand-primary": "#f0936f", "color-brand-content": "#f0936f"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"


HIDDEN = {
    "set_fit_request",
    "set_score_request",
    "get_metadata_routing",
    "get_params",
    "set_params",
    "score",
    "check_parameters",
}


def leave_out(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Skip members that every estimator of scikit-learn has."""
    return True if name in HIDDEN else None


def setup(app: Any) -> None:
    """Have the options of each command put in where commands.md wants them."""
    app.connect("autodoc-skip-member", leave_out)
    app.connect(
        "source-read", lambda app, name, source: source.__setitem__(0, fill_options(source[0]))
    )
