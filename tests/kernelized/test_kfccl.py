"""Kernel fuzzy competitive learning: against a transcription with explicit vectors, limits, kernels, hostile input."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import cosine_similarity, laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import normalize

from soft_clustering import KFCCL
from soft_clustering.kernelized import kernel_matrix, kfccl
from soft_clustering.kernelized.kfccl import KernelSpace, kernel_seeds, softmax

IRIS, SPECIES = load_iris(return_X_y=True)
SCALE = 1 / IRIS.var(axis=0).sum()
property_test = settings(max_examples=25, deadline=None, derandomize=True)
pytestmark = pytest.mark.filterwarnings("ignore:KFCCL did not converge", "ignore:KFCCL found 2 distinct")


def iris_kernel(factor=4.0):
    return rbf_kernel(IRIS, gamma=factor * SCALE)


def feature_vectors(Khat):
    """Explicit vectors (n, n) with these products."""
    values, vectors = np.linalg.eigh(Khat)
    return vectors * np.sqrt(np.maximum(values, 0))


def memberships_of(P, T):
    """softmax(p / T) of each row, by loops."""
    U = np.empty_like(P)
    for i, p in enumerate(P):
        weights = [np.exp((value - max(p)) / T) for value in p]
        U[i] = [w / sum(weights) for w in weights]
    return U


def brute_force_objective(P, T):
    """J at the best memberships, term by term."""
    J = 0.0
    for p, u in zip(P, memberships_of(P, T), strict=True):
        for k in range(len(p)):
            J += u[k] * (1 - p[k]) + (T * u[k] * np.log(u[k]) if u[k] > 0 else 0)
    return J


WIDE = {"gamma": "scale", "gamma_scale": 4.0, "entropy_weight": 1 / 30}


def transcription(Khat, K, seed, *, T=1 / 30, rate=0.3, decay=1.0, batch_size=64, n_init=3, n_epochs=3):
    """The epochs of all starts with explicit vectors, sample by sample: (P, history) of each."""
    n, rng, F = len(Khat), np.random.RandomState(seed), feature_vectors(Khat)
    seeds = [kernel_seeds(KernelSpace(np.asarray, Khat), n, K, rng) for _ in range(n_init)]
    orders = [rng.permutation(n) for _ in range(n_epochs)]
    runs = []
    for chosen in seeds:
        V, history = F[chosen].copy(), []
        for t, order in enumerate(orders):
            for lo in range(0, n, batch_size):
                batch = order[lo : lo + batch_size]
                U = memberships_of(F[batch] @ V.T, T)
                for k in range(K):
                    for b, u in zip(batch, U[:, k], strict=True):
                        V[k] += rate / (1 + decay * t) * u * F[b]
                    V[k] /= np.linalg.norm(V[k])
            history.append(brute_force_objective(F @ V.T, T))
        runs.append((F @ V.T, history))
    return runs


def batch_fixed_point(Khat, P, T, steps=500):
    """v_k ~ sum_i u_ik phi(x_i) until nothing changes: similarities and the objective at each step."""
    history = []
    for _ in range(steps):
        U, J = softmax(P, T)
        history.append(J.sum())
        moved = Khat @ U / np.sqrt(np.einsum("ik,ij,jk->k", U, Khat, U))
        if np.abs(moved - P).max() < 1e-13:
            break
        P = moved
    return P, history


# The method -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "batch_size, K, T", [(1, 3, 1 / 30), (7, 2, 0.1), (64, 4, 1 / 30), (150, 3, 1.0), (999, 5, 0.01)]
)
def test_transcription(batch_size, K, T):
    X = IRIS[::2]
    Khat = rbf_kernel(X, gamma=4 / X.var(axis=0).sum())
    runs = transcription(Khat, K, 0, T=T, batch_size=batch_size, n_epochs=4, rate=0.5, decay=0.7)
    P, history = min(runs, key=lambda run: run[1][-1])
    options = {
        "batch_size": batch_size,
        "n_epochs": 4,
        "max_iter": 4,
        "learning_rate": 0.5,
        "learning_decay": 0.7,
        "n_init": 3,
    }
    model = KFCCL(K, gamma=4 / X.var(axis=0).sum(), entropy_weight=T, random_state=0, **options).fit(X)
    np.testing.assert_allclose(model.memberships_, memberships_of(P, T), rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-12)
    np.testing.assert_allclose(Khat @ model.dual_coef_, P, rtol=0, atol=1e-11)
    assert model.n_iter_ == 4


def test_passes_go_on_from_the_best_start():
    """v_k = sum_i u_ik phi(x_i) over its length, with the memberships of the pass before, until nothing moves."""
    Khat = iris_kernel()
    P, history = min(transcription(Khat, 3, 3, n_init=5), key=lambda run: run[1][-1])
    F, change = feature_vectors(Khat), np.inf
    while change > 1e-4:
        V = memberships_of(P, 1 / 30).T @ F
        before, P = P, F @ (V / np.linalg.norm(V, axis=1, keepdims=True)).T
        change = np.abs(P - before).max()
        history.append(brute_force_objective(P, 1 / 30))
    model = KFCCL(3, **WIDE, n_init=5, random_state=3).fit(IRIS)
    assert model.converged_
    assert model.n_iter_ == len(history) > 5
    np.testing.assert_allclose(model.objective_history_, history, rtol=1e-11)
    np.testing.assert_allclose(model.memberships_, memberships_of(P, 1 / 30), rtol=0, atol=1e-9)
    assert np.all(np.diff(history[2:]) < 0)


def critical_weights(F):
    """Eigenvalues of the second moments of unit vectors orthogonal to their mean, over its length; descending."""
    mean = F.mean(axis=0)
    length = np.linalg.norm(mean)
    across = F - np.outer(F @ mean, mean) / length**2
    return np.linalg.eigvalsh(across.T @ across / len(F))[::-1] / length


def test_entropy_weight_by_the_spectrum():
    critical = critical_weights(feature_vectors(iris_kernel()))
    for K in (2, 3, 6):
        model = KFCCL(K, gamma=4 * SCALE, random_state=0).fit(IRIS)
        assert model.entropy_weight_ == pytest.approx(critical[K - 2] / 8, rel=1e-9)
    assert KFCCL(3, entropy_weight=0.2).fit(IRIS).entropy_weight_ == 0.2


@pytest.mark.parametrize("part, apart", [(0.95, True), (1.05, False)])
def test_prototypes_split_below_the_critical_weight(part, apart):
    weight = part * critical_weights(feature_vectors(iris_kernel()))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KFCCL(2, gamma=4 * SCALE, entropy_weight=weight, tol=1e-10, max_iter=5000, random_state=0).fit(IRIS)
    assert (model.memberships_.max() > 0.51) == apart


@pytest.mark.parametrize("d, factor", [(1, 4.0), (2, 4.0), (5, 1.76), (40, 1.16)])
def test_width_of_a_gaussian_cloud(d, factor):
    """Two samples have the mean similarity 1/9 from two features on, by simulation."""
    X = np.random.RandomState(0).normal(size=(1500, d)) * 7
    model = KFCCL(2, max_iter=1, n_init=1, random_state=0).fit(X)
    assert model.gamma_ * X.var(axis=0).sum() == pytest.approx(factor, rel=0.03)
    if d > 1:
        assert rbf_kernel(X, gamma=model.gamma_).mean() == pytest.approx(1 / 9, rel=0.05)


def test_many_features_do_not_make_the_kernel_the_identity():
    """Three Gaussians in 40 features, their means 5 deviations apart."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], [300, 100, 100])
    X = rng.normal(size=(500, 40)) + 3.5 * np.eye(40)[y]
    assert adjusted_rand_score(y, KFCCL(3, random_state=0).fit(X).labels_) > 0.9


