"""Agreement with what is known of the data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import soft_clustering
from benchmarks.lib.markdown import duration, made_from, significant, table
from benchmarks.lib.records import read
from soft_clustering.cli.models import defaults

GROUPS = {"ten": "ten sets", "held_out": "nine more", "more": "six more", "planted": "planted"}
OURS_ONLY = {"SoftDBSCANGM (100 passes)", "DBSCAN of SoftDBSCANGM", "FCM m=2"}  # variants for docstrings


def mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


@made_from("paper_protocol")
def paper_protocol() -> str:
    """A row per estimator beside the row of the paper."""
    record = read("paper_protocol")
    rows = []
    for name, row in sorted(record["models"].items(), key=lambda item: -item[1]["ari"]):
        spread = f" ± {row['deviation']:.3f}" if record["seeds"] > 1 else ""
        paper = row["paper"]
        rows.append(
            [
                f"{{class}}`~soft_clustering.{name}`",
                f"{row['completed']} of {row['runs']}",
                f"{row['ari']:.3f}{spread}",
                f"{row['nmi']:.3f}",
                significant(row["ms"]),
                f"{paper['completed']} of 11",
                f"{paper['ari']:.3f}",
                f"{paper['nmi']:.3f}",
                significant(paper["ms"]),
            ]
        )
    done, runs = (sum(row[key] for row in record["models"].values()) for key in ("completed", "runs"))
    published = sum(row["paper"]["completed"] for row in record["models"].values())
    fits = 11 * len(record["models"])
    seeds = "one seed" if record["seeds"] == 1 else f"{record['seeds']} seeds"
    text = (
        f"{done} of {runs} runs completed ({seeds}); in the paper {published} of {fits}. Figures are means over the "
        "completed runs; ± is the standard deviation over the seeds of the mean over the data sets."
    )
    header = ["", "Completed", "ARI", "NMI", "ms", "Paper: completed", "ARI", "NMI", "ms"]
    return f"{text}\n\n{table(header, rows)}"


def _columns(record: dict[str, Any]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Title -> model -> set -> values: the groups of the tables, the held-out ones raw and standardised."""
    found = {}
    for group, title in GROUPS.items():
        models = record.get(group, {})
        if group != "held_out":
            found[title] = models
            continue
        for end, way in ((False, "raw"), (True, "standardised")):
            found[f"{title}, {way}"] = {
                model: {name: values for name, values in sets.items() if name.endswith(" (std)") == end}
                for model, sets in models.items()
            }
    return {title: models for title, models in found.items() if models}


