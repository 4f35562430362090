"""Speed beside other packages and the older one of our name."""

from __future__ import annotations

from typing import Any

from benchmarks.lib.markdown import duration, factor, faster, made_from, significant, table
from benchmarks.lib.records import read

Row = tuple[str, str, str]  # what, against, result


def _rows() -> dict[str, Row]:
    passes, lda, graphs = read("passes"), read("lda"), read("graphs")
    found: dict[str, Row] = {}

    fcm = passes["fcm_convergence"]
    what = "FCM to convergence, n=100k d=16 K=10, same start, same objective"
    found["fcm"] = what, "scikit-fuzzy", faster(fcm["skfuzzy"], fcm["ours"])
    iris = passes["fcm_iris"]
    found["iris"] = "FCM on iris, same start and tolerance", "scikit-fuzzy", faster(iris["skfuzzy"], iris["ours"])
    for name, shape in (("1M_16_10", "n=1M d=16 K=10"), ("200k_64_26", "n=200k d=64 K=26"), ("1M_2_5", "n=1M d=2 K=5")):
        one = passes[f"fcm_pass_{name}"]
        result = f"{factor(one['fcm_m2'] / one['lloyd'])}x its time ({factor(one['fcm_m17'] / one['lloyd'])}x)"
        what = f"one FCM pass, m=2 (m=1.7), {shape}"
        found[f"pass {name}"] = what, "one k-means iteration of scikit-learn", result

    gmm = passes["gmm_full"]
    loop = faster(gmm["sklearn_ms_per_pass"], gmm["ours_ms_per_pass"])
    found["gmm"] = "GMM (full) EM loop, n=100k d=16 K=10, same likelihood", "scikit-learn", loop
    found["gmm fit"] = "the same, whole fit", "scikit-learn", faster(gmm["sklearn_fit"], gmm["ours_fit"])

    default = passes["fcm_default"]
    for std, blobs in ((1, "far apart"), (4, "near"), (8, "mixed")):
        what = f"FCM default fit (5 starts), n=1000 d=8 K=4, blobs {blobs}"
        result = faster(default[f"older_std{std}"], default[f"ours_std{std}"])
        found[f"default {blobs}"] = what, "soft-clustering 0.2.0 (1 start)", result

    for K in (10, 50):
        what = f"LDA, 10 passes from the same start, same bound, 20,000 documents, K={K}"
        ratio = lda["speed"][f"planted, 20,000 documents, K={K}"]["ratio"]
        found[f"lda {K}"] = what, "scikit-learn, the faster of one and two jobs", faster(ratio, 1)
    gensim = lda["gensim"]["seconds"]
    for name in ("LdaModel", "LdaMulticore"):
        better = lda["gensim"]["bounds"]["ours"] > lda["gensim"]["bounds"][name]
        what = f"LDA, 10 passes, own starts, bbc_news, K=10; our bound is {'better' if better else 'worse'}"
        found[name] = what, f"gensim `{name}`", faster(gensim[name], gensim["ours"])

    ecm = read("peers")["peers"]["evclust ecm"]["sizes"]["200"]["default"]
    what = "ECM default fit, n=200 d=8 K=5, all focal sets, same weights"
    found["ecm"] = what, "evclust", faster(ecm["peer"], ecm["ours"])
    race = graphs["BIGCLAM of others, overlap 0.0"]
    for name in ("soft-clustering 0.2.0", "karateclub"):
        better = race["ours"]["log_likelihood"] > race[name]["log_likelihood"]
        likelihood = f"our likelihood is {'better' if better else 'worse'}"
        what = f"BIGCLAM default fit, planted graph of 1000 nodes, K=5; {likelihood}"
        found[f"bigclam {name}"] = what, name, faster(race[name]["seconds"], race["ours"]["seconds"])

    what = "memory of an FCM fit beyond X and the memberships, n=1M d=16 K=10"
    found["memory"] = what, "", f"{passes['fcm_memory']['beyond_MB']:.0f} MB"
    what = "partition coefficient, Xie-Beni, compactness and hypervolume, n=100k d=16 K=10"
    found["metrics"] = what, "", duration(read("metrics")["indices"]["sum of PC, XB, FC, FHV"]["seconds"])
    found["import"] = "import soft_clustering, after NumPy", "", duration(passes["import_time"]["seconds"])
    return found


