"""Robust deep fuzzy k-means: definitions by loops, oracles, networks of the user, images, reproducibility."""

import pickle
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, RDFKC
from soft_clustering.deep import rdfkc
from soft_clustering.deep.rdfkc import (
    Clusters,
    Standard,
    adaptive_loss,
    adaptive_weight,
    neighbor_graph,
    quadratic_memberships,
    roughness,
    simplex_minimiser,
    smooth,
    update_centers,
)

BLOBS, PLANTED = make_blobs(90, 6, centers=3, cluster_std=2.0, random_state=1)
QUICK = {"hidden_layer_sizes": (16,), "pretrain_epochs": 5, "max_epochs": 4, "tol": None, "random_state": 0}


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def rng():
    return np.random.RandomState(0)


def fuzzy(rng, n, K):
    return rng.dirichlet(np.ones(K), n)


# The loss -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [1e-6, 0.1, 1.0, 30.0])
def test_loss_by_its_definition(tau):
    r = np.array([0.0, 1e-3, 0.5, 1.0, 2.0, 100.0])
    np.testing.assert_allclose(adaptive_loss(r, tau), (1 + tau) * r**2 / (r + tau), rtol=1e-9)
    expected = (1 + tau) * (r + 2 * tau) / (2 * (r + tau) ** 2)
    np.testing.assert_allclose(adaptive_weight(r, tau), expected, rtol=1e-9)


def test_loss_is_quadratic_or_linear_in_the_limits():
    r = np.array([0.01, 1.0, 50.0])
    np.testing.assert_allclose(adaptive_loss(r, np.inf), r**2)
    np.testing.assert_allclose(adaptive_weight(r, np.inf), 1)
    np.testing.assert_allclose(adaptive_loss(r, 1e-6), r, rtol=1e-3)


@pytest.mark.parametrize("tau", [0.3, 1.0, np.inf])
def test_weight_is_the_gradient(tau):
    for r in (0.2, 1.0, 5.0):
        gradient = approx_fprime(np.array([r]), lambda x: adaptive_loss(x, tau).sum(), 1e-7)[0]
        assert adaptive_weight(np.array([r]), tau)[0] == pytest.approx(gradient / (2 * r), rel=1e-5)


def test_gradient_that_the_network_gets(torch, rng):
    """The gradient of the clustering term with respect to a code is 2 a sum_k u^m w (z - v) / (s^2 batch)."""
    Z, V, U = rng.normal(size=(5, 2)), rng.normal(size=(3, 2)), fuzzy(rng, 5, 3)
    Z[0] = V[1]  # on a centre the gradient of its own distance is 0, not NaN
    clusters = Clusters(V, 0.7, U)
    model = RDFKC(m=1.5, robust_scale=0.4, cluster_weight=2.0)
    training = type("Still", (), {"to_device": staticmethod(torch.from_numpy)})
    z = torch.from_numpy(Z).requires_grad_()
    model._pull(torch, training, clusters)(z, torch.arange(5)).backward()
    weights = U**1.5 * adaptive_weight(cdist(Z, V) / 0.7, 0.4)
    expected = 2 * 2.0 / 5 / 0.7**2 * np.einsum("ik,ikq->iq", weights, Z[:, None] - V)
    np.testing.assert_allclose(z.grad.numpy(), expected, rtol=1e-10, atol=1e-12)


# Graph and memberships ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4, 100])
def test_graph_by_brute_force(rng, k):
    Z = rng.normal(size=(30, 3))
    D, most = cdist(Z, Z, "sqeuclidean"), min(k, 29)
    nearest = [sorted((j for j in range(30) if j != i), key=lambda j, i=i: D[i, j])[:most] for i in range(30)]
    width = np.mean([D[i, nearest[i][-1]] for i in range(30)])
    S = np.zeros((30, 30))
    for i in range(30):
        for j in nearest[i]:
            S[i, j] += np.exp(-D[i, j] / width) / 2
            S[j, i] += np.exp(-D[i, j] / width) / 2
    np.testing.assert_allclose(neighbor_graph(Z, k).toarray(), S, rtol=0, atol=1e-14)


def test_graph_of_few_or_equal_codes():
    assert neighbor_graph(np.ones((1, 2)), 10).toarray().tolist() == [[0.0]]
    np.testing.assert_array_equal(neighbor_graph(np.ones((3, 2)), 10).toarray(), 1 - np.eye(3))


