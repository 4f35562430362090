"""Adaptive fuzzy c-means with graph embedding: definitions by loops, oracles, graphs, prediction, degenerate data."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from scipy import sparse
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.cluster._spectral import cluster_qr
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from soft_clustering import AFCM
from soft_clustering.engine.neighbors import adaptive_weights
from soft_clustering.fuzzy import afcm
from soft_clustering.fuzzy.afcm import RegularisedAffinity, leading_eigenvectors, pivot_labels, weighted_means

IRIS = load_iris().data
MOONS, SIDES = make_moons(400, noise=0.05, random_state=0)
PREDICTING = ("predict", "predict_memberships", "predict_proba", "transform", "fit_transform")


def brute_graph(X, k):
    """The affinities of all pairs, by the definition."""
    n = len(X)
    S = np.zeros((n, n))
    D = cdist(X, X, "sqeuclidean")
    k = min(k, n - 2)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: (D[i, j], j))[: k + 1]
        d = [D[i, j] for j in others]
        below = k * d[k] - sum(d[:k])
        nearer = sum(distance < d[k] * (1 - 1e-10) for distance in d[:k])
        for j, distance in zip(others[:k], d[:k], strict=True):
            if nearer == 0:
                S[i, j] = 1 / k
            elif distance < d[k] * (1 - 1e-10):
                S[i, j] = ((d[k] - distance) / below + 1 / nearer) / 2
    return (S + S.T) / 2


def dense_operator(S, regularization):
    degrees = S.sum(axis=1)
    tau = regularization * degrees.mean()
    root = np.diag(1 / np.sqrt(degrees + tau))
    return root @ (S + tau / len(S)) @ root


def brute_objective(A, Y, U, V, lam, gamma):
    """J term by term: a loop over samples and clusters."""
    (n, q), K = Y.shape, len(V)
    J = gamma * np.trace(Y.T @ (np.eye(n) - A) @ Y) / lam + n * q / 2 * np.log(lam)
    for i in range(n):
        for k in range(K):
            J += U[i, k] * sum((Y[i, c] - V[k, c]) ** 2 for c in range(q)) / lam
            J += U[i, k] * np.log(U[i, k]) if U[i, k] > 0 else 0
    return J


def softmax(S):
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


# Definitions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 10, 1000])
def test_graph_by_brute_force(k):
    X = make_blobs(60, 3, centers=3, random_state=0)[0]
    S = quiet(AFCM(3, n_neighbors=k), X).affinity_matrix_
    assert sparse.issparse(S) and S.format == "csr"
    np.testing.assert_allclose(S.toarray(), brute_graph(X, k), rtol=0, atol=1e-12)


def test_adaptive_weights_solve_their_problem():
    """They minimise sum_j d_j s_j + r s_j^2 over the simplex, for the r that leaves k of them positive."""
    d = np.sort(np.random.RandomState(0).uniform(size=8))
    k = 5
    s = adaptive_weights(d[None, : k + 1])[0]
    assert s.sum() == pytest.approx(1, rel=1e-14)
    r = k / 2 * d[k] - d[:k].sum() / 2
    gradient = d + 2 * r * np.concatenate([s, np.zeros(3)])
    np.testing.assert_allclose(gradient[:k], d[k], rtol=1e-12)  # equal where positive
    assert gradient[k:].min() >= d[k]


@pytest.mark.parametrize("regularization", [1e-3, 0.1, 10.0])
def test_operator_is_the_regularised_affinity(regularization):
    S = brute_graph(IRIS[:50], 5)
    A = RegularisedAffinity(sparse.csr_array(S), regularization)
    expected = dense_operator(S, regularization)
    np.testing.assert_allclose(A @ np.eye(50), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(A @ S[0], expected @ S[0], rtol=0, atol=1e-14)
    values = np.linalg.eigvalsh(expected)
    assert values[-1] == pytest.approx(1, rel=1e-12)
    assert values[0] >= -1 and values[-2] < 1 - 1e-4


@pytest.mark.parametrize("weight", ["auto", 4.0])
def test_objective_by_brute_force(weight):
    X = make_blobs(90, 3, centers=3, cluster_std=3, random_state=0)[0]
    model = quiet(AFCM(3, graph_weight=weight, random_state=0), X)
    A = dense_operator(brute_graph(X, 30), 0.1)
    Y, V, lam = model.embedding_, model.embedding_centers_, model.entropy_weight_
    U = model.embedding_memberships_
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), rtol=0, atol=1e-12)
    np.testing.assert_allclose(U, softmax(-cdist(Y, V, "sqeuclidean") / lam), rtol=0, atol=1e-12)
    expected = brute_objective(A, Y, U, V, lam, model.graph_weight_)
    assert model.objective_ == pytest.approx(expected, rel=1e-12)
    assert model.objective_ == model.objective_history_[-1]


def test_automatic_graph_weight():
    model = AFCM(3).fit(IRIS)
    A = dense_operator(brute_graph(IRIS, 30), 0.1)
    trace = 3 - np.linalg.eigvalsh(A)[-3:].sum()
    assert model.graph_weight_ == pytest.approx(0.3 / trace, rel=1e-6)
    assert AFCM(3, graph_weight=2.5).fit(IRIS).graph_weight_ == 2.5


def test_fixed_point():
    """Where nothing moves any more each part is the exact minimum of J given the others."""
    model = quiet(AFCM(3, graph_weight=3.0, tol=0, max_iter=400), IRIS[:100])
    U, Y, V, lam = model.embedding_memberships_, model.embedding_, model.embedding_centers_, model.entropy_weight_
    A = dense_operator(brute_graph(IRIS[:100], 30), 0.1)
    np.testing.assert_allclose(V, U.T @ Y / U.sum(axis=0)[:, None], rtol=0, atol=1e-6)
    scatter = (U * cdist(Y, V, "sqeuclidean")).sum() + 3.0 * (3 - np.vdot(Y, A @ Y))
    assert lam == pytest.approx(2 * scatter / (100 * 3), rel=1e-6)
    leading = np.linalg.eigh(3.0 * A + U @ np.diag(1 / U.sum(axis=0)) @ U.T)[1][:, -3:]
    assert subspace_angles(Y, leading).max() < 1e-5


@pytest.mark.parametrize("n_components", [None, 2, 5])
def test_strong_graph_gives_the_spectral_embedding(n_components):
    model = quiet(AFCM(3, graph_weight=1e6, n_components=n_components), IRIS)
    q = n_components or 3
    leading = np.linalg.eigh(dense_operator(brute_graph(IRIS, 30), 0.1))[1][:, -q:]
    assert subspace_angles(model.embedding_, leading).max() < 1e-3


# Measured values ------------------------------------------------------------------------------------------------------

TABLE = [0.818, 0.374, 0.786, 0.415, 0.95, 1, 1, 0.95, 0.942, 1]


def test_agreement_with_the_classes_of_ten_sets():
    found = []
    for (name, (X, y)), expected in zip(offline_sets().items(), TABLE, strict=True):
        model = AFCM(len(np.unique(y)), random_state=0).fit(X)
        found.append(adjusted_rand_score(y, model.labels_))
        assert found[-1] >= expected - 0.01, name
        assert np.diff(model.objective_history_).max() < 0, name
        assert model.converged_
    assert np.mean(found) >= 0.82


def test_seed_does_not_matter():
    X = make_circles(500, factor=0.5, noise=0.05, random_state=0)[0]  # beyond the size where all is dense
    models = [AFCM(2, random_state=seed).fit(X) for seed in range(4)]
    assert np.ptp([model.objective_ for model in models]) < 1e-6 * abs(models[0].objective_)
    for model in models:
        assert adjusted_rand_score(model.labels_, models[0].labels_) == 1


def test_weight_of_the_graph_decides_how_soft():
    """With iris a weight of 3 is crisp and one of 10 makes all memberships equal."""
    crisp = quiet(AFCM(3, graph_weight=3.0), IRIS)
    assert np.median(crisp.embedding_memberships_.max(axis=1)) > 0.999
    with pytest.warns(ConvergenceWarning, match=r"AFCM: with graph_weight=10 equal .* use less than 3\.9\d+, or"):
        equal = AFCM(3, graph_weight=10.0).fit(IRIS)
    np.testing.assert_allclose(equal.memberships_, 1 / 3, rtol=0, atol=2e-3)
    with pytest.warns(ConvergenceWarning) as record:
        AFCM(3, graph_weight=100.0).fit(IRIS)
    assert any("AFCM collapsed" in str(warning.message) for warning in record)
    assert {warning.filename for warning in record} == {__file__}


def test_memberships_are_a_step_of_the_lazy_walk():
    X = make_blobs(90, 3, centers=3, cluster_std=3, random_state=0)[0]
    model = AFCM(3, n_neighbors=5, random_state=0).fit(X)
    S = brute_graph(X, 5)
    for i in range(90):
        share = sum(S[i, j] * model.embedding_memberships_[j] for j in range(90)) / sum(S[i])
        np.testing.assert_allclose(
            model.memberships_[i], 0.51 * model.embedding_memberships_[i] + 0.49 * share, rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("name, largest", [("iris", 0.8), ("wine", 0.82), ("digits", 0.84)])
def test_memberships_have_degrees(name, largest):
    """A row in twenty has no larger membership than this; rows that no other cluster meets are sure."""
    X, y = offline_sets()[name]
    top = AFCM(len(np.unique(y)), random_state=0).fit(X).memberships_.max(axis=1)
    assert np.quantile(top, 0.05) < largest
    assert np.median(top) > 0.99


def test_unsure_memberships_are_more_often_wrong():
    """Two overlapping Gaussians: 98 % of the labels are right where the membership is above 0.99, 72 % below 0.9."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 400)
    X = rng.normal(size=(800, 5)) + 2.5 * y[:, None] * np.eye(5)[0]
    model = AFCM(2, random_state=0).fit(X)
    right = model.labels_ == (y if np.mean(model.labels_ == y) > 0.5 else 1 - y)
    top = model.memberships_.max(axis=1)
    assert right[top > 0.99].mean() > 0.97
    assert right[top < 0.9].mean() < 0.75
    assert (top < 0.9).sum() > 100