@pytest.mark.parametrize("T", [1e-3, 1 / 30, 0.2])
def test_objective_by_brute_force(T):
    model = KFCCL(3, gamma=4 * SCALE, entropy_weight=T, random_state=0).fit(IRIS)
    J = brute_force_objective(iris_kernel() @ model.dual_coef_, T)
    assert model.objective_ == pytest.approx(J, rel=1e-12)
    assert model.score(IRIS) == pytest.approx(-J, rel=1e-12)
    new = IRIS[:20] + 0.1
    J = brute_force_objective(rbf_kernel(new, IRIS, gamma=4 * SCALE) @ model.dual_coef_, T)
    assert model.score(new) == pytest.approx(-J, rel=1e-12)


def test_prototypes_have_length_one():
    model = KFCCL(3, **WIDE, random_state=0).fit(IRIS)
    A, Khat = model.dual_coef_, iris_kernel()
    assert A.shape == (150, 3)
    np.testing.assert_allclose(np.einsum("ik,ij,jk->k", A, Khat, A), 1, rtol=0, atol=1e-13)
    np.testing.assert_allclose(memberships_of(Khat @ A, 1 / 30), model.memberships_, rtol=0, atol=1e-12)
    assert model.gamma_ == pytest.approx(4 * SCALE, rel=1e-12)


