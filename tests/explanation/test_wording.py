"""Numbers in words: the difference must be visible, and nothing may be lost at extreme values."""

import pytest

from soft_clustering.explanation.profile import aligned
from soft_clustering.explanation.wording import date_pair, number_pair, percent, share_pair, short


@pytest.mark.parametrize(
    "value, other, text",
    [
        (71_234.5, 42_001.0, "71k against 42k"),
        (7_100_000.0, 4_200_000.0, "7.1M against 4.2M"),
        (71e6, 42e6, "71M against 42M"),
        (5.4128, 3.0694, "5.4 against 3.1"),
        (1.4352, 1.0667, "1.44 against 1.07"),
        (-0.04, 3.0, "0.0 against 3.0"),
        (100_000_012.0, 100_000_034.0, "100000012 against 100000034"),
        (0.00123, 0.00456, "0.0012 against 0.0046"),
        (3e-150, 4.25e-150, "3.0e-150 against 4.2e-150"),
        (1e300, -1e300, "1.0e+300 against -1.0e+300"),
        (2.0, 2.0, "2 against 2"),
        (0.0, 0.0, "0 against 0"),
        (1.0, 1.0 + 1e-15, "1.0000000000000000 against 1.0000000000000011"),
    ],
)
def test_numbers(value, other, text):
    assert number_pair(value, other) == text


@pytest.mark.parametrize(
    "share, other, text",
    [
        (0.62, 0.26, "62 % against 26 %"),
        (0.004, 0.0011, "0.40 % against 0.11 %"),
        (1.0, 0.0, "100 % against 0 %"),
        (0.5, 0.5, "50 % against 50 %"),
        (1e-14, 0.0, "0.000000000 % against 0.000000000 %"),
    ],
)
def test_shares(share, other, text):
    assert share_pair(share, other) == text


def test_dates():
    assert date_pair(1.6e9, 1.61e9) == "2020-09-13 against 2021-01-07"
    assert date_pair(1.6e9, 1.3e9) == "2020-09 against 2011-03"
    assert date_pair(1.6e9, 1.6e9 + 60) == "2020-09-13 12:26 against 2020-09-13 12:27"
    assert date_pair(1e15, 0.0) == "year 31690058 against 1970-01"


@pytest.mark.parametrize(
    "share, text", [(0, "0 %"), (1e-9, "<1 %"), (0.005, "<1 %"), (0.384, "38 %"), (0.9999, ">99 %")]
)
def test_percentages(share, text):
    assert percent(share) == text


def test_long_names_are_cut():
    assert short("a\nb" * 40, 10) == "a ba ba b…"
    lines = aligned([["x" * 100, "higher", "1 against 2", "+1.00 [+0.50, +1.50]"]])
    assert len(lines[0]) == 78 and "…" in lines[0]
