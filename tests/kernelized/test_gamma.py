from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris

from soft_clustering.engine.blocks import make_blocks
from soft_clustering.kernelized.gamma import resolve_gamma


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
