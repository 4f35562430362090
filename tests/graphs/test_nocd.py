"""NOCD: the loss by loops, gradients, what the network says, planted and real communities, hostile graphs."""

import pickle
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score

from soft_clustering import NOCD
from soft_clustering.datasets import load_graph, make_overlapping_graph
from soft_clustering.graphs import nocd
from soft_clustering.graphs.nocd import AffiliationLoss
from soft_clustering.metrics import overlapping_nmi

KARATE = load_graph("karate").adjacency
QUICK = {"hidden_layer_sizes": (16,), "max_epochs": 30, "learning_rate": 0.02, "n_iter_no_change": None}


@pytest.fixture(scope="module", autouse=True)
def torch():
    return pytest.importorskip("torch")


def connected(A, y):
    linked = np.diff(A.indptr) > 0
    return A[linked][:, linked], y[linked]


# The loss -------------------------------------------------------------------------------------------------------------


def naive_loss(A, F, balanced):
    A = A.toarray()
    n = len(A)
    p = min(A.sum() / (n * n - n), 1 - 1 / n)
    links, others = [], []
    for u in range(n):
        for v in range(u):
            dot = F[u] @ F[v]
            if A[u, v]:
                links.append(-np.log(1 - np.exp(-dot + np.log(1 - p))))
            else:
                others.append(dot)
    q = 1.0 if balanced else len(others) / len(links)
    return (np.mean(links) + q * (np.mean(others) if others else 0.0)) / (1 + q)


@pytest.mark.parametrize("balanced", [True, False])
def test_loss_by_loops(torch, rng, balanced, planted):
    A, _ = planted([20, 20], 0.5, 0.05)
    F = np.maximum(rng.normal(size=(40, 3)), 0)
    loss = AffiliationLoss(torch, A, balanced, "cpu")
    assert float(loss.full(torch.from_numpy(F))[0]) == pytest.approx(naive_loss(A, F, balanced), rel=1e-10)
    single = float(loss.full(torch.from_numpy(F.astype(np.float32)))[0])
    assert single == pytest.approx(naive_loss(A, F, balanced), rel=1e-5)


def test_loss_of_a_complete_graph(torch, rng):
    A = sparse.csr_array(1.0 - np.eye(6))
    F = rng.uniform(size=(6, 2))
    loss, gradient = AffiliationLoss(torch, A, False, "cpu").full(torch.from_numpy(F))
    assert float(loss) == pytest.approx(naive_loss(A, F, False), rel=1e-10)
    assert (gradient.numpy() < 0).all()


@pytest.mark.parametrize("chunk", [7, 1 << 16])
@pytest.mark.parametrize("balanced", [True, False])
def test_gradient_against_autograd_of_the_dense_form(torch, rng, balanced, chunk, monkeypatch, planted):
    monkeypatch.setattr(nocd, "_CHUNK", chunk)
    A, _ = planted([12, 12], 0.5, 0.1)
    loss = AffiliationLoss(torch, A, balanced, "cpu")
    F = torch.from_numpy(rng.uniform(size=(24, 3))).requires_grad_()
    value, gradient = loss.full(F.detach())
    linked = torch.from_numpy(np.triu(A.toarray(), 1)) > 0
    other = torch.triu(~linked, 1) & torch.from_numpy(A.toarray() == 0)
    dots = F @ F.T
    q = 1.0 if balanced else int(other.sum()) / int(linked.sum())
    dense = (-torch.log(1 - torch.exp(-dots[linked] - loss.rate)).mean() + q * dots[other].mean()) / (1 + q)
    dense.backward()
    assert float(value) == pytest.approx(dense.item(), rel=1e-10)
    np.testing.assert_allclose(gradient.numpy(), F.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("balanced", [True, False])
def test_drawn_loss_is_unbiased(torch, rng, balanced, planted):
    A, _ = planted([15, 15], 0.6, 0.1)
    loss = AffiliationLoss(torch, A, balanced, "cpu")
    F = torch.from_numpy(rng.uniform(size=(30, 2)))
    expected = loss.full(F)
    drawn = loss.drawn(F, 400_000, torch.Generator().manual_seed(0))
    assert float(drawn[0]) == pytest.approx(float(expected[0]), rel=5e-3)
    np.testing.assert_allclose(drawn[1].numpy(), expected[1].numpy(), rtol=0.03, atol=2e-4)


def test_gradient_of_drawn_pairs(torch, rng, planted):
    A, _ = planted([10, 10], 0.6, 0.1)
    loss = AffiliationLoss(torch, A, True, "cpu")
    F = torch.from_numpy(rng.uniform(size=(20, 2)))
    step = 1e-6
    gradient = loss.drawn(F, 50, torch.Generator().manual_seed(1))[1].numpy()
    for place in ((0, 0), (7, 1), (19, 0)):
        values = []
        for sign in (1, -1):
            moved = F.clone()
            moved[place] += sign * step
            values.append(float(loss.drawn(moved, 50, torch.Generator().manual_seed(1))[0]))
        assert gradient[place] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-5, abs=1e-9)


