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
from .summary import Summary


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
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    # Only a script with this hash runs, whatever else gets into the page.
    script = (Path(__file__).parent / "templates" / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    models = summary["models"]
    columns = [*(_CLASSES if summary["dataset"]["classes"] else ()), *_MEASURES, *_COSTS]
    text: str = templates.get_template("report.html").render(
        summary=summary,
        columns=columns,
        best={column.name: _best(models, column) for column in columns},
        failures=[model for model in models if model["status"] != "ok"],
        disputed=_disputed(summary),
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        metrics=METRICS,
        number=_number,
        plain=_plain,
    )
    return text


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


def _disputed(summary: Summary) -> list[dict[str, Any]]:
    """Return the samples that the models dispute most, with their memberships in each model."""
    if summary["disputes"] is None:
        return []
    shown = [number for number, model in enumerate(summary["models"]) if model["memberships"]]
    top = summary["disputes"]["top"]
    memberships = {number: memberships_in(summary, number)[top] for number in shown}
    shares = {number: membership_shares(U) for number, U in memberships.items()}

    def bar(number: int, place: int) -> list[tuple[float, str]]:
        # in the order of the colours, which are the same for all models
        colors, palette = summary["models"][number]["colors"], summary["palette"]
        return [(float(shares[number][place, k]), palette[colors[k] % len(palette)]) for k in np.argsort(colors)]

    return [
        {
            "position": position,
            "row": summary["rows"][position],
            "value": summary["disputes"]["values"][position],
            "bars": [bar(number, place) for number in shown],
            "largest": [float(memberships[number][place].max()) for number in shown],
        }
        for place, position in enumerate(top)
    ]


def _number(value: float | str | None, form: str, factor: float = 1.0) -> str:
    """Return a number as text; a dash if it is missing.

    Examples
    --------
    >>> _number(0.12345, ".3f"), _number("inf", ".3f"), _number(None, ".3f")
    ('0.123', 'inf', '-')
    """
    return "-" if value is None else format(float(value) * factor, form)


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
        float(model[column.name]) for model in models if model["status"] == "ok" and model[column.name] is not None
    ]
    if column.sense is None or not column.has_best or len(values) < 2:
        return None
    return _number(max(values) if column.sense == "max" else min(values), column.form, column.factor)