def test_roughness_by_brute_force(rng):
    S = neighbor_graph(rng.normal(size=(20, 2)), 4)
    U = fuzzy(rng, 20, 3)
    expected = sum(S[i, j] * ((U[i] - U[j]) ** 2).sum() / 2 for i in range(20) for j in range(20))
    assert roughness(U, S) == pytest.approx(expected, rel=1e-12)


def test_smoothing(rng):
    S = neighbor_graph(rng.normal(size=(20, 2)), 4).toarray()
    S[3] = S[:, 3] = 0  # a sample without neighbours keeps its memberships
    U0 = fuzzy(rng, 20, 3)
    U = U0
    for _ in range(3):
        U = np.array([(U0[i] + 2 * (S[i] @ U / S[i].sum() if i != 3 else U0[i])) / 3 for i in range(20)])
    found = smooth(U0, sparse.csr_array(S), 2.0)
    np.testing.assert_allclose(found, U, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(found[3], U0[3], rtol=1e-14)
    np.testing.assert_allclose(smooth(U0, sparse.csr_array(S), 0.0), U0)


def test_simplex_minimiser_against_a_solver(rng):
    for _ in range(20):
        q, p = rng.uniform(0.1, 3, 4), rng.normal(scale=3, size=4)
        found = simplex_minimiser(q[None], p[None])[0]
        solved = minimize(
            lambda u, q=q, p=p: q @ u**2 - p @ u,
            np.full(4, 0.25),
            jac=lambda u, q=q, p=p: 2 * q * u - p,
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda u: u.sum() - 1},
            tol=1e-12,
        )
        np.testing.assert_allclose(found, solved.x, atol=1e-5)
        assert q @ found**2 - p @ found <= solved.fun + 1e-12


def test_simplex_minimiser_without_curvature():
    np.testing.assert_allclose(simplex_minimiser(np.array([[0.0, 1.0]]), np.zeros((1, 2))), [[1, 0]], atol=1e-12)
    np.testing.assert_allclose(simplex_minimiser(np.zeros((1, 4)), np.zeros((1, 4))), 0.25)


@pytest.mark.parametrize("weight", [0.1, 1.0, 50.0])
def test_sweeps_of_the_publication_descend(rng, weight, monkeypatch):
    """Each sweep solves every row exactly, and none makes the terms of U in J larger; for m = 2."""
    Z = rng.normal(size=(40, 3))
    S, loss, U = neighbor_graph(Z, 5), rng.uniform(size=(40, 3)) ** 4, fuzzy(rng, 40, 3)

    def terms(U):
        return float((U**2 * loss).sum()) + weight * roughness(U, S)

    monkeypatch.setattr(rdfkc, "_SWEEPS", 1)
    values = [terms(U)]
    for sweep in range(60):
        new = quadratic_memberships(loss, U, S, weight)
        if sweep == 0:
            for i in range(0, 40, 7):
                best = terms(np.vstack([U[:i], new[[i]], U[i + 1 :]]))
                for other in fuzzy(rng, 50, 3):
                    assert best <= terms(np.vstack([U[:i], other[None], U[i + 1 :]])) + 1e-12
        U = new
        values.append(terms(U))
    assert np.diff(values).max() <= 1e-12
    np.testing.assert_allclose(U.sum(axis=1), 1, rtol=1e-12)
    assert U.min() >= 0
    # Without neighbours it is fuzzy c-means.
    np.testing.assert_allclose(
        quadratic_memberships(loss, U, sparse.csr_array((40, 40)), weight), (1 / loss) / (1 / loss).sum(axis=1)[:, None]
    )


@pytest.mark.parametrize("m", [1.2, 2.0])
def test_graph_draws_neighbours_together(rng, m):
    """The membership step with the graph: its definition by loops, and smoother memberships for a larger weight."""
    Z, V, U = rng.normal(size=(30, 2)), rng.normal(size=(3, 2)), fuzzy(rng, 30, 3)
    S = neighbor_graph(Z, 4)
    steps = [RDFKC(3, m=m, graph_weight=weight)._update(Z, Clusters(V, 1.0, U), S) for weight in (0.0, 0.5, 5.0)]
    loss = adaptive_loss(steps[0].residuals(Z), 1.0)
    ratios = (1 / loss) ** (1 / (m - 1))
    alone = ratios / ratios.sum(axis=1)[:, None]
    np.testing.assert_allclose(steps[0].memberships, alone, atol=1e-12)
    for step, weight in zip(steps[1:], (0.5, 5.0), strict=True):
        expected = alone if m != 2 else U
        degrees = S.toarray().sum(axis=1)
        for _ in range(rdfkc._SWEEPS):
            means = S.toarray() @ expected
            if m == 2:
                expected = np.array(
                    [row_minimiser(loss[i] + weight * degrees[i], 2 * weight * means[i]) for i in range(30)]
                )
            else:
                expected = (alone + weight * means / degrees[:, None]) / (1 + weight)
        np.testing.assert_allclose(step.memberships, expected, atol=1e-6)
    rough = [roughness(step.memberships, S) for step in steps]
    assert rough[0] > 1.5 * max(rough[1:])


