"""Sphinx settings of the documentation."""

from importlib.metadata import version as installed_version

project = "soft-clustering"
author = "The soft-clustering developers"
project_copyright = "2026, The soft-clustering developers"
release = installed_version("soft-clustering")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
# single backquotes in docstrings are code
default_role = "literal"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"soft-clustering {release}"

# scikit-learn's metadata requests refer to labels of its own documentation
autodoc_default_options = {
    "exclude-members": ", ".join(f"set_{method}_request" for method in ("fit", "score", "partial_fit", "bic", "aic"))
}
