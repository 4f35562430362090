"""DMoN: modularity by loops, gradients, what the network says, planted and real communities, hostile graphs."""

import pickle
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from soft_clustering import DMoN
from soft_clustering.datasets import load_graph
from soft_clustering.graphs import dmon
from soft_clustering.graphs.dmon import ModularityLoss, collapse_penalty
from soft_clustering.graphs.network import soft_modularity

KARATE = load_graph("karate").adjacency
QUICK = {"hidden_layer_sizes": (16,), "max_epochs": 40, "learning_rate": 0.02, "tol": None}


@pytest.fixture(scope="module", autouse=True)
def torch():
    return pytest.importorskip("torch")


def weighted(rng, n=15):
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.4), 1)
    return sparse.csr_array(A + A.T)


# The loss -------------------------------------------------------------------------------------------------------------


def naive_loss(A, C, weight):
    A = A.toarray()
    d, n, K = A.sum(axis=1), *C.shape
    trace = sum(
        (A[i, j] - d[i] * d[j] / d.sum()) * C[i, k] * C[j, k] for i in range(n) for j in range(n) for k in range(K)
    )
    sizes = [sum(C[i, k] for i in range(n)) for k in range(K)]
    return -trace / d.sum() + weight * (K**0.5 / n * sum(s * s for s in sizes) ** 0.5 - 1)


@pytest.mark.parametrize("weight", [0.0, 1.0, 2.5])
def test_loss_by_loops(torch, rng, weight):
    A, C = weighted(rng), rng.dirichlet(np.ones(3), 15)
    expected = naive_loss(A, C, weight)
    assert weight * collapse_penalty(C) - soft_modularity(A, C) == pytest.approx(expected, rel=1e-10)
    for unit in (1.0, 1e60, 1e-60):  # the unit of the weights does not matter
        loss = ModularityLoss(torch, unit * A, weight, "cpu")
        assert float(loss(torch.from_numpy(C.astype(np.float32)))[0]) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_gradient_against_autograd_of_the_dense_form(torch, rng):
    A, weight = weighted(rng), 0.7
    C = torch.from_numpy(rng.dirichlet(np.ones(3), 15).astype(np.float32)).requires_grad_()
    dense = torch.from_numpy(A.toarray().astype(np.float32))
    d = dense.sum(dim=1)
    B = dense - torch.outer(d, d) / d.sum()
    value = -torch.trace(C.T @ B @ C) / d.sum() + weight * (3**0.5 / 15 * C.sum(dim=0).norm() - 1)
    value.backward()
    gradient = ModularityLoss(torch, A, weight, "cpu")(C.detach())[1]
    np.testing.assert_allclose(gradient.numpy(), C.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_modularity_of_a_partition(rng):
    networkx = pytest.importorskip("networkx")
    for A in (KARATE, weighted(rng)):
        labels = rng.integers(3, size=A.shape[0])
        graph = networkx.from_scipy_sparse_array(A)
        expected = networkx.community.modularity(graph, [set(np.flatnonzero(labels == k)) for k in range(3)])
        assert soft_modularity(A, np.eye(3)[labels]) == pytest.approx(expected, rel=1e-12)


def test_values_of_another_implementation():
    """Those of DMoNPooling of torch_geometric 2.8.1, in double precision, for the same memberships."""
    i = np.arange(34)
    C = softmax(np.stack([np.sin(i), np.cos(2 * i), np.sin(3 * i + 1)], axis=1), axis=1)
    assert soft_modularity(KARATE, C) == pytest.approx(0.005043715949807206, rel=1e-10)
    assert collapse_penalty(C) == pytest.approx(0.00016776247061400795, rel=1e-10)


def test_collapse_lies_between_its_bounds(rng):
    assert collapse_penalty(np.full((6, 3), 1 / 3)) == pytest.approx(0)
    assert collapse_penalty(np.eye(3)[np.arange(6) % 3]) == pytest.approx(0)
    assert collapse_penalty(np.eye(3)[np.zeros(6, dtype=int)]) == pytest.approx(3**0.5 - 1)
    assert 0 < collapse_penalty(rng.dirichlet(np.ones(3), 6)) < 3**0.5 - 1


# The network ----------------------------------------------------------------------------------------------------------


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(np.minimum(x, 0)) - 1))