def test_a_tight_group_smaller_than_the_neighbours_is_no_cluster():
    """Twelve rows near each other beside two overlapping clusters keep edges to others, so that both are found."""
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 10)) + 3.0 * y[:, None] * np.eye(10)[0]
    X[:12] = 0.05 * rng.normal(size=(12, 10)) + 5.0 * np.eye(10)[1]
    labels = AFCM(2, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y[12:], labels[12:]) > 0.7


# Oracles --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 7])
def test_start_is_cluster_qr(K):
    A = RegularisedAffinity(sparse.csr_array(brute_graph(IRIS, 10)), 0.1)
    Y = leading_eigenvectors(A, K, np.random.RandomState(0))
    np.testing.assert_array_equal(pivot_labels(Y, K), cluster_qr(Y))


@pytest.mark.parametrize("name, least", [("wine", 0.98), ("breast_cancer", 0.97), ("blobs", 1), ("moons", 1)])
def test_start_is_spectral_clustering(name, least):
    X, y = offline_sets()[name]
    K = len(np.unique(y))
    S = quiet(AFCM(K, max_iter=1), X).affinity_matrix_
    ours = pivot_labels(leading_eigenvectors(RegularisedAffinity(S, 0.1), K, np.random.RandomState(0)), K)
    dense = S.toarray() + 0.1 * S.sum() / len(X) ** 2
    theirs = SpectralClustering(K, affinity="precomputed", assign_labels="cluster_qr", random_state=0).fit(dense)
    assert adjusted_rand_score(ours, theirs.labels_) >= least


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
def test_scikit_learn_takes_the_affinity_matrix():
    S = AFCM(2, random_state=0).fit(MOONS).affinity_matrix_
    theirs = SpectralClustering(2, affinity="precomputed", assign_labels="cluster_qr", random_state=0).fit(S)
    assert adjusted_rand_score(SIDES, theirs.labels_) == 1


