"""Turn the summary of a comparison into one HTML file that needs no other file."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._extras import require
from .._types import Array
from ..benchmarking.records import Record
from ..metrics import METRICS
from ..plotting.palette import membership_shares
from .charts import HeatRow, bar, curve, heat_colors, heat_map, reach_of
from .summary import Summary

_TEMPLATES = Path(__file__).parent / "templates"
#: The number of samples on which two models differ that are listed.
_N_LISTED = 12


class _Column(NamedTuple):
    """A column of the table of models."""

    title: str
    name: str
    form: str
    explanation: str
    sense: str | None = None
    factor: float = 1.0
    has_best: bool = True

    @property
    def meaning(self) -> str:
        """The explanation, and whether larger or smaller is better."""
        return self.explanation + {"max": "; larger is better", "min": "; smaller is better"}.get(self.sense or "", "")


def _measure(title: str, name: str, explanation: str, form: str = ".3f", has_best: bool = True) -> _Column:
    return _Column(title, name, form, explanation, METRICS[name].sense, has_best=has_best)


_CLASSES = (
    _measure("ARI", "ari", "Adjusted Rand index of the labels and the classes: 1 is perfect, 0 is chance"),
    _measure("NMI", "nmi", "Normalised mutual information of the labels and the classes, between 0 and 1"),
)
_MEASURES = (
    _measure("Silhouette", "silhouette", "How much closer samples are to their own cluster than to the next, up to 1"),
    _measure("Davies-Bouldin", "davies_bouldin", "Spread of the clusters relative to the distance of their means"),
    # possibilistic memberships make it small, however good the clusters are
    _measure(
        "Xie-Beni",
        "xie_beni",
        "Compactness relative to separation, comparable between memberships of the same kind",
        ".3g",
        has_best=False,
    ),
    _measure(
        "MPC", "modified_partition_coefficient", "Modified partition coefficient: 1 is crisp, 0 equal memberships"
    ),
    _measure("Entropy", "partition_entropy", "Partition entropy: 0 is crisp, log K equal memberships"),
)
#: Measures that are shown with each model, not in the table.
_DETAILS = ("calinski_harabasz", "partition_coefficient", "fuzzy_hypervolume", "fuzzy_compactness", "separation")
_COSTS = (
    _Column("Fit [s]", "fit_time", ".3f", "Seconds to fit", "min"),
    _Column("Predict [s]", "predict_time", ".3f", "Seconds to predict the training data", "min"),
    _Column(
        "Memory [MiB]", "peak_memory", ".1f", "Peak memory of the fit, beyond the memory held before it", "min", 2**-20
    ),
    _Column("Iterations", "n_iter", ".0f", "Iterations of the fit"),
)


def require_jinja2() -> Any:
    """Return the module jinja2, or raise an error that says what to install."""
    return require("jinja2", "A report needs jinja2")


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path if a report can be written to it, otherwise raise an error; called before the work.

    Examples
    --------
    >>> check_path("report.pdf")
    Traceback (most recent call last):
    ...
    ValueError: The path of a report must end in .html. Got 'report.pdf' instead.
    """
    require_jinja2()
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"The path of a report must end in .html. Got {str(path)!r} instead.")
    if target.is_dir():
        raise ValueError(f"The path of a report must name a file. {str(path)!r} is a folder.")
    try:
        tempfile.TemporaryFile(dir=target.absolute().parent).close()
    except OSError as error:
        raise ValueError(f"The report {str(path)!r} cannot be written: {error.strerror}.") from error
    return target


def render(summary: Summary) -> str:
    """Return the report as the text of an HTML file.

    Parameters
    ----------
    summary : dict
        From :func:`soft_clustering.report.summarize_comparison`.

    Returns
    -------
    html : str
    """
    jinja2 = require_jinja2()
    from markupsafe import Markup

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    has_pictures = any(model["memberships"] for model in summary["models"])
    # Only a script with this hash runs, whatever else gets into the page.
    script = _script(has_pictures)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text: str = templates.get_template("report.html").render(
        summary=summary,
        has_pictures=has_pictures,
        answer=_answer(summary),
        profiles=_profiles(summary),
        curves=_curves(summary),
        groups=(summary["recommendation"] or {}).get("groups", []),
        heat=_heat(summary),
        heat_colors=heat_colors(),
        failures=[model for model in summary["models"] if model["status"] != "ok"],
        disputed=_disputed(summary),
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        metrics=METRICS,
        number=_number,
        short=_short,
        plain=_plain,
        **_results(summary),
    )
    return text