def row_minimiser(q, p):
    """The u on the simplex of least q . u^2 - p . u, by bisection of the multiplier."""
    low, high = -p.max() - 2 * q.max(), 2 * q.max() - p.min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(0, (p + middle) / (2 * q)).sum() < 1 else (low, middle)
    return np.maximum(0, (p + high) / (2 * q))


@pytest.mark.parametrize("m", [1.2, 2.0])
def test_graph_reaches_the_network(torch, m, monkeypatch):
    """A fit with the graph learns other codes, from memberships that are smoother on it."""
    ends = {}
    store = RDFKC._store

    def look(self, run, torch, X, training, S):
        ends[self.graph_weight] = roughness(run.state.memberships, S)
        return store(self, run, torch, X, training, S)

    monkeypatch.setattr(RDFKC, "_store", look)
    fits = [RDFKC(3, m=m, graph_weight=weight, **QUICK).fit(BLOBS) for weight in (0.0, 3.0)]
    assert ends[3.0] < 0.85 * ends[0.0]
    assert np.abs(fits[0].embedding_ - fits[1].embedding_).max() > 1e-6


# Centres --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.5, np.inf])
def test_centers_by_brute_force(rng, tau):
    Z, V, U = rng.normal(size=(25, 2)), rng.normal(size=(3, 2)), fuzzy(rng, 25, 3)
    m = 1.7

    def unit(V):
        return np.sqrt((U**m * cdist(Z, V, "sqeuclidean")).sum() / (U**m).sum())

    expected = np.empty_like(V)
    for k in range(3):
        r = [np.linalg.norm(z - V[k]) / unit(V) for z in Z]
        if tau == np.inf:
            w = [U[i, k] ** m for i in range(25)]
        else:
            w = [U[i, k] ** m * (1 + tau) * (r[i] + 2 * tau) / (2 * (r[i] + tau) ** 2) for i in range(25)]
        expected[k] = np.average(Z, axis=0, weights=w)
    found = update_centers(Z, Clusters(V, 1.0, U), m, tau)
    np.testing.assert_allclose(found.centers, expected, rtol=1e-12)
    assert found.unit == pytest.approx(unit(expected), rel=1e-12)
    assert found.memberships is U


def test_centers_descend(rng):
    """A step makes sum u^m psi smaller at the unit of before."""
    Z, U = rng.standard_t(1.5, size=(60, 2)), fuzzy(rng, 60, 3)
    clusters = update_centers(Z, Clusters(rng.normal(size=(3, 2)), 1.0, U), 1.2, 0.3)
    for _ in range(30):
        new = update_centers(Z, clusters, 1.2, 0.3)
        old, moved = (
            (U**1.2 * adaptive_loss(c._replace(unit=clusters.unit).residuals(Z), 0.3)).sum() for c in (clusters, new)
        )
        assert moved <= old * (1 + 1e-12)
        clusters = new


def test_small_scale_resists_an_outlier():
    Z = np.vstack([np.random.RandomState(0).normal(size=(40, 2)), [[500.0, 0.0]]])
    moved = {}
    for tau in (0.01, np.inf):
        clusters = Clusters(np.zeros((1, 2)), 1.0, np.ones((41, 1)))
        for _ in range(50):
            clusters = update_centers(Z, clusters, 1.2, tau)
        moved[tau] = np.linalg.norm(clusters.centers)
    assert moved[np.inf] > 10
    assert moved[0.01] < 0.5


def test_empty_cluster_is_seeded_anew(rng):
    Z = np.vstack([rng.normal(size=(20, 2)), [[30.0, 30.0]]])
    U = np.zeros((21, 2))
    U[:, 0] = 1
    found = update_centers(Z, Clusters(np.zeros((2, 2)), 1.0, U), 1.2, 1.0)
    np.testing.assert_array_equal(found.centers[1], Z[20])


