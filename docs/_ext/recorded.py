"""``{recorded} NAME`` and ``{recorded-picture} NAME``: what ``benchmarks/pages`` makes of the records.

Below each table or text stands with which commit, when and where its records were made, and whether they are stale.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from benchmarks.lib import records
from benchmarks.pages import PARTS, PICTURES

HERE = Path(__file__).parents[1]
DRAWN = HERE / "_static" / "drawn"


class Recorded(SphinxDirective):
    """A table or some sentences; if a record is missing, only what would make it."""

    required_arguments = 1

    def run(self):
        part = PARTS[self.arguments[0]]
        missing = any(records.state(name) == "missing" for name in part.records)
        for name in part.records:
            self.env.note_dependency(str(records.path_of(name)))
        stamps = "\n".join(f"Record {records.describe(name)}" for name in part.records)
        return self.parse_text_to_nodes(f"{'' if missing else part()}\n\n{{.stamp}}\n{stamps}")


class RecordedPicture(SphinxDirective):
    """A picture, with its caption as the content."""

    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        for record in PICTURES[name].records:
            self.env.note_dependency(str(records.path_of(record)))
        DRAWN.mkdir(exist_ok=True)
        with plt.style.context(HERE / "pictures.mplstyle"):
            PICTURES[name]().savefig(DRAWN / f"{name}.svg")
        plt.close("all")
        image = nodes.image(uri=f"/_static/drawn/{name}.svg", alt=" ".join(self.content))
        figure = nodes.figure("", image)
        figure += nodes.caption("", "", *self.parse_inline(" ".join(self.content))[0])
        return [figure]


def setup(app):
    app.add_directive("recorded", Recorded)
    app.add_directive("recorded-picture", RecordedPicture)
    return {"parallel_read_safe": True}
