"""Mixture of von Mises-Fisher distributions: its density, EM by loops, planted directions, texts, degenerate data."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.integrate import quad
from scipy.optimize import linear_sum_assignment
from scipy.special import ive
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import adjusted_rand_score

from soft_clustering import VonMisesFisherMixture, kernels
from soft_clustering.kernels.centers import center_memberships
from soft_clustering.mixture.bessel import draw_gaps
from soft_clustering.mixture.von_mises_fisher import Components


def directions(n, d, K=3, kappa=None, seed=0):
    """Directions about K random ones, of random lengths, and where they belong."""
    rng = np.random.RandomState(seed)
    kappa = np.full(K, 1.0 * d) if kappa is None else np.asarray(kappa)
    labels = np.arange(n) % K
    centers = rng.standard_normal((K, d))
    if d <= 3:
        centers = np.eye(3)[:K, :d] - 0.3
    X = np.empty((n, d))
    for k, center in enumerate(unit(centers)):
        X[labels == k] = stats.vonmises_fisher(center, kappa[k]).rvs(np.sum(labels == k), random_state=rng)
    return X * rng.uniform(0.1, 10, (n, 1)), labels


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def with_parameters(weights, centers, kappa):
    """A model that was not fitted, but given its parameters."""
    centers = unit(np.asarray(centers, dtype=float))
    K = len(centers)
    model = VonMisesFisherMixture(K, init=centers, max_iter=1, random_state=0).fit(np.vstack([centers, -centers]))
    model._state = Components(np.asarray(weights), centers, np.asarray(kappa, dtype=float), np.ones(K, dtype=bool))
    return model


# The density ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [3, 5, 20])
@pytest.mark.parametrize("kappa", [0.3, 7.0, 200.0])
def test_density_is_that_of_scipy(d, kappa):
    rng = np.random.RandomState(0)
    mean, X = unit(rng.standard_normal((1, d))), unit(rng.standard_normal((50, d)))
    expected = stats.vonmises_fisher(mean[0], kappa).logpdf(X)
    np.testing.assert_allclose(with_parameters([1.0], mean, [kappa]).score_samples(9 * X), expected, rtol=0, atol=1e-11)


def test_density_on_the_circle():
    model = with_parameters([0.3, 0.7], [[1.0, 0], [0, -1]], [0.5, 12.0])
    angles = np.linspace(-3, 3, 20)
    expected = np.log(0.3 * stats.vonmises.pdf(angles, 0.5) + 0.7 * stats.vonmises.pdf(angles, 12.0, loc=-np.pi / 2))
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=0, atol=1e-12)
    total, _ = quad(lambda a: np.exp(model.score_samples([[np.cos(a), np.sin(a)]])[0]), -np.pi, np.pi)
    assert total == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("d", [3, 20])
def test_one_component_is_the_fit_of_scipy(d):
    X, _ = directions(400, d, K=1, kappa=[1.5 * d])
    model = VonMisesFisherMixture(1, random_state=0).fit(X)
    mean, kappa = stats.vonmises_fisher.fit(unit(X))
    np.testing.assert_allclose(model.centers_[0], mean, atol=1e-14)
    assert model.concentrations_[0] == pytest.approx(kappa, rel=1e-12)


def test_many_features_where_scipy_fails():
    X, _ = directions(2000, 200, K=1, kappa=[100.0])
    assert VonMisesFisherMixture(1).fit(X).concentrations_[0] == pytest.approx(100, rel=0.02)


# EM -------------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:VonMisesFisherMixture did not converge")
@pytest.mark.parametrize("concentration", ["tied", "free", 4.0])
def test_a_pass_by_loops(concentration):
    X, _ = directions(60, 4)
    weight = np.random.RandomState(1).uniform(0.2, 3, 60)
    settings = {"concentration": concentration, "init": np.eye(3, 4), "tol": 0}
    first, second = (
        VonMisesFisherMixture(3, max_iter=passes, **settings).fit(X, sample_weight=weight) for passes in (2, 3)
    )
    Z, pi, mu, kappa = unit(X), first.weights_, first.centers_, first.concentrations_
    r = np.empty((60, 3))
    likelihood = 0.0
    for i in range(60):
        for k in range(3):
            # d = 4: the order of the Bessel function is 1
            c = kappa[k] / ((2 * np.pi) ** 2 * ive(1, kappa[k]) * np.exp(kappa[k]))
            r[i, k] = pi[k] * c * np.exp(kappa[k] * (mu[k] @ Z[i]))
        likelihood += weight[i] * np.log(r[i].sum())
        r[i] /= r[i].sum()
    np.testing.assert_allclose(first.memberships_, r, atol=1e-13)
    assert first.objective_ == pytest.approx(likelihood / weight.sum(), rel=1e-13)
    sizes, sums = weight @ r, (r * weight[:, None]).T @ Z
    np.testing.assert_allclose(second.weights_, sizes / sizes.sum(), rtol=1e-12)
    np.testing.assert_allclose(second.centers_, unit(sums), atol=1e-13)
    lengths = np.linalg.norm(sums, axis=1) / sizes
    np.testing.assert_allclose(np.linalg.norm(sums, axis=1).sum() / sizes.sum(), lengths @ sizes / sizes.sum())
    for k in range(3):
        mean = ive(2, second.concentrations_[k]) / ive(1, second.concentrations_[k])
        if concentration == "free":
            assert mean == pytest.approx(lengths[k], rel=1e-12)
        elif concentration == "tied":
            assert mean == pytest.approx(lengths @ sizes / sizes.sum(), rel=1e-12)
        else:
            assert second.concentrations_[k] == 4


@pytest.mark.filterwarnings("ignore:VonMisesFisherMixture did not converge")
@pytest.mark.parametrize("d", [2, 10, 300])
@pytest.mark.parametrize("concentration", ["tied", "free", 20.0])
def test_likelihood_never_falls(d, concentration):
    X, _ = directions(150, d, kappa=[d / 2, d, 2 * d], seed=d)
    model = VonMisesFisherMixture(4, concentration=concentration, n_init=1, random_state=0, max_iter=100).fit(X)
    assert np.diff(model.objective_history_).min() > -1e-11 * d
    assert model.objective_ == pytest.approx(model.score(X), rel=1e-12)


def test_tied_memberships_are_those_of_the_entropy_rule():
    X, _ = directions(200, 6)
    model = VonMisesFisherMixture(3, random_state=0).fit(X)
    block = model._new_blocks(X).blocks[0]
    expected = center_memberships(
        block, model.centers_, "entropy", 2 / model.concentrations_[0], *np.log(model.weights_)
    )
    np.testing.assert_allclose(model.memberships_, expected, rtol=0, atol=1e-14)


def test_planted_concentrations():
    kappa = np.array([5.0, 10, 20])
    X, labels = directions(6000, 10, kappa=kappa, seed=3)
    model = VonMisesFisherMixture(3, concentration="free", random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.labels_) > 0.7
    np.testing.assert_allclose(np.sort(model.concentrations_), kappa, rtol=0.15)
    order = np.argsort(model.concentrations_)
    assert (np.diff(model.mean_resultant_lengths_[order]) > 0).all()
    assert model.bic(X) < VonMisesFisherMixture(3, random_state=0).fit(X).bic(X)


def test_large_fixed_concentration_is_spherical_k_means():
    X, _ = directions(300, 5, kappa=[3.0, 3, 3])
    model = VonMisesFisherMixture(3, concentration=1e6, random_state=0).fit(X)
    cosines = unit(X) @ model.centers_.T
    np.testing.assert_array_equal(model.labels_, cosines.argmax(axis=1))
    means = [unit(X)[model.labels_ == k].sum(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.centers_, unit(np.array(means)), atol=1e-4)


@pytest.mark.parametrize("concentration, learnt", [("tied", 1), ("free", 3), (5.0, 0)])
def test_number_of_parameters(concentration, learnt):
    X, _ = directions(90, 4)
    model = VonMisesFisherMixture(3, concentration=concentration, random_state=0).fit(X)
    assert model.aic(X) == pytest.approx(-2 * 90 * model.objective_ + 2 * (3 * 3 + 2 + learnt))


# What must not matter -------------------------------------------------------------------------------------------------


def test_lengths_do_not_matter():
    X, _ = directions(150, 5)
    lengths = 10.0 ** np.random.RandomState(0).uniform(-200, 200, (150, 1))
    one, other = (VonMisesFisherMixture(3, random_state=0).fit(data) for data in (unit(X), unit(X) * lengths))
    np.testing.assert_allclose(other.memberships_, one.memberships_, rtol=0, atol=1e-9)
    assert other.objective_ == pytest.approx(one.objective_, abs=1e-11)


def test_rotations_turn_the_centers():
    X, _ = directions(150, 5)
    turn = stats.special_ortho_group.rvs(5, random_state=0)
    start = X[:3]
    one, other = (VonMisesFisherMixture(3, init=start @ R).fit(X @ R) for R in (np.eye(5), turn))
    np.testing.assert_allclose(other.centers_, one.centers_ @ turn, atol=1e-8)
    np.testing.assert_allclose(other.memberships_, one.memberships_, atol=1e-7)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype, atol", [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_sparse_and_float32_rows(monkeypatch, dtype, atol, compiled):
    X, _ = directions(300, 20)
    X[np.random.RandomState(1).uniform(size=X.shape) < 0.5] = 0
    start = X[:3]
    expected = VonMisesFisherMixture(3, init=start).fit(X)
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    for rows in (X.astype(dtype), sparse.csr_array(X.astype(dtype))):
        model = VonMisesFisherMixture(3, init=start).fit(rows)
        assert model.memberships_.dtype == model.centers_.dtype == dtype
        np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=max(atol, 1e-7))
        np.testing.assert_allclose(model.concentrations_, expected.concentrations_, rtol=max(atol, 1e-7))


def test_memory_map(tmp_path):
    X, _ = directions(300, 5)
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", mode="r", shape=X.shape, dtype=np.float64)
    one, other = (VonMisesFisherMixture(3, random_state=0).fit(rows) for rows in (mapped, X))
    np.testing.assert_array_equal(one.memberships_, other.memberships_)


def test_rows_are_not_copied():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((20_000, 100))
    S = sparse.random(20_000, 10_000, 0.003, format="csr", random_state=0)
    for rows, most_expected in ((X, X.nbytes / 4), (S, 8 * np.prod(S.shape) / 40)):
        model = VonMisesFisherMixture(3, n_init=1, max_iter=1, random_state=0)
        tracemalloc.start()
        model.fit(rows)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < most_expected


@pytest.mark.filterwarnings("ignore:VonMisesFisherMixture did not converge")
@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 10_000))
def test_weights_are_repetitions(seed):
    X, _ = directions(45, 3, kappa=[20.0, 20, 20], seed=seed)
    counts = np.random.RandomState(seed).randint(0, 4, 45)
    counts[:6] = 2
    start = np.eye(3)
    weighted = VonMisesFisherMixture(3, init=start, max_iter=5, tol=0).fit(X, sample_weight=counts)
    repeated = VonMisesFisherMixture(3, init=start, max_iter=5, tol=0).fit(X.repeat(counts, axis=0))
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, atol=1e-10)
    np.testing.assert_allclose(weighted.concentrations_, repeated.concentrations_, rtol=1e-9)


# Rows without direction -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)])
def test_rows_of_zeros_are_left_out(form):
    X, _ = directions(90, 4)
    holed = np.insert(X, [0, 40, 90], 0.0, axis=0)
    zeros = np.flatnonzero(~holed.any(axis=1))
    start = X[:3]
    expected, model = (VonMisesFisherMixture(3, init=start).fit(form(rows)) for rows in (X, holed))
    np.testing.assert_array_equal(np.delete(model.memberships_, zeros, axis=0), expected.memberships_)
    assert model.objective_ == expected.objective_
    np.testing.assert_allclose(model.memberships_[zeros], np.tile(model.weights_, (3, 1)), rtol=1e-6)
    np.testing.assert_array_equal(model.score_samples(form(holed))[zeros], 0)
    assert model.score(form(holed)) == pytest.approx(expected.objective_ * 90 / 93, rel=1e-6)


def test_rows_of_zeros_on_dask():
    array = pytest.importorskip("dask.array")
    X, _ = directions(90, 4)
    holed = np.insert(X, [0, 40, 90], 0.0, axis=0)
    weight = np.random.RandomState(0).uniform(0.5, 2, 93)
    lazy = array.from_array(holed, chunks=(31, 4))
    for w in (None, weight):
        expected = VonMisesFisherMixture(3, init=X[:3]).fit(holed, sample_weight=w)
        model = VonMisesFisherMixture(3, init=X[:3]).fit(lazy, sample_weight=w)
        np.testing.assert_allclose(model.memberships_.compute(), expected.memberships_, rtol=0, atol=1e-9)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-12)


def test_rows_that_are_not_finite_are_refused_on_dask():
    array = pytest.importorskip("dask.array")
    for value in (np.nan, np.inf):
        X, _ = directions(90, 4)
        X[7, 2] = value
        with pytest.raises(ValueError, match="NaN or infinity: rows 7"):
            VonMisesFisherMixture(3).fit(array.from_array(X, chunks=(30, 4)))


# Degenerate data ------------------------------------------------------------------------------------------------------


def test_refused():
    X, _ = directions(30, 3)
    with pytest.raises(ValueError, match=r"at least 2 features.*n_features=1"):
        VonMisesFisherMixture(2).fit(X[:, :1])
    with pytest.raises(ValueError, match="X has no directions"):
        VonMisesFisherMixture(2).fit(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        VonMisesFisherMixture(3).fit(np.vstack([X[:2], np.zeros((5, 3))]))
    with pytest.raises(ValueError, match="init must have a direction in each row"):
        VonMisesFisherMixture(3, init=np.eye(3)[[0, 1, 1]] * [[1], [1], [0]]).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        VonMisesFisherMixture(2).fit(np.vstack([X, [[np.nan, 1, 1]]]))


@pytest.mark.parametrize("concentration", ["tied", "free"])
def test_concentration_of_equal_rows_is_the_bound(concentration):
    X = np.repeat([[1.0, 2, 2], [-3, 0, 4]], 10, axis=0)
    model = VonMisesFisherMixture(2, concentration=concentration, max_concentration=5e4, random_state=0).fit(X)
    np.testing.assert_allclose(model.concentrations_, 5e4)
    np.testing.assert_allclose(model.mean_resultant_lengths_, 1)


def test_opposite_rows_have_no_mean_direction():
    X = np.vstack([np.eye(3), -np.eye(3)])
    model = VonMisesFisherMixture(1, random_state=0).fit(X)
    assert model.mean_resultant_lengths_[0] < 1e-12
    assert np.linalg.norm(model.centers_[0]) == pytest.approx(1)
    assert model.objective_ == pytest.approx(-np.log(4 * np.pi), rel=1e-7)


def test_empty_components_are_seeded_anew():
    labels = np.arange(300) % 3
    X = 1 + 3 * np.eye(10)[labels] + 0.2 * np.random.RandomState(0).standard_normal((300, 10))
    start = np.vstack([X[0], -np.ones(10), -X[0]])  # no row lies on that side
    model = VonMisesFisherMixture(3, init=start).fit(X)
    assert adjusted_rand_score(labels, model.labels_) == 1


# Draws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d, kappa", [(2, 3.0), (3, 0.01), (5, 40.0), (100, 30.0), (3, 1e6), (2000, 5e3)])
def test_draws_have_the_distribution_of_mu_x(d, kappa):
    gaps = draw_gaps(np.full(4000, kappa), d, np.random.RandomState(0))
    # 1 - mu.x has a density proportional to (g (2 - g))^((d - 3) / 2) exp(-kappa g)
    assert gaps.min() > 0
    low, high = gaps.min() / 2, min(2.0, 2 * gaps.max())
    grid = np.linspace(low, high, 200_001) if d != 2 else 1 - np.cos(np.linspace(0, np.arccos(1 - high), 200_001)[1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (d - 3) / 2 * np.log(grid * (2 - grid)) - kappa * grid
    density = np.exp(logs - logs[np.isfinite(logs)].max())
    density[~np.isfinite(density)] = 0
    steps = np.diff(grid) * (density[1:] + density[:-1]) / 2
    distribution = np.concatenate([[0], np.cumsum(steps)]) / steps.sum()
    assert stats.kstest(gaps, lambda g: np.interp(g, grid, distribution)).pvalue > 1e-3


def test_sample():
    model = with_parameters([0.25, 0.75], [[1.0, 0, 0, 0], [0, 0, 1, 1]], [9.0, 60.0])
    X, labels = model.sample(8000)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, atol=1e-12)
    assert np.mean(labels == 0) == pytest.approx(0.25, abs=0.02)
    found = VonMisesFisherMixture(2, concentration="free", random_state=0).fit(X)
    order = linear_sum_assignment(-model._state.centers @ found.centers_.T)[1]
    np.testing.assert_allclose(found.centers_[order], model._state.centers, atol=0.02)
    np.testing.assert_allclose(found.concentrations_[order], [9, 60], rtol=0.06)


# Texts ----------------------------------------------------------------------------------------------------------------


def test_news(shared_data):
    path = shared_data / "text" / "bbc_news.tsv"
    if not path.exists():
        pytest.skip("the corpus is not at hand")
    texts, _, topics = zip(*(line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()), strict=True)
    counts = CountVectorizer(token_pattern=r"\S+", min_df=3).fit_transform(texts)
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    model = VonMisesFisherMixture(5, random_state=0).fit(X)
    assert adjusted_rand_score(topics, model.labels_) >= 0.86
