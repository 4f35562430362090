"""Subtractive clustering: against a transcription of the publication, invariances, samples, hostile input."""

import tracemalloc
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    make_blobs,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from soft_clustering import SCM, kernels

IRIS = load_iris().data
property_test = settings(max_examples=40, deadline=None, derandomize=True)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def cube(X):
    """The data in [0, 1]^d; a constant feature stays constant."""
    size = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(size > 0, size, 1)


def transcription(X, radius, squash=1.5, accept=0.5, reject=0.15, weight=None, n_clusters=None):
    """Steps 1 to 3 of Chiu (1994), candidate by candidate: (indices, their potentials, all first potentials)."""
    Z = cube(X)
    D = cdist(Z, Z, "sqeuclidean")
    weight = np.ones(len(X)) if weight is None else weight
    P = np.array([sum(weight[j] * np.exp(-4 / radius**2 * D[i, j]) for j in range(len(X))) for i in range(len(X))])
    first, indices, found = P.copy(), [], []
    while True:
        k = int(np.argmax(P))
        potential, highest = P[k], first.max()
        if n_clusters is not None:
            if len(indices) == n_clusters:
                break
        elif potential <= accept * highest:
            if potential < reject * highest:
                break
            nearest = min((np.sqrt(D[k, c]) for c in indices), default=np.inf)
            if nearest / radius + potential / highest < 1:
                P[k] = 0
                continue
        indices.append(k)
        found.append(potential)
        P = P - max(potential, 0) * np.exp(-4 / (squash * radius) ** 2 * D[k])
        if n_clusters is not None:
            P[k] = -np.inf  # never a sample twice, whatever potential is left
    return indices, found, first


def random_set(seed, n=None):
    rng = np.random.RandomState(seed)
    n = n or rng.randint(20, 150)
    d = rng.randint(1, 5)
    return make_blobs(n, d, centers=rng.randint(1, 7), cluster_std=rng.uniform(0.3, 3), random_state=rng)[0]


# The publication ------------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("seed", range(25))
def test_transcription_of_the_publication(seed):
    X, rng = random_set(seed), np.random.RandomState(100 + seed)
    weight = rng.uniform(0.1, 3, len(X)) if seed % 2 else None
    parameters = {
        "radius": rng.uniform(0.15, 0.6),
        "squash_factor": rng.choice([1.0, 1.25, 1.5, 2.0]),
        "accept_ratio": rng.uniform(0.2, 0.9),
    }
    parameters["reject_ratio"] = parameters["accept_ratio"] * rng.uniform(0, 1)
    model = SCM(**parameters).fit(X, sample_weight=weight)
    indices, found, first = transcription(X, *parameters.values(), weight=weight)
    np.testing.assert_array_equal(model.center_indices_, indices)
    np.testing.assert_allclose(model.center_potentials_, found, rtol=1e-9)
    np.testing.assert_allclose(model.potentials_, first, rtol=1e-12)
    np.testing.assert_array_equal(model.centers_, X[indices])
    assert model.n_clusters_ == len(indices)
    assert model.radius_ == parameters["radius"]
    assert np.all(np.diff(model.center_potentials_) <= 0)


@pytest.mark.parametrize("radius", [0.3, 0.5])
def test_transcription_on_iris(radius):
    indices, found, _ = transcription(IRIS, radius)
    model = SCM(radius=radius).fit(IRIS)
    np.testing.assert_array_equal(model.center_indices_, indices)
    np.testing.assert_allclose(model.center_potentials_, found, rtol=1e-10)


def test_the_grey_zone_matters():
    """Between the two ratios a potential alone does not decide, its distance to the centres does."""
    grey = SCM(radius=0.5).fit(load_breast_cancer().data)
    with pytest.warns(ConvergenceWarning, match="found one cluster"):
        strict = SCM(radius=0.5, reject_ratio=0.5).fit(load_breast_cancer().data)
    assert (strict.n_clusters_, grey.n_clusters_) == (1, 2)