def test_lanczos_and_dense_eigenvectors(monkeypatch):
    A = RegularisedAffinity(AFCM(2).fit(MOONS).affinity_matrix_, 0.1)
    lanczos = leading_eigenvectors(A, 3, np.random.RandomState(0))
    monkeypatch.setattr(afcm, "_DENSE", 400)
    assert subspace_angles(lanczos, leading_eigenvectors(A, 3, np.random.RandomState(0))).max() < 3e-3


def test_lanczos_that_does_not_converge(monkeypatch):
    found = leading_eigenvectors(
        RegularisedAffinity(AFCM(2).fit(MOONS).affinity_matrix_, 0.1), 1, np.random.RandomState(0)
    )

    def stop(*arguments, **keywords):
        raise ArpackNoConvergence("stopped", np.ones(1), found)

    monkeypatch.setattr(afcm, "eigsh", stop)
    model = quiet(AFCM(2, max_iter=100, random_state=0), MOONS)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_, np.eye(2), rtol=0, atol=1e-10)
    assert np.all(np.diff(model.objective_history_) <= 0)


# Invariances ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("X, K, tolerance", [(IRIS[:140], 3, 1e-7), (MOONS, 2, 1e-4)], ids=["dense", "lanczos"])
def test_order_of_the_rows_does_not_matter(X, K, tolerance):
    order = np.random.RandomState(0).permutation(len(X))
    model, other = (AFCM(K, graph_weight=3.0, random_state=0).fit(rows) for rows in (X, X[order]))
    same = cdist(model.memberships_[order].T, other.memberships_.T).argmin(axis=1)
    assert sorted(same) == list(range(K))
    np.testing.assert_allclose(other.memberships_[:, same], model.memberships_[order], rtol=0, atol=tolerance)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_objective_does_not_see_the_unit():
    model, other = AFCM(3).fit(IRIS), AFCM(3).fit(IRIS * 1e-7 + 3)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-6)
    assert other.entropy_weight_ == pytest.approx(model.entropy_weight_, rel=1e-5)