def test_unit_has_a_floor():
    Z = np.repeat([[1.0, 2.0], [3.0, 5.0]], 4, axis=0)
    clusters = update_centers(Z, Clusters(Z[[0, 4]], 1.0, np.eye(2)[[0] * 4 + [1] * 4]), 1.2, 1.0)
    assert 0 < clusters.unit < 1e-5
    np.testing.assert_array_equal(clusters.residuals(Z).min(axis=1), 0)
    assert update_centers(np.zeros((3, 2)), Clusters(np.zeros((1, 2)), 1.0, np.ones((3, 1))), 2.0, 1.0).unit == 1


# Units ----------------------------------------------------------------------------------------------------------------


def test_standard_coordinates(rng):
    X = rng.normal(size=(50, 4)) * [1, 2, 3, 0] + 7
    standard = Standard.of(X)
    expected = (X - X.mean(axis=0)) / (X - X.mean(axis=0)).std()
    np.testing.assert_allclose(standard.from_input(X), expected, atol=1e-12)
    np.testing.assert_allclose(standard.to_input(standard.from_input(X)), X, rtol=1e-12)


def test_offsets_and_powers_of_two_change_not_a_bit(rng):
    X = np.round(rng.normal(size=(50, 4)) * 16) / 16
    Z = Standard.of(X).from_input(X)
    for scale, offset in ((1, 1e8), (2.0**500, 0), (2.0**-500, 0), (2.0**30, 2.0**50)):
        Y = X * scale + offset
        np.testing.assert_array_equal(Standard.of(Y).from_input(Y), Z)


# Objective and memberships --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"m": 2.0}, {"m": 1.7, "robust_scale": 0.2, "weight_decay": 0.01}])
def test_objective_by_brute_force(torch, monkeypatch, settings):
    graphs = []
    monkeypatch.setattr(rdfkc, "neighbor_graph", lambda Z, k: graphs.append(neighbor_graph(Z, k)) or graphs[-1])
    model = RDFKC(3, cluster_weight=0.7, graph_weight=0.3, **QUICK | settings).fit(BLOBS)
    (S,) = graphs
    X = (BLOBS - BLOBS.mean(axis=0)) / (BLOBS - BLOBS.mean(axis=0)).std()
    with torch.no_grad():
        Z = model.encoder_(torch.from_numpy(X)).numpy()
        error = X - model.decoder_(torch.from_numpy(Z)).numpy()
    np.testing.assert_allclose(model.embedding_, Z, rtol=0, atol=1e-12)
    U, V, m, tau = model.memberships_, model.embedding_centers_, model.m, model.robust_scale
    J = 0.0
    for i in range(90):
        J += sum(error[i] ** 2) / (90 * 6)
        for k in range(3):
            r = np.linalg.norm(Z[i] - V[k]) / model._state.unit
            J += 0.7 / 90 * U[i, k] ** m * (1 + tau) * r**2 / (r + tau)
        J += 0.7 * 0.3 / 90 * sum(S[i, j] * ((U[i] - U[j]) ** 2).sum() / 2 for j in range(90))
    for network in (model.encoder_, model.decoder_):
        J += model.weight_decay * sum(float((p.detach() ** 2).sum()) for p in network.parameters())
    assert model.objective_ == pytest.approx(J, rel=1e-9)
    assert model.objective_ == model.objective_history_[-1]
    assert len(model.objective_history_) == model.n_iter_ + 1 == 5


@pytest.mark.parametrize("m", [1.2, 2.0])
def test_memberships_are_those_of_the_codes_alone(torch, m):
    model = RDFKC(3, m=m, **QUICK).fit(BLOBS)
    r = cdist(model.embedding_, model.embedding_centers_) / model._state.unit
    ratios = (1 / adaptive_loss(r, 1.0)) ** (1 / (m - 1))
    np.testing.assert_allclose(model.memberships_, ratios / ratios.sum(axis=1)[:, None], atol=1e-9)
    np.testing.assert_allclose(model.predict_memberships(BLOBS), model.memberships_, atol=1e-12)
    np.testing.assert_allclose(model.predict_memberships(BLOBS[[4]]), model.memberships_[[4]], atol=1e-12)


