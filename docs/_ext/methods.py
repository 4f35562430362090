"""``{methods} FAMILY``: a table of the methods of a family, from the registry; for pages in Markdown."""

from sphinx.util.docutils import SphinxDirective

from soft_clustering._registry import REGISTRY


class Methods(SphinxDirective):
    """A row per method: its page, its publication, when to use it and when not."""

    required_arguments = 1

    def run(self):
        rows = [row for row in REGISTRY if row.family == self.arguments[0]]
        if not rows:
            raise self.error(f"no method of the family {self.arguments[0]!r}")
        lines = ["| Method | Published by | Use it for | Not |", "|---|---|---|---|"]
        for row in rows:
            use, _, avoid = row.use_when.partition("; not ")
            mark = " †" if row.reconstructed else ""
            lines.append(f"| {{class}}`~soft_clustering.{row.name}`{mark} | {row.citation} | {use} | {avoid} |")
        if any(row.reconstructed for row in rows):
            lines += ["", "† Reconstructed: the text of the publication was not at hand; its page says what is known."]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    app.add_directive("methods", Methods)
    return {"parallel_read_safe": True}
