from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris

from soft_clustering.engine.blocks import make_blocks
from soft_clustering.kernelized.gamma import frame_gamma, resolve_gamma


def test_rules_on_iris():
    X, _ = load_iris(return_X_y=True)
    blocks = make_blocks(X)
    assert resolve_gamma(blocks, "scale") == pytest.approx(1 / X.var(axis=0).sum(), rel=1e-12)
    assert resolve_gamma(blocks, "scale") == pytest.approx(0.220145, abs=5e-7)
    assert resolve_gamma(blocks, "median") == pytest.approx(1 / np.median(pdist(X, "sqeuclidean")), rel=1e-12)
    assert resolve_gamma(blocks, "median", 4.0) == pytest.approx(4 * resolve_gamma(blocks, "median"))
    assert resolve_gamma(blocks, 0.3, 4.0) == 0.3


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_units_offsets_and_order_of_rows(rule):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 3))
    gamma = resolve_gamma(make_blocks(X), rule)
    assert resolve_gamma(make_blocks(1e3 * X + 1e6), rule) == pytest.approx(gamma / 1e6, rel=1e-6)
    assert resolve_gamma(make_blocks(rng.permutation(X)), rule) == pytest.approx(gamma, rel=1e-12)


def test_median_looks_at_a_thousand_rows():
    X = np.random.default_rng(1).normal(size=(4000, 2))
    assert resolve_gamma(make_blocks(X), "median") == pytest.approx(1 / np.median(pdist(X, "sqeuclidean")), rel=0.05)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_constant_rows(rule):
    assert resolve_gamma(make_blocks(np.full((4, 2), 7.0)), rule) == 1
    assert resolve_gamma(make_blocks(np.full((1, 2), 7.0)), rule) == 1


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-300, 1e-3, 1.0, 1e8, 2.0**300, 2.0**1000])
def test_coordinates_of_the_frame(rule, unit):
    """The product with a squared distance is the same in any units, also where gamma in them is no float."""
    X, _ = load_iris(return_X_y=True)
    blocks = make_blocks(unit * X)
    row, other = blocks.blocks[0].take([0, 100])
    product = frame_gamma(blocks, rule) * ((row - other) ** 2).sum()
    assert product == pytest.approx(resolve_gamma(make_blocks(X), rule) * ((X[0] - X[100]) ** 2).sum(), rel=1e-9)


def test_coordinates_of_the_frame_for_a_number():
    blocks = make_blocks(1e3 * load_iris().data)
    assert frame_gamma(blocks, 0.3, 5.0) == pytest.approx(0.3 / float(blocks.frame.scale) ** 2)
    for extreme in (5e-324, 1e308):
        assert 0 < frame_gamma(blocks, extreme) * blocks.mean_variance <= 1.0000001e100