def short() -> str:
    """The table of the README: where we are faster, and where we are slower."""
    rows = _rows()
    chosen = [rows[key] for key in ("fcm", "gmm", "lda 10", "ecm", "default far apart")]
    return table(["what", "against", "result"], chosen, right=False)


@made_from("passes", "lda", "peers", "graphs", "metrics")
def highlights() -> str:
    """One line for each comparison with another package."""
    return table(["what", "against", "result"], _rows().values(), right=False)


@made_from("hierarchy", "mixtures", "latent_classes", "k_modes", "relational")
def further_packages() -> str:
    """A row per comparison of the records that have a package of their own."""
    rows: list[Row] = []

    def add(what: str, against: str, theirs: float, ours: float) -> None:
        rows.append((what, against, f"{duration(ours)}, {faster(theirs, ours)}"))

    def of(record: str) -> list[tuple[str, Any]]:
        return [(name, row) for name, row in read(record).items() if name != "stamp"]

    for size, row in of("hierarchy"):
        add(f"`SoftHDBSCAN`, {size}, fit with memberships", "hdbscan, fit alone", row["fit"], row["ours"])
        if "soft" in row:
            add(f"`SoftHDBSCAN`, {size}, fit with memberships", "hdbscan, with soft vectors", row["soft"], row["ours"])
    for name, row in of("mixtures"):
        if "sklearn" in row:
            add(f"{name}, 50 passes", "scikit-learn", row["sklearn"], row["ours"])
        else:
            add(f"{name}, a pass", "studenttmixture", row["peer, pass"], row["ours, pass"])
            add(f"{name}, a fit", "studenttmixture", row["peer, fit"], row["ours, fit"])
    for name, row in of("latent_classes"):
        add(f"LatentClass, {name}, 10 starts", "StepMix", row["seconds"]["StepMix"], row["seconds"]["ours"])
    for n, row in of("k_modes"):
        times = row["seconds"]
        for side in (side for side in times if side != "ours"):
            add(f"FuzzyKPrototypes, mushroom, {n} rows, 5 starts", side, times[side], times["ours"])
    for n, row in of("relational"):
        for ours, theirs in (("RelationalFCM", "fanny"), ("FuzzyCMedoids", "FasterPAM")):
            add(f"{ours}, {n}", theirs, row["seconds"][theirs], row["seconds"][ours])
    return table(["what", "against", "seconds, result"], rows, right=False)


def _units(row: dict[str, Any]) -> list[str]:
    """How many times faster ours is in the three units, with the milliseconds of both."""
    cells = []
    for unit in ("default", "to_reach", "pass"):
        times = row.get(unit)
        if times is None or min(times.values()) <= 0:
            cells.append("not reached" if unit == "to_reach" and "criterion" in row else "-")
        else:
            both = " / ".join(significant(1e3 * times[side]) for side in ("ours", "peer"))
            cells.append(f"{factor(times['peer'] / times['ours'])} ({both})")
    return cells


_UNITS = ["Default fit: times faster (ms, ours / theirs)", "To their objective", "One pass"]


@made_from("peers")
def fastest_peers() -> str:
    """A row per method and size: the fastest peer that works."""
    record = read("peers")
    rows = [
        [row["method"], f"{int(row['n']):,}", row["peer"], *_units(record["peers"][row["peer"]]["sizes"][row["n"]])]
        for row in record["fastest"]
    ]
    return table(["", "n", "Fastest peer that works", *_UNITS], rows, right=False)


@made_from("peers")
def peers() -> str:
    """A row per peer and size: three units, and what both found."""
    rows = []
    for name, other in read("peers")["peers"].items():
        for n, row in other["sizes"].items():
            values = row.get("criterion")
            found = f"{values['ours']:.5g} / {values['peer']:.5g}" if values else "-"
            index = f"{row['ari']['ours']:.2f} / {row['ari']['peer']:.2f}" if "ari" in row else "-"
            remark = "theirs has collapsed" if row.get("collapsed") else row.get("problem", "")
            line = [name, other["method"], f"{int(n):,}", *_units(row), other["criterion"], found, index, remark]
            rows.append(line)
    header = [
        "",
        "Ours",
        "n",
        *_UNITS,
        "Criterion (larger is better)",
        "Ours / theirs",
        "Adjusted Rand index",
        "Remark",
    ]
    return table(header, rows, right=False)