@pytest.mark.parametrize("m", [1.3, 2.0])
def test_without_pull_and_graph_it_is_fuzzy_c_means_of_the_codes(torch, m):
    still = {"cluster_weight": 0.0, "graph_weight": 0.0, "learning_rate": 1e-30, "robust_scale": np.inf}
    settings = QUICK | {"max_epochs": 200, "tol": 1e-7}
    model = RDFKC(3, m=m, **settings | still).fit(BLOBS)
    assert model.converged_
    fcm = FCM(3, m=m, init=model.embedding_centers_, tol=1e-10).fit(model.embedding_)
    np.testing.assert_allclose(model.memberships_, fcm.memberships_, atol=1e-5)
    np.testing.assert_allclose(model.embedding_centers_, fcm.centers_, atol=1e-5)


def test_publications_step_is_that_of_m_2_only(torch, monkeypatch):
    calls = []
    monkeypatch.setattr(rdfkc, "quadratic_memberships", lambda loss, U, S, w: calls.append(w) or U)
    for m in (1.2, 1.999, 2.0, np.float32(2.0), 2):
        calls.clear()
        RDFKC(3, m=m, **QUICK).fit(BLOBS)
        assert bool(calls) == (m == 2)


def test_centers_are_decoded(torch):
    model = RDFKC(3, **QUICK).fit(BLOBS)
    with torch.no_grad():
        decoded = model.decoder_(torch.from_numpy(model.embedding_centers_)).numpy()
    spread = (BLOBS - BLOBS.mean(axis=0)).std()
    np.testing.assert_allclose(model.centers_, BLOBS.mean(axis=0) + spread * decoded, rtol=1e-9, atol=1e-9)


# Quality --------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_digits(torch):
    """More than k-means on the codes of the autoencoder alone, which has 0.61 on average; a default fit is silent."""
    X, y = load_digits(return_X_y=True)
    model = RDFKC(10, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.65
    assert np.square(model.memberships_).sum(axis=1).mean() > 0.7
    codes = RDFKC(10, random_state=0, max_epochs=1, learning_rate=1e-30).fit(X).embedding_
    plain = adjusted_rand_score(y, KMeans(10, n_init=10, random_state=0).fit_predict(codes))
    assert adjusted_rand_score(y, model.labels_) > plain


def test_separated_blobs(torch):
    X, y = make_blobs(200, 10, centers=4, random_state=0)
    for settings in ({}, {"graph_weight": 0.0}, {"m": 2.0}, {"robust_scale": 1e-6}):
        model = RDFKC(4, **QUICK | {"max_epochs": 10} | settings).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1, settings
    gaps = cdist(
        RDFKC(4, **QUICK | {"pretrain_epochs": 200}).fit(X).centers_, [X[y == k].mean(axis=0) for k in range(4)]
    )
    assert gaps.min(axis=1).max() < 2  # clusters of radius 3, more than 10 apart


# Reproducibility ------------------------------------------------------------------------------------------------------


def results(model):
    return [model.memberships_, model.centers_, model.embedding_, model.objective_history_]


def assert_same(a, b):
    for first, second in zip(results(a), results(b), strict=True):
        np.testing.assert_array_equal(first, second)


def test_threads_and_modes_change_not_a_bit(torch):
    X = load_digits().data[:600]
    images = np.repeat(np.repeat(X[:40].reshape(-1, 8, 8), 2, axis=1), 2, axis=2)
    settings = {"tol": None, "pretrain_epochs": 3, "max_epochs": 2, "random_state": 3}
    threads = torch.get_num_threads()
    for data in (X, images):
        model = RDFKC(5, **settings).fit(data)
        try:
            for count in (1, 2, 4):
                torch.set_num_threads(count)
                assert_same(RDFKC(5, **settings).fit(data), model)
                assert torch.get_num_threads() == count
            torch.set_default_dtype(torch.float64)
            with torch.no_grad():
                assert_same(RDFKC(5, **settings).fit(data), model)
            torch.manual_seed(77)
            with torch.inference_mode():
                other = RDFKC(5, **settings).fit(data)
            assert_same(other, model)
            np.testing.assert_array_equal(other.predict_memberships(data), model.memberships_)
        finally:
            torch.set_num_threads(threads)
            torch.set_default_dtype(torch.float32)
    assert (
        np.abs(
            RDFKC(5, **settings | {"random_state": 4}).fit(X).embedding_ - RDFKC(5, **settings).fit(X).embedding_
        ).max()
        > 0
    )


def test_fit_leaves_torch_alone(torch):
    def state():
        return (
            torch.get_rng_state().numpy().tobytes(),
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
            torch.is_grad_enabled(),
            torch.backends.cudnn.deterministic,
        )

    encoder, decoder = given(torch, torch.nn.Dropout(0.3))
    before = state()
    model = RDFKC(3, **QUICK).fit(BLOBS)
    model.predict(BLOBS)
    RDFKC(3, encoder=encoder, decoder=decoder, **QUICK).fit(BLOBS)
    with pytest.raises(ValueError, match="diverged"):
        RDFKC(3, **QUICK | {"learning_rate": 1e30}).fit(BLOBS)
    assert state() == before


# Networks of the user -------------------------------------------------------------------------------------------------


def given(torch, *more):
    torch.manual_seed(1)
    encoder = torch.nn.Sequential(torch.nn.Linear(6, 8), *more, torch.nn.Tanh(), torch.nn.Linear(8, 4))
    return encoder, torch.nn.Linear(4, 6)


def weights(network):
    return np.concatenate([p.detach().numpy().ravel() for p in network.parameters()])


@pytest.mark.parametrize("more", [(), ("Dropout",), ("BatchNorm1d",)])
def test_given_networks_are_copied(torch, more):
    state = torch.get_rng_state()
    arguments = {"Dropout": 0.3, "BatchNorm1d": 8}
    encoder, decoder = given(torch, *(getattr(torch.nn, kind)(arguments[kind]) for kind in more))
    torch.set_rng_state(state)
    before = weights(encoder), weights(decoder)
    model = RDFKC(3, encoder=encoder, decoder=decoder, **QUICK).fit(BLOBS)
    assert model.encoder is encoder and model.decoder is decoder
    for network, old, new in zip((encoder, decoder), before, (model.encoder_, model.decoder_), strict=True):
        np.testing.assert_array_equal(weights(network), old)
        assert next(network.parameters()).dtype == torch.float32 and network.training
        assert not new.training and next(new.parameters()).dtype == torch.float64
        assert np.abs(weights(new) - old).max() > 1e-4
    assert model.embedding_.shape == (90, 4)
    assert_same(RDFKC(3, encoder=encoder, decoder=decoder, **QUICK).fit(BLOBS), model)
    np.testing.assert_allclose(model.predict_memberships(BLOBS), model.memberships_, atol=1e-12)
    assert_same(clone(model).fit(BLOBS), model)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_memberships(BLOBS), model.predict_memberships(BLOBS))