def test_memory_is_linear():
    X = make_blobs(6000, 2, centers=3, random_state=0)[0]
    tracemalloc.start()
    try:
        AFCM(3, random_state=0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 6000**2 / 8  # an eighth of one (n, n) matrix


# Starts ---------------------------------------------------------------------------------------------------------------


def test_more_starts_are_never_worse():
    X = make_blobs(200, 2, centers=6, cluster_std=2, random_state=1)[0]
    one, many = (quiet(AFCM(6, n_init=n, random_state=0), X) for n in (1, 8))
    assert many.objective_ <= one.objective_ + 1e-10 * abs(one.objective_)


@pytest.mark.parametrize(
    "n_components, n_init, starts", [(None, 1, 1), (None, 4, 4), (5, 1, 2), (5, 3, 3), (2, 1, 1), (2, 3, 3)]
)
def test_number_of_starts(capsys, n_components, n_init, starts):
    model = quiet(AFCM(3, n_components=n_components, n_init=n_init, random_state=0, verbose=1), IRIS)
    assert capsys.readouterr().out.count("AFCM start") == starts
    assert model.embedding_.shape == (150, n_components or 3)
    assert len(set(model.labels_)) == 3
    assert model.embedding_centers_.shape == (3, n_components or 3)


def test_empty_cluster_gets_the_farthest_row():
    Y = np.array([[0.0], [1.0], [2.0], [9.0]])
    U = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(weighted_means(U, Y), [[3.0], [9.0], [0.0]])


# New samples ----------------------------------------------------------------------------------------------------------


def test_prediction_by_brute_force():
    X = make_blobs(200, 2, centers=2, cluster_std=4, random_state=0)[0]
    X, new = X[::2], X[1::2]
    model = quiet(AFCM(2, n_neighbors=6, random_state=0), X)
    expected = np.zeros((len(new), 2))
    for i, x in enumerate(new):
        d = np.square(X - x).sum(axis=1)
        order = np.argsort(d)[:7]
        s = d[order[6]] - d[order[:6]]
        s = (s / s.sum() + 1 / 6) / 2
        expected[i] = sum(s[j] * model.embedding_memberships_[order[j]] for j in range(6))
    assert expected.max(axis=1).min() < 0.7  # soft, so that there is something to compare
    np.testing.assert_allclose(model.predict_memberships(new), expected, rtol=0, atol=1e-10)


def test_new_samples_of_the_moons():
    model = AFCM(2, random_state=0).fit(MOONS)
    X, y = make_moons(1000, noise=0.05, random_state=1)
    assert adjusted_rand_score(y, model.predict(X)) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("decimals", [0, 1, 4])
def test_training_rows_get_their_memberships(decimals, dtype):
    """Also where there are many copies of a row, more than neighbours."""
    X = np.round(make_blobs(300, 2, centers=3, cluster_std=2, random_state=0)[0], decimals).astype(dtype)
    model = quiet(AFCM(3, graph_weight=4.0, random_state=0), X)
    assert (len(np.unique(X, axis=0)) < len(X)) == (decimals < 4)
    np.testing.assert_array_equal(model.predict_memberships(X), model.memberships_)
    for copies in (X[0] == X).all(axis=1), (X[17] == X).all(axis=1):
        np.testing.assert_array_equal(
            model.memberships_[copies], model.memberships_[copies][:1].repeat(copies.sum(), 0)
        )


def test_copies_in_single_precision_are_copies():
    model = AFCM(3, graph_weight=4.0).fit(IRIS + 0.01 * np.random.RandomState(0).normal(size=IRIS.shape))
    X = model._rows
    np.testing.assert_allclose(
        model.predict_memberships(X.astype(np.float32)), model.predict_memberships(X), rtol=0, atol=1e-7
    )


def test_changing_a_parameter_after_fit_changes_no_prediction():
    model = AFCM(2, random_state=0).fit(MOONS[::2])
    expected = model.predict_memberships(MOONS)
    np.testing.assert_array_equal(model.set_params(n_neighbors=3).predict_memberships(MOONS), expected)


# Given graphs ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def graph():
    return AFCM(2, random_state=0).fit(MOONS).affinity_matrix_


def given(**parameters):
    return AFCM(2, affinity="precomputed", random_state=0, **parameters)


@pytest.mark.parametrize(
    "form",
    [
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_matrix,
        lambda S: S.toarray(),
        lambda S: S + sparse.eye_array(400, format="csr"),
        lambda S: S * 1e300,
        lambda S: S * 1e-300,
    ],
    ids=["csr_matrix", "csc", "coo", "dense", "diagonal", "1e300", "1e-300"],
)
def test_given_graph(graph, form):
    expected = AFCM(2, random_state=0).fit(MOONS)
    model = given().fit(form(graph))
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-6)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    assert model.n_features_in_ == 400
    assert model.affinity_matrix_.diagonal().max() == 0