def test_fixed_point_on_iris():
    """Learning alone comes close to the fixed point of the passes, whose objective never rises; both steps reach it."""
    for options, off in (({"n_epochs": 20, "max_iter": 20}, 0.01), ({}, 1e-4)):
        model = KFCCL(3, **WIDE, random_state=0, **options).fit(IRIS)
        P, history = batch_fixed_point(iris_kernel(), iris_kernel() @ model.dual_coef_, 1 / 30)
        assert np.all(np.diff(history) <= 1e-12)
        assert history[-1] == pytest.approx(41.2795, abs=6e-5)
        assert history[-1] - 1e-9 < model.objective_ < history[-1] + off
        assert np.mean(model.labels_ == P.argmax(axis=1)) >= 149 / 150
        assert adjusted_rand_score(SPECIES, model.labels_) == pytest.approx(0.75, abs=0.01)


def test_hundreds_of_epochs_reach_the_same_fixed_point():
    model = KFCCL(3, **WIDE, n_epochs=500, max_iter=500, random_state=0).fit(IRIS)
    P, history = batch_fixed_point(iris_kernel(), iris_kernel() @ model.dual_coef_, 1 / 30)
    assert model.objective_ == pytest.approx(history[-1], rel=1e-5)
    np.testing.assert_allclose(iris_kernel() @ model.dual_coef_, P, rtol=0, atol=5e-3)


def test_linear_kernel_without_entropy_is_spherical_k_means():
    rng = np.random.RandomState(0)
    directions = normalize(rng.normal(size=(4, 6)))
    y = np.repeat(range(4), 60)
    X = (directions[y] + 0.15 * rng.normal(size=(240, 6))) * rng.uniform(0.1, 10, (240, 1))
    model = KFCCL(4, kernel="linear", entropy_weight=1e-7, max_iter=300, random_state=0).fit(X)
    Z, hard = normalize(X), np.eye(4)[model.labels_]
    np.testing.assert_allclose(model.memberships_, hard, rtol=0, atol=1e-9)
    # Lloyd's algorithm on the sphere stays where the model has come to.
    centers = normalize(hard.T @ Z)
    np.testing.assert_array_equal((Z @ centers.T).argmax(axis=1), model.labels_)
    found = normalize(model.dual_coef_.T @ Z)
    np.testing.assert_allclose(np.einsum("kd,kd->k", found, centers), 1, rtol=0, atol=1e-4)
    assert model.objective_ == pytest.approx((1 - (Z @ centers.T).max(axis=1)).sum(), rel=1e-4)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    # k-means of the unit vectors has nearly the same clusters: |z - c|^2 differs from 2 - 2 z'c by the lengths of c
    assert adjusted_rand_score(KMeans(4, n_init=10, random_state=0).fit_predict(Z), model.labels_) > 0.95