def test_frozen_encoder(torch):
    encoder, decoder = given(torch)
    encoder.requires_grad_(False)
    model = RDFKC(3, encoder=encoder, decoder=decoder, **QUICK).fit(BLOBS)
    np.testing.assert_array_equal(weights(model.encoder_), weights(encoder).astype(np.float64))
    decoder.requires_grad_(False)
    with pytest.raises(ValueError, match="encoder and decoder must have parameters to learn"):
        RDFKC(3, encoder=encoder, decoder=decoder).fit(BLOBS)


def test_bad_networks_are_named(torch):
    nn = torch.nn
    encoder, decoder = given(torch)
    for pair, kind, message in [
        ((encoder, None), TypeError, "decoder must be a torch.nn.Module"),
        ((None, decoder), TypeError, "encoder must be a torch.nn.Module"),
        ((len, decoder), TypeError, "encoder must be a torch.nn.Module"),
        ((nn.Linear(5, 4), decoder), ValueError, r"encoder must take an array of shape \(2, 6\).*RuntimeError"),
        ((encoder, nn.Linear(5, 6)), ValueError, r"decoder must take an array of shape \(2, 4\)"),
        ((encoder, nn.Linear(4, 5)), ValueError, r"decoder must give samples of shape \(2, 6\). Got \(2, 5\)"),
        ((nn.Unflatten(1, (2, 3)), decoder), ValueError, r"encoder must give codes .* Got \(2, 2, 3\)"),
    ]:
        with pytest.raises(kind, match=message):
            RDFKC(3, encoder=pair[0], decoder=pair[1]).fit(BLOBS)


def test_codes_of_new_samples_must_be_finite(torch):
    class Root(torch.nn.Module):
        def forward(self, x):
            return torch.sqrt(x + 50)

    encoder = torch.nn.Sequential(Root(), torch.nn.Linear(6, 4))
    model = RDFKC(3, encoder=encoder, decoder=torch.nn.Linear(4, 6), **QUICK).fit(BLOBS)
    with pytest.raises(ValueError, match="X has samples for which the encoder gives codes that are not finite"):
        model.predict(BLOBS - 1e6)


