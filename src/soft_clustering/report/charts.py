"""The geometry and the colours of the small charts: curves of K, bars of differences, the heat map of agreement."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from .._types import Array
from ..plotting.palette import from_hex, to_linear

#: The number of colours of the heat map.
N_LEVELS = 21
#: The colours of the heat map for 0 and 1, on a light and on a dark page.
_HEAT = {"light": ("#FFFFFF", "#004A7C"), "dark": ("#16181C", "#8FCDF9")}

#: A longer bar is cut: a lift of 0 has no logarithm.
_BOUND = 10.0

_WIDTH, _HEIGHT = 260, 130
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 12, 24


class Curve(NamedTuple):
    """A curve over K in a chart of 260 x 130."""

    lines: list[str]  # pieces of the curve, as points of an SVG polyline
    dots: list[tuple[float, float]]
    chosen: tuple[float, float] | None  # the dot of the K that the measure chooses
    numbers: list[tuple[float, int]]  # where the values of K are written
    low: str  # the smallest and the largest value
    high: str


def curve(k: list[int], values: list[float | str | None], choice: int | None) -> Curve | None:
    """Place a curve in its chart; None if it has no finite value.

    Examples
    --------
    >>> curve([2, 3, 4], [0.5, 1.0, None], 3).lines
    ['48,106 148,12']
    """
    known = [(K, float(value)) for K, value in zip(k, values, strict=True) if value is not None]
    known = [(K, value) for K, value in known if math.isfinite(value)]
    if not known:
        return None
    low, high = min(value for _, value in known), max(value for _, value in known)
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(K: int, value: float) -> tuple[float, float]:
        across = (K - k[0]) / (k[-1] - k[0]) if len(k) > 1 else 0.5
        up = (value - low) / (high - low) if high > low else 0.5
        return round(_LEFT + across * width, 1), round(_TOP + (1 - up) * height, 1)

    dots = {K: place(K, value) for K, value in known}
    pieces: list[list[tuple[float, float]]] = [[]]
    for K in k:
        if K in dots:
            pieces[-1].append(dots[K])
        elif pieces[-1]:
            pieces.append([])
    step = -(-len(k) // 10)
    return Curve(
        lines=[" ".join(f"{x:g},{y:g}" for x, y in piece) for piece in pieces if len(piece) > 1],
        dots=list(dots.values()),
        chosen=None if choice is None else dots.get(choice),
        numbers=[(place(K, low)[0], K) for K in k[::step]],
        low=f"{low:.3g}",
        high=f"{high:.3g}",
    )


class Bar(NamedTuple):
    """A bar on a line from 0 to 100 whose middle, 50, is no difference."""

    start: float
    length: float
    low: float  # the interval
    high: float


def bar(feature: dict[str, Any], reach: float) -> Bar:
    """Place the difference of a feature on a line that reaches from -reach to reach.

    Examples
    --------
    >>> bar({"kind": "number", "difference": -1.0, "low": -1.5, "high": -0.5}, 2.0)
    Bar(start=25.0, length=25.0, low=12.5, high=37.5)
    """
    end, low, high = (round(50 + 50 * value / reach, 1) for value in _effect(feature, reach))
    return Bar(min(50.0, end), abs(end - 50.0), low, high)


def reach_of(features: list[dict[str, Any]]) -> dict[str, float]:
    """Return how far the bars of each kind of feature reach: their largest effect, and at least 1."""
    reach: dict[str, float] = {}
    for feature in features:
        effect = abs(_effect(feature, _BOUND)[0])
        reach[feature["kind"]] = max(effect, reach.get(feature["kind"], 1.0))
    return reach


def _effect(feature: dict[str, Any], bound: float) -> tuple[float, float, float]:
    """Return an effect and its interval: standardised differences, binary logarithms of lifts; 0 if not known."""
    is_lift = feature["kind"] == "category"

    def size(name: str) -> float:
        if feature[name] is None:
            return 0.0
        value = float(feature[name])
        value = (math.log2(value) if value > 0 else -math.inf) if is_lift else value
        return min(max(value, -bound), bound)

    return size("lift" if is_lift else "difference"), size("low"), size("high")


class HeatRow(NamedTuple):
    """A row of the heat map."""

    name: str
    starts: bool  # whether a group begins here
    cells: list[tuple[float, int, bool]]  # value, number of the colour, whether a group begins at the column


def heat_map(agreement: dict[str, Any], names: list[str], groups: list[dict[str, Any]]) -> list[HeatRow]:
    """Return the rows of the heat map of agreement, in the order of the groups, the classes first.

    Without groups, models that agree are next to each other by average linkage.
    """
    numbers, values = agreement["models"], np.array(agreement["values"])
    group_of = {model: place for place, group in enumerate(groups) for model in group["models"]}
    if groups:
        listed = [
            model
            for group in groups
            for model in sorted(group["models"], key=lambda model: model != group["representative"])
        ]
        known = [number for number in listed if number in numbers]
        others = [number for number in numbers if number is not None and number not in group_of]
        ordered = [*([None] if None in numbers else []), *known, *others]
        order = [numbers.index(number) for number in ordered]
    else:
        order = _side_by_side(values, first=numbers.index(None) if None in numbers else None)
    sorted_numbers = [numbers[place] for place in order]
    keys = [None if number is None else group_of.get(number, -1) for number in sorted_numbers]
    starts = [bool(groups) and place > 0 and keys[place] != keys[place - 1] for place in range(len(keys))]
    return [
        HeatRow(
            "Classes" if number is None else names[number],
            starts[place],
            [
                (float(values[order[place], other]), _level(values[order[place], other]), start)
                for other, start in zip(order, starts, strict=True)
            ],
        )
        for place, number in enumerate(sorted_numbers)
    ]


def _side_by_side(values: Array, first: int | None) -> list[int]:
    """Order the models so that those that agree are next to each other; ``first``, the classes, stays first."""
    rest = np.array([place for place in range(len(values)) if place != first])
    if len(rest) > 2:
        distances = 1 - (values + values.T)[np.ix_(rest, rest)] / 2
        np.fill_diagonal(distances, 0)
        rest = rest[leaves_list(linkage(squareform(distances, checks=False), "average", optimal_ordering=True))]
    return [*([] if first is None else [first]), *rest.tolist()]


def _level(value: float) -> int:
    return round(min(max(float(value), 0.0), 1.0) * (N_LEVELS - 1))


def heat_colors() -> list[dict[str, tuple[str, str]]]:
    """Return for each level and each theme the colour of the cell, and black or white for its text.

    Examples
    --------
    >>> heat_colors()[0]
    {'light': ('#ffffff', '#000000'), 'dark': ('#16181c', '#ffffff')}
    """
    levels = []
    for level in range(N_LEVELS):
        entry = {}
        for theme, (low, high) in _HEAT.items():
            ends = from_hex((low, high))
            color = ends[0] + (ends[1] - ends[0]) * level / (N_LEVELS - 1)
            luminance = float(to_linear(color) @ [0.2126, 0.7152, 0.0722])
            # the contrast with white is 1.05 / (luminance + 0.05), with black (luminance + 0.05) / 0.05
            text = "#ffffff" if (luminance + 0.05) ** 2 < 1.05 * 0.05 else "#000000"
            entry[theme] = ("#" + "".join(f"{round(255 * part):02x}" for part in color), text)
        levels.append(entry)
    return levels
