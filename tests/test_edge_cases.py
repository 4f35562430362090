"""Hostile input over every registered estimator of feature matrices; the rule is that of ``helpers.hostile``."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from helpers.hostile import (
    WEIGHT_WORDS,
    X_WORDS,
    assert_clear,
    assert_valid_memberships,
    edit,
    explicit_zeros,
    int64_csr,
    unsorted,
    valid_or_clear_error,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import linear_sum_assignment

import soft_clustering
from soft_clustering._registry import REGISTRY
from soft_clustering.testing import make_sample, quick, shared_fits
from soft_clustering.testing.inputs import explicit_start

FEATURE_ROWS = [row for row in REGISTRY if getattr(soft_clustering, row.name).modality == "features"]
EXTRAS = {"deep": "torch"}
K = 3


@pytest.fixture(scope="module", autouse=True)
def one_fit_to_learn_what_init_takes():
    with shared_fits():
        yield


@pytest.fixture(params=[pytest.param(row, id=row.name) for row in FEATURE_ROWS])
def make(request):
    """A function that makes an estimator with a fixed seed, K clusters, and the given parameters."""
    row = request.param
    if row.extra is not None:
        pytest.importorskip(EXTRAS[row.extra], reason=f"{row.name} needs the extra {row.extra!r}")
    cls = getattr(soft_clustering, row.name)

    def build(**parameters):
        known = cls().get_params()
        defaults = {name: value for name, value in {"n_clusters": K, "random_state": 0}.items() if name in known}
        return quick(cls()).set_params(**defaults | parameters)

    return build


def where(condition):
    """Only the estimators for which ``condition(estimator)`` holds."""
    rows = [row for row in FEATURE_ROWS if condition(getattr(soft_clustering, row.name)())]
    return pytest.mark.parametrize("make", [pytest.param(row, id=row.name) for row in rows], indirect=True)


def having(name):
    return where(lambda estimator: name in estimator.get_params())


weighted = where(lambda estimator: "sample_weight" in inspect.signature(estimator.fit).parameters)


def blobs(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return 4.0 * (np.arange(n) % K)[:, None] * np.cos(np.arange(d)) + rng.standard_normal((n, d))


# Only the direction of a row counts for these: the origin is no place like others, and one column has no directions.
OF_DIRECTIONS = ("VonMisesFisherMixture",)


def of_directions(make):
    return type(make()).__name__ in OF_DIRECTIONS


def unit(X):
    return X / np.linalg.norm(X / np.abs(X).max(), axis=1, keepdims=True) / np.abs(X).max()


# Data ---------------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(1)
LINE = RNG.standard_normal((40, 1))

VALID = {
    "one column": blobs(d=1),
    "two columns": blobs(d=2),
    "collinear": LINE * [1.0, 2.0, -3.0],
    "collinear, far from the origin": LINE * [1.0, 2.0, -3.0] + 1e6,
    "a constant column": edit(blobs(), (slice(None), 1), 7.0),
    "a constant column of 1e8": edit(blobs(), (slice(None), 1), 1e8),
    "a zero column": edit(blobs(), (slice(None), 1), 0.0),
    "all columns equal": blobs(d=1)[:, [0, 0, 0]],
    "columns of different units": blobs() * [1e-6, 1.0, 1e6],
    "copies of few points": np.repeat(blobs(6), 20, axis=0),
    "one far outlier, 1e6": edit(blobs(), 0, 1e6),
    "offset 1e8": blobs() + 1e8,
    "offset -1e12": blobs() - 1e12,
    "more columns than rows": np.random.default_rng(0).standard_normal((20, 500)),
    "scale 1e-20": blobs() * 1e-20,
    "scale 1e20": blobs() * 1e20,
    "bool": blobs() > 0,
    "int64": np.round(blobs() * 10).astype(np.int64),
    "int8": np.round(blobs() * 5).astype(np.int8),
    "uint8": np.abs(np.round(blobs() * 5)).astype(np.uint8),
    "float16": blobs().astype(np.float16),
    "longdouble": blobs().astype(np.longdouble),
    "objects that are numbers": blobs().astype(object),
    "nested lists": blobs().tolist(),
    "the other byte order": blobs().astype(">f8" if np.little_endian else "<f8"),
    "float32": blobs().astype(np.float32),
    "float32, scale 1e30": (blobs() * 1e30).astype(np.float32),
    "float32, scale 1e-30": (blobs() * 1e-30).astype(np.float32),
    "float32, offset 1e5": (blobs() + 1e5).astype(np.float32),
}


@pytest.mark.parametrize("case", VALID)
def test_unusual_but_valid_data(make, case):
    if case == "one column" and of_directions(make):
        valid_or_clear_error(make(), VALID[case], expect="error", naming="n_features")
    else:
        valid_or_clear_error(make(), VALID[case], expect="valid")


EITHER = {
    "one far outlier, 1e150": edit(blobs(), 0, 1e150),
    "one far outlier, 1e300": edit(blobs(), 0, 1e300),
    "scale 1e-150": blobs() * 1e-150,
    "scale 1e150": blobs() * 1e150,
    "scale 1e-300": blobs() * 1e-300,
    "scale 1e300": blobs() * 1e300,
    "denormal": blobs() * 1e-310,
    "least numbers": np.sign(blobs()) * 5e-324,
    "1e308 of both signs": np.where(np.arange(60)[:, None] % 2, 1e308, -1e308) * np.ones(3),
    "largest numbers of both signs": np.sign(blobs()) * np.finfo(float).max,
    "all the largest number": np.full((20, 3), np.finfo(float).max),
    "1e308 in one row": edit(blobs(), 0, 1e308),
    "columns from 1e-300 to 1e300": blobs() * [1e-300, 1.0, 1e300],
    "float32, largest numbers": np.sign(blobs()).astype(np.float32) * np.finfo(np.float32).max,
    "float32, least numbers": np.sign(blobs()).astype(np.float32) * np.float32(1e-45),
    "as many rows as clusters": blobs(K),
    "one row more than clusters": blobs(K + 1),
    "offset 1e15": blobs() + 1e15,
    "dates": np.arange(60).astype("datetime64[D]").reshape(20, 3),
}


@pytest.mark.parametrize("case", EITHER)
def test_extreme_data(make, case):
    valid_or_clear_error(make(), EITHER[case])


def test_one_row(make):
    estimator = make()
    if "n_clusters" in estimator.get_params() and estimator.n_clusters is not None:
        valid_or_clear_error(estimator, np.ones((1, 2)), expect="error", naming="n_clusters")
        valid_or_clear_error(make(n_clusters=1), np.ones((1, 2)), naming=rf"n_clusters|{X_WORDS}")
    else:
        valid_or_clear_error(estimator, np.ones((1, 2)))


IDENTICAL = {
    "zeros": np.zeros((30, 3)),
    "ones": np.ones((30, 3)),
    "0.1": np.full((30, 3), 0.1),
    "1e8 / 3": np.full((30, 3), 1e8 / 3),
    "1e-200": np.full((30, 3), 1e-200),
    "1e200": np.full((30, 3), 1e200),
    "one column": np.full((30, 1), -2.5),
    "float32": np.full((30, 3), 0.1, dtype=np.float32),
}


def has_prior(model):
    """Whether the covariances have a prior, against which samples are weighed."""
    return not {"shrinkage", "covariance_prior"}.isdisjoint(model.get_params())


@pytest.mark.parametrize("case", IDENTICAL)
def test_identical_points(make, case):
    if case in ("zeros", "one column") and of_directions(make):
        valid_or_clear_error(make(), IDENTICAL[case], expect="error", naming="n_features|no directions")
        return
    outcome = valid_or_clear_error(make(), IDENTICAL[case], expect="valid")
    model = outcome.model
    if model.n_clusters_ == 1:
        return
    assert outcome.warned, "a collapsed fit was returned silently"
    U = model.memberships_
    np.testing.assert_allclose(U, U[[0]] * np.ones((len(U), 1)), atol=1e-6)
    if model.partition_constrained and "mean_prior" not in model.get_params():  # it leaves each cluster a share
        uniform, hard = np.abs(U - 1 / model.n_clusters_).max(), np.abs(U.max(axis=1) - 1).max()
        assert min(uniform, hard) < 1e-6
    if hasattr(model, "centers_"):
        X = IDENTICAL[case].astype(np.float64)
        X = unit(X) if of_directions(make) else X
        np.testing.assert_allclose(model.centers_, X[: model.n_clusters_], rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])
def test_fewer_distinct_points_than_clusters(make, scale):
    X = np.repeat([[0.0, 0.0], [5.0, 1.0]], 15, axis=0) * scale
    outcome = valid_or_clear_error(make(), X, expect="valid")
    if outcome.model.n_clusters_ > 2:
        assert outcome.warned, "more clusters than distinct points were returned silently"


def test_as_many_distinct_points_as_clusters(make):
    X = np.repeat([[1.0, -1.0], [5.0, 1.0], [-4.0, 8.0]], 10, axis=0)
    model = valid_or_clear_error(make(), X, expect="valid").model
    if model.n_clusters_ == K and model.partition_constrained:
        assert len(set(model.labels_)) == K
        assert len(set(zip(model.labels_, np.repeat(range(3), 10), strict=True))) == K


def test_far_outlier_does_not_spoil_the_rest(make):
    outcome = valid_or_clear_error(make(), edit(blobs(), 0, 1e6), expect="valid")
    assert np.abs(outcome.model.memberships_[1:] - 1 / outcome.model.n_clusters_).max() > 1e-3 or outcome.warned


HOSTILE = [0.0, -0.0, 1.0, -1.0, 1 + 2**-52, 5e-324, 1e-310, 1e-200, -1e-160, 1e-154, 1e8, 1e16, 1e100, -1e154, 1e155]


@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_random_hostile_matrices(make, n_clusters):
    shapes = st.tuples(st.integers(3, 9), st.integers(1, 3))
    entries = st.sampled_from(HOSTILE) | st.floats(-10, 10)

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=entries)))
    def fits(X):
        estimator = make()
        if "n_clusters" in estimator.get_params():
            estimator.set_params(n_clusters=n_clusters)
        outcome = valid_or_clear_error(estimator, X)
        if outcome.model is not None and hasattr(outcome.model, "predict_memberships"):
            assert_valid_memberships(outcome.model, outcome.model.predict_memberships(X), len(X))

    fits()


# Units and origin ---------------------------------------------------------------------------------------------------


def plain(make, **parameters):
    """An estimator without a ridge in absolute units, which would see the units of X."""
    estimator = make()
    if "reg_covar" in estimator.get_params():
        parameters["reg_covar"] = 0.0
    return estimator.set_params(**parameters)


def fitted_in(make, X, start, scale, offset):
    """Fit in other units from the same start; the start is centres or memberships."""
    parameters = {}
    if start is not None:
        parameters["init"] = start * scale + offset if start.shape[1] == X.shape[1] and len(start) < len(X) else start
    return valid_or_clear_error(plain(make, **parameters), X * scale + offset, expect="valid").model


# A beta distribution tells x from 1 - x, and a network tells x from -x.
TELL_MIRROR_IMAGES = ("MBMM", "RDFKC")


@pytest.mark.parametrize(
    "scale, offset",
    [(2.0**500, 0), (2.0**-500, 0), (2.0**100, 0), (2.0**-100, 0), (1, 1e8), (1, -1e8), (-1, 0), (2.0**30, 2.0**50)],
)
def test_units_and_origin_do_not_matter(make, scale, offset):
    if scale < 0 and type(make()).__name__ in TELL_MIRROR_IMAGES:
        pytest.skip("the model tells a feature from its mirror image")
    if offset != 0 and of_directions(make):
        pytest.skip("directions depend on the origin")
    # Four binary digits after the point and 4 features: X + 1e8 is exact, and centres and memberships differ in shape
    X = np.round(blobs(d=4) * 16) / 16
    start = start_of(make, X)
    reference = fitted_in(make, X, start, 1, 0)
    model = fitted_in(make, X, start, scale, offset)
    assert model.n_clusters_ == reference.n_clusters_
    order = np.arange(model.n_clusters_)
    if start is None and scale < 0:
        # Seeds are drawn along a direction: of the mirror image from the other end, so that clusters change places.
        order = linear_sum_assignment(-reference.memberships_.T @ model.memberships_)[1]
    np.testing.assert_allclose(model.memberships_[:, order], reference.memberships_, atol=1e-6)
    if hasattr(model, "predict_memberships") and model.train_rule == "exact":
        np.testing.assert_allclose(model.predict_memberships(X * scale + offset), model.memberships_, atol=1e-9)
    if hasattr(model, "centers_"):
        most = np.abs(X).max()
        centers = (model.centers_[order] - offset) / (np.sign(scale) if of_directions(make) else scale)
        np.testing.assert_allclose(centers / most, reference.centers_ / most, atol=1e-6)


@pytest.mark.parametrize("scale, offset", [(2.0**100, 0), (2.0**-100, 0), (1, 4096), (2.0**20, -(2.0**30))])
def test_units_and_origin_do_not_matter_in_float32(make, scale, offset):
    if offset != 0 and of_directions(make):
        pytest.skip("directions depend on the origin")
    X = (np.round(blobs(d=4) * 16) / 16).astype(np.float32)
    start = start_of(make, X)
    reference = fitted_in(make, X, start, np.float32(1), np.float32(0))
    model = fitted_in(make, X, start, np.float32(scale), np.float32(offset))
    assert model.memberships_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, reference.memberships_, atol=1e-3)


def start_of(make, X):
    """An explicit start for these data where ``init`` takes one: centres or memberships."""
    sample = make_sample(make())
    given = explicit_start(make(), sample)
    if given is None:
        return None
    if given.shape == (len(sample.X), K):
        start = np.full((len(X), K), 0.1)
        start[np.arange(len(X)), np.arange(len(X)) % K] = 0.8
        return start
    return X[:K].astype(np.float64)


# Parameters ---------------------------------------------------------------------------------------------------------

BAD_PARAMETERS = [
    ("n_clusters", 0),
    ("n_clusters", -1),
    ("n_clusters", "3"),
    ("n_clusters", 2.5),
    ("n_clusters", np.nan),
    ("n_clusters", [3]),
    ("n_clusters", 61),
    ("n_clusters", 10**12),
    ("m", 1),
    ("m", 1.0),
    ("m", 0.5),
    ("m", -2),
    ("m", np.nan),
    ("m", "two"),
    ("m", None),
    ("max_iter", 0),
    ("max_iter", -1),
    ("max_iter", 1.5),
    ("max_iter", "a"),
    ("max_epochs", 0),
    ("tol", -1e-3),
    ("tol", np.nan),
    ("tol", "a"),
    ("n_init", 0),
    ("n_init", 1.5),
    ("n_init", "a"),
    ("init", "no such start"),
    ("init", 3),
    ("init", np.zeros((K + 1, 3))),
    ("init", np.zeros((K, 4))),
    ("init", np.zeros(K)),
    ("init", np.zeros((K, 3, 1))),
    ("init", np.full((K, 3), np.nan)),
    ("init", np.full((60, K), np.nan)),
    ("init", np.full((K, 3), np.inf)),
    ("init", np.full((60, K), -1.0)),
    ("init", np.zeros((60, K))),
    ("init", [["a"] * 3] * K),
    ("reg_covar", -1.0),
    ("reg_covar", np.nan),
    ("reg_covar", "a"),
    ("random_state", "a"),
    ("random_state", -1),
    ("random_state", 1.5),
    ("verbose", "a"),
    ("accelerate", "yes"),
    ("batch_size", 0),
    ("batch_size", 2.5),
    ("covariance_type", "round"),
    ("weights_init", [1.0]),
    ("weights_init", [0.5, 0.9, 0.6]),
    ("weights_init", [-0.5, 0.9, 0.6]),
    ("weights_init", [np.nan, 0.5, 0.5]),
    ("means_init", np.zeros((K, 2))),
    ("means_init", np.full((K, 3), np.nan)),
    ("precisions_init", np.zeros((K, 3, 3))),
    ("precisions_init", -np.stack([np.eye(3)] * K)),
    ("precisions_init", np.triu(np.ones((K, 3, 3)))),
]


def short(value):
    return f"{type(value).__name__}{value.shape}" if isinstance(value, np.ndarray) else repr(value).replace(" ", "")


@pytest.mark.parametrize(
    "make, name, value",
    [
        pytest.param(row, name, value, id=f"{row.name}-{name}={short(value)}")
        for row in FEATURE_ROWS
        for name, value in BAD_PARAMETERS
        if name in getattr(soft_clustering, row.name)().get_params()
    ],
    indirect=["make"],
)
def test_bad_parameter_is_named(make, name, value):
    valid_or_clear_error(make(**{name: value}), blobs(), expect="error", naming=rf"\b{name}\b")


@having("m")
@pytest.mark.parametrize("m, expect", [(1.0001, "valid"), (1.000001, "either"), (100.0, "either"), (np.inf, "either")])
def test_extreme_fuzzifier(make, m, expect):
    valid_or_clear_error(make(m=m), blobs(), expect=expect, naming=r"\bm\b")


@having("n_clusters")
def test_one_cluster(make):
    outcome = valid_or_clear_error(make(n_clusters=1), blobs(), naming="n_clusters")
    if outcome.model is not None and outcome.model.partition_constrained:
        np.testing.assert_allclose(outcome.model.memberships_, 1, atol=1e-12)


@having("n_clusters")
def test_as_many_clusters_as_rows(make):
    valid_or_clear_error(make(n_clusters=20), blobs(20))


def test_numpy_scalars_are_numbers(make):
    values = {"n_clusters": np.int64(3), "max_iter": np.int32(20), "tol": np.float32(1e-4), "random_state": np.int64(0)}
    known = make().get_params()
    parameters = {name: value for name, value in values.items() if name in known}
    valid_or_clear_error(make(**parameters), blobs(), expect="valid")


@having("init")
@pytest.mark.parametrize(
    "start",
    ["coincident", "far away", "at 1e300", "on one row", "coincident memberships", "one column"],
)
def test_hostile_start(make, start):
    """Starts of the right shape: a valid result, or an error that names init."""
    X = blobs()
    one_column = np.zeros((60, K))
    one_column[:, 0] = 1
    value = {
        "coincident": np.zeros((K, 3)),
        "far away": 1e6 + np.arange(3.0 * K).reshape(K, 3),
        "at 1e300": np.full((K, 3), 1e300) * [[1], [-1], [0.5]],
        "on one row": X[[0] * K],
        "coincident memberships": np.full((60, K), 1 / K),
        "one column": one_column,
    }[start]
    outcome = valid_or_clear_error(make(init=value), X, naming=r"\binit\b|reg_covar")
    if outcome.model is not None and start in ("coincident", "on one row", "coincident memberships", "one column"):
        U = outcome.model.memberships_
        assert np.abs(U - 1 / K).max() > 1e-3 or outcome.warned, "a collapsed fit was returned silently"


# Weights ------------------------------------------------------------------------------------------------------------


@weighted
def test_fewer_weighted_rows_than_clusters(make):
    weights = np.zeros(60)
    weights[:2] = 1
    naming = rf"n_clusters|{WEIGHT_WORDS}|{X_WORDS}"
    outcome = valid_or_clear_error(make(), blobs(), sample_weight=weights, naming=naming)
    if "n_clusters" in make().get_params() and make().n_clusters is not None:
        assert outcome.error is not None


@weighted
@pytest.mark.parametrize("weight", [1e-300, 1e-150, 1e-12, 1e12, 1e150, 1e300])
def test_uniform_weights_of_any_size(make, weight):
    X = blobs()
    outcome = valid_or_clear_error(make(), X, sample_weight=np.full(60, weight), naming=WEIGHT_WORDS)
    # Against min_samples a weight counts as so many samples, beside the prior of a covariance one above 1 does.
    counted = "min_samples" in make().get_params() or (has_prior(make()) and weight > 1)
    if outcome.model is not None and not counted:
        expected = valid_or_clear_error(make(), X).model.memberships_
        np.testing.assert_allclose(outcome.model.memberships_, expected, atol=1e-6)


@weighted
@pytest.mark.parametrize("large", [1e6, 1e100, 1e300])
def test_one_large_weight(make, large):
    valid_or_clear_error(
        make(), blobs(), sample_weight=edit(np.ones(60), 5, large), naming=rf"{WEIGHT_WORDS}|reg_covar"
    )


@weighted
def test_weights_of_one_cluster_only(make):
    weights = np.where(np.arange(60) % K == 0, 1.0, 0.0)
    outcome = valid_or_clear_error(make(), blobs(), sample_weight=weights)
    assert outcome.model is not None


@weighted
def test_outlier_of_weight_zero_changes_nothing(make):
    X = blobs()
    weights = edit(np.ones(60), 0, 0.0)
    for value in (1e3, 1e100):
        outcome = valid_or_clear_error(make(), edit(X, 0, value), sample_weight=weights, expect="valid")
        expected = valid_or_clear_error(make(), X[1:]).model.memberships_
        np.testing.assert_allclose(outcome.model.memberships_[1:], expected, atol=1e-6)


# Sparse matrices ----------------------------------------------------------------------------------------------------


def duplicated(X):
    S = sparse.coo_array(X)
    index = np.concatenate([S.row, S.row]), np.concatenate([S.col, S.col])
    return sparse.coo_array((np.concatenate([S.data * 0.25, S.data * 0.75]), index), shape=X.shape)


SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csr with int64 indices": int64_csr,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
    "dia": sparse.dia_array,
    "unsorted indices": unsorted,
    "explicit zeros": explicit_zeros,
    "duplicate entries": duplicated,
}


def thin(X):
    """Half of the entries set to zero, some rows wholly."""
    X = X * (np.random.default_rng(3).uniform(size=X.shape) < 0.5)
    X[[5, 17, 40]] = 0
    return X


takes_sparse = where(lambda estimator: estimator.__sklearn_tags__().input_tags.sparse)


@where(lambda estimator: not estimator.__sklearn_tags__().input_tags.sparse)
def test_sparse_is_refused(make):
    valid_or_clear_error(make(), sparse.csr_array(thin(blobs(d=6))), expect="error", naming=r"[Ss]parse")


@takes_sparse
@pytest.mark.parametrize("form", SPARSE)
def test_sparse(make, form):
    X = thin(blobs(d=6))
    S = SPARSE[form](X)
    before = S.toarray()
    start = start_of(make, X)
    parameters = {} if start is None else {"init": start}
    outcome = valid_or_clear_error(make(**parameters), S, expect="valid")
    np.testing.assert_array_equal(S.toarray(), before)
    dense = valid_or_clear_error(make(**parameters), X).model
    np.testing.assert_allclose(outcome.model.memberships_, dense.memberships_, atol=1e-6)
    if hasattr(dense, "centers_"):
        np.testing.assert_allclose(outcome.model.centers_, dense.centers_, atol=1e-6)
    if hasattr(dense, "predict_memberships"):
        new = thin(blobs(d=6, seed=9))
        predicted = outcome.model.predict_memberships(SPARSE[form](new))
        np.testing.assert_allclose(predicted, dense.predict_memberships(new), atol=1e-6)
        np.testing.assert_allclose(outcome.model.predict_memberships(new), predicted, atol=1e-9)


HARD_SPARSE = {
    "all zero": sparse.csr_array((30, 4)),
    "all zero, explicit": explicit_zeros(np.zeros((30, 4))),
    "one entry": sparse.csr_array(([1.0], ([3], [2])), shape=(30, 4)),
    "one entry of 1e150": sparse.csr_array(([1e150], ([3], [2])), shape=(30, 4)),
    "an empty column": sparse.csr_array(edit(thin(blobs(d=6)), (slice(None), 2), 0.0)),
    "many columns": sparse.csr_array(sparse.random(30, 5000, 0.002, random_state=0)),
    "integers": sparse.csr_array(np.round(thin(blobs(d=6))).astype(np.int64)),
    "bool": sparse.csr_array(thin(blobs(d=6)) > 0),
    "float32": sparse.csr_array(thin(blobs(d=6)).astype(np.float32)),
    "scale 1e150": sparse.csr_array(thin(blobs(d=6)) * 1e150),
    "scale 1e-150": sparse.csr_array(thin(blobs(d=6)) * 1e-150),
}


@takes_sparse
@pytest.mark.parametrize("case", HARD_SPARSE)
def test_hard_sparse(make, case):
    outcome = valid_or_clear_error(make(), HARD_SPARSE[case], naming=rf"[Ss]parse|{X_WORDS}")
    if case.startswith("all zero") and not of_directions(make):
        assert outcome.model is not None
        assert outcome.model.n_clusters_ == 1 or outcome.warned


# Prediction ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def fitted(make):
    model = valid_or_clear_error(make(), blobs(), expect="valid").model
    if not hasattr(model, "predict_memberships"):
        pytest.skip("no rule for new data")
    return model


@pytest.mark.parametrize("value", [1e10, 1e100, 1e155, 1e300, np.finfo(float).max, -1e300, 1e-300, 0.0])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_prediction_far_away(fitted, value):
    X = np.vstack([np.full((1, 3), value), [value, 0, -value], [0, 0, value], blobs()[:2]])
    try:
        U = fitted.predict_memberships(X)
    except (ValueError, TypeError) as error:
        assert abs(value) > 1e100
        assert_clear(error, X_WORDS)
        return
    assert_valid_memberships(fitted, U, len(X))
    np.testing.assert_allclose(U[3:], fitted.predict_memberships(X[3:]), atol=1e-9)
    if hasattr(fitted, "score"):
        assert not np.isnan(fitted.score(X))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_prediction_at_the_centers(fitted):
    if hasattr(fitted, "centers_"):
        assert_valid_memberships(fitted, fitted.predict_memberships(fitted.centers_), fitted.n_clusters_)


def test_prediction_in_the_other_precision(fitted):
    U = fitted.predict_memberships(blobs().astype(np.float32))
    assert_valid_memberships(fitted, U, 60)
    np.testing.assert_allclose(U, fitted.predict_memberships(blobs()), atol=1e-3)


def test_prediction_of_one_row(fitted):
    X = blobs()
    np.testing.assert_allclose(fitted.predict_memberships(X[:1]), fitted.predict_memberships(X)[:1], atol=1e-9)