# Images ---------------------------------------------------------------------------------------------------------------


def stripes(n=60, size=12, channels=None, seed=0):
    """Images of horizontal, vertical and diagonal waves."""
    rng = np.random.RandomState(seed)
    i, j = np.mgrid[:size, : size + 2]
    kinds = np.stack([np.sin(i), np.sin(j), np.sin(i + j)])
    y = np.arange(n) % 3
    shape = (n, size, size + 2) if channels is None else (n, channels, size, size + 2)
    X = kinds[y] if channels is None else np.repeat(kinds[y][:, None], channels, axis=1)
    return X + 0.2 * rng.normal(size=shape), y


@pytest.mark.parametrize("size, channels", [(5, None), (5, 2), (12, None), (13, 1), (12, 3)])
def test_images(torch, size, channels):
    X, y = stripes(size=size, channels=channels)
    model = RDFKC(3, **QUICK | {"pretrain_epochs": 30}).fit(X)
    convolved = any(isinstance(layer, torch.nn.Conv2d) for layer in model.encoder_)
    assert convolved == (size >= 12)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.centers_.shape == (3, *X.shape[1:])
    assert model.n_features_in_ == X[0].size
    new, kinds = stripes(n=9, size=size, channels=channels, seed=1)
    assert adjusted_rand_score(kinds, model.predict(new)) == 1
    np.testing.assert_allclose(model.predict_memberships(X), model.memberships_, atol=1e-9)
    means = np.array([X[model.labels_ == k].mean(axis=0) for k in range(3)])
    similarity = np.corrcoef(means.reshape(3, -1), model.centers_.reshape(3, -1))[:3, 3:]
    assert similarity.argmax(axis=1).tolist() == [0, 1, 2] and similarity.diagonal().min() > 0.6
    single = RDFKC(3, **QUICK).fit(X.astype(np.float32))
    assert single.memberships_.dtype == single.centers_.dtype == single.embedding_.dtype == np.float32


def test_small_images_are_rows(torch):
    X, _ = stripes(size=6)
    first, *others = [RDFKC(3, **QUICK).fit(data) for data in (X, X[:, None], X.reshape(60, -1))]
    for model in others:
        np.testing.assert_array_equal(model.memberships_, first.memberships_)


def test_shape_of_samples_is_kept(torch):
    X, _ = stripes(size=6)
    model = RDFKC(3, **QUICK).fit(X)
    for wrong in (X[:, :5], X[:, None], X.reshape(60, -1), X[0, 0]):
        with pytest.raises(ValueError, match=r"X has samples of shape .* expecting samples of shape \(6, 8\)"):
            model.predict(wrong)
    with pytest.raises(ValueError, match=r"array with dim 3|Found array"):
        RDFKC(3, **QUICK).fit(X.reshape(60, -1)).predict(X)
    with pytest.raises(ValueError, match="Found array with dim 5"):
        RDFKC(3, **QUICK).fit(X[None, None])
    with pytest.raises(ValueError, match="NaN"):
        RDFKC(3, **QUICK).fit(np.where(X > 1, np.nan, X))
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        RDFKC(3, **QUICK).fit(X[:2])


def test_refit_on_images_forgets_the_names(torch):
    pd = pytest.importorskip("pandas")
    model = RDFKC(3, **QUICK).fit(pd.DataFrame(BLOBS, columns=list("abcdef")))
    assert list(model.feature_names_in_) == list("abcdef")
    assert not hasattr(model.fit(stripes(size=6)[0]), "feature_names_in_")