@pytest.mark.parametrize("sizes", [(16,), (16, 8)])
@pytest.mark.parametrize("features", [False, True])
def test_memberships_are_those_of_the_network(rng, sizes, features):
    A = weighted(rng)
    X = rng.normal(size=(15, 4)) if features else None
    model = DMoN(3, random_state=0, **QUICK | {"hidden_layer_sizes": sizes}).fit(A, node_features=X)
    joined = A.toarray() / A.data.mean() + np.eye(15)
    root = np.diag(joined.sum(axis=1) ** -0.5)
    lengths = np.linalg.norm(A.toarray(), axis=1, keepdims=True)
    H = X if features else A.toarray() / np.where(lengths > 0, lengths, 1)
    for W, b, s in model._layers[:-1]:
        H = selu(H @ W * s + root @ joined @ root @ H @ W + b)
    W, b = model._layers[-1]
    np.testing.assert_allclose(model.embedding_, H, rtol=1e-9, atol=1e-12)
    C = softmax(H @ W + b, axis=1)
    assert model.objective_history_[-2] == pytest.approx(naive_loss(A, C, 1.0), abs=1e-5)
    if not features:
        C[lengths[:, 0] == 0] = 1 / 3  # nodes of which nothing is known
    np.testing.assert_allclose(model.memberships_, C, rtol=1e-9, atol=1e-12)
    assert model.objective_ == pytest.approx(naive_loss(A, C, 1.0), rel=1e-9)
    assert model.modularity_ == pytest.approx(soft_modularity(A, np.eye(3)[model.labels_]))


def test_starts_and_evaluations():
    single = [DMoN(2, random_state=seed, **QUICK).fit(KARATE) for seed in (0,)]
    best = DMoN(2, n_init=3, random_state=0, **QUICK).fit(KARATE)
    assert best.objective_ <= single[0].objective_
    assert len(best.objective_history_) == 4 + 1  # epochs 10 to 40, and the end
    assert best.n_iter_ == 40
    assert not best.converged_


def test_one_epoch():
    assert DMoN(2, random_state=0, **QUICK | {"max_epochs": 1}).fit(KARATE).n_iter_ == 1


@pytest.mark.parametrize("name", ["karate", "dolphins", "football", "polbooks"])
@pytest.mark.filterwarnings("error", "ignore:DMoN found only 1[01] of n_clusters=12")
def test_default_fits_end_where_the_loss_is_at_rest(read_graph, name):
    A, _, cover = read_graph(name)
    changes = []
    for seed in range(3):
        model = DMoN(cover.shape[1], random_state=seed).fit(A)
        assert model.converged_
        assert model.n_iter_ <= 500
        longer = DMoN(cover.shape[1], tol=None, max_epochs=2 * model.n_iter_, random_state=seed).fit(A)
        changes.append(abs(longer.modularity_ - model.modularity_))
        assert longer.objective_ > 1.12 * model.objective_  # which is negative: memberships get harder
    assert np.mean(changes) < 0.01  # a single fit may find another optimum in the longer time