def test_drawn_pairs_have_no_link(torch, planted):
    A, _ = planted([10, 10], 0.8, 0.1)
    loss = AffiliationLoss(torch, A, True, "cpu")
    u, v = loss._draw_others(5000, torch.Generator().manual_seed(0)).numpy()
    assert u.shape == (5000,)
    assert (u != v).all()
    assert not A.toarray()[u, v].any()
    found = sparse.coo_array((np.ones(5000), (np.minimum(u, v), np.maximum(u, v))), shape=A.shape).toarray()
    assert np.count_nonzero(found) == loss.n_others  # every such pair comes up


def test_pairs_are_drawn_only_from_many_links(monkeypatch):
    calls = []
    monkeypatch.setattr(AffiliationLoss, "drawn", lambda self, F, *_: calls.append(1) or self.full(F))
    for size, drawn in ((None, 0), (78, 0), (77, 30)):
        calls.clear()
        NOCD(2, batch_size=size, random_state=0, **QUICK).fit(KARATE)
        assert len(calls) == drawn
    NOCD(2, batch_size=1, random_state=0, **QUICK).fit(1.0 - np.eye(12))  # all pairs have a link
    assert len(calls) == 30


# The network ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(), (16,), (16, 8)])
@pytest.mark.parametrize("batch_norm", [True, False])
def test_memberships_are_those_of_the_best_network(torch, sizes, batch_norm):
    model = NOCD(3, batch_norm=batch_norm, random_state=0, **QUICK | {"hidden_layer_sizes": sizes}).fit(KARATE)
    assert [W.shape for W, _ in model._layers] == list(zip((34, *sizes), (*sizes, 3), strict=True))
    joined = KARATE.toarray() + np.eye(34)
    root = np.diag(joined.sum(axis=1) ** -0.5)
    H = KARATE.toarray() / np.sqrt(KARATE.toarray().sum(axis=1, keepdims=True))
    for layer, (W, b) in enumerate(model._layers):
        if layer and batch_norm:
            H = (H - H.mean(axis=0)) / np.sqrt(H.var(axis=0) + 1e-5)
        H = np.maximum(root @ joined @ root @ H @ W + b, 0)
    np.testing.assert_allclose(model.memberships_, H, rtol=1e-9, atol=1e-12)
    assert model.objective_ == pytest.approx(naive_loss(KARATE, H, True), rel=1e-9)
    assert min(model.objective_history_[:-1]) == pytest.approx(model.objective_, rel=1e-5)


def test_evaluations_and_the_last_epoch():
    model = NOCD(2, eval_every=8, random_state=0, **QUICK).fit(KARATE)
    assert len(model.objective_history_) == 4 + 1  # epochs 8, 16, 24, 30, and the end
    assert model.n_iter_ == 30
    assert model.best_epoch_ in (8, 16, 24, 30)
    # With fewer epochs than one evaluation takes the last one is evaluated.
    assert NOCD(2, random_state=0, **QUICK | {"max_epochs": 3}).fit(KARATE).best_epoch_ == 3


