"""The comparison of the clusters with the rest in each feature, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._types import Array
from .wording import date_of, date_pair, date_text, number_pair, share_pair, short

CLEAR = 0.2  # a smaller difference, in standard deviations, is not worth a sentence


class Bar(NamedTuple):
    """A line of the picture of a cluster."""

    label: str
    detail: str  # beside the bar
    value: float
    low: float | None  # the ends of its interval
    high: float | None


class Profile(Protocol):
    """What sets the clusters of one kind of data apart."""

    @property
    def unit(self) -> str:
        """What the bars of the picture measure."""

    def phrases(self, k: int, n: int) -> list[str]:
        """Return at most n phrases about cluster k, the most important first."""

    def lines(self, k: int, n: int) -> list[str]:
        """Return the lines about cluster k that are printed, with n features."""

    def to_dict(self, k: int, n: int) -> dict[str, Any]:
        """Return what is known about cluster k as plain values, with n features."""

    def columns(self, k: int) -> dict[str, Any]:
        """Return the columns of the table of cluster k, the feature that sets it apart most in the first row."""

    def bars(self, k: int, n: int) -> list[Bar]:
        """Return n bars of the picture of cluster k."""


@dataclass(frozen=True)
class FeatureProfile:
    """How each cluster differs from the rest in each feature. Arrays are (n_clusters, n_features).

    Attributes
    ----------
    names : list of str
        The names of the features. A category has an entry for each of its values.
    kinds : list of {'number', 'date', 'category'}
    values : list of str
        The value of a category, '' for other kinds.
    inside, elsewhere : ndarray
        Weighted means in the cluster and in the rest: for a category, the shares of its value; for a date, seconds
        since 1970.
    difference, low, high : ndarray
        The difference of the means in units of the feature's standard deviation, with its 95 % interval.
    lift, lift_low, lift_high : ndarray
        For a value of a category, its share inside divided by its share elsewhere, with the 95 % interval; nan for
        other kinds.
    deviation : ndarray of shape (n_features,)
        The standard deviation of each feature over all samples.
    missing : ndarray of shape (n_features,)
        The number of samples without a value.

    Notes
    -----
    All values are nan if a cluster, or the rest, has no sample with a value.

    Examples
    --------
    >>> from soft_clustering.explanation import profile_features
    >>> profile = profile_features([[1, 0]] * 9 + [[0, 1]] * 9, [[i, i % 3] for i in range(18)], ["place", "rest"])
    >>> profile.phrases(0, 3), profile.difference[0].round(2)
    (['lower place (4.0 against 13.0)'], array([-1.73,  0.  ]))
    """

    names: list[str]
    kinds: list[str]
    values: list[str]
    inside: Array
    elsewhere: Array
    difference: Array
    low: Array
    high: Array
    lift: Array
    lift_low: Array
    lift_high: Array
    deviation: Array
    missing: NDArray[np.intp]

    def strength(self, k: int) -> Array:
        """Return how far the intervals of cluster k are from 0: 0 if one contains 0, or is not known."""
        strength: Array = np.nan_to_num(np.maximum(np.maximum(self.low[k], -self.high[k]), 0.0))
        return strength

    def order(self, k: int) -> NDArray[np.intp]:
        """Return the features from the one that sets cluster k apart most: by strength, then by difference.

        Of two values of a category that differ equally, the one that is more frequent in the cluster comes first.
        """
        difference = np.nan_to_num(self.difference[k])
        size = np.abs(difference).round(12)  # the two values of a category differ equally, but for rounding
        order: NDArray[np.intp] = np.lexsort((-difference, -size, -self.strength(k).round(12)))
        return order

    def top(self, k: int, n: int) -> list[int]:
        """Return at most n features that set cluster k apart: their intervals do not contain 0.

        Only one value of a category is among them.
        """
        strength = self.strength(k)
        best: list[int] = []
        met = set()
        for j in self.order(k).tolist():
            if len(best) == n or strength[j] == 0:
                break
            if self.kinds[j] != "category" or self.names[j] not in met:
                best.append(j)
            met.add(self.names[j])
        return best

    # How it is shown --------------------------------------------------------------------------------------------------

    def _label(self, j: int) -> str:
        name, value = short(self.names[j]), short(self.values[j])
        return name if self.kinds[j] != "category" or value == "True" else f"{name} = {value}"

    def _direction(self, k: int, j: int) -> str:
        words = {"number": ("lower", "higher"), "date": ("earlier", "later"), "category": ("less often", "more often")}
        return words[self.kinds[j]][int(self.difference[k, j] > 0)]

    def _pair(self, k: int, j: int) -> str:
        pair = {"number": number_pair, "date": date_pair, "category": share_pair}[self.kinds[j]]
        return pair(float(self.inside[k, j]), float(self.elsewhere[k, j]))

    def phrases(self, k: int, n: int) -> list[str]:
        """Return at most n phrases, such as 'higher income (71k against 42k)', for clear differences only."""
        clear = [j for j in self.top(k, n) if abs(self.difference[k, j]) >= CLEAR]
        return [f"{self._direction(k, j)} {self._label(j)} ({self._pair(k, j)})" for j in clear]

    def lines(self, k: int, n: int) -> list[str]:
        """Return a line for each of the n features that set cluster k apart."""
        rows = []
        for j in self.top(k, n):
            if self.kinds[j] == "category":
                effect = f"x {_times(self.lift[k, j])} [{_times(self.lift_low[k, j])}, {_times(self.lift_high[k, j])}]"
            else:
                effect = f"{self.difference[k, j]:+.2f} [{self.low[k, j]:+.2f}, {self.high[k, j]:+.2f}]"
            rows.append([self._label(j), self._direction(k, j), self._pair(k, j), effect])
        return aligned(rows) or ["nothing sets it apart from the rest"]

    def to_dict(self, k: int, n: int) -> dict[str, Any]:
        """Return ``{"features": [...]}`` with the n features that set cluster k apart."""
        return {"features": [self._entry(k, j) for j in self.top(k, n)]}

    def _entry(self, k: int, j: int) -> dict[str, Any]:
        kind, inside, elsewhere = self.kinds[j], float(self.inside[k, j]), float(self.elsewhere[k, j])
        entry: dict[str, Any] = {"name": self.names[j], "kind": kind}
        if kind == "category":
            entry |= {"value": self.values[j], "share": inside, "elsewhere": elsewhere}
            keys = {"lift": self.lift, "low": self.lift_low, "high": self.lift_high}
        else:
            means = (date_text(inside), date_text(elsewhere)) if kind == "date" else (inside, elsewhere)
            entry |= {"mean": means[0], "elsewhere": means[1]}
            keys = {"difference": self.difference, "low": self.low, "high": self.high}
        return entry | {name: float(values[k, j]) for name, values in keys.items()}

    def columns(self, k: int) -> dict[str, Any]:
        """Return the columns of the table of cluster k."""
        order = self.order(k)
        texts = {
            name: [values[j] for j in order]
            for name, values in (("feature", self.names), ("kind", self.kinds), ("value", self.values))
        }
        means = {name: self._with_dates(getattr(self, name)[k, order], order) for name in ("inside", "elsewhere")}
        names = ("difference", "low", "high", "lift", "lift_low", "lift_high")
        numbers = {name: getattr(self, name)[k, order] for name in names}
        return texts | means | numbers | {"missing": self.missing[order]}

    def _with_dates(self, means: Array, order: NDArray[np.intp]) -> Any:
        if "date" not in self.kinds:
            return means
        return [date_of(mean) if self.kinds[j] == "date" else mean for j, mean in zip(order, means, strict=True)]

    def bars(self, k: int, n: int) -> list[Bar]:
        """Return a bar for each of the n features that set cluster k apart, with its interval."""
        return [
            Bar(
                short(self._label(j), 28),
                self._pair(k, j),
                *(float(values[k, j]) for values in (self.difference, self.low, self.high)),
            )
            for j in self.top(k, n)
        ]

    unit = "difference from the rest, in standard deviations"


def join(profiles: Sequence[FeatureProfile]) -> FeatureProfile:
    """Return one profile with the features of several."""
    joined: dict[str, Any] = {}
    for entry in fields(FeatureProfile):
        parts = [getattr(profile, entry.name) for profile in profiles]
        lists = isinstance(parts[0], list)
        joined[entry.name] = [one for part in parts for one in part] if lists else np.concatenate(parts, axis=-1)
    return FeatureProfile(**joined)


def aligned(rows: Sequence[Sequence[str]], width: int = 78) -> list[str]:
    """Return the rows of a table as lines, their cells padded to the same width; the first cell is cut if need be.

    Examples
    --------
    >>> aligned([["a", "higher", "1"], ["bb", "low", "20"], ["c" * 20, "", ""]], width=20)
    ['a         higher  1', 'bb        low     20', 'ccccccc…']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if widths:
        widths[0] = min(widths[0], max(8, width - sum(widths[1:]) - 2 * (len(widths) - 1)))
    cut = [[short(row[0], widths[0]), *row[1:]] for row in rows]
    return ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in cut]


def _times(lift: float) -> str:
    """Return a quotient with two digits.

    Examples
    --------
    >>> [_times(lift) for lift in (0.0042, 0.2, 3.0, 41.2, 1234.0)]
    ['0.0042', '0.20', '3.0', '41', '1234']
    """
    if lift < 0.095:
        return f"{lift:.2g}"
    return f"{lift:.{2 if lift < 0.995 else 1 if lift < 9.95 else 0}f}"
