"""Differences of numbers and lifts of categories: the plain formulas, and how often intervals cover the truth."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import t as student

from soft_clustering.explanation import features, moments, profile_categories, profile_features

N_REPEATS = 4000
# four standard errors of a share of 0.95 in this many repeats
TOLERANCE = 4 * np.sqrt(0.95 * 0.05 / N_REPEATS)


def rng():
    return np.random.default_rng(0)


def plain(w, o, x):
    """The formulas of ``profile_features`` for one cluster and one feature, sample by sample."""
    a, b = w / w.sum(), o / o.sum()
    total = (w + o) / (w + o).sum()
    m, rest, mean = a @ x, b @ x, total @ x
    s = np.sqrt(total @ (x - mean) ** 2)
    n, n_rest, n_all = 1 / (a @ a), 1 / (b @ b), 1 / (total @ total)
    few = s**2 / n**2 + s**2 / n_rest**2
    V = ((a * (x - m) - b * (x - rest)) ** 2).sum() + few
    parts = ((a * (x - m)) ** 2).sum(), ((b * (x - rest)) ** 2).sum()
    freedom = V**2 / (
        parts[0] ** 2 / max(n - 1, 1)
        + parts[1] ** 2 / max(n_rest - 1, 1)
        + (s**4 / n**4 + s**4 / n_rest**4) / max(n_all - 1, 1)
    )
    reach = student.ppf(0.975, max(freedom, 1)) * np.sqrt(V)
    return m, rest, (m - rest) / s, (m - rest - reach) / s, (m - rest + reach) / s


ARRAYS = ("inside", "elsewhere", "difference", "low", "high")


def arrays(profile):
    return np.stack([getattr(profile, name) for name in ARRAYS])


@pytest.mark.parametrize("kind", ["crisp", "soft", "possibilistic", "affiliation"])
def test_plain_formulas(kind):
    U = {
        "crisp": np.eye(3)[rng().integers(0, 3, 60)],
        "soft": rng().dirichlet(np.ones(3), 60),
        "possibilistic": rng().uniform(0, 0.5, (60, 3)),
        "affiliation": rng().exponential(3, (60, 3)),
    }[kind]
    W = U / np.maximum(1, U.sum(axis=1, keepdims=True))
    X = rng().normal(size=(60, 4)) + 2 * W @ rng().normal(size=(3, 4))
    profile = profile_features(U, X)
    expected = [[plain(W[:, k], W.sum(axis=1) - W[:, k], x) for x in X.T] for k in range(3)]
    np.testing.assert_allclose(np.moveaxis(arrays(profile), 0, 2), expected, rtol=1e-9, atol=1e-12)


def test_chunks_do_not_matter(monkeypatch):
    U, X = rng().dirichlet(np.ones(3), 100), rng().normal(size=(100, 4))
    X[3, 1] = np.nan
    codes = rng().integers(0, 3, 100).astype(str)
    whole = arrays(profile_features(U, X)), arrays(profile_categories(U, codes))
    monkeypatch.setattr(moments, "_CHUNK", 64)
    np.testing.assert_allclose(arrays(profile_features(U, X)), whole[0], rtol=1e-11)
    np.testing.assert_allclose(
        arrays(profile_features(U, sparse.csr_array(np.nan_to_num(X)))),
        arrays(profile_features(U, np.nan_to_num(X))),
        rtol=1e-10,
    )
    np.testing.assert_allclose(arrays(profile_categories(U, codes)), whole[1], rtol=1e-11)


def test_sparse_as_dense():
    S = sparse.csr_array(sparse.random(80, 6, 0.3, random_state=0))
    U = rng().dirichlet(np.ones(3), 80)
    for form in (S, S.tocoo(), S.tocsc(), sparse.csr_matrix(S), S.astype(np.float32)):
        found = profile_features(U, form)
        np.testing.assert_allclose(arrays(found), arrays(profile_features(U, S.toarray())), rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(found.missing, 0)


def test_sparse_missing_values():
    S = sparse.csr_array(sparse.random(80, 6, 0.3, random_state=0))
    S.data[::7] = np.nan
    U = rng().dirichlet(np.ones(3), 80)
    found, expected = profile_features(U, S), profile_features(U, S.toarray())
    np.testing.assert_allclose(arrays(found), arrays(expected), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.missing, expected.missing)
    assert found.missing.sum() == np.isnan(S.data).sum() > 0


def test_sparse_is_not_densified(monkeypatch):
    monkeypatch.setattr(sparse.csr_array, "toarray", None)
    n, d = 1000, 1_000_000
    S = sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) * 7)), shape=(n, d))
    profile = profile_features(np.eye(2)[np.arange(n) % 2], S)
    np.testing.assert_allclose(profile.inside[0, :2100:14], 1 / 500)


def test_missing_values_are_left_out():
    U, X = rng().dirichlet(np.ones(3), 60), rng().normal(size=(60, 2))
    gaps = rng().uniform(size=60) < 0.3
    full = profile_features(U[~gaps], X[~gaps])
    X[gaps, 0] = np.nan
    found = profile_features(U, X)
    np.testing.assert_allclose(arrays(found)[:, :, 0], arrays(full)[:, :, 0], rtol=1e-9)
    np.testing.assert_array_equal(found.missing, [gaps.sum(), 0])


def test_a_cluster_without_a_value():
    U = np.repeat(np.eye(3), 10, axis=0)
    X = rng().normal(size=(30, 2))
    X[:10, 0] = np.nan
    profile = profile_features(U, X)
    assert np.isnan(profile.inside[0, 0]) and np.isfinite(profile.elsewhere[0, 0])
    assert np.isnan(profile.difference[0, 0]) and np.isfinite(profile.difference[1:]).all()
    assert profile.order(0).tolist() == [1, 0]
    assert profile.strength(0)[0] == 0


@pytest.mark.parametrize("factor, shift", [(1, 1e8), (1e-150, 0), (1e-305, 0), (1e150, 0), (1e300, 0), (1e-3, -1e6)])
def test_units_do_not_matter(factor, shift):
    U, X = rng().dirichlet(np.ones(3), 60), rng().normal(size=(60, 4)).round(6)
    found = profile_features(U, X * factor + shift)
    np.testing.assert_allclose(arrays(found)[2:], arrays(profile_features(U, X))[2:], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.deviation, profile_features(U, X).deviation * factor, rtol=1e-6)


def test_a_mean_beside_an_outlier():
    X = np.ones((1000, 1))
    X[0] = 1e12
    profile = profile_features(np.eye(2)[np.arange(1000) % 2], X)
    np.testing.assert_allclose(profile.inside[1], 1, rtol=1e-5)


def test_single_precision():
    U, X = rng().dirichlet(np.ones(3), 60).astype(np.float32), rng().normal(size=(60, 4)).astype(np.float32)
    expected = profile_features(U.astype(np.float64), X.astype(np.float64))
    np.testing.assert_allclose(arrays(profile_features(U, X)), arrays(expected), rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_constant_features(form):
    X = np.column_stack([np.full(40, 0.1), np.zeros(40), np.full(40, 1e8 + 1 / 3), np.arange(40.0)])
    U = np.repeat(np.eye(2), 20, axis=0)
    profile = profile_features(U, form(X))
    np.testing.assert_array_equal(arrays(profile)[2:, :, :3], 0)
    np.testing.assert_allclose(profile.inside[:, :3], np.tile(X[0, :3], (2, 1)), rtol=1e-12)
    assert profile.top(0, 5) == [3]


@pytest.mark.parametrize("U", [np.ones((20, 1)), np.eye(20), np.zeros((20, 2)), np.eye(20)[:, :2], np.ones((20, 5))])
def test_extreme_partitions(U):
    profile = profile_features(U, rng().normal(size=(20, 3)))
    known = np.isfinite(profile.elsewhere) & np.isfinite(profile.inside)
    for name in ("difference", "low", "high"):
        np.testing.assert_array_equal(np.isfinite(getattr(profile, name)), known)
    assert known.all() == (len(U[0]) in (2, 5, 20) and U.any(axis=0).all())


def test_features_that_set_apart_most_come_first():
    U = np.repeat(np.eye(2), 200, axis=0)
    X = rng().normal(size=(400, 4)) + U[:, :1] * [0, 3, -1, 0.5]
    profile = profile_features(U, X, ["same", "far", "lower", "higher"])
    assert [profile.names[j] for j in profile.order(0)[:3]] == ["far", "lower", "higher"]
    assert [profile.names[j] for j in profile.top(0, 2)] == ["far", "lower"]
    assert profile.difference[0, 2] < 0 < profile.difference[1, 2]


def test_an_uncertain_difference_comes_later():
    """A difference known from three samples is larger, but less certain, than one known from 200."""
    U = np.repeat(np.eye(2), 200, axis=0)
    X = rng().normal(size=(400, 2)) + U[:, :1]
    X[3:200, 1] = np.nan
    X[:3, 1] = [0.4, 1.4, 2.4]
    profile = profile_features(U, X)
    assert profile.difference[0, 1] > profile.difference[0, 0]
    assert profile.order(0).tolist() == [0, 1]


# How often the intervals cover the truth ------------------------------------------------------------------------------


def coverage(U, X, truth):
    """The share of the columns of X whose interval for the first cluster covers the difference."""
    profile = profile_features(U, X)
    low, high = (ends[0] * profile.deviation for ends in (profile.low, profile.high))
    return np.mean((low <= truth) & (truth <= high))


@pytest.mark.parametrize("sizes", [(50, 150), (10, 190), (20, 20), (300, 700)])
def test_coverage_of_crisp_clusters(sizes):
    U = np.repeat(np.eye(2), sizes, axis=0)
    X = rng().normal(size=(sum(sizes), N_REPEATS)) + U[:, :1]
    assert coverage(U, X, 1.0) == pytest.approx(0.95, abs=TOLERANCE)


@pytest.mark.parametrize("sizes, width", [((10, 190), 0.3), ((30, 170), 0.3), ((200, 800), 0.5)])
def test_coverage_of_narrow_clusters(sizes, width):
    """A few samples of a cluster that is narrower than the data have intervals that are too wide, never too narrow."""
    U = np.repeat(np.eye(2), sizes, axis=0)
    X = rng().normal(size=(sum(sizes), N_REPEATS)) * (U @ [width, 1.0])[:, None] + 2 * U[:, :1]
    assert 0.95 - TOLERANCE < coverage(U, X, 2.0) < 0.995


@pytest.mark.parametrize("size, least", [(1, 0.94), (2, 0.92), (3, 0.92), (5, 0.935)])
def test_coverage_of_a_few_samples(size, least):
    U = np.repeat(np.eye(2), (size, 100 - size), axis=0)
    X = rng().normal(size=(100, N_REPEATS)) + U[:, :1]
    assert least < coverage(U, X, 1.0) < 0.96


@pytest.mark.parametrize("n, alpha, most", [(50, 0.3, 0.97), (50, 1.0, 0.98), (200, 1.0, 0.97), (200, 5.0, 0.985)])
def test_coverage_with_given_divided_memberships(n, alpha, most):
    p = rng().beta(alpha, alpha, n)
    X = rng().normal(size=(n, N_REPEATS))
    assert 0.95 - TOLERANCE < coverage(np.column_stack([p, 1 - p]), X, 0.0) < most


@pytest.mark.parametrize("n", [50, 200])
def test_coverage_of_samples_whose_memberships_depend_on_the_feature(n):
    """As in a clustering: rows are drawn from a population, in which the membership is a function of the feature."""
    draw = rng()

    def rows(size):
        x = 3.0 * (draw.uniform(size=size) < 0.5) + draw.normal(size=size)
        return x, 1 / (1 + np.exp(2.25 - 1.5 * x))

    x, p = rows(1_000_000)
    truth = p @ x / p.sum() - (1 - p) @ x / (1 - p).sum()
    repeats, hits = 1500, 0
    for _ in range(repeats):
        x, p = rows(n)
        hits += coverage(np.column_stack([p, 1 - p]), x[:, None], truth)
    assert hits / repeats == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / repeats))


@pytest.mark.parametrize(
    "sizes, p, q", [((100, 100), 0.3, 0.2), ((20, 180), 0.3, 0.2), ((100, 900), 0.02, 0.01), ((10, 90), 0.5, 0.1)]
)
def test_coverage_of_lifts(sizes, p, q):
    U = np.repeat(np.eye(2), sizes, axis=0)
    draw, repeats, hits = rng(), 1500, 0
    for _ in range(repeats):
        values = np.where(draw.uniform(size=sum(sizes)) < U @ [p, q], "yes", "no")
        profile = profile_categories(U, values)
        if "yes" in profile.values:
            j = profile.values.index("yes")
            hits += profile.lift_low[0, j] <= p / q <= profile.lift_high[0, j]
    assert 0.93 < hits / repeats < 0.99


@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
def test_coverage_of_lifts_with_divided_memberships(alpha):
    draw, repeats, hits = rng(), 1500, 0
    square = 1 / (4 * (2 * alpha + 1)) + 0.25  # the mean of the squares of beta numbers
    p, q = 0.4, 0.2
    truth = (square * p + (0.5 - square) * q) / ((0.5 - square) * p + square * q)
    for _ in range(repeats):
        u = draw.beta(alpha, alpha, 200)
        profile = profile_categories(np.column_stack([u, 1 - u]), draw.uniform(size=200) < u * p + (1 - u) * q)
        j = profile.values.index("True")
        hits += profile.lift_low[0, j] <= truth <= profile.lift_high[0, j]
    assert hits / repeats == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / repeats))


# Categories -----------------------------------------------------------------------------------------------------------


def test_lifts_of_counts():
    U = np.repeat(np.eye(2), [40, 60], axis=0)
    values = ["a"] * 30 + ["b"] * 10 + ["a"] * 15 + ["b"] * 45
    profile = profile_categories(U, values, "letter")
    assert profile.names == ["letter", "letter"] and profile.kinds == ["category"] * 2 and profile.values == ["b", "a"]
    np.testing.assert_allclose(profile.inside, [[0.25, 0.75], [0.75, 0.25]])
    lift = (30.5 / 40.5) / (15.5 / 60.5)
    reach = 1.959964 * np.sqrt(1 / 30.5 - 1 / 40.5 + 1 / 15.5 - 1 / 60.5)
    np.testing.assert_allclose(profile.lift[0, 1], lift)
    np.testing.assert_allclose(profile.lift_low[0, 1], lift * np.exp(-reach), rtol=1e-6)
    np.testing.assert_allclose(profile.lift_high[0, 1], lift * np.exp(reach), rtol=1e-6)


def test_difference_of_a_category_is_that_of_its_indicator():
    U, values = rng().dirichlet(np.ones(3), 90), rng().choice(["a", "b", "c"], 90, p=[0.5, 0.3, 0.2])
    profile = profile_categories(U, values)
    numbers = profile_features(U, (values[:, None] == profile.values).astype(float))
    np.testing.assert_allclose(arrays(profile), arrays(numbers), rtol=1e-9, atol=1e-12)


def test_values_that_do_not_occur():
    U = np.repeat(np.eye(2), [5, 20], axis=0)
    profile = profile_categories(U, ["a"] * 5 + ["b"] * 20)
    for name in ("lift", "lift_low", "lift_high"):
        assert np.isfinite(getattr(profile, name)).all() and (getattr(profile, name) > 0).all()
    np.testing.assert_allclose(profile.lift[0, 1], (5.5 / 5.5) / (0.5 / 20.5))


def test_missing_categories_are_left_out():
    U = np.repeat(np.eye(2), 20, axis=0)
    values = np.array((["a"] * 12 + ["b"] * 8) * 2, dtype=object)
    full = profile_categories(U[5:], values[5:])
    values[:5] = [None, np.nan, None, None, float("nan")]
    found = profile_categories(U, values)
    assert found.missing.tolist() == [5, 5]
    np.testing.assert_allclose(arrays(found), arrays(full))
    np.testing.assert_allclose(found.lift, full.lift)


def test_only_missing_categories():
    profile = profile_categories(np.eye(3), [None, None, np.nan])
    assert profile.names == [] and profile.inside.shape == (3, 0)


def test_rare_values_are_not_compared():
    values = [str(i % 50) for i in range(500)] + ["often"] * 20
    profile = profile_categories(np.eye(2)[np.arange(520) % 2], values, max_values=3)
    assert profile.values == ["often", "0", "1"]
    np.testing.assert_allclose(profile.inside[0, 0], 10 / 260)


def test_of_two_values_the_more_frequent_one_is_told():
    U = np.repeat(np.eye(2), 50, axis=0)
    profile = profile_categories(U, ["a"] * 45 + ["b"] * 5 + ["b"] * 45 + ["a"] * 5)
    assert [[profile.values[j] for j in profile.top(k, 5)] for k in range(2)] == [["a"], ["b"]]


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: profile_features(np.eye(3), np.ones((2, 1))),
            "X must have one row per row of the memberships, 3 rows",
        ),
        (lambda: profile_features(np.eye(2), [[np.inf], [1.0]]), "X contains infinity"),
        (lambda: profile_features(np.eye(2), [[1.5e308], [1.0]]), "X must have entries below 1e"),
        (lambda: profile_features(np.eye(2), [["a"], ["b"]]), "X must be numeric"),
        (lambda: profile_features(np.eye(2), np.ones((2, 2)), ["a"]), "feature_names must have 2 entries"),
        (lambda: profile_categories(np.eye(2), ["a"]), "values must have one entry per sample, 2 entries"),
    ],
)
def test_wrong_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_codes_of_values_without_a_hash():
    codes, labels = features.category_codes([[1], [2], [1], None])
    assert codes.tolist() == [0, 1, 0, -1] and labels == ["[1]", "[2]"]


@pytest.mark.parametrize("least", [1e-3, 1e-6, 1e-9, 1e-11, 1e-13])
def test_hardly_any_membership_elsewhere(least):
    """The rest is a tiny part of every sample: its mean is exact, not a difference of sums."""
    p = least * rng().uniform(0.5, 1.5, 400)
    X = rng().normal(size=(400, 2))
    profile = profile_features(np.column_stack([1 - p, p]), X)
    categories = profile_categories(np.column_stack([1 - p, p]), X[:, 0] > 0)
    if least == 1e-13:
        assert np.isnan(profile.difference).all()
        return
    np.testing.assert_allclose(profile.elsewhere[0], p @ X / p.sum(), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(profile.inside[1], p @ X / p.sum(), rtol=1e-9)
    for values in (*arrays(profile), categories.lift, categories.lift_low, categories.lift_high):
        assert np.isfinite(values).all()
