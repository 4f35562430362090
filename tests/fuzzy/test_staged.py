"""The first stage of PCM, PFCM, GK and GathGeva is a fuzzy c-means fit with their settings."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from soft_clustering import FCM, PCM
from soft_clustering.engine.blocks import make_blocks

IRIS = load_iris().data


@pytest.mark.filterwarnings("ignore:FCM did not converge")
@pytest.mark.parametrize("settings", [{}, {"n_init": 1}, {"max_iter": 4}, {"tol": 0.1}], ids=str)
def test_first_stage_is_fuzzy_c_means_with_the_same_settings(settings):
    blocks = make_blocks(IRIS)
    V = PCM(8, **settings)._first_stage(blocks, np.random.RandomState(0), 1.7)
    expected = FCM(8, m=1.7, random_state=0, **settings).fit(IRIS).centers_
    np.testing.assert_array_equal(blocks.frame.to_input(V), expected)
    if settings:
        assert np.abs(expected - FCM(8, m=1.7, random_state=0).fit(IRIS).centers_).max() > 1e-3


def test_given_centres_need_no_first_stage():
    blocks = make_blocks(IRIS)
    for init in (IRIS[:3], lambda X, K, rng: X[:K]):
        V = PCM(3, init=init)._first_stage(blocks, np.random.RandomState(0), 2.0)
        np.testing.assert_allclose(blocks.frame.to_input(V), IRIS[:3], rtol=0, atol=1e-14)
