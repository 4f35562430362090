"""Sphinx settings of the documentation."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
os.environ.setdefault("OMP_NUM_THREADS", "1")  # examples run side by side, one on each core
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]  # our directives; the records of the benchmarks

project = "soft-clustering"
author = "The soft-clustering developers"
project_copyright = "2026, The soft-clustering developers"
release = installed_version("soft-clustering")
version = release

extensions = [
    "api_pages",
    "chooser",
    "methods",
    "recorded",
    "sphinx.ext.viewcode",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb"]
templates_path = ["_templates"]
# single backquotes in docstrings are code
default_role = "literal"
highlight_language = "none"  # what is not marked as code of a language is output
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions

# Pages ----------------------------------------------------------------------------------------------------

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# API reference ----------------------------------------------------------------------------------------------------

# bases whose methods are scikit-learn's and are documented there
autosummary_context = {
    "not_ours": "BaseEstimator, ClusterMixin, TransformerMixin, _SetOutputMixin, _MetadataRequester, dict, tuple"
}
autodoc_typehints = "none"
numpydoc_show_class_members = False

# Gallery ----------------------------------------------------------------------------------------------------


def same_look(gallery_conf, name):
    """Give all pictures of the gallery one look."""
    import matplotlib.pyplot as plt

    plt.style.use(HERE / "pictures.mplstyle")


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("soft_clustering",),
    "reference_url": {"soft_clustering": None},
    "filename_pattern": r"/plot_",
    "subsection_order": [
        f"../examples/{folder}"
        for folder in (
            *("stories", "fuzzy", "mixture", "evidential", "relational", "kernelized", "density", "consensus"),
            *("documents", "graphs", "images", "deep", "federated"),
        )
    ],
    "within_subsection_order": "FileNameSortKey",
    "reset_modules": ("matplotlib", "seaborn", same_look),
    "parallel": 2,
    "capture_repr": ("_repr_html_",),
    "thumbnail_size": (480, 260),
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "abort_on_example_error": False,
}

# HTML ----------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "soft-clustering"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("chooser.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"choose": [], "results": [], "installation": []}
html_theme_options = {
    "logo": {"text": "soft-clustering", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "icon_links": [
        {
            "name": "Source code",
            "url": "https://github.com/soft-clustering/soft-clustering",
            "icon": "fa-brands fa-github",
        }
    ],
    "switcher": {"json_url": "_static/switcher.json", "version_match": release},
    "check_switcher": False,  # it would ask the network
    "navbar_persistent": ["search-button"],
    "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_favicon = "_static/logo.svg"


def mend_lists_of_citations(app, pagename, templatename, context, doctree):
    """Docutils marks lists of citations and footnotes as lists for screen readers, but not their items as items."""
    for kind in ("citation", "footnote"):
        marked = f'<div role="list" class="{kind}-list">'
        context["body"] = context.get("body", "").replace(marked, f'<div class="{kind}-list">')


def setup(app):
    app.connect("html-page-context", mend_lists_of_citations)
