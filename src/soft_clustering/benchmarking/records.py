"""The record of a run: columns of a fixed schema, kept as a line of a JSON Lines file.

A line is written when its run has finished, and is on disk before the next one is written. However a benchmark was
stopped, it finds its finished runs there.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._extras import require
from .measures import MEASURES

if TYPE_CHECKING:
    import pandas

#: What is known of a run, by column: the keys of ``SCHEMA`` and ``key``. Other lines of the file have other keys.
Record = dict[str, Any]

#: The measures of a fit, in the order in which they are computed.
QUALITY = tuple(MEASURES)

#: Statuses of a run whose fit ended without an error, so that it has memberships.
FITTED = ("ok", "degenerate")

#: The columns that every record has, however its run ended, with their type in a DataFrame.
SCHEMA = {
    "model": "string",
    "dataset": "string",
    "n_samples": "Int64",
    "n_features": "Int64",
    "n_classes": "Int64",
    "repeat": "Int64",
    "estimator": "string",
    "status": "string",
    "reason": "string",
    "n_clusters": "Int64",
    "n_iter": "Int64",
    "converged": "boolean",
    "warnings": "string",
    "fit_time": "float64",
    "predict_time": "float64",
    "peak_memory": "float64",
    **dict.fromkeys(QUALITY, "float64"),
}


def jsonable(record: Record) -> Record:
    """Return the record with values that JSON can express: None for NaN, a string for an infinite number.

    Examples
    --------
    >>> jsonable({"ari": 0.5, "nmi": float("nan"), "xie_beni": float("inf")})
    {'ari': 0.5, 'nmi': None, 'xie_beni': 'inf'}
    """

    def expressed(value: object) -> object:
        if not isinstance(value, float) or math.isfinite(value):
            return value
        return None if math.isnan(value) else str(value)

    return {name: expressed(value) for name, value in record.items()}


def to_line(record: Record) -> str:
    r"""Return a record as one line of JSON.

    Examples
    --------
    >>> to_line({"ari": 0.5, "nmi": float("nan"), "xie_beni": float("inf")})
    '{"ari": 0.5, "nmi": null, "xie_beni": "inf"}\n'
    """
    return json.dumps(jsonable(record), allow_nan=False) + "\n"


def from_line(line: str | bytes) -> Any:
    """Return what such a line holds. Infinite numbers become numbers again; NaN stays None.

    Examples
    --------
    >>> from_line('{"model": "inf", "ari": null, "xie_beni": "inf"}')
    {'model': 'inf', 'ari': None, 'xie_beni': inf}
    """
    record = json.loads(line)
    if isinstance(record, dict):
        for name, value in record.items():
            if isinstance(value, str) and SCHEMA.get(name) == "float64":
                record[name] = float(value)
    return record


def ending(found: Record, status: str, how: str, why: str) -> Record:
    """Return the status and the reason of a run that did not reach its end.

    Parameters
    ----------
    found : dict
        What is known of the run.
    status : str
        The status if there is no result yet.
    how : str
        The reason in this case.
    why : str
        What prevented the stage that was going on, if the fit has given a result: then its status stays.

    Examples
    --------
    >>> ending({"stage": "fit"}, "timeout", "more than 5 s, in fit", "more than 5 s")
    {'status': 'timeout', 'reason': 'more than 5 s, in fit'}
    >>> ending({"stage": "silhouette", "status": "ok"}, "timeout", "more than 5 s, in silhouette", "more than 5 s")
    {'reason': 'silhouette was not finished: more than 5 s'}
    """
    if found.get("status") not in FITTED:
        return {"status": status, "reason": how}
    unfinished = f"{found['stage']} was not finished: {why}"
    return {"reason": "; ".join(filter(None, (found.get("reason"), unfinished)))}


def require_pandas() -> Any:
    """Return the module pandas, or raise an error that says what to install."""
    return require("pandas", "A benchmark needs pandas for its tables")


def to_frame(records: Iterable[Record], measurements: tuple[str, ...]) -> pandas.DataFrame:
    """Return the records as a DataFrame: model, data set, status, and the measurements asked for.

    Measures that are not for features, such as those of communities, have a column if some record has a value.
    """
    records = list(records)
    optional = {"fit_time", "predict_time", "peak_memory", *QUALITY}
    special = {name for name, measure in MEASURES.items() if not measure.applies_to("features")}
    missing = {name for name in special if all(record.get(name) is None for record in records)}
    wanted = {*measurements} - missing
    schema = {name: kind for name, kind in SCHEMA.items() if name not in optional or name in wanted}
    return require_pandas().DataFrame(records, columns=list(schema)).astype(schema)


class Journal:
    """Finished runs by their key, kept in a JSON Lines file if a path is given.

    Parameters
    ----------
    path : path or None
        The file is opened or made. An incomplete last line, which a killed process may leave, is removed: its run was
        not recorded. Any other line that is not a record is an error. None keeps the records in memory only.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self.records: dict[str, Record] = {}
        if self.path is None or not self.path.exists():
            return
        *lines, tail = self.path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            self._read(line, number)
        if tail:
            if not tail.startswith(b"{"):
                raise ValueError(self._complaint(len(lines) + 1))
            with open(self.path, "r+b") as file:
                file.truncate(sum(len(line) + 1 for line in lines))

    def _complaint(self, number: int) -> str:
        return f"results={str(self.path)!r} must be a file that a benchmark wrote. Line {number} is not a record."

    def _read(self, line: bytes, number: int) -> None:
        try:
            record = from_line(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise ValueError(self._complaint(number))
        if "key" in record:
            self.records[record["key"]] = record

    def note(self, entry: Record) -> None:
        """Add a line, which is on disk when this returns. A line without a key is only for readers of the file."""
        if "key" in entry:
            self.records[entry["key"]] = entry
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            file.write(to_line(entry).encode())
            file.flush()
            os.fsync(file.fileno())
