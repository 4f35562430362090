"""The plain function that solves fuzzy c-means: the same passes as the estimator."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from soft_clustering import FCM
from soft_clustering.engine.blocks import make_blocks
from soft_clustering.fuzzy.solver import fuzzy_start, solve_fcm


@pytest.mark.filterwarnings("ignore:FCM collapsed")
@pytest.mark.parametrize("X, K", [(load_iris().data, 3), (scale(load_wine().data), 5)], ids=["cheap", "dear"])
@pytest.mark.parametrize("m", [1.5, 4.0])
@pytest.mark.parametrize("init", ["k-means++", "rows"])
def test_bit_for_bit_the_centres_of_the_estimator(X, K, m, init):
    """On wine a pass is dear enough to be accelerated at once, on iris only later; m = 4 steps off the seeds first."""
    init = X[:: len(X) // K][:K] if init == "rows" else init
    model = FCM(K, m=m, init=init, random_state=0).fit(X)
    blocks = make_blocks(X)
    V = solve_fcm(blocks, K, m, np.random.RandomState(0), init=init)
    np.testing.assert_array_equal(blocks.frame.to_input(V), model.centers_)


@pytest.mark.parametrize("m, on_rows", [(1.5, True), (3.0, True), (3.1, False), (50.0, False)])
def test_starts_with_a_large_fuzzifier_step_off_the_rows(m, on_rows):
    blocks = make_blocks(load_iris().data)
    V = fuzzy_start(blocks, "k-means++", 3, np.random.RandomState(0), m, "fcm", 2.0)
    distance = cdist(blocks.frame.to_input(V), load_iris().data).min(axis=1)
    assert (distance < 1e-12).all() == on_rows
    given = fuzzy_start(blocks, load_iris().data[:3], 3, np.random.RandomState(0), m, "fcm", 2.0)
    np.testing.assert_allclose(blocks.frame.to_input(given), load_iris().data[:3], rtol=0, atol=1e-14)