def test_early_stopping():
    settings = QUICK | {"n_iter_no_change": 2, "max_epochs": 2000, "eval_every": 5, "learning_rate": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NOCD(2, random_state=0, **settings).fit(KARATE)
    assert model.converged_
    assert model.n_iter_ == model.best_epoch_ + 10 < 2000
    with pytest.warns(ConvergenceWarning, match="did not converge in max_epochs=20 epochs"):
        NOCD(2, random_state=0, **settings | {"max_epochs": 20}).fit(KARATE)


@pytest.mark.filterwarnings("error")
def test_default_fit_does_not_warn():
    model = NOCD(2, random_state=0).fit(KARATE)
    assert model.n_iter_ == 500
    assert model.objective_ == pytest.approx(model.objective_history_.min(), rel=1e-4)


def test_weight_decay_shrinks_weights_not_biases():
    models = [NOCD(2, weight_decay=decay, random_state=0, **QUICK).fit(KARATE) for decay in (0.0, 1.0)]
    free, held = ([np.linalg.norm(W) for W, _ in model._layers] for model in models)
    assert held[0] < 0.7 * free[0]


def test_listing_of_the_paper():
    model = NOCD(random_state=42, max_epochs=10).fit(KARATE)
    assert model.memberships_.shape == (34, 8)
    assert model.memberships_.any()


# Communities ----------------------------------------------------------------------------------------------------------


def test_planted_overlapping_communities():
    graph = make_overlapping_graph(200, 4, random_state=0)
    model = NOCD(4, random_state=0, **QUICK | {"max_epochs": 100}).fit(graph.adjacency)
    assert overlapping_nmi(graph.cover, model.get_cover()) > 0.75
    drawn = NOCD(4, batch_size=1000, random_state=0, **QUICK | {"max_epochs": 100}).fit(graph.adjacency)
    assert drawn.objective_ == pytest.approx(model.objective_, abs=0.02)


def test_new_nodes(planted):
    A, y = connected(*planted([50] * 4, 0.3, 0.03))
    kept = np.random.default_rng(1).permutation(len(y))[: int(0.8 * len(y))]
    new = np.setdiff1d(np.arange(len(y)), kept)
    model = NOCD(4, random_state=0, **QUICK | {"max_epochs": 100}).fit(A[kept][:, kept])
    assert adjusted_rand_score(y[new], model.predict(A[new][:, kept])) >= 0.9
    np.testing.assert_allclose(model.predict_memberships(A[kept][:, kept]), model.memberships_, rtol=1e-9, atol=1e-12)
    no_links = model.predict_memberships(np.zeros((2, len(kept))))
    assert not no_links.any()
    assert (model.predict(np.zeros((2, len(kept)))) == -1).all()


@pytest.mark.parametrize("append", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_node_features(rng, append, kind, planted):
    A, y = connected(*planted([25] * 3, 0.3, 0.04))
    X = kind(2.0 * np.eye(3)[y] + rng.normal(size=(len(y), 3)) / 2)
    model = NOCD(3, append_adjacency=append, random_state=0, **QUICK | {"max_epochs": 60}).fit(A, node_features=X)
    assert adjusted_rand_score(y, model.labels_) > 0.7
    assert model._layers[0][0].shape[0] == (3 + len(y) if append else 3)
    np.testing.assert_allclose(model.predict_memberships(A, node_features=X), model.memberships_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(clone(model).fit_transform(A, node_features=X), model.transform(A, node_features=X))
    np.testing.assert_array_equal(model.fit_predict(A, node_features=X), model.labels_)


def test_scaling_of_attributes():
    sparse_words = sparse.csr_array(np.eye(120))
    for features, append, expected in [
        (np.eye(120), True, "rows"),
        (np.eye(120), False, "columns"),
        (sparse_words, False, "rows"),
        (sparse_words[:, :100], False, "columns"),
    ]:
        assert NOCD(append_adjacency=append)._scaling(features) == expected
    assert NOCD(attribute_scaling=None)._scaling(np.eye(2)) is None
    X = np.arange(34.0)[:, None] * [1.0, 2.0] + 1
    scaled = {
        scaling: NOCD(2, append_adjacency=False, attribute_scaling=scaling, random_state=0, **QUICK)
        .fit(KARATE, node_features=X)
        .memberships_
        for scaling in ("columns", "rows", None)
    }
    assert np.abs(scaled["columns"] - scaled["rows"]).max() > 1e-3
    assert np.abs(scaled[None] - scaled["rows"]).max() > 1e-3


def test_features_in_any_unit():
    X = np.random.default_rng(0).normal(size=(34, 3))
    fits = [
        NOCD(2, append_adjacency=False, random_state=0, **QUICK).fit(KARATE, node_features=unit * X).memberships_
        for unit in (1.0, 2.0**500, 2.0**-500)
    ]
    np.testing.assert_allclose(fits[1], fits[0])
    np.testing.assert_allclose(fits[2], fits[0])


@pytest.mark.parametrize("name, least, both", [("fb_414", 0.52, 0.54), ("fb_698", 0.44, None), ("fb_348", 0.3, None)])
def test_ego_networks(shared_data, name, least, both):
    graph = load_graph(name, data_home=shared_data / "graphs")
    linked = np.diff(graph.adjacency.indptr) > 0
    A, cover, X = graph.adjacency[linked][:, linked], graph.cover[linked], graph.features[linked]
    model = NOCD(cover.shape[1], random_state=0, n_iter_no_change=None)
    assert overlapping_nmi(cover, model.fit(A).get_cover()) >= least
    if both is not None:
        assert overlapping_nmi(cover, model.fit(A, node_features=X).get_cover()) >= both


# Hostile graphs, torch's own state ------------------------------------------------------------------------------------


def test_isolated_nodes_take_no_part():
    places = np.r_[0:10, 12:36]
    wide = sparse.lil_array((37, 37))
    wide[np.ix_(places, places)] = KARATE.toarray()
    X = np.random.default_rng(0).normal(size=(37, 2))
    for features in (None, X):
        settings = {} if features is None else {"node_features": features}
        inner = {} if features is None else {"node_features": features[places]}
        model = NOCD(2, random_state=0, **QUICK).fit(wide.tocsr(), **settings)
        expected = NOCD(2, random_state=0, **QUICK).fit(KARATE, **inner)
        np.testing.assert_array_equal(model.memberships_[places], expected.memberships_)
        assert not model.memberships_[[10, 11, 36]].any()
        assert (model.labels_[[10, 11, 36]] == -1).all()
        only = np.zeros((1, 37))
        only[0, 10] = 1
        new = {} if features is None else {"node_features": features[:1]}
        assert not model.predict_memberships(only, **new).any()


@pytest.mark.parametrize("X", [np.zeros((4, 4)), np.zeros((1, 1))])
def test_no_links(X):
    with pytest.warns(UserWarning, match="no link"):
        model = NOCD(1, random_state=0).fit(X)
    assert not model.memberships_.any()
    assert model.converged_
    assert not model.predict_memberships(np.ones((2, len(X)))).any()


def test_weights_are_refused():
    weighted = KARATE.copy()
    weighted[0, 1] = weighted[1, 0] = 2.0
    with pytest.raises(ValueError, match="links of equal weight: NOCD models links without weights"):
        NOCD(2, random_state=0, **QUICK).fit(weighted)


@pytest.mark.parametrize("K", [1, 2, 5])
def test_small_and_complete_graphs(K):
    for n in (5, 8):
        model = NOCD(K, random_state=0, **QUICK).fit(1.0 - np.eye(n))
        assert np.isfinite(model.memberships_).all()
        assert np.isfinite(model.objective_)
    pair = NOCD(1, random_state=0, **QUICK).fit([[0.0, 1.0], [1.0, 0.0]])
    assert np.isfinite(pair.memberships_).all()


def test_dead_networks_learn_once_more(monkeypatch):
    starts = []
    learn = NOCD._learn

    def dying(self, torch, run, *arguments):
        learn(self, torch, run, *arguments)
        starts.append(1)
        if len(starts) <= deaths:
            run.state = [(0 * W, 0 * b - 1) for W, b in run.state]

    monkeypatch.setattr(NOCD, "_learn", dying)
    deaths = 1
    assert NOCD(2, random_state=0, **QUICK).fit(KARATE).memberships_.any()
    assert len(starts) == 2
    starts.clear()
    deaths = 2
    with pytest.warns(ConvergenceWarning, match="all affiliations are 0"):
        NOCD(2, random_state=0, **QUICK).fit(KARATE)
    assert len(starts) == 2


def test_interrupted_fit_keeps_the_best_network(monkeypatch):
    full, calls = AffiliationLoss.full, []

    def interrupted(self, F):
        calls.append(1)
        if len(calls) == 15:
            raise KeyboardInterrupt
        return full(self, F)

    monkeypatch.setattr(AffiliationLoss, "full", interrupted)
    model = NOCD(2, eval_every=5, random_state=0, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(KARATE)
    assert model.best_epoch_ in (5, 10)
    assert np.isfinite(model.memberships_).all()


def test_refused():
    for settings, message in [
        ({"hidden_layer_sizes": (0,)}, "hidden_layer_sizes must be a sequence of integers >= 1"),
        ({"hidden_layer_sizes": (2.5,)}, "hidden_layer_sizes"),
        ({"dropout": 1.0}, "dropout"),
        ({"device": "nowhere"}, "device must be"),
        ({"learning_rate": 1e30}, "diverged"),
        ({"n_clusters": 35}, "n_samples=34 should be >= n_clusters=35"),
    ]:
        with pytest.raises(ValueError, match=message):
            NOCD(**QUICK | {"n_clusters": 3, "weight_decay": 0.0, "random_state": 0} | settings).fit(KARATE)
    model = NOCD(2, random_state=0, **QUICK)
    with pytest.raises(NotFittedError):
        model.predict(KARATE)
    with pytest.raises(ValueError, match="row for each of the 34 nodes"):
        model.fit(KARATE, node_features=np.ones((3, 2)))
    model.fit(KARATE)
    with pytest.raises(ValueError, match="node_features must be None"):
        model.predict(KARATE, node_features=np.ones((34, 2)))
    model.fit(KARATE, node_features=np.eye(34)[:, :5])
    with pytest.raises(ValueError, match="node_features must be given"):
        model.predict(KARATE)
    with pytest.raises(ValueError, match="has 4 features, but NOCD is expecting 5"):
        model.predict(KARATE, node_features=np.ones((34, 4)))
    with pytest.raises(ValueError, match="is expecting 34"):
        model.predict(np.ones((2, 3)), node_features=np.ones((2, 5)))


def test_thresholds():
    assert NOCD(2, random_state=0, **QUICK).fit(KARATE).threshold_ == 0.5
    model = NOCD(2, balance_loss=False, random_state=0, **QUICK).fit(KARATE)
    assert model.threshold_ == 0.01
    np.testing.assert_array_equal(model.get_cover(), model.memberships_ >= 0.01)


def test_state_of_torch_is_the_callers(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = NOCD(2, random_state=0, **QUICK).fit(KARATE)
    before = torch.get_rng_state(), torch.get_num_threads(), torch.get_default_dtype()
    threads = before[1]
    try:
        torch.set_num_threads(2)
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(5)
        with torch.inference_mode(), torch.device("meta"):
            model = NOCD(2, random_state=0, **QUICK).fit(KARATE)
        assert torch.get_num_threads() == 2
        assert torch.get_default_dtype() == torch.float64
        assert not torch.are_deterministic_algorithms_enabled()
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(before[2])
        torch.set_rng_state(before[0])
    np.testing.assert_array_equal(model.memberships_, expected.memberships_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_memberships(KARATE), expected.predict_memberships(KARATE))


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'NOCD needs PyTorch: pip install "soft-clustering\[deep\]"'):
        NOCD(2).fit(KARATE)
