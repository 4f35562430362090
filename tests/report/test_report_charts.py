"""The small charts: places of curves and bars, the order and the colours of the heat map."""

import numpy as np
import pytest

from soft_clustering.report.charts import bar, curve, heat_colors, heat_map, reach_of


def test_curve_with_gaps():
    chart = curve([2, 3, 4, 5, 6], [1.0, None, 3.0, 2.0, "inf"], 4)
    assert chart.lines == ["148,12 198,59"]  # a single dot is no line
    assert chart.dots == [(48.0, 106.0), (148.0, 12.0), (198.0, 59.0)]
    assert chart.chosen == (148.0, 12.0)
    assert (chart.low, chart.high) == ("1", "3")


def test_curve_of_one_value_and_of_none():
    assert curve([3], [0.5], None).dots == [(148.0, 59.0)]
    assert curve([2, 3], [None, float("nan")], None) is None


def test_numbers_below_a_long_curve_are_thinned():
    assert [K for _, K in curve(list(range(2, 33)), [1.0] * 31, None).numbers] == list(range(2, 33, 4))


def test_bars_share_a_scale():
    features = [
        {"kind": "number", "difference": 4.0, "low": 3.0, "high": 6.0},
        {"kind": "number", "difference": -1.0, "low": -1.5, "high": 0.5},
        {"kind": "category", "lift": 4.0, "low": 2.0, "high": 8.0},
        {"kind": "category", "lift": 0.0, "low": 0.0, "high": 0.25},
    ]
    reach = reach_of(features)
    assert reach == {"number": 4.0, "category": 10.0}  # a lift of 0 is drawn as 2^-10
    assert bar(features[0], reach["number"]) == (50, 50, 87.5, 100)  # the interval is cut
    assert bar(features[1], reach["number"]) == (37.5, 12.5, 31.2, 56.2)
    assert bar(features[2], 4.0) == (50, 25, 62.5, 87.5)
    assert bar(features[3], 4.0) == (0, 50, 0, 25)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_of_the_heat_map_can_be_read(theme):
    def luminance(color):
        srgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        light = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
        return light @ [0.2126, 0.7152, 0.0722]

    for level in heat_colors():
        low, high = sorted(map(luminance, level[theme]))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_heat_map_is_in_the_order_of_the_groups():
    values = np.eye(5)
    values[1, 3] = values[3, 1] = 0.9
    groups = [{"models": [0, 2], "representative": 2, "agreement": 0.9}, {"models": [3], "representative": 3}]
    names = ["a", "b", "c", "d"]
    found = heat_map({"models": [None, 0, 1, 2, 3], "values": values.tolist()}, names, groups)
    assert [row.name for row in found] == ["Classes", "c", "a", "d", "b"]  # b has no group
    assert [row.starts for row in found] == [False, True, False, True, True]
    assert [value for value, _, _ in found[2].cells] == [0.0, 0.9, 1.0, 0.0, 0.0]
    assert [level for _, level, _ in found[2].cells] == [0, 18, 20, 0, 0]


def test_heat_map_without_groups_puts_like_to_like():
    values = np.full((6, 6), -0.1)
    for pair in ([1, 4], [2, 5], [3, 3]):
        values[np.ix_(pair, pair)] = 1.0
    values[0, 0] = 1.0
    found = heat_map({"models": [None, 0, 1, 2, 3, 4], "values": values.tolist()}, list("abcde"), [])
    names = [row.name for row in found]
    assert names[0] == "Classes"
    assert abs(names.index("a") - names.index("d")) == 1
    assert abs(names.index("b") - names.index("e")) == 1
    assert not any(row.starts for row in found)