# Parameters, endings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value",
    [
        ("hidden_layer_sizes", (8, 0)),
        ("hidden_layer_sizes", (2.5,)),
        ("hidden_layer_sizes", ("a",)),
        ("hidden_layer_sizes", 8),
        ("hidden_layer_sizes", [[8, 8]]),
        ("n_components", 0),
        ("robust_scale", 0.0),
        ("robust_scale", np.nan),
        ("cluster_weight", -1.0),
        ("graph_weight", -0.1),
        ("n_neighbors", 0),
        ("weight_decay", -1e-3),
        ("batch_size", 1.5),
        ("pretrain_epochs", -1),
        ("pretrain_learning_rate", 0.0),
        ("learning_rate", -1.0),
        ("max_epochs", None),
        ("device", "tpu of mine"),
        ("device", 0),
        ("device", None),
    ],
)
def test_bad_parameters_are_named(torch, name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        RDFKC(3, **{name: value}).fit(BLOBS)


@pytest.mark.parametrize("name", ["pretrain_learning_rate", "learning_rate", "cluster_weight"])
def test_divergence_is_named(torch, name):
    with pytest.raises(ValueError, match=f"The network diverged, its loss is .*{name}"):
        RDFKC(3, **QUICK | {name: 1e38}).fit(BLOBS)


@pytest.mark.parametrize(
    "settings",
    [
        {"hidden_layer_sizes": ()},
        {"hidden_layer_sizes": np.array([4, 4])},
        {"pretrain_epochs": 0},
        {"n_components": 1},
        {"batch_size": 1, "pretrain_epochs": 1, "max_epochs": 1},
        {"batch_size": 10**6},
        {"n_neighbors": 1000},
        {"graph_weight": 1e6},
        {"graph_weight": 1e6, "m": 2.0},
        {"cluster_weight": 0.0, "weight_decay": 0.0},
        {"robust_scale": np.inf},
        {"m": 1.0001},
        {"m": 50.0},
    ],
)
def test_extreme_settings(torch, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RDFKC(3, **QUICK | settings).fit(BLOBS)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-9)
    assert np.isfinite(model.objective_history_).all() and np.isfinite(model.centers_).all()


def test_convergence(torch):
    with pytest.warns(ConvergenceWarning, match=r"did not converge in max_epochs=4 epochs .* or set tol=None"):
        model = RDFKC(3, **QUICK | {"tol": 0.0}).fit(BLOBS)
    assert not model.converged_ and model.n_iter_ == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not RDFKC(3, **QUICK).fit(BLOBS).converged_
        assert not RDFKC(3, **QUICK | {"tol": 0.0, "max_epochs": 1}).fit(BLOBS).converged_
        model = RDFKC(3, **QUICK | {"tol": 1.0}).fit(BLOBS)
    assert model.converged_ and model.n_iter_ == 1


def test_equal_memberships_warn(torch):
    with pytest.warns(ConvergenceWarning, match="RDFKC collapsed.*smaller m or graph_weight"):
        RDFKC(3, **QUICK).fit(np.ones((9, 2)))


def test_interrupted_fit_keeps_what_it_has(torch, monkeypatch):
    original = rdfkc.run_epoch
    for good, epochs in ((2, None), (5, 0), (7, 2)):
        left = iter(range(good))

        def interrupted(*arguments, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return original(*arguments)

        monkeypatch.setattr(rdfkc, "run_epoch", interrupted)
        model = RDFKC(3, **QUICK)
        with pytest.raises(KeyboardInterrupt):
            model.fit(BLOBS)
        if epochs is None:
            with pytest.raises(NotFittedError):
                model.predict(BLOBS)
        else:
            assert model.n_iter_ == epochs and not model.converged_
            np.testing.assert_allclose(model.predict_memberships(BLOBS), model.memberships_, atol=1e-12)


def test_failed_fit_is_no_fit(torch):
    model = RDFKC(3, **QUICK).fit(BLOBS)
    with pytest.raises(ValueError, match="diverged"):
        model.set_params(learning_rate=1e38).fit(BLOBS)
    with pytest.raises(NotFittedError):
        model.predict(BLOBS)
    assert not hasattr(model, "memberships_")


def test_verbose(torch, capsys):
    RDFKC(3, **QUICK, verbose=1).fit(BLOBS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("RDFKC pretraining: 5 epochs, reconstruction error ")
    assert lines[1].startswith("RDFKC start 1: objective ") and lines[1].endswith("4 epochs, not converged")
    RDFKC(3, **QUICK, verbose=2).fit(BLOBS)
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    model = clone(RDFKC(3, device="cuda"))
    assert repr(model) == "RDFKC(device='cuda')"
    with pytest.raises(ImportError, match=r'RDFKC needs PyTorch: pip install "soft-clustering\[deep\]"'):
        model.fit(BLOBS)
    with pytest.raises(ValueError, match="max_epochs"):
        RDFKC(max_epochs=0).fit(BLOBS)


def test_dask_is_refused():
    lazy = pytest.importorskip("dask.array").ones((6, 2))
    with pytest.raises(TypeError, match=r"RDFKC .* takes no Dask array"):
        RDFKC().fit(lazy)