def _script(has_pictures: bool) -> str:
    """Return the script of the page: its files in one scope, without those of the pictures if there are none."""
    names = ["data.js", "tables.js", *(["plots.js", "page.js"] if has_pictures else [])]
    parts = [(_TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return "\n".join(['"use strict";', "(() => {", *parts, "})();"])


def write(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Write the report.

    Parameters
    ----------
    summary : dict
        From :func:`soft_clustering.report.summarize_comparison`.
    path : str or path
        A file that ends in .html. An existing file is replaced only when the new one is complete.
    """
    target = check_path(path)
    text = render(summary)
    partial = target.with_name(f".{os.getpid()}-{target.name}")
    try:
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def memberships_in(summary: Summary, number: int) -> Array:
    """Return a model's memberships of the samples shown, rounded to 1/255 of the largest in each row."""
    kept = summary["models"][number]["memberships"]
    levels = np.frombuffer(base64.b64decode(kept["levels"]), dtype=np.uint8)
    memberships: Array = levels.reshape(-1, kept["n_clusters"]) * (np.array(kept["largest"])[:, None] / 255)
    return memberships


# What the sections show -----------------------------------------------------------------------------------------------


def _sample(summary: Summary, position: int) -> dict[str, Any]:
    """Return a sample shown: its position, and its id or row number."""
    ids = summary["dataset"]["ids"]
    return {"position": position, "name": ids[position] if ids else str(summary["rows"][position])}


def _answer(summary: Summary) -> dict[str, Any]:
    """Return what the first screen says: the model to take, the second opinion, where they differ, and the picture."""
    classes = summary["dataset"]["classes"]
    neutral = "classes" if classes and len(classes) <= len(summary["palette"]) else "data"
    recommendation = summary["recommendation"]
    if recommendation is None:
        return {"panel": neutral, "model": None, "second": None, "differ": [], "n_differ": 0}
    model, second = recommendation["model"], recommendation["second"]
    drawn = model is not None and summary["models"][model]["memberships"] is not None
    return {
        "panel": model if drawn else neutral,
        "model": model,
        "second": second,
        "differ": [_sample(summary, position) for position in recommendation["differ"][:_N_LISTED]],
        "n_differ": recommendation["n_differ"],
    }


def _profiles(summary: Summary) -> list[dict[str, Any]]:
    """Return the profiles of the clusters, with the bars of their features and the colour of each cluster."""
    if summary["profiles"] is None:
        return []
    clusters = summary["profiles"]["clusters"]
    position = {row: place for place, row in enumerate(summary["rows"])}
    model = (summary["recommendation"] or {}).get("model")
    colors = None if model is None else summary["models"][model]["colors"]
    reach = reach_of([feature for cluster in clusters for feature in cluster.get("features", [])])

    def samples(cluster: dict[str, Any], kind: str) -> list[dict[str, Any]]:
        names = cluster[f"{kind}_ids"] or map(str, cluster[kind])
        return [{"position": position.get(row), "name": name} for row, name in zip(cluster[kind], names, strict=True)]

    return [
        {
            **cluster,
            "said": cluster["sentence"].removeprefix(f"Cluster {cluster['cluster']}"),
            "color": None if colors is None else _color(summary, colors[cluster["cluster"]]),
            "bars": [(feature, bar(feature, reach[feature["kind"]])) for feature in cluster.get("features", [])],
            "ranked": _ranked(cluster),
            "typical": samples(cluster, "typical"),
            "borderline": samples(cluster, "borderline"),
        }
        for cluster in clusters
    ]


def _ranked(cluster: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Return the words or the nodes of a cluster: name, value, and the value as a share of the largest."""
    entries = [(str(entry["word"]), float(entry["weight"])) for entry in cluster.get("words") or []]
    entries += [(str(entry["node"]), float(entry["strength"])) for entry in cluster.get("nodes") or []]
    largest = max((value for _, value in entries), default=0.0) or 1.0
    return [(name, value, max(value, 0.0) / largest) for name, value in entries]


def _curves(summary: Summary) -> list[dict[str, Any]]:
    """Return the charts of the measures over K; a measure without a value has none."""
    if summary["curves"] is None:
        return []
    k = summary["curves"]["k"]
    charts = [
        {**criterion, "chart": curve(k, criterion["values"], criterion["choice"])}
        for criterion in summary["curves"]["criteria"].values()
    ]
    return [chart for chart in charts if chart["chart"]]


def _heat(summary: Summary) -> list[HeatRow]:
    """Return the heat map of agreement; it is empty for a single partition."""
    if len(summary["agreement"]["models"]) < 2:
        return []
    groups = (summary["recommendation"] or {}).get("groups", [])
    return heat_map(summary["agreement"], [model["name"] for model in summary["models"]], groups)


def _results(summary: Summary) -> dict[str, Any]:
    """Return the columns of the table of models, the best value of each, and the scores of the models."""
    models, recommendation = summary["models"], summary["recommendation"] or {}
    own = {column.name for column in (*_CLASSES, *_MEASURES)}
    # the measures of other modalities
    others = [
        _measure(metric.title, name, metric.title)
        for name, metric in METRICS.items()
        if name not in own and name not in _DETAILS
    ]
    columns = [
        column
        for column in (*(_CLASSES if summary["dataset"]["classes"] else ()), *_MEASURES, *others, *_COSTS)
        if any(model.get(column.name) is not None for model in models)
    ]
    scores = [recommendation.get("scores", {}).get(str(number)) for number in range(len(models))]
    known = [entry["score"] for entry in scores if entry and entry["score"] is not None]
    return {
        "columns": columns,
        "best": {column.name: _best(models, column) for column in columns},
        "scores": scores,
        "best_score": max(known) if len(known) > 1 else None,
        "evidence": recommendation.get("evidence", {}),
    }


def _color(summary: Summary, number: int) -> str:
    palette: list[str] = summary["palette"]
    return palette[number % len(palette)] if number >= 0 else str(summary["unassigned"])


def _disputed(summary: Summary) -> dict[str, Any] | None:
    """Return the samples that the models dispute most, with their memberships in one model of each group.

    Without groups they are those of all models.
    """
    if summary["disputes"] is None or not summary["disputes"]["top"]:
        return None
    models, top = summary["models"], summary["disputes"]["top"]
    groups = (summary["recommendation"] or {}).get("groups", [])
    listed = [group["representative"] for group in groups] or range(len(models))
    shown = [number for number in listed if models[number]["memberships"]]
    memberships = {number: memberships_in(summary, number)[top] for number in shown}
    shares = {number: membership_shares(U) for number, U in memberships.items()}

    def parts(number: int, place: int) -> list[tuple[float, str]]:
        # in the order of the colours, which are the same for all models
        colors = models[number]["colors"]
        return [(float(shares[number][place, k]), _color(summary, colors[k])) for k in np.argsort(colors)]

    samples = [
        {
            **_sample(summary, position),
            "row": summary["rows"][position],
            "value": summary["disputes"]["values"][position],
            "bars": [parts(number, place) for number in shown],
            "largest": [float(memberships[number][place].max()) for number in shown],
        }
        for place, position in enumerate(top)
    ]
    return {"samples": samples, "models": [models[number]["name"] for number in shown], "grouped": bool(groups)}


# Numbers as text ------------------------------------------------------------------------------------------------------


def _number(value: float | str | None, form: str, factor: float = 1.0) -> str:
    """Return a number as text; a dash if it is missing.

    Examples
    --------
    >>> _number(0.12345, ".3f"), _number("inf", ".3f"), _number(None, ".3f")
    ('0.123', 'inf', '-')
    """
    return "-" if value is None else format(float(value) * factor, form)


def _short(value: float | str | None) -> str:
    """Return a number with three digits as a reader writes it; a dash if it is missing.

    Examples
    --------
    >>> _short(28712.4), _short(0.03456), _short(146.2), _short(2.5e9), _short(None)
    ('28,700', '0.0346', '146', '2.5e+09', '-')
    """
    if value is None:
        return "-"
    text = f"{float(value):.3g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(float(text)) < 1e8 else text


def _plain(value: object) -> str:
    """Return a value of the environment as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(entry)}" for name, entry in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(map(_plain, value)) or "none"
    return "none" if value is None else str(value)


def _best(models: list[Record], column: _Column) -> str | None:
    """Return the best value of a column as the table shows it, among the models whose status is ok."""
    values = [
        float(model[column.name]) for model in models if model["status"] == "ok" and model.get(column.name) is not None
    ]
    if column.sense is None or not column.has_best or len(set(values)) < 2:
        return None
    return _number(max(values) if column.sense == "max" else min(values), column.form, column.factor)