def _means(columns: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Model -> title -> mean over the sets and seeds; models of the first column, best there first."""
    first = next(iter(columns.values()))
    names = sorted(first, key=lambda name: -mean(mean(values) for values in first[name].values()))
    return {
        name: {
            title: mean(mean(values) for values in models[name].values())
            for title, models in columns.items()
            if name in models
        }
        for name in names
    }


def _agreement(record: dict[str, Any], left_out: set[str] = frozenset()) -> str:
    columns = _columns(record)
    rows = [
        [name, *(f"{means[title]:.3f}" if title in means else "" for title in columns)]
        for name, means in _means(columns).items()
        if name not in left_out
    ]
    return table(["", *columns], rows)


@made_from("tables")
def tables() -> str:
    """A row per model: mean adjusted Rand index in each group of sets."""
    return _agreement(read("tables"), OURS_ONLY)


@made_from("few_labels")
def few_labels() -> str:
    """The same with a few labels."""
    return _agreement(read("few_labels"))


@made_from("categories")
def categories() -> str:
    """A row per model: mean adjusted Rand index in each group of tables with categories."""
    groups = {title: models for title, models in read("categories").items() if title != "stamp"}
    names = list(dict.fromkeys(name for models in groups.values() for name in models))
    rows = [
        [name, *(f"{mean(models[name].values()):.3f}" if name in models else "" for models in groups.values())]
        for name in names
    ]
    return table(["", *groups], rows)


@made_from("best_radius")
def best_radius() -> str:
    """The rules for a radius beside the best radius, as shares of the index of k-means."""
    rows = []
    for group, sets in read("best_radius").items():
        if group == "stamp":
            continue
        parts: dict[str, list[dict[str, float]]] = {GROUPS[group]: list(sets.values())}
        if group == "held_out":
            standardised = [name.endswith(" (std)") for name in sets]
            parts = {
                f"{GROUPS[group]}, {way}": [
                    row for row, std in zip(sets.values(), standardised, strict=True) if std == end
                ]
                for end, way in ((False, "raw"), (True, "standardised"))
            }
        if group == "planted":
            parts = {
                "planted, 5 and 10 features": [row for row in sets.values() if row["features"] <= 10],
                "planted, 20 and 40 features": [row for row in sets.values() if row["features"] > 10],
            }
        for title, part in parts.items():
            means = {way: mean(row[way] for row in part) for way in part[0] if way != "features"}
            shares = [f"{means[way] / means['k-means']:.2f}" for way in means if way != "k-means"]
            rows.append([title, f"{means['k-means']:.3f}", *shares])
    header = ["", "k-means", "SCM: rule", "best radius", "SoftDBSCANGM: rule", "best radius"]
    return table(header, rows)


@made_from("documents")
def documents() -> str:
    """A row per estimator of documents: both corpora."""
    found: dict[str, dict[str, str]] = {}
    for key, runs in read("documents")["quality"].items():
        name, corpus = key.split(", ")
        ari, nmi = (mean(run[metric] for run in runs) for metric in ("ari", "nmi"))
        found.setdefault(name, {})[corpus] = f"{ari:.2f} / {nmi:.2f}"
    corpora = ["bbc_news", "m10"]
    return table(["", *corpora], [[name, *(row[corpus] for corpus in corpora)] for name, row in found.items()])


#: Overlapping NMI times 100 that the authors of NOCD publish (Shchur and Günnemann 2019, table 2).
PUBLISHED = {
    "NOCD, published": (34.7, 56.3, 20.6, 49.3, 34.7, 36.8),
    "NOCD, attributes alone, published": (36.4, 59.8, 21.0, 41.7, 26.1, 35.6),
    "BIGCLAM, published": (26.0, 48.3, 13.8, 45.6, 32.7, 21.4),
}
TITLES = {"NOCD, features": "NOCD, attributes too", "NOCD, features alone": "NOCD, attributes alone"}


@made_from("communities")
def communities() -> str:
    """A row per estimator of graphs, best on the ego networks first, and the published figures."""
    record, rows = read("communities"), []
    means = {
        name: [mean(run["onmi"] for run in runs) for runs in graphs.values()]
        for name, graphs in record["overlapping"].items()
    }
    disjoint = {
        name: [
            f"{mean(run['ari'] for run in runs):.2f} / {mean(run['modularity'] for run in runs):.2f}"
            for runs in row.values()
        ]
        for name, row in record["disjoint"].items()
    }
    ego = [name.removeprefix("fb_") for name in next(iter(record["overlapping"].values()))]
    flat = list(next(iter(record["disjoint"].values())))
    for name in sorted(means, key=lambda name: -mean(means[name])):
        cells = [f"{value:.1f}" for value in (*means[name], mean(means[name]))]
        rows.append([TITLES.get(name, name), *cells, *disjoint.get(name, ["-"] * len(flat))])
    for name, values in PUBLISHED.items():
        rows.append([name, *(f"{value:.1f}" for value in (*values, mean(values))), *[""] * len(flat)])
    return table(["", *ego, "mean", *flat], rows)


@made_from("communities")
def planted_communities() -> str:
    """Two sentences: the planted graph, and what starts are worth to CDCGS."""
    record = read("communities")
    found = {name: mean(run["onmi"] for run in graphs["planted"]) for name, graphs in record["planted"].items()}
    order = sorted(found, key=lambda name: -found[name])
    listed = ", ".join(f"{found[name]:.1f} for `{name}`" for name in order)
    starts = {key: ari for key, (ari, _) in record["starts"]["dolphins"]["CDCGS"].items()}
    return (
        "On a planted graph of 1000 nodes, three in ten of them in two of ten communities, the overlapping NMI times "
        f"100 is {listed}; `DMoN` and `CDCGS` are made to give a node one community. `CDCGS` depends on its start: on "
        f"dolphins one start has a mean adjusted Rand index of {starts['one']:.2f}, the best of 5 by loss "
        f"{starts['best of 5']:.2f}, the best of 20 {starts['best of 20']:.2f}."
    )


@made_from("communities", "graphs")
def methods_of_graphs() -> str:
    """A row per way to fit an estimator: its covers of two kinds of graphs, and the time of a large one."""
    quality, whole, rows = read("communities"), read("graphs")["whole fits"], []
    lfr, ego = (
        {name: mean(run["onmi"] for runs in graphs.values() for run in runs) for name, graphs in quality[kind].items()}
        for kind in ("lfr", "overlapping")
    )
    for name in sorted(lfr, key=lambda name: -lfr[name]):
        given = "n_clusters" in defaults(getattr(soft_clustering, name.split(",")[0])) and "K found" not in name
        large = [] if given else whole.get(name.removesuffix(", K found"), [])
        seconds = [duration(row["seconds"]) for row in large[-1:]] or [""]
        rows.append([name, "given" if given else "found", f"{lfr[name]:.1f}", f"{ego[name]:.1f}", *seconds])
    return table(["", "K", "LFR graphs", "Ego networks", "A million links"], rows)


@made_from("communities")
def lfr_communities() -> str:
    """A row per way to fit an estimator to the LFR graphs, the best first."""
    found, rows = read("communities")["lfr"], []
    means = {name: [mean(run["onmi"] for run in runs) for runs in row.values()] for name, row in found.items()}
    for name in sorted(means, key=lambda name: -mean(means[name])):
        rows.append([name, *(f"{value:.1f}" for value in (*means[name], mean(means[name])))])
    titles = [title.removeprefix("LFR ") for title in next(iter(found.values()))]
    return table(["links outside / nodes in two", *titles, "mean"], rows)


@made_from("shading")
def shading() -> str:
    """Accuracy on shaded phantoms, by the strength of the shading."""
    record, rows = read("shading"), []
    ways = ["FCM", "default", "20 pixels", "10 pixels", "known gain"]
    names = [name for name in record if name != "stamp"]
    for strength in sorted({name.split("; ")[1] for name in names}, key=float):
        part = [record[name] for name in names if name.split("; ")[1] == strength]
        rows.append([strength, len(part), *(f"{mean(mean(row[way]) for row in part):.3f}" for way in ways)])
    titles = ["FCM", "AFCMAdaptive", "smooth over 20 pixels", "over 10 pixels", "gain known"]
    return table(["Shading", "Phantoms", *titles], rows)


@made_from("tables")
def heat_map() -> Any:
    """The adjusted Rand index of every method on every set, groups side by side."""
    import matplotlib.pyplot as plt

    columns = _columns(read("tables"))
    means = {name: row for name, row in _means(columns).items() if name not in OURS_ONLY}
    usual = {title: mean(row[title] for row in means.values() if title in row) for title in columns}
    # by how much better than the mean of all methods, as not every method has all groups
    names = sorted(means, key=lambda name: -mean(value - usual[title] for title, value in means[name].items()))
    widths = [len(next(iter(models.values()))) for models in columns.values()]
    figure, panels = plt.subplots(1, len(columns), figsize=(14, 8.5), sharey=True, width_ratios=widths)
    for axes, (title, models) in zip(panels, columns.items(), strict=True):
        sets = list(next(iter(models.values())))
        values = np.array([[mean(models[name][key]) if name in models else np.nan for key in sets] for name in names])
        image = axes.imshow(values, vmin=0, vmax=1, cmap="viridis", aspect="auto")
        for i, j in np.ndindex(values.shape):
            if np.isfinite(values[i, j]):
                colour = "black" if values[i, j] > 0.6 else "white"
                shown = f"{abs(100 * values[i, j]):.0f}" if values[i, j] > -0.005 else f"{100 * values[i, j]:.0f}"
                axes.text(j, i, shown, ha="center", va="center", fontsize=6.5, color=colour)
        labels = [key.removesuffix(" (std)").removeprefix("planted ").replace("_", " ") for key in sets]
        axes.set_xticks(range(len(sets)), labels, rotation=90, fontsize=8)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.tick_params(length=0)
        axes.set_title(title, fontsize=9)
        axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=panels, label="adjusted Rand index", shrink=0.5, pad=0.01)
    return figure