def test_tolerance():
    settings = QUICK | {"max_epochs": 3000, "dropout": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DMoN(2, random_state=0, **settings | {"tol": 1e-3}).fit(KARATE)
    assert model.converged_
    assert model.n_iter_ < 3000
    falls = -np.diff(model.objective_history_[:-1])
    small = falls <= 1e-3 * np.abs(model.objective_history_[1:-1])
    assert small[-2:].all()
    assert not (small[:-2] & small[1:-1]).any()
    with pytest.warns(ConvergenceWarning, match="did not converge in max_epochs=30 epochs"):
        DMoN(2, random_state=0, **settings | {"tol": 1e-3, "max_epochs": 30}).fit(KARATE)


# Communities ----------------------------------------------------------------------------------------------------------


def test_karate():
    graph = load_graph("karate")
    model = DMoN(2, max_epochs=300, random_state=0).fit(graph.adjacency)
    assert adjusted_rand_score(graph.labels, model.labels_) > 0.85
    assert model.modularity_ > 0.365


@pytest.mark.parametrize("name, ari, Q", [("dolphins", 0.4, 0.38), ("polbooks", 0.45, 0.46)])
def test_known_graphs(shared_data, name, ari, Q):
    graph = load_graph(name, data_home=shared_data / "graphs")
    settings = {"n_clusters": graph.cover.shape[1], "max_epochs": 300}
    models = [DMoN(**settings, random_state=seed).fit(graph.adjacency) for seed in range(3)]
    assert np.mean([adjusted_rand_score(graph.labels, model.labels_) for model in models]) > ari
    assert np.mean([model.modularity_ for model in models]) > Q


def test_planted_communities(rng, planted):
    A, y = planted([100] * 4, 0.1, 0.01)
    assert adjusted_rand_score(y, DMoN(4, random_state=0).fit(A).labels_) > 0.98  # two nodes are wrong
    assert adjusted_rand_score(y, DMoN(4, tol=None, random_state=0).fit(A).labels_) == 1
    settings = {"max_epochs": 300, "learning_rate": 3e-3, "random_state": 0}
    X = 2.0 * np.eye(4)[y] + rng.normal(size=(400, 4))
    model = DMoN(4, **settings).fit(A, node_features=X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    # A known node in the place of a new one.
    found = model.predict_memberships(A, node_features=X)
    np.testing.assert_allclose(found, model.memberships_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(clone(model).fit_transform(A, node_features=X), found)


def test_new_nodes(planted):
    A, y = planted([50] * 4, 0.3, 0.03)
    kept = np.random.default_rng(1).permutation(200)[:160]
    new = np.setdiff1d(np.arange(200), kept)
    model = DMoN(4, random_state=0, **QUICK | {"max_epochs": 150}).fit(A[kept][:, kept])
    links = A[new][:, kept]
    assert adjusted_rand_score(y[new], model.predict(links)) >= 0.9
    expected = (links @ model.memberships_) / links.sum(axis=1)[:, None]
    np.testing.assert_allclose(model.predict_proba(links), expected)
    np.testing.assert_array_equal(model.predict_proba(np.zeros((1, 160))), [[0.25] * 4])


def test_collapse_weight_makes_equal_sizes(planted):
    A, y = planted([40, 12], 0.5, 0.02)
    models = [
        DMoN(2, collapse_weight=weight, random_state=0, **QUICK | {"max_epochs": 100}).fit(A) for weight in (0.0, 1.0)
    ]
    assert adjusted_rand_score(y, models[0].labels_) == 1
    assert collapse_penalty(models[0].memberships_) > 0.1
    assert collapse_penalty(models[1].memberships_) < 0.01


# Hostile graphs, torch's own state ------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1e-150, 1e-4, 3.0, 1e80])
def test_weights_in_any_unit(rng, unit):
    A, X = weighted(rng), rng.normal(size=(15, 4))
    expected, model = (DMoN(3, random_state=0, **QUICK).fit(B, node_features=X) for B in (A, unit * A))
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=1e-9)
    np.testing.assert_allclose(model.objective_history_, expected.objective_history_, rtol=1e-6)
    np.testing.assert_allclose(
        model.predict_memberships(unit * A[:3], node_features=X[:3]), expected.memberships_[:3], rtol=1e-9
    )


@pytest.mark.parametrize("features", [False, True])
def test_isolated_nodes(rng, features):
    A = sparse.block_diag([KARATE, np.zeros((2, 2))], format="csr")
    X = rng.normal(size=(36, 3)) if features else None
    model = DMoN(2, random_state=0, **QUICK).fit(A, node_features=X)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)
    assert (model.memberships_[34] == model.memberships_[35]).all() == (not features)
    new = model.predict_memberships(np.zeros((1, 36)), node_features=None if X is None else X[:1])
    assert new.sum() == pytest.approx(1)


@pytest.mark.parametrize("X", [np.zeros((4, 4)), np.zeros((1, 1))])
def test_no_links(X):
    with pytest.warns(UserWarning, match="no link"):
        model = DMoN(1, random_state=0).fit(X, node_features=np.ones((len(X), 2)))
    np.testing.assert_array_equal(model.memberships_, 1)
    assert model.converged_
    assert model.modularity_ == 0
    assert model.embedding_.shape == (len(X), 64)
    np.testing.assert_array_equal(model.predict_memberships(X, node_features=np.ones((len(X), 2))), 1)


def test_one_cluster_and_complete_graph():
    model = DMoN(1, random_state=0, **QUICK).fit(KARATE)
    np.testing.assert_array_equal(model.memberships_, 1)
    assert model.objective_ == pytest.approx(0, abs=1e-12)
    assert np.isfinite(DMoN(3, random_state=0, **QUICK).fit(1.0 - np.eye(6)).memberships_).all()


def test_fewer_communities_than_asked_for():
    with pytest.warns(ConvergenceWarning, match="only [0-9]+ of n_clusters=20 communities"):
        DMoN(20, random_state=0, **QUICK | {"max_epochs": 100}).fit(KARATE)


def test_interrupted_fit_keeps_what_it_learnt(monkeypatch):
    loss, calls = ModularityLoss.__call__, []

    def interrupted(self, C):
        calls.append(1)
        if len(calls) == 14:  # after the evaluation of epoch 10
            raise KeyboardInterrupt
        return loss(self, C)

    monkeypatch.setattr(ModularityLoss, "__call__", interrupted)
    model = DMoN(2, random_state=0, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(KARATE)
    assert np.isfinite(model.memberships_).all()
    assert len(model.objective_history_) == 2


def test_refused():
    for settings, message in [
        ({"hidden_layer_sizes": ()}, "hidden_layer_sizes must be a sequence of length >= 1 of integers >= 1"),
        ({"collapse_weight": -1.0}, "collapse_weight"),
        ({"device": "nowhere"}, "device must be"),
        ({"learning_rate": 1e30}, "diverged"),
        ({"n_clusters": 35}, "n_samples=34 should be >= n_clusters=35"),
    ]:
        with pytest.raises(ValueError, match=message):
            DMoN(**QUICK | {"random_state": 0} | settings).fit(KARATE)
    model = DMoN(2, random_state=0, **QUICK)
    with pytest.raises(NotFittedError):
        model.predict(KARATE)
    with pytest.raises(ValueError, match="row for each of the 34 nodes"):
        model.fit(KARATE, node_features=np.ones((3, 2)))
    with pytest.raises(ValueError, match="scale them"):
        model.fit(KARATE, node_features=np.full((34, 2), 1e20))
    model.fit(KARATE, node_features=np.eye(34)[:, :5])
    with pytest.raises(ValueError, match="node_features must be given"):
        model.predict(KARATE)


def test_state_of_torch_is_the_callers(torch):
    expected = DMoN(2, random_state=0, **QUICK).fit(KARATE)
    before = torch.get_rng_state(), torch.get_num_threads(), torch.get_default_dtype()
    try:
        torch.set_num_threads(2)
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(5)
        state = torch.get_rng_state()
        with torch.inference_mode(), torch.device("meta"):
            model = DMoN(2, random_state=0, **QUICK).fit(KARATE)
        assert torch.equal(torch.get_rng_state(), state)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_rng_state(before[0])
        torch.set_num_threads(before[1])
        torch.set_default_dtype(before[2])
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_memberships(KARATE), expected.predict_memberships(KARATE))


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'DMoN needs PyTorch: pip install "soft-clustering\[deep\]"'):
        DMoN(2).fit(KARATE)


def test_selu_is_that_of_torch(torch):
    x = torch.linspace(-3, 3, 7, dtype=torch.float64)
    alpha, scale = dmon._SELU
    found = scale * np.where(x.numpy() > 0, x.numpy(), alpha * np.expm1(np.minimum(x.numpy(), 0)))
    np.testing.assert_allclose(found, torch.nn.functional.selu(x).numpy(), rtol=1e-12)