def test_best_start_is_kept():
    X, _ = make_blobs(200, 2, centers=6, random_state=1)
    runs = transcription(rbf_kernel(X, gamma=4 / X.var(axis=0).sum()), 6, 0, n_init=6, batch_size=40)
    model = KFCCL(6, **WIDE, n_init=6, max_iter=3, batch_size=40, random_state=0).fit(X)
    assert np.ptp([history[-1] for _, history in runs]) > 1
    assert model.objective_ == pytest.approx(min(history[-1] for _, history in runs), rel=1e-12)


def test_seeds_are_spread_out():
    """Greedy k-means++ in feature space finds a row of every well separated cluster, and never one row twice."""
    X, y = make_blobs(120, 2, centers=[[0, 0], [50, 0], [0, 50], [50, 50], [25, 25]], random_state=0)
    space = KernelSpace(np.asarray, rbf_kernel(X, gamma=0.01))
    for seed in range(20):
        assert set(y[kernel_seeds(space, 120, 5, np.random.RandomState(seed))]) == set(range(5))
    few = KernelSpace(np.asarray, rbf_kernel(X[:8], gamma=1.0))
    assert sorted(kernel_seeds(few, 8, 8, np.random.RandomState(0))) == list(range(8))


def test_starts_draw_by_distance():
    """The second of two seeds is drawn with probability proportional to 1 - Khat, the better of two candidates kept."""
    Khat = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.4], [0.2, 0.4, 1.0]])
    space = KernelSpace(np.asarray, Khat)
    pairs = [tuple(kernel_seeds(space, 3, 2, np.random.RandomState(seed))) for seed in range(1500)]
    from_first = [b for a, b in pairs if a == 0]
    # From row 0 the candidates are 1 (p = 1/9) and 2 (p = 8/9); 2 leaves less, so 1 needs two draws.
    assert np.mean(np.array(from_first) == 1) == pytest.approx(1 / 81, abs=0.015)
    assert {a for a, _ in pairs} == {0, 1, 2}


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_factors_multiplied_out_change_nothing(monkeypatch, kernel):
    """Each step divides the factors of the prototypes: they would leave the range of a float after some dozens."""
    X, _ = make_blobs(300, 3, centers=3, random_state=0)
    # One start: which of two equal ones is the best, rounding may decide.
    settings = {
        "kernel": kernel,
        "batch_size": 1,
        "learning_rate": 0.5,
        "learning_decay": 0,
        "max_iter": 3,
        "n_init": 1,
    }
    expected = KFCCL(3, random_state=0, **settings).fit(X)
    monkeypatch.setattr(kfccl, "_SMALL", 0.5)
    model = KFCCL(3, random_state=0, **settings).fit(X)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=0, atol=1e-13)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-12)


# Kernels --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", laplacian_kernel, "sparse"])
def test_rows_on_demand_change_nothing(monkeypatch, kernel):
    """Above the budget no matrix is held."""
    X, options = (IRIS, {"kernel": kernel}) if kernel != "sparse" else (sparse.csr_matrix(IRIS), {})
    expected = KFCCL(3, random_state=0, **options).fit(X)
    monkeypatch.setattr(kernel_matrix, "HELD", 0)
    model = KFCCL(3, random_state=0, **options).fit(X)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.predict_memberships(X), model.memberships_, rtol=0, atol=1e-12)


def test_no_matrix_above_the_budget(monkeypatch):
    monkeypatch.setattr(kernel_matrix, "HELD", 1 << 20)
    X = make_blobs(3000, 2, random_state=0)[0]  # a matrix of 72 MB
    tracemalloc.start()
    KFCCL(3, n_init=2, max_iter=1).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12e6