def test_given_graph_in_single_precision(graph):
    model = given().fit(graph.astype(np.float32))
    assert model.memberships_.dtype == model.embedding_.dtype == np.float32
    assert adjusted_rand_score(SIDES, model.labels_) == 1


def test_kernel_matrix_as_a_graph():
    model = given().fit(rbf_kernel(MOONS, gamma=30.0))
    assert adjusted_rand_score(SIDES, model.labels_) == 1


def test_given_graph_has_no_rule_for_new_samples(graph):
    for name in PREDICTING:
        assert hasattr(AFCM(), name)
        assert not hasattr(given(), name)
    model = given().fit(graph)
    for name in PREDICTING:
        assert not hasattr(model, name)
        assert not hasattr(pickle.loads(pickle.dumps(model)), name)
        assert not hasattr(clone(model), name)
    assert not hasattr(model, "centers_")
    with pytest.raises(AttributeError, match="predict"):
        model.predict(MOONS)
    np.testing.assert_array_equal(given().fit_predict(graph), model.labels_)


def test_tags_follow_the_affinity():
    for model, expected in ((AFCM(), False), (given(), True)):
        tags = model.__sklearn_tags__().input_tags
        assert tags.sparse is expected
        assert tags.pairwise is expected


def test_refit_with_a_graph_forgets_the_features(graph):
    model = AFCM(2, random_state=0).fit(MOONS)
    model.set_params(affinity="precomputed").fit(graph)
    assert not hasattr(model, "centers_")
    model.set_params(affinity="adaptive")
    assert not hasattr(model, "predict")  # the fit was one of a graph


