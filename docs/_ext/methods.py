"""``{methods} FAMILY``, ``{abilities} FAMILY``: tables of the methods of a family, from the registry, for Markdown."""

from sphinx.util.docutils import SphinxDirective

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.cli.models import defaults

KINDS = {"partition": "shares that sum to 1", "affiliation": "strengths"}


def ability(row):
    """The cells of a method: what it is given, what it uses, what it returns."""
    model = getattr(soft_clustering, row.name)
    allowed = model._parameter_constraints.get("n_clusters")
    number = "found" if allowed is None else "found or given" if None in allowed else "given"
    marks = ["yes" if trait in row.suits else "no" for trait in ("overlap", "weighted", "attributes")]
    return [
        f"{{class}}`~soft_clustering.{row.name}`",
        number,
        KINDS[model.membership_kind],
        *marks,
        "yes" if hasattr(model, "predict_memberships") else "no",
        "with a `random_state`" if "random_state" in defaults(model) else "always",
    ]


def rows_of(directive):
    """The rows of the family that a directive names."""
    rows = [row for row in REGISTRY if row.family == directive.arguments[0]]
    if not rows:
        raise directive.error(f"no method of the family {directive.arguments[0]!r}")
    return rows


class Methods(SphinxDirective):
    """A row per method: its page, its publication, when to use it and when not."""

    required_arguments = 1

    def run(self):
        rows = rows_of(self)
        lines = ["| Method | Published by | Use it for | Not |", "|---|---|---|---|"]
        for row in rows:
            use, _, avoid = row.use_when.partition("; not ")
            mark = " †" if row.reconstructed else ""
            lines.append(f"| {{class}}`~soft_clustering.{row.name}`{mark} | {row.citation} | {use} | {avoid} |")
        if any(row.reconstructed for row in rows):
            lines += ["", "† Reconstructed: the text of the publication was not at hand; its page says what is known."]
        return self.parse_text_to_nodes("\n".join(lines))


class Abilities(SphinxDirective):
    """A row per method of graphs: whether it needs K, what it returns, what it uses."""

    required_arguments = 1

    def run(self):
        header = ["Method", "K", "Memberships", "Overlaps", "Weights", "Attributes", "New nodes", "Same result again"]
        cells = [header, ["---"] * len(header), *map(ability, rows_of(self))]
        return self.parse_text_to_nodes("\n".join(f"| {' | '.join(row)} |" for row in cells))


def setup(app):
    app.add_directive("methods", Methods)
    app.add_directive("abilities", Abilities)
    return {"parallel_read_safe": True}