def test_linear_kernel_needs_no_matrix():
    X = make_blobs(3000, 2, random_state=0)[0]
    tracemalloc.start()
    KFCCL(3, kernel="linear", n_init=2, max_iter=1).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


def test_precomputed_kernel():
    expected = KFCCL(3, random_state=0).fit(IRIS)
    K = iris_kernel()
    model = KFCCL(3, kernel="precomputed", random_state=0)
    assert model.__sklearn_tags__().input_tags.pairwise
    assert not model.__sklearn_tags__().input_tags.sparse
    assert not expected.__sklearn_tags__().input_tags.pairwise
    model.fit(K)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(model.predict_memberships(K), model.memberships_)
    new = IRIS[:30] + 0.2
    found = model.predict_memberships(rbf_kernel(new, IRIS, gamma=4 * SCALE))
    np.testing.assert_allclose(found, expected.predict_memberships(new), rtol=0, atol=1e-11)
    assert not hasattr(model, "X_fit_")
    assert not hasattr(model, "gamma_")
    with pytest.raises(ValueError, match="4 features"):
        model.predict(IRIS)


def test_grid_search_with_a_precomputed_kernel():
    """The tag makes scikit-learn take rows and columns."""
    search = GridSearchCV(KFCCL(kernel="precomputed", random_state=0), {"n_clusters": [1, 3]}, cv=3)
    search.set_params(error_score="raise").fit(iris_kernel())
    assert search.best_params_ == {"n_clusters": 3}
    assert search.predict(iris_kernel()[:5]).shape == (5,)


def test_kernels_are_normalised():
    """The lengths of feature vectors do not matter: only cosines do."""
    expected = KFCCL(3, kernel="precomputed", random_state=0).fit(iris_kernel())
    lengths = np.random.RandomState(0).uniform(0.1, 5, 150)
    model = KFCCL(3, kernel="precomputed", random_state=0).fit(iris_kernel() * np.outer(lengths, lengths))
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-11)
    with pytest.raises(ValueError, match=r"kernel='precomputed' predicts only if K\(x, x\) is the same"):
        model.predict(iris_kernel())
    model = KFCCL(3, kernel="precomputed", random_state=0).fit(7 * iris_kernel())
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.predict_memberships(7 * iris_kernel()), model.memberships_, rtol=0, atol=1e-15)


def test_function_as_kernel():
    """A kernel with K(x, x) != 1 is normalised, for new samples too."""

    def kernel(X, Y):
        return polynomial_kernel(X, Y, degree=3, gamma=0.1, coef0=2)

    model = KFCCL(3, kernel=kernel, entropy_weight=0.01, random_state=0).fit(IRIS)
    K = kernel(IRIS, IRIS)
    lengths = np.sqrt(np.diagonal(K))
    Khat = K / np.outer(lengths, lengths)
    expected = KFCCL(3, kernel="precomputed", entropy_weight=0.01, random_state=0).fit(Khat)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-10)
    new = IRIS[:30] + 0.2
    cosines = kernel(new, IRIS) / lengths / np.sqrt([kernel(x[None], x[None])[0, 0] for x in new])[:, None]
    np.testing.assert_allclose(
        model.predict_memberships(new), memberships_of(cosines @ model.dual_coef_, 0.01), rtol=0, atol=1e-10
    )
    assert not model.__sklearn_tags__().input_tags.sparse
    assert model.X_fit_ is not None


