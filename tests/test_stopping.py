"""Where a fit ends: further passes do not change the memberships, nor does the unit of the data."""

from copy import copy
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

import soft_clustering
from soft_clustering import AFCM, SFCMEP, SKFCM
from soft_clustering._registry import REGISTRY
from soft_clustering.datasets import make_phantom
from soft_clustering.engine.alternating import AlternatingClusterer

IRIS, SPECIES = load_iris(return_X_y=True)
SETS = {
    "iris": IRIS,
    "wine": StandardScaler().fit_transform(load_wine().data),
    "blobs": make_blobs(400, 4, centers=3, cluster_std=3.0, random_state=1)[0],
    "breast cancer": StandardScaler().fit_transform(load_breast_cancer().data),
}
PARTIAL = np.where(np.arange(150) % 15 == 0, SPECIES, -1)
SINGLE_PASS = {"SoftDBSCANGM"}  # as published
BY_LIKELIHOOD = {"GMM", "BayesianGMM"}  # scikit-learn's tolerances, which are not meant for the memberships
IN_UNITS = {
    "GMM",
    "BayesianGMM",
    "BGMM",
    "LatentClass",
    "MBMM",
    "StudentTMixture",
}  # reg_covar is in squared units of the data; MBMM knows the unit interval


def engine_estimators():
    for row in REGISTRY:
        cls = getattr(soft_clustering, row.name)
        if issubclass(cls, AlternatingClusterer) and cls.modality == "features" and row.name not in SINGLE_PASS:
            yield row.name


ENGINE = [*engine_estimators()]


def build(name, **parameters):
    return getattr(soft_clustering, name)(**{"random_state": 0} | parameters)


@cache
def default_fit(name, data, scale=1.0):
    return build(name).fit(SETS[data] * scale)


def movement(model, monkeypatch, *data, passes=50):
    """The largest change of a membership in plain passes that follow the fit."""
    fitted, finish = [], type(model)._finish

    def caught(self, run, blocks, X):
        fitted.append(blocks)
        return finish(self, run, blocks, X)

    monkeypatch.setattr(type(model), "_finish", caught)
    model.fit(*data)
    blocks, later = fitted[0], copy(model)
    later._resolve(blocks)  # what the model forgot of the data ...
    vars(later).update(vars(model))  # ... but the parameters that it settled stay
    state, largest = model._state, 0.0
    first = blocks.map_rows(later._memberships, state)  # memberships_, or those of the different rows
    for _ in range(passes):
        state = later._update(state, blocks.reduce(later._statistics, state), blocks)
        U = blocks.map_rows(later._memberships, state)
        largest = max(largest, float(np.abs(U - first).max()))
    return largest


# Going on -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("name", [name for name in ENGINE if name not in BY_LIKELIHOOD])
def test_plain_passes_after_the_fit_change_no_membership(name, data, monkeypatch):
    """The largest of all is 9e-4 (MBMM, breast cancer); FCM's are below 1e-5."""
    model = build(name)
    assert movement(model, monkeypatch, SETS[data]) < 1e-3
    assert model.converged_


@pytest.mark.parametrize("name", sorted(BY_LIKELIHOOD))
@pytest.mark.parametrize("data", SETS)
def test_likelihood_tolerance_reaches_the_same_accuracy(name, data, monkeypatch):
    assert movement(build(name, tol=1e-8, max_iter=2000), monkeypatch, SETS[data]) < 1e-3


def test_labels_do_not_end_the_fit_early(monkeypatch):
    assert movement(SFCMEP(), monkeypatch, IRIS, PARTIAL) < 1e-5


@pytest.mark.parametrize("data", SETS)
def test_neighbour_graph_fit_is_at_rest(data):
    """The passes of a smaller ``tol`` begin with those of the default."""
    X = SETS[data]
    model, later = (AFCM(random_state=0, max_iter=500, **tol).fit(X) for tol in ({}, {"tol": 1e-12}))
    assert model.n_iter_ < later.n_iter_
    np.testing.assert_allclose(later.memberships_, model.memberships_, rtol=0, atol=1e-4)


@pytest.mark.parametrize("spatial", ["penalty", "neighbors", "mean", "median"])
def test_image_fit_is_at_rest(spatial):
    image = make_phantom((40, 50), noise=0.05, random_state=0).image
    model, later = (SKFCM(spatial=spatial, n_init=1, random_state=0, **tol).fit(image) for tol in ({}, {"tol": 1e-9}))
    assert model.n_iter_ < later.n_iter_
    np.testing.assert_allclose(later.memberships_, model.memberships_, rtol=0, atol=1e-3)


# Units ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.189, 1.335, 2.0, 1e-3])
@pytest.mark.parametrize("data", ["iris", "wine", "blobs"])
@pytest.mark.parametrize("name", [name for name in ENGINE if name not in IN_UNITS] + ["AFCM"])
def test_other_units_change_nothing(name, data, scale):
    model, other = default_fit(name, data), default_fit(name, data, scale)
    np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=0, atol=1e-6)
    if scale == 2:
        assert other.n_iter_ == model.n_iter_
