"""Sphinx settings of the documentation."""

import re
from importlib.metadata import version as installed_version

from sphinx.util.docutils import SphinxDirective

from soft_clustering._registry import REGISTRY

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

NOT_OURS = "BaseEstimator, ClusterMixin, TransformerMixin, _SetOutputMixin, _MetadataRequester"


def escape_formulas(app, what, name, obj, options, lines):
    """Bars of norms and trailing underscores of attributes are no markup in our docstrings; backquotes are."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            pieces = re.split(r"(``.+?``|`[^`]+`)", line)
            pieces[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", piece) for piece in pieces[::2]]
            lines[i] = "".join(pieces)


class Estimators(SphinxDirective):
    """``.. estimators::``: every estimator of the registry, by family."""

    def run(self):
        families = {}
        for row in REGISTRY:
            families.setdefault(row.family, []).append(row)
        lines = []
        for family, rows in families.items():
            lines += [family, "~" * len(family), ""]
            for row in rows:
                lines += [f".. autoclass:: {row.name}", "   :members:", f"   :inherited-members: {NOT_OURS}", ""]
                lines += [f"   **Reconstructed.** {row.reconstructed}", ""] if row.reconstructed else []
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app):
    app.add_directive("estimators", Estimators)
    app.connect("autodoc-process-docstring", escape_formulas, priority=900)  # after numpydoc
