"""The pages of the API reference, written from the registry and from ``__all__`` of the public modules."""

import re
from importlib import import_module
from pathlib import Path

import soft_clustering
from soft_clustering._registry import REGISTRY

# module, heading, what it is for
MODULES = (
    ("soft_clustering.base", "Base classes", "What every estimator is; derive your own from them."),
    ("soft_clustering.datasets", "Data sets", "Loaders and generators of tables, graphs, texts and images."),
    ("soft_clustering.inputs", "Files", "Readers of graphs, texts, images and distances."),
    ("soft_clustering.saving", "Saving models", "Models as files that are safe to open."),
    ("soft_clustering.metrics", "Metrics", "Indices of memberships and partitions, and their agreement with a truth."),
    ("soft_clustering.selection", "Choosing the number of clusters", "Criteria and a recommendation for K."),
    (
        "soft_clustering.explanation",
        "Explaining clusters",
        "What sets each cluster apart; ``explain`` is also at the top.",
    ),
    ("soft_clustering.recommendation", "Which model to take", "The recommendation at the end of a comparison."),
    ("soft_clustering.plotting", "Plots", "Displays of memberships, graphs, topics, images and indices."),
    ("soft_clustering.benchmarking", "Benchmarks", "Speed, memory, scalability and quality of many models."),
    ("soft_clustering.report", "Reports", "One HTML page about a comparison."),
    ("soft_clustering.testing", "Checking an estimator", "The conformance checks, for your own estimators too."),
)
PACKAGE = ("prepare", "show_versions")  # functions at the top of the package
ROWS = {row.name: row for row in REGISTRY}


def section(heading, text, module, names):
    """Return the lines of one section: a table with a page for each name."""
    lines = [heading, "-" * len(heading), "", text, "", f".. currentmodule:: {module}", ""]
    return [
        *lines,
        ".. autosummary::",
        "   :toctree: generated",
        "   :nosignatures:",
        "",
        *(f"   {n}" for n in names),
        "",
    ]


def estimator_sections():
    """Return a section for each family of the registry."""
    families = {}
    for row in REGISTRY:
        families.setdefault(row.family, []).append(row.name)
    for family, names in families.items():
        text = f"The guide explains :doc:`this family </guide/families/{family}>`."
        yield from section(family.capitalize(), text, "soft_clustering", names)


def write_pages(app, config):
    """Write the index of the reference; autosummary makes the page of each name."""
    lines = [".. _api:", "", "API reference", "=============", ""]
    lines += ["Estimators are imported from the top of the package: ``from soft_clustering import FCM``.", ""]
    lines += estimator_sections()
    lines += section("Tables and versions", "Functions at the top of the package.", "soft_clustering", PACKAGE)
    shown = {getattr(soft_clustering, name) for name in PACKAGE}
    for module, heading, text in MODULES:
        names = [name for name in import_module(module).__all__ if is_new(getattr(import_module(module), name), shown)]
        lines += section(heading, text, module, sorted(names, key=str.lower))
    path = Path(app.srcdir) / "api" / "index.rst"
    path.parent.mkdir(exist_ok=True)
    text = "\n".join(lines)
    if not path.exists() or path.read_text(encoding="utf-8") != text:  # an unchanged file is not read again
        path.write_text(text, encoding="utf-8")


def is_new(thing, shown):
    """Whether it is a class or a function that is not ``shown`` yet; then it is added to ``shown``."""
    if not callable(thing) or thing in shown:
        return False
    shown.add(thing)
    return True


def describe(app, what, name, obj, options, lines):
    """Add what the registry knows of an estimator below the first line of its docstring."""
    row = ROWS.get(name.removeprefix("soft_clustering."))
    if row is None or what != "class":
        return
    use, _, avoid = row.use_when.partition("; not ")
    facts = [f":Family: :doc:`{row.family} </guide/families/{row.family}>`", f":Use it when: {use}"]
    facts += [f":Not: {avoid}"] if avoid else []
    facts += [f":Published by: {row.citation}"]
    facts += [f':Needs: ``pip install -c constraints.txt ".[{row.extra}]"``'] if row.extra else []
    facts += [f":Reconstructed: {row.reconstructed}"] if row.reconstructed else []
    first = next(i for i, line in enumerate(lines) if line)  # the summary; an empty line follows it
    start = lines.index("", first) + 1
    lines[start:start] = [*facts, ""]


def escape_formulas(app, what, name, obj, options, lines):
    """Escape bars of norms and trailing underscores of attributes, which are no markup in our docstrings."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            pieces = re.split(r"(``.+?``|`[^`]+`)", line)
            pieces[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", piece) for piece in pieces[::2]]
            lines[i] = "".join(pieces)


def members_of_ours(app, what, name, obj, skip, options):
    """Leave out scikit-learn's metadata requests, which refer to labels of its own documentation."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app):
    for extension in ("sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"):
        app.setup_extension(extension)
    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", escape_formulas, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", describe, priority=950)
    app.connect("autodoc-skip-member", members_of_ours)
    return {"parallel_read_safe": True}