def test_node_without_an_edge(graph):
    S = sparse.block_diag([graph, sparse.csr_array((1, 1))], "csr")
    model = given().fit(S)
    assert adjusted_rand_score(SIDES, model.labels_[:400]) == 1
    assert np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("regularization", [1e-300, 1e-3, 1e3, 1e300])
def test_any_regularization_is_valid(graph, regularization):
    model = quiet(given(regularization=regularization), sparse.block_diag([graph, sparse.csr_array((1, 1))], "csr"))
    assert np.isfinite(model.memberships_).all()
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)


# Degenerate data ------------------------------------------------------------------------------------------------------


def test_one_sample():
    model = AFCM(1).fit(np.array([[3.0, 4.0]]))
    np.testing.assert_array_equal(model.memberships_, [[1.0]])
    np.testing.assert_array_equal(model.centers_, [[3.0, 4.0]])
    np.testing.assert_array_equal(model.predict_memberships([[0.0, 0.0]]), [[1.0]])


@pytest.mark.parametrize("n", [2, 3, 4, 12])
def test_every_sample_its_own_cluster(n):
    X = np.random.RandomState(0).normal(size=(n, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AFCM(n).fit(X)
    assert sorted(model.labels_) == list(range(n))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.centers_[model.labels_], X, rtol=0, atol=1e-4)


def test_identical_samples():
    X = np.full((40, 2), 0.1)
    with pytest.warns(ConvergenceWarning, match="AFCM got 1 distinct samples, fewer than n_clusters=3"):
        model = AFCM(3).fit(X)
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-12)
    np.testing.assert_allclose(model.centers_, X[:3], rtol=1e-15)


@pytest.mark.parametrize("weight", [1e-200, 1e-3, 1e200])
def test_any_weight_of_the_graph_is_valid(weight):
    model = quiet(AFCM(3, graph_weight=weight), IRIS)
    assert np.isfinite(model.objective_history_).all()
    assert np.all(np.diff(model.objective_history_) <= 1e-9 * np.abs(model.objective_))
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-12)


def test_interruption_keeps_the_best_so_far(monkeypatch):
    count = 0
    original = afcm.posteriors

    def posteriors(D):
        nonlocal count
        count += 1
        if count == 3:
            raise KeyboardInterrupt
        return original(D)

    monkeypatch.setattr(afcm, "posteriors", posteriors)
    model = AFCM(3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)
    assert model.n_iter_ == 2
    assert not model.converged_
    assert model.memberships_.shape == (150, 3)
    count = 2
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS)  # nothing to keep
    assert not hasattr(model, "memberships_")


def test_stops_at_max_iter_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="AFCM did not converge in max_iter=2 passes"):
        model = AFCM(3, max_iter=2, tol=1e-12).fit(IRIS)
    assert (model.n_iter_, model.converged_, len(model.objective_history_)) == (2, False, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert AFCM(3, max_iter=1).fit(IRIS).n_iter_ == 1


def test_passes_are_reported(capsys):
    model = AFCM(3, verbose=2).fit(IRIS)
    out = capsys.readouterr().out
    assert out.count("AFCM pass") == model.n_iter_
    assert f"objective {model.objective_:.8g}, {model.n_iter_} passes, converged" in out


@pytest.mark.parametrize(
    "name, value",
    [
        ("affinity", "rbf"),
        ("n_neighbors", 0),
        ("n_neighbors", 2.5),
        ("graph_weight", 0.0),
        ("graph_weight", "strong"),
        ("graph_weight", np.inf),
        ("regularization", 0),
        ("regularization", -1.0),
        ("n_components", 0),
        ("n_components", "two"),
    ],
)
def test_bad_parameter_is_named(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of AFCM must be"):
        AFCM(**{name: value}).fit(IRIS)


def test_dask_arrays_are_refused():
    array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="AFCM compares rows with each other and takes no Dask array"):
        AFCM().fit(array.from_array(IRIS))
