"""How cost grows."""

from __future__ import annotations

from typing import Any

import soft_clustering
from benchmarks.lib.markdown import duration, made_from, table
from benchmarks.lib.records import read
from soft_clustering._registry import REGISTRY

UNITS = {"graphs": "nodes", "documents": "documents", "images": "pixels"}


# They compare rows with each other, and refuse Dask arrays.
_REFUSE_DASK = {
    *("AFCM", "CAFHFCM", "EVCLUS", "FuzzyCMedoids", "KFCCL", "RDFKC", "RelationalFCM", "SCM", "SoftDBSCANGM"),
    *("SoftHDBSCAN", "SoftKSC"),
}


def takes_dask(name: str) -> bool:
    """Whether an estimator takes Dask arrays."""
    return getattr(soft_clustering, name).modality == "features" and name not in _REFUSE_DASK


@made_from("whole_fits")
def whole_fits() -> str:
    """A row per recorded estimator: its largest default fit, its time, memory and exponent, and where it runs."""
    rows, curves = [], read("whole_fits")["curves"]
    for row in (row for row in REGISTRY if row.name in curves):
        curve, estimator = curves[row.name], getattr(soft_clustering, row.name)
        size, seconds, memory = (curve[key][-1] for key in ("n", "seconds", "MB"))
        rows.append(
            [
                f"{{class}}`~soft_clustering.{row.name}`",
                f"{size:,} {UNITS.get(row.family, 'rows')}",
                duration(seconds),
                f"{memory:.0f} MB",
                f"{curve['exponent']:.2f}",
                "yes" if takes_dask(row.name) else "",
                "yes" if hasattr(estimator, "partial_fit") else "",
            ]
        )
    return table(["Method", "Largest fit", "Time", "Memory", "Exponent", "Dask", "Batches"], rows)


@made_from("cost_curves")
def passes() -> str:
    """A row per method: exponents, times, bytes, peaks, and the prediction beside what was measured."""
    curves, rows = read("cost_curves"), []
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
                f"{duration(curve['one thread'][-1])} / {duration(curve['two threads'][-1])}",
                f"{duration(disk['seconds'][-1])} ({duration(guess['predicted'])})",
                f"{max(disk['worker MB'])} MB",
                f"{curves['workers']['curves'][name]['bytes between workers'] / 1024:.1f} KB",
                duration(guess["1e9 x 32 on 1024 threads"]),
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
    return table(header, rows)


@made_from("cost_curves")
def scheduler() -> str:
    """A sentence: what the scheduler costs a pass by the number of threads, and what rules the extrapolation."""
    curves = read("cost_curves")
    found = zip(curves["threads"]["threads"], curves["threads"]["seconds"], strict=True)
    costs = ", ".join(f"{duration(seconds)} on {threads}" for threads, seconds in found)
    share = curves["model"]["methods"]["FCM"]
    return (
        f"What the scheduler costs a pass over next to no rows, by the threads that it serves: {costs}. At a "
        f"billion rows on 1024 threads that is most of a pass of FCM ({duration(share['of it scheduling'])}, and "
        f"{duration(share['of it work'])} of work): larger machines with fewer threads for Dask would not be slower."
    )


@made_from("graphs")
def graphs() -> str:
    """A row per estimator of graphs: a pass over the larger graph."""
    rows = []
    for name, sizes in read("graphs").items():
        if isinstance(sizes, list):
            small, large = sizes
            start = large.get("seconds_of_default_start")
            cells = [duration(row["seconds_per_pass"]) for row in (small, large)]
            rows.append([name, *cells, f"{large['peak_mb_beyond_graph']:.0f} MB", duration(start) if start else ""])
    header = ["", "10,000 nodes", "100,000 nodes", "Memory beyond the graph", "Default start"]
    return table(header, rows)


@made_from("graphs")
def whole_graphs() -> str:
    """Whole fits of the methods that find communities, to the larger graph."""
    rows = []
    for name, (_, large) in read("graphs")["whole fits"].items():
        memory = f"{large['peak_mb_beyond_graph']:.0f} MB"
        found = f"{large['n_found']} of {large['n_communities']}"
        rows.append([name, duration(large["seconds"]), memory, found, f"{large['onmi']:.1f}"])
    return table(["", "Seconds", "Memory beyond the graph", "Communities", "Overlapping NMI"], rows)


@made_from("cost_curves")
def by_rows() -> Any:
    """Seconds of a pass over the number of rows, in memory and on disk."""
    import matplotlib.pyplot as plt

    curves = read("cost_curves")
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


#: The panels of the picture of whole fits.
PANELS = {
    "fuzzy": ("fuzzy",),
    "mixture, density": ("mixture", "density"),
    "evidential, relational, kernelized": ("evidential", "relational", "kernelized"),
    "documents": ("documents",),
    "graphs": ("graphs",),
    "consensus, images, deep, federated": ("consensus", "images", "deep", "federated"),
}


@made_from("whole_fits")
def by_samples() -> Any:
    """Seconds of whole fits over the number of samples: a line per estimator of the record, families side by side."""
    import matplotlib.pyplot as plt

    curves = read("whole_fits")["curves"]
    figure, panels = plt.subplots(2, 3, figsize=(12, 8), sharex=True, sharey=True)
    for axes, (title, families) in zip(panels.flat, PANELS.items(), strict=True):
        for exponent, style in ((1, ":"), (2, "--")):
            line = [500, 512_000], [2e-3, 2e-3 * 1024**exponent]
            axes.loglog(*line, linestyle=style, color="0.75", linewidth=1, label=f"exponent {exponent}")
        names = [row.name for row in REGISTRY if row.family in families and row.name in curves]
        for name in names:
            axes.loglog(curves[name]["n"], curves[name]["seconds"], linewidth=1.2)
        ends = {name: (curves[name]["n"][-1], curves[name]["seconds"][-1]) for name in names}
        colours = dict(zip(names, (line.get_color() for line in axes.lines[2:]), strict=True))
        for name, place in _apart({name: seconds for name, (_, seconds) in ends.items()}, 1.28).items():
            options = {"color": colours[name], "fontsize": 7.5, "va": "center"}
            arrow = {"arrowstyle": "-", "color": colours[name], "linewidth": 0.4}
            axes.annotate(name, ends[name], (8e5, place), annotation_clip=False, arrowprops=arrow, **options)
        axes.set(title=title, xlim=(400, 6e6), ylim=(1e-3, 30))
    panels[0, 0].legend(loc="upper left")
    figure.supxlabel("samples (nodes, documents, pixels)", fontsize="medium")
    figure.supylabel("seconds of the default fit", fontsize="medium")
    return figure


def _apart(values: dict[str, float], ratio: float) -> dict[str, float]:
    """Places for labels near the values, from the largest on, each at least ``ratio`` below the one above it."""
    places, above = {}, 20 * ratio
    for name in sorted(values, key=lambda name: -values[name]):
        above = places[name] = min(values[name], above / ratio)
    return places