@quiet
@pytest.mark.parametrize("seed", range(10))
def test_given_number_of_clusters(seed):
    X = random_set(seed)
    for K in (1, 2, 5):
        indices, found, _ = transcription(X, 0.3, n_clusters=K)
        model = SCM(K, radius=0.3).fit(X)
        np.testing.assert_array_equal(model.center_indices_, indices)
        np.testing.assert_allclose(model.center_potentials_, found, rtol=1e-8, atol=1e-10)
        assert model.n_clusters_ == model.memberships_.shape[1] == K
        assert model.n_clusters == K


@pytest.mark.parametrize("squash", [1.0, 3.0])
def test_as_many_clusters_as_samples(squash):
    """Where no potential is left the search goes on, and never takes a sample twice."""
    X = random_set(3, n=30)
    model = SCM(30, squash_factor=squash).fit(X)
    assert sorted(model.center_indices_) == list(range(30))
    assert np.isfinite(model.center_potentials_).all()


def test_memberships_by_definition():
    model = SCM().fit(IRIS)
    Z, new = cube(IRIS), np.random.RandomState(0).normal(6, 5, (40, 4))
    for data, U in ((Z, model.memberships_), ((new - IRIS.min(axis=0)) / np.ptp(IRIS, axis=0), None)):
        bumps = np.exp(-4 / model.radius_**2 * cdist(data, Z[model.center_indices_], "sqeuclidean"))
        found = model.predict_memberships(new) if U is None else U
        near = bumps.sum(axis=1) > 0
        assert near.any()
        expected = bumps[near] / bumps[near].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found[near], expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(model.sigmas_, model.radius_ * np.ptp(IRIS, axis=0) / np.sqrt(8), rtol=1e-14)
    # the same as Gaussian rule premises in input units
    premise = np.exp(-((IRIS[:, None] - model.centers_) ** 2 / (2 * model.sigmas_**2)).sum(axis=2))
    np.testing.assert_allclose(model.memberships_, premise / premise.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)


def test_far_new_rows_get_memberships():
    model = SCM().fit(IRIS)
    U = model.predict_memberships(np.array([[1e4, 0, 0, 0], [-1e250, 1e250, 0, 0], [1e300] * 4]))
    assert np.isfinite(U).all()
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-14)


# The radius -----------------------------------------------------------------------------------------------------------


def test_auto_radius_is_of_the_median():
    X = random_set(0)  # without copies
    assert SCM().fit(X).radius_ == pytest.approx(0.7 * np.median(pdist(cube(X))), rel=1e-12)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8])