@made_from("packages")
def packages() -> str:
    """A row per package: the largest differences."""
    rows = [
        [title, ", ".join(f"{quantity} {value:.0e}" for quantity, value in row["differences"].items()), row["remark"]]
        for title, row in read("packages").items()
        if title != "stamp"
    ]
    return table(["", "Largest differences", "Remark"], rows, right=False)


#: What the times do not say.
NOTES = {
    "CAFHFCM": "every K from 45 to 5 against K=5 only",
    "BGMM": "theirs never leaves its start",
    "KFCM": "ten starts against one; theirs collapses",
    "KFCCL": "ten starts against one; theirs collapses",
    "SoftKSC": "eight widths tried against one given; theirs is another method, for two classes",
    "SoftDBSCANGM": "both find K",
    "AFCMAdaptive": "theirs ends with all centres equal",
    "FeMIFuzzy": "theirs finds a K of its own",
    "PLSI": "three starts against one; theirs untempered, its better setting",
    "BayesianNMF": "five starts against one",
    "CDCGS": "600 epochs against 500 of another loss, both five starts",
    "DMoN": "ours stops when the loss has settled",
}


def _both(row: dict[str, Any], quantity: str, form: str = "") -> str:
    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:{form}}" if form else significant(value)

    return f"{shown(row[f'ours_{quantity}'])} / {shown(row[f'older_{quantity}'])}"


@made_from("default_fits")
def default_fits() -> str:
    """A row per method: time, agreement and memory of both packages."""
    record, rows = read("default_fits"), []
    fits = [(name, row, "") for name, row in record["5"].items()]
    fits += [(name, row, f", K={K}") for K in ("3", "10") for name, row in record[K].items()]
    for name, row, K in fits:
        theirs = f"theirs: {row['older_problem']}" if row["older_problem"] else ""
        reach = row.get("reach_ms")
        rows.append(
            [
                f"{{class}}`~soft_clustering.{name}`{K}",
                "-" if row["speedup"] is None else factor(row["speedup"]),
                _both(row, "ms"),
                "-" if reach is None else f"{factor(row['older_ms'] / reach)} ({significant(reach)})",
                _both(row, "ari", ".2f"),
                _both(row, "peak_mb", ".1f"),
                "; ".join(filter(None, (theirs, NOTES.get(name, "") if not K else ""))),
            ]
        )
    header = [
        "",
        "Times faster",
        "ms, ours / theirs",
        "To their index (ms)",
        "Adjusted Rand index",
        "Peak MB",
        "Remark",
    ]
    return f"{table(header, rows, right=False)}\n\n{_means(record.get('summary', {}))}"


def _means(summary: dict[str, Any]) -> str:
    """The geometric means in a sentence each."""
    return " ".join(
        f"Geometric mean, {part} ({mean['methods']} methods): {factor(mean['times_faster'])} times faster."
        for part, mean in summary.items()
        if isinstance(mean, dict)
    )


@made_from("units")
def units() -> str:
    """A row per method: one unit of work of both packages."""
    units = {"KFCCL": "epoch of one start", "SoftKSC": "solution at one width"}
    rows = [
        [
            name,
            units.get(name, "pass"),
            significant(row["ours_ms"]),
            significant(row["older_ms"]),
            factor(row["speedup"]),
        ]
        for name, row in read("units").items()
        if name != "stamp"
    ]
    return table(["", "Unit", "ms, ours", "ms, theirs", "Times faster"], rows)


@made_from("default_fits")
def speedups() -> Any:
    """Bars of the speed-ups of default fits, the largest first, on a logarithmic axis."""
    import matplotlib.pyplot as plt

    found = {name: row["speedup"] for name, row in read("default_fits")["5"].items() if row["speedup"]}
    names = sorted(found, key=found.__getitem__)
    figure, axes = plt.subplots(figsize=(8, 0.21 * len(names) + 1))
    colours = ["C0" if found[name] >= 1 else "C3" for name in names]
    axes.barh(names, [found[name] - 1 for name in names], left=1, color=colours, height=0.75)
    for place, name in enumerate(names):
        side, offset = ("left", 4) if found[name] >= 1 else ("right", -4)
        options = {"xytext": (offset, 0), "textcoords": "offset points", "ha": side, "va": "center", "fontsize": 8}
        axes.annotate(factor(found[name]), (found[name], place), **options)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="times faster than soft-clustering 0.2.0", ylim=(-0.7, len(names) - 0.3))
    axes.set_xlim(0.5 * min(found.values()), 2 * max(found.values()))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.tick_params(axis="y", length=0, labelsize=8)
    return figure
