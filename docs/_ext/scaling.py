"""Tables and pictures of the page on scaling, from the records of ``benchmarks/scale``."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import soft_clustering
from soft_clustering._registry import REGISTRY

HERE = Path(__file__).parents[1]
RECORDS = HERE.parent / "benchmarks" / "results"
PICTURES = HERE / "_static" / "drawn"
UNITS = {"graphs": "nodes", "documents": "documents", "images": "pixels"}


def record(name):
    """A record of the benchmarks."""
    return json.loads((RECORDS / f"{name}.json").read_text())


def number(seconds):
    """Seconds for people."""
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


def growth(exponent):
    """A word for an exponent."""
    return "linear" if exponent < 1.25 else "between" if exponent < 1.75 else "all pairs" if exponent < 2.3 else "steep"


def table(header, rows):
    """The lines of a table in Markdown; all columns but the first stand to the right."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


class WholeFits(SphinxDirective):
    """A row per estimator: the largest default fit of the record, its time, memory and exponent, and where it runs."""

    def run(self):
        rows = []
        for row in REGISTRY:
            curve, estimator = record("whole_fits")["curves"][row.name], getattr(soft_clustering, row.name)
            size, seconds, memory = (curve[key][-1] for key in ("n", "seconds", "MB"))
            rows.append(
                [
                    f"{{class}}`~soft_clustering.{row.name}`",
                    f"{size:,} {UNITS.get(row.family, 'rows')}",
                    number(seconds),
                    f"{memory:.0f} MB",
                    f"{curve['exponent']:.2f}",
                    "yes" if row.name in DASK else "",
                    "yes" if hasattr(estimator, "partial_fit") else "",
                ]
            )
        header = ["Method", "Largest fit", "Time", "Memory", "Exponent", "Dask", "Batches"]
        return self.parse_text_to_nodes(table(header, rows))


class Passes(SphinxDirective):
    """A row per method: exponents, times, bytes, peaks, and the prediction beside what was measured."""

    def run(self):
        curves, rows = record("cost_curves"), []
        for name, curve in curves["rows"]["curves"].items():
            disk, guess = curves["disk"]["curves"][name], curves["model"]["methods"][name]
            exponents = [
                curve["exponent"],
                *(curves[part]["curves"][name]["exponent"] for part in ("features", "clusters")),
            ]
            rows.append(
                [
                    name,
                    *(f"{exponent:.2f}" for exponent in exponents),
                    f"{number(curve['one thread'][-1])} / {number(curve['two threads'][-1])}",
                    f"{number(disk['seconds'][-1])} ({number(guess['predicted'])})",
                    f"{max(disk['worker MB'])} MB",
                    f"{curves['workers']['curves'][name]['bytes between workers'] / 1024:.1f} KB",
                    number(guess["1e9 x 32 on 1024 threads"]),
                ]
            )
        header = [
            "Method",
            "in n",
            "in d",
            "in K",
            "10M rows, 1 / 2 threads",
            "20M rows in a file (predicted)",
            "Peak of a worker",
            "Between workers",
            "1e9 x 32, 1024 threads",
        ]
        return self.parse_text_to_nodes(table(header, rows))


class Scheduler(SphinxDirective):
    """A sentence: what the scheduler costs a pass by the number of threads, and what rules the extrapolation."""

    def run(self):
        curves = record("cost_curves")
        found = zip(curves["threads"]["threads"], curves["threads"]["seconds"], strict=True)
        costs = ", ".join(f"{number(seconds)} on {threads}" for threads, seconds in found)
        share = curves["model"]["methods"]["FCM"]
        return self.parse_text_to_nodes(
            f"What the scheduler costs a pass over next to no rows, by the threads that it serves: {costs}. At a "
            f"billion rows on 1024 threads that is most of a pass of FCM ({number(share['of it scheduling'])}, and "
            f"{number(share['of it work'])} of work): larger machines with fewer threads for Dask would not be slower."
        )


class Picture(SphinxDirective):
    """One of the pictures below, with its caption as the content."""

    required_arguments = 1
    has_content = True

    def run(self):
        name = self.arguments[0]
        PICTURES.mkdir(exist_ok=True)
        with plt.style.context(HERE / "pictures.mplstyle"):
            DRAWN[name]().savefig(PICTURES / f"{name}.svg")
        plt.close("all")
        image = nodes.image(uri=f"/_static/drawn/{name}.svg", alt=" ".join(self.content))
        figure = nodes.figure("", image)
        figure += nodes.caption("", "", *self.parse_inline(" ".join(self.content))[0])
        return [figure]


def by_rows():
    """Seconds of a pass over the number of rows, in memory and on disk."""
    curves = record("cost_curves")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for name, curve in curves["rows"]["curves"].items():
        left.loglog(curves["rows"]["n"], curve["two threads"], marker="o", markersize=4, label=name)
        right.loglog(curves["disk"]["n"], curves["disk"]["curves"][name]["seconds"], marker="o", markersize=4)
        guess = curves["model"]["methods"][name]["predicted"]
        right.plot(curves["disk"]["n"][-1], guess, marker="_", markersize=16, color="black", linestyle="none")
    left.set(xlabel="rows, in memory, two threads", ylabel="seconds of a pass")
    right.set(xlabel="rows, in a file, two worker processes (bars: predicted from the smaller ones)")
    left.legend()
    return figure


def by_samples():
    """Seconds of whole fits over the number of samples, every estimator a line, by how it grows."""
    curves = record("whole_fits")["curves"]
    kinds = {"linear": "C0", "between": "C1", "all pairs": "C3", "steep": "C3"}
    figure, axes = plt.subplots(figsize=(9, 5))
    seen = set()
    for name, curve in curves.items():
        if "exponent" not in curve:
            continue
        kind = growth(curve["exponent"])
        label = None if kind in seen else kind
        seen.add(kind)
        axes.loglog(curve["n"], curve["seconds"], color=kinds[kind], alpha=0.6, linewidth=1.2, label=label)
        axes.annotate(
            name, (curve["n"][-1], curve["seconds"][-1]), fontsize=6.5, xytext=(2, 0), textcoords="offset points"
        )
    axes.set(xlabel="samples (nodes, documents, pixels)", ylabel="seconds of the default fit")
    axes.legend()
    return figure


DRAWN = {"by_rows": by_rows, "by_samples": by_samples}


def on_dask():
    """The names of the estimators that take Dask arrays: of features, and they do not refuse them."""
    from soft_clustering.engine.alternating import AlternatingClusterer

    refuse = {"AFCM", "CAFHFCM"}
    found = set()
    for row in REGISTRY:
        estimator = getattr(soft_clustering, row.name)
        if issubclass(estimator, AlternatingClusterer) and estimator.modality == "features" and row.name not in refuse:
            found.add(row.name)
    return found


DASK = on_dask()


def setup(app):
    app.add_directive("whole-fits", WholeFits)
    app.add_directive("pass-costs", Passes)
    app.add_directive("scheduler-costs", Scheduler)
    app.add_directive("scaling-picture", Picture)
    return {"parallel_read_safe": True}