def test_auto_radius_of_few_rows(n):
    X = np.random.RandomState(n).normal(size=(n, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = 0.7 * np.median(pdist(cube(X)))
        assert SCM().fit(X).radius_ == pytest.approx(expected, rel=1e-12)
        for unit in (0.1, 2.5, 3e90):
            assert SCM().fit(X, sample_weight=np.full(n, unit)).radius_ == pytest.approx(expected, rel=1e-12)


def test_auto_radius_leaves_copies_out():
    points = np.array([[0.0], [1.0], [3.0], [10.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert SCM().fit(np.repeat(points, [50, 1, 1, 1], axis=0)).radius_ > 0.05
        weighted = SCM().fit(points, sample_weight=[50, 1, 1, 1])
        assert weighted.radius_ == SCM().fit(np.repeat(points, [50, 1, 1, 1], axis=0)).radius_
        # pairs with 0 are 150 of 153: 1, 3, 10 from it, 50 each
        assert weighted.radius_ == pytest.approx(0.7 * 0.3, rel=1e-12)


def test_auto_radius_of_a_sample():
    X = make_blobs(6000, 3, centers=4, random_state=0)[0]
    exact = 0.7 * np.median(pdist(cube(X)))
    found = [SCM(max_samples=500, random_state=seed).fit(X).radius_ for seed in range(3)]
    assert found == pytest.approx([exact] * 3, rel=0.03)
    assert len(set(found)) == 3


# Invariances ----------------------------------------------------------------------------------------------------------


@quiet
@property_test
@given(seed=st.integers(0, 10**6))
def test_affine_maps_of_the_features_do_not_matter(seed):
    X, rng = random_set(seed), np.random.RandomState(seed)
    d = X.shape[1]
    unit, offset = 10.0 ** rng.uniform(-8, 8, d) * rng.choice([-1, 1], d), rng.normal(size=d)
    model, moved = SCM().fit(X), SCM().fit((X + offset) * unit)
    np.testing.assert_array_equal(moved.center_indices_, model.center_indices_)
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(moved.sigmas_ / np.abs(unit), model.sigmas_, rtol=1e-10)


@quiet
@property_test
@given(seed=st.integers(0, 10**6))
def test_order_of_the_rows_does_not_matter(seed):
    X = random_set(seed)
    order = np.random.RandomState(seed).permutation(len(X))
    model, permuted = SCM().fit(X), SCM().fit(X[order])
    np.testing.assert_array_equal(order[permuted.center_indices_], model.center_indices_)
    np.testing.assert_allclose(permuted.memberships_, model.memberships_[order], rtol=0, atol=1e-12)


@quiet
@property_test
@given(seed=st.integers(0, 10**6), K=st.sampled_from([None, 1, 4]))
def test_weights_are_repetitions(seed, K):
    X = random_set(seed)
    weight = np.random.RandomState(seed).randint(0, 4, len(X))
    weight[:4] = 1
    weighted, repeated = SCM(K).fit(X, sample_weight=weight), SCM(K).fit(np.repeat(X, weight, axis=0))
    assert weighted.radius_ == pytest.approx(repeated.radius_, rel=1e-12)
    np.testing.assert_array_equal(weighted.centers_, repeated.centers_)
    np.testing.assert_allclose(weighted.memberships_, repeated.predict_memberships(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(weighted.center_potentials_, repeated.center_potentials_, rtol=1e-8, atol=1e-9)
    assert np.all(weight[weighted.center_indices_] > 0)
    assert weighted.potentials_.shape == (len(X),)


def test_rows_of_weight_zero_have_potentials_but_are_no_centres():
    X = np.vstack([IRIS, IRIS[:50] + 0.01])
    weight = np.r_[np.ones(150), np.zeros(50)]
    model, removed = SCM().fit(X, sample_weight=weight), SCM().fit(IRIS)
    np.testing.assert_array_equal(model.center_indices_, removed.center_indices_)
    np.testing.assert_allclose(model.potentials_[:150], removed.potentials_, rtol=1e-14)
    assert np.all(model.potentials_[150:] > 1)
    np.testing.assert_array_equal(model.memberships_, removed.predict_memberships(X))


def test_first_of_equal_rows_is_the_centre():
    X = np.repeat(make_blobs(40, 2, centers=3, cluster_std=0.3, random_state=0)[0], 3, axis=0)
    assert np.all(SCM().fit(X).center_indices_ % 3 == 0)
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])  # all alike; then the opposite one
    np.testing.assert_array_equal(SCM(4, radius=0.4).fit(corners).center_indices_, [0, 3, 1, 2])


# Samples of the rows --------------------------------------------------------------------------------------------------


def test_sample_of_the_rows():
    X, y = make_blobs(5000, 2, centers=4, cluster_std=0.8, random_state=3)
    full = SCM(radius=0.4).fit(X)
    for seed in range(3):
        model = SCM(radius=0.4, max_samples=600, random_state=seed).fit(X)
        np.testing.assert_allclose(model.potentials_, full.potentials_, rtol=0, atol=0.15 * full.potentials_.max())
        assert model.n_clusters_ == full.n_clusters_ == 4
        assert adjusted_rand_score(y, model.labels_) > 0.95
        assert model.memberships_.shape == (5000, 4)
    again = SCM(radius=0.4, max_samples=600, random_state=2).fit(X)
    np.testing.assert_array_equal(again.potentials_, model.potentials_)


def test_sample_of_weighted_rows_is_unbiased():
    X = make_blobs(3000, 2, centers=3, random_state=0)[0]
    weight = np.where(X[:, 0] > 0, 5.0, 0.5)
    full = SCM(radius=0.4).fit(X, sample_weight=weight)
    fits = [SCM(radius=0.4, max_samples=500, random_state=s).fit(X, sample_weight=weight) for s in range(8)]
    mean = np.mean([model.potentials_ for model in fits], axis=0)
    np.testing.assert_allclose(mean, full.potentials_, rtol=0, atol=0.03 * full.potentials_.max())


@pytest.mark.parametrize("options", [{}, {"radius": 0.5}, {"radius": 0.5, "max_samples": 1000}])
def test_no_quadratic_memory(options):
    X = make_blobs(4000, 2, random_state=0)[0]  # an (n, n) matrix has 128 MB
    tracemalloc.start()
    SCM(**options, random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12e6


# Degenerate data ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.full((9, 2), 1e200), np.zeros((5, 1))])
def test_one_distinct_sample(X):
    with pytest.warns(ConvergenceWarning, match="found one cluster"):
        model = SCM().fit(X)
    assert model.n_clusters_ == 1
    np.testing.assert_array_equal(model.memberships_, np.ones((len(X), 1)))
    np.testing.assert_array_equal(model.centers_, X[:1])
    assert model.center_potentials_ == pytest.approx([len(X)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        SCM(1).fit(X)  # asked for


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fewer_distinct_samples_than_clusters(dtype):
    X = np.repeat([[0.1, 0.3], [5.2, 1.7]], 15, axis=0).astype(dtype)
    with pytest.warns(ConvergenceWarning, match="found 2 distinct samples, fewer than n_clusters=3"):
        model = SCM(3).fit(X)
    assert model.n_clusters_ == 2
    np.testing.assert_array_equal(model.center_indices_, [0, 15])


def test_more_clusters_than_rows():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        SCM(3).fit(IRIS[:2])
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        SCM(3).fit(IRIS[:5], sample_weight=[1, 0, 0, 2, 0])


def test_constant_feature_does_not_matter():
    model, wider = SCM().fit(IRIS), SCM().fit(np.hstack([IRIS, np.full((150, 1), 7.0)]))
    np.testing.assert_array_equal(wider.center_indices_, model.center_indices_)
    np.testing.assert_allclose(wider.memberships_, model.memberships_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("far", [1e6, 1e150])
def test_far_outlier(far):
    """The cube shrinks the rest to a point; the radius is of the order of its distances while a float can tell."""
    X = IRIS.copy()
    X[0] = far
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SCM().fit(X)
    assert np.isfinite(model.memberships_).all()
    assert model.radius_ > 0


@quiet
@pytest.mark.parametrize("radius", [1e-300, 1e-8, 1e3, 1e300])
@pytest.mark.parametrize("squash", [1e-300, 1.5, 1e300])
def test_extreme_radii(radius, squash):
    model = SCM(radius=radius, squash_factor=squash, max_clusters=20).fit(IRIS)
    assert np.isfinite(model.memberships_).all()
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-14)
    if squash == 1.5:
        assert model.n_clusters_ == (1 if radius > 1 else 20)


def test_max_clusters():
    with pytest.warns(ConvergenceWarning, match="stopped at max_clusters=5, but more samples qualify"):
        model = SCM(radius=0.05, max_clusters=5).fit(IRIS)
    assert model.n_clusters_ == 5
    np.testing.assert_array_equal(model.center_indices_, transcription(IRIS, 0.05)[0][:5])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert SCM(max_clusters=3).fit(IRIS).n_clusters_ == 3  # as many as there are


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_clusters": 0}, {"n_clusters": 2.5}, {"radius": 0}, {"radius": -0.5}, {"radius": "large"}),
        *({"radius": np.nan}, {"radius": [0.5, 0.5]}, {"squash_factor": 0}, {"accept_ratio": 1.5}),
        *({"reject_ratio": -0.1}, {"max_clusters": 0}, {"max_samples": 0}, {"random_state": "zero"}),
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of SCM must be"):
        SCM(**parameters).fit(IRIS)


def test_parameters_that_contradict_each_other():
    with pytest.raises(ValueError, match=r"reject_ratio must be <= accept_ratio. Got reject_ratio=0.4 and"):
        SCM(accept_ratio=0.3, reject_ratio=0.4).fit(IRIS)
    with pytest.raises(ValueError, match=r"n_clusters must be <= max_clusters. Got n_clusters=4 and max_clusters=3"):
        SCM(4, max_clusters=3).fit(IRIS)


def test_sparse_and_dask_are_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        SCM().fit(sparse.csr_matrix(IRIS))
    lazy = pytest.importorskip("dask.array").from_array(IRIS, chunks=(50, 4))
    with pytest.raises(TypeError, match="takes no Dask array"):
        SCM().fit(lazy)
    with pytest.raises(TypeError, match="takes no Dask array"):
        SCM().fit(IRIS).predict(lazy)


def test_a_failed_fit_is_no_fit():
    model = SCM().fit(IRIS)
    with pytest.raises(ValueError, match="n_samples=2"):
        model.set_params(n_clusters=3).fit(IRIS[:2])
    with pytest.raises(NotFittedError):
        model.predict(IRIS)


# Types, kernels, threads ----------------------------------------------------------------------------------------------


def test_float32_is_kept_and_close():
    model, exact = SCM().fit(IRIS.astype(np.float32)), SCM().fit(IRIS)
    assert model.memberships_.dtype == model.centers_.dtype == np.float32
    np.testing.assert_array_equal(model.center_indices_, exact.center_indices_)
    np.testing.assert_allclose(model.memberships_, exact.memberships_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.potentials_, exact.potentials_, rtol=1e-5)
    np.testing.assert_array_equal(model.predict_memberships(IRIS.astype(np.float32)), model.memberships_)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@pytest.mark.parametrize("width", [16, 0])
@pytest.mark.parametrize("K", [None, 6])
def test_fit_with_the_twins(monkeypatch, width, K):
    X = make_blobs(900, 5, centers=4, cluster_std=2, random_state=0)[0]
    weight = np.random.RandomState(0).uniform(0, 2, 900)
    kernels.compiled.vector_bytes(width)
    compiled = SCM(K).fit(X, sample_weight=weight)
    kernels.compiled.vector_bytes(0)
    monkeypatch.setattr(kernels, "compiled", None)
    numpy = SCM(K).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(numpy.center_indices_, compiled.center_indices_)
    np.testing.assert_allclose(numpy.potentials_, compiled.potentials_, rtol=1e-12)
    np.testing.assert_allclose(numpy.memberships_, compiled.memberships_, rtol=0, atol=1e-12)


@pytest.mark.skipif(kernels.compiled is None, reason="the NumPy twins have no threads of their own")
def test_threads_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(kernels, "usable_cores", lambda: 3)
    X = make_blobs(3000, 8, centers=5, cluster_std=2, random_state=0)[0]
    fits = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="openmp"):
            fits.append(SCM(random_state=0).fit(X))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.potentials_, fits[0].potentials_)
        np.testing.assert_array_equal(fit.memberships_, fits[0].memberships_)


def test_prediction_is_exact():
    for K in (None, 5):
        model = SCM(K).fit(IRIS)
        np.testing.assert_array_equal(model.predict_memberships(IRIS), model.memberships_)
        np.testing.assert_array_equal(model.predict(IRIS), model.labels_)


def test_verbose_prints_a_line_per_centre(capsys):
    SCM().fit(IRIS)
    assert capsys.readouterr().out == ""
    model = SCM(verbose=1).fit(IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0] == f"SCM centre 1: row {model.center_indices_[0]}, potential 1 of the first"


# Quality --------------------------------------------------------------------------------------------------------------


def test_agreement_with_the_classes_of_ten_sets():
    # clusters found, agreement
    expected = {
        **{"iris": (3, 0.745), "wine": (5, 0.537), "digits": (10, 0.581), "breast_cancer": (2, 0.792)},
        **{"blobs": (4, 0.779), "moons": (6, 0.324), "circles": (8, 0.107), "anisotropic_blobs": (4, 0.840)},
        **{"varied_blobs": (4, 0.802), "high_dimensional_blobs": (10, 1.0)},
    }
    found = {}
    for name, (X, y) in offline_sets().items():
        model = SCM(random_state=0).fit(X)
        found[name] = adjusted_rand_score(y, model.labels_)
        assert model.n_clusters_ == expected[name][0], name
        assert found[name] == pytest.approx(expected[name][1], abs=6e-4), name
    assert found.keys() == expected.keys()
    assert round(np.mean(list(found.values())), 3) >= 0.651


def test_customary_radius():
    for load, K, agreement in ((load_iris, 3, 0.745), (load_breast_cancer, 2, 0.805)):
        X, y = load(return_X_y=True)
        model = SCM(radius=0.5).fit(X)
        assert model.n_clusters_ == K
        assert adjusted_rand_score(y, model.labels_) == pytest.approx(agreement, abs=6e-4)