@pytest.mark.parametrize("batch_size", [1, 10, 64])
def test_linear_kernel_is_that_of_cosines(batch_size):
    settings = {"entropy_weight": 0.01, "batch_size": batch_size, "random_state": 0}
    X = np.random.RandomState(0).normal(size=(90, 4)) + np.repeat(np.eye(3, 4), 30, axis=0)
    expected = KFCCL(3, kernel="precomputed", **settings).fit(cosine_similarity(X))
    model = KFCCL(3, kernel="linear", **settings).fit(X)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-9)
    function = KFCCL(3, kernel=linear_kernel, **settings).fit(X)
    np.testing.assert_allclose(model.memberships_, function.memberships_, rtol=0, atol=1e-9)
    new = np.random.RandomState(1).normal(size=(20, 4)) * 1e5
    np.testing.assert_allclose(model.predict_memberships(new), function.predict_memberships(new), rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_length_of_rows_does_not_matter_to_cosines(size):
    X = np.random.RandomState(0).normal(size=(90, 4)) + 2 * np.repeat(np.eye(3, 4), 30, axis=0)
    expected = KFCCL(3, kernel="linear", random_state=0).fit(X)
    model = KFCCL(3, kernel="linear", random_state=0).fit(X * size)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_sparse_rows(kernel):
    rng = np.random.RandomState(0)
    X = rng.poisson(0.3 + 2 * (np.arange(12) % 3 == rng.randint(3, size=200)[:, None]), size=(200, 12)).astype(float)
    X[~X.any(axis=1), 0] = 1
    dense, model = (KFCCL(3, kernel=kernel, random_state=0).fit(data) for data in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(model.memberships_, dense.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.predict_memberships(X), dense.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(dense.predict_memberships(sparse.csr_array(X)), dense.memberships_, rtol=0, atol=1e-9)
    assert sparse.issparse(model.X_fit_)
    np.testing.assert_array_equal(model.X_fit_.toarray(), X)  # not the normalised rows


def test_negative_zero_and_indefinite_kernels():
    K = iris_kernel()
    for value in (0.0, -1.0):
        bad = K.copy()
        bad[7, 7] = value
        with pytest.raises(ValueError, match=rf"kernel must have K\(x, x\) > 0 .* Got {value:g} for sample 7"):
            KFCCL(3, kernel="precomputed").fit(bad)
    bad = K.copy()
    bad[3, 5] = bad[5, 3] = -2.0
    with pytest.raises(ValueError, match=r"kernel must be positive semi-definite.* by a factor of 2"):
        KFCCL(3, kernel="precomputed").fit(bad)
    rows = IRIS.copy()
    rows[11] = 0
    for data in (rows, sparse.csr_matrix(rows)):
        with pytest.raises(ValueError, match=r"kernel='linear' must have .* Got 0 for sample 11"):
            KFCCL(3, kernel="linear").fit(data)
    model = KFCCL(3, kernel="linear").fit(IRIS)
    with pytest.raises(ValueError, match=r"kernel='linear' must have .* Got 0 for sample 0"):
        model.predict(np.zeros((1, 4)))


def test_kernel_of_the_last_fit_leaves_nothing_behind():
    model = KFCCL(3, random_state=0).fit(IRIS)
    model.set_params(kernel="precomputed").fit(iris_kernel())
    assert not hasattr(model, "gamma_")
    assert not hasattr(model, "X_fit_")
    expected = KFCCL(3, kernel="linear", random_state=0).fit(IRIS)
    model.set_params(kernel="linear").fit(IRIS)
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)


# Degenerate data ------------------------------------------------------------------------------------------------------


def test_identical_points():
    with pytest.warns(ConvergenceWarning, match="KFCCL collapsed: all samples have the same memberships"):
        model = KFCCL(3, random_state=0).fit(np.full((7, 3), 2.5))
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-13)
    assert model.converged_


def test_fewer_distinct_points_than_clusters():
    with pytest.warns(ConvergenceWarning, match="KFCCL found 2 distinct prototypes, fewer than n_clusters=3"):
        KFCCL(3, random_state=0).fit(np.repeat([[0.0, 0.0], [5.0, 1.0]], 15, axis=0))


def test_one_cluster_is_the_mean_direction():
    model = KFCCL(1, max_iter=1000, random_state=0).fit(IRIS)
    np.testing.assert_array_equal(model.memberships_, 1)
    total = iris_kernel().sum(axis=1)
    expected = total / np.sqrt(total.sum())
    np.testing.assert_allclose((iris_kernel() @ model.dual_coef_)[:, 0], expected, rtol=0, atol=1e-3)


def test_as_many_clusters_as_samples():
    model = KFCCL(10, entropy_weight=1e-3, gamma=1e3, random_state=0).fit(IRIS[::15])
    assert sorted(model.labels_) == list(range(10))


def test_prototype_that_opposite_samples_cancel_stays():
    """v + 0.5 (-v) + 0.5 (-v) = 0 has no direction."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0]])
    for seed in range(10):
        model = KFCCL(1, kernel="linear", learning_rate=0.5, learning_decay=0, n_init=1, random_state=seed).fit(X)
        assert np.isfinite(model.dual_coef_).all()
        assert model.dual_coef_.any()


@pytest.mark.parametrize(
    "parameters",
    [
        *({"entropy_weight": 1e-300}, {"entropy_weight": 1e300}, {"learning_rate": 1e6}, {"learning_rate": 1e-300}),
        *({"learning_decay": 1e300}, {"gamma": 1e-300}, {"gamma": 1e300}, {"gamma_scale": 1e-300}),
        *({"gamma_scale": 1e300}, {"gamma": "median"}, {"batch_size": 10**9}, {"learning_decay": 0}),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_parameters_have_a_finite_result(parameters):
    model = KFCCL(3, random_state=0, **parameters).fit(IRIS)
    assert np.isfinite(model.memberships_).all()
    assert np.isfinite(model.dual_coef_).all()
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.predict_memberships(IRIS), model.memberships_, rtol=0, atol=1e-12)


@property_test
@given(seed=st.integers(0, 10**6), exponent=st.integers(-100, 100))
def test_similar_data_have_the_same_result(seed, exponent):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(40, 3)) + 4 * rng.normal(size=(3, 3))[rng.randint(3, size=40)]
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    scale = 10.0**exponent
    model = KFCCL(3, random_state=seed).fit(X)
    moved = KFCCL(3, random_state=seed).fit(scale * (X @ rotation + 10 * rng.normal(size=3)))
    np.testing.assert_allclose(moved.memberships_, model.memberships_, rtol=0, atol=1e-8)


# The protocol ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"max_iter": 3}, {"max_iter": 1}, {"tol": 0.5}])
def test_no_warning(parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = KFCCL(3, random_state=0, **parameters).fit(IRIS)
    assert model.converged_ == ("max_iter" not in parameters)
    assert model.n_iter_ == len(model.objective_history_)


def test_too_few_passes_are_told():
    with pytest.warns(
        ConvergenceWarning, match=r"KFCCL did not converge in max_iter=5 epochs and passes .* Increase max_iter"
    ):
        model = KFCCL(3, max_iter=5, random_state=0).fit(IRIS)
    assert not model.converged_
    assert model.n_iter_ == 5


def test_no_default_fit_of_the_ten_sets_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for _, (X, y) in offline_sets().items():
            assert KFCCL(len(np.unique(y)), random_state=1).fit(X[:1000]).converged_


def test_changing_a_parameter_after_fit_changes_no_prediction():
    model = KFCCL(3, random_state=0).fit(IRIS)
    expected, score = model.predict_memberships(IRIS), model.score(IRIS)
    model.set_params(entropy_weight=1.0, gamma=9.0)
    np.testing.assert_array_equal(model.predict_memberships(IRIS), expected)
    assert model.score(IRIS) == score


def test_interrupt_keeps_the_last_epoch(monkeypatch):
    calls = []
    learn = kfccl.Prototypes.learn

    def interrupted(self, *arguments):
        calls.append(1)
        if len(calls) == 8:  # in the third epoch of three batches
            raise KeyboardInterrupt
        learn(self, *arguments)

    monkeypatch.setattr(kfccl.Prototypes, "learn", interrupted)
    model = KFCCL(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    monkeypatch.undo()
    expected = KFCCL(3, n_epochs=2, max_iter=2, random_state=0).fit(IRIS)
    assert model.n_iter_ == 2
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)


def test_a_failed_fit_is_no_fit():
    model = KFCCL(3).fit(IRIS)
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        model.fit(IRIS[:2])
    with pytest.raises(NotFittedError):
        model.predict(IRIS)


@pytest.mark.parametrize("kernel", ["rbf", "linear", laplacian_kernel])
def test_prediction_is_exact_and_survives_pickling(kernel):
    model = KFCCL(3, kernel=kernel, random_state=0).fit(IRIS)
    np.testing.assert_allclose(model.predict_memberships(IRIS), model.memberships_, rtol=0, atol=1e-14)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_memberships(IRIS[:9]), model.predict_memberships(IRIS[:9]))


def test_float32_is_kept_and_close():
    model, exact = KFCCL(3, random_state=0).fit(IRIS.astype(np.float32)), KFCCL(3, random_state=0).fit(IRIS)
    assert model.memberships_.dtype == np.float32
    np.testing.assert_allclose(model.memberships_, exact.memberships_, rtol=0, atol=1e-4)
    K = iris_kernel().astype(np.float32)
    model = KFCCL(3, kernel="precomputed", random_state=0).fit(K)
    assert model.predict_memberships(K).dtype == np.float32


@pytest.mark.parametrize(
    "parameters",
    [
        *({"n_clusters": 0}, {"kernel": "cosine"}, {"gamma": 0}, {"gamma": "mean"}, {"gamma_scale": 0.0}),
        *({"entropy_weight": 0}, {"learning_rate": 0}, {"learning_rate": 1e7}, {"learning_decay": -1}),
        *({"batch_size": 0}, {"batch_size": None}, {"n_init": 0}, {"max_iter": 0}, {"tol": -1}, {"tol": None}),
        {"n_epochs": -1},
    ],
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of KFCCL must be"):
        KFCCL(**parameters).fit(IRIS)


def test_sparse_is_refused_with_a_function():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        KFCCL(3, kernel=laplacian_kernel).fit(sparse.csr_matrix(IRIS))


def test_verbose(capsys):
    KFCCL(3, random_state=0).fit(IRIS)
    assert capsys.readouterr().out == ""
    model = KFCCL(3, verbose=1, random_state=0).fit(IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert any(f"objective {model.objective_:.8g}, {model.n_iter_} passes, converged" in line for line in lines)
    KFCCL(3, verbose=2, n_init=1, random_state=0).fit(IRIS)
    assert capsys.readouterr().out.count("KFCCL pass") >= 5


# Quality --------------------------------------------------------------------------------------------------------------


def test_agreement_with_the_classes_of_ten_sets():
    expected = {
        **{"iris": 0.744, "wine": 0.391, "digits": 0.65, "breast_cancer": 0.567, "blobs": 0.952, "moons": 0.81},
        **{"circles": -0.001, "anisotropic_blobs": 0.945, "varied_blobs": 0.916, "high_dimensional_blobs": 1.0},
    }
    found = {}
    for name, (X, y) in offline_sets().items():
        K = len(np.unique(y))
        seeds = range(1 if len(X) > 2000 else 3)
        fits = [adjusted_rand_score(y, KFCCL(K, random_state=seed).fit(X).labels_) for seed in seeds]
        found[name] = np.mean(fits)
        assert min(fits) >= expected[name] - 0.02, name
    assert found.keys() == expected.keys()
    assert round(np.mean(list(found.values())), 3) >= 0.706
