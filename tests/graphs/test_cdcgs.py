from __future__ import annotations

import pickle
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import CDCGS
from soft_clustering.datasets import load_graph
from soft_clustering.graphs import cdcgs

QUICK = {"n_draws": 5, "learning_rate": 0.1, "n_init": 2, "max_epochs": 60, "tol": None, "random_state": 0}
KARATE = load_graph("karate")


@pytest.fixture(scope="module", name="torch")
def _torch():
    return pytest.importorskip("torch", reason="CDCGS needs the extra 'deep'")


def weighted(n=12, seed=0):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.5), 1)
    return A + A.T


def stacked(torch, memberships):
    """Axes (starts, communities, nodes)."""
    return torch.from_numpy(np.ascontiguousarray(np.swapaxes(memberships, 1, 2)))


def links_of(torch, A):
    return cdcgs.Links(torch, sparse.csr_array(A), torch.device("cpu"))


# The loss and its gradient --------------------------------------------------------------------------------------------


def identity_by_loops(A, C):
    n, K = C.shape
    R = np.zeros((K, K))
    for k in range(K):
        for h in range(K):
            R[k, h] = sum(C[i, k] * A[i, j] * C[j, h] for i in range(n) for j in range(n))
    loss = 0.0
    for k in range(K):
        Q = R[:, k] / R[:, k].sum()
        loss -= np.log(np.exp(Q[k]) / np.exp(Q).sum())
    return loss


def modularity_by_loops(A, C):
    n = len(C)
    d, total = A.sum(axis=1), A.sum()
    return -sum((A[i, j] - d[i] * d[j] / total) * (C[i] @ C[j]) for i in range(n) for j in range(n)) / total


BY_LOOPS = [(cdcgs.identity_loss, identity_by_loops), (cdcgs.modularity_loss, modularity_by_loops)]


@pytest.mark.parametrize("loss_of, by_loops", BY_LOOPS)
def test_loss(torch, loss_of, by_loops):
    A = weighted()
    C = np.random.default_rng(1).dirichlet(np.ones(3), size=(4, 12))
    losses = loss_of(torch, links_of(torch, A), stacked(torch, C))[0]
    np.testing.assert_allclose(losses, [by_loops(A, c) for c in C], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("K", [1, 2, 5])
def test_loss_of_equal_memberships(torch, K):
    C = stacked(torch, np.full((1, 34, K), 1 / K))
    links = links_of(torch, KARATE.adjacency)
    assert cdcgs.identity_loss(torch, links, C)[0].item() == pytest.approx(K * np.log(K), rel=1e-10, abs=1e-14)
    assert cdcgs.modularity_loss(torch, links, C)[0].item() == pytest.approx(0, abs=1e-14)


def test_modularity_is_that_of_networkx(torch):
    networkx = pytest.importorskip("networkx")
    A = weighted(20)
    labels = np.arange(20) % 3
    sets = [set(np.flatnonzero(labels == k).tolist()) for k in range(3)]
    expected = networkx.community.modularity(networkx.from_numpy_array(A), sets)
    loss = cdcgs.modularity_loss(torch, links_of(torch, A), stacked(torch, np.eye(3)[None, labels]))[0]
    assert -loss.item() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("t", [4.0, 0.5, 0.1])
@pytest.mark.parametrize("loss_of", [cdcgs.identity_loss, cdcgs.modularity_loss])
def test_gradient_is_that_of_torch(torch, loss_of, t):
    rng = np.random.default_rng(2)
    links = links_of(torch, weighted())
    W = torch.from_numpy(rng.normal(size=(2, 3, 12))).requires_grad_()
    noise = torch.from_numpy(rng.uniform(size=(2, 4, 3, 12)))
    draws = torch.softmax((W[:, None] - (-noise.log()).log()) / t, 2)
    C = draws.mean(1)
    dense = torch.from_numpy(weighted() / weighted().sum())
    R = C @ dense @ C.mT
    if loss_of is cdcgs.identity_loss:
        Q = R / R.sum(1, keepdim=True)
        loss = -torch.log_softmax(Q, 1).diagonal(dim1=1, dim2=2).sum()
    else:
        loss = (C @ dense.sum(1)).square().sum() - R.diagonal(dim1=1, dim2=2).sum()
    loss.backward()
    with torch.no_grad():
        losses, dC = loss_of(torch, links, C)
        parts = (draws.float().numpy(), C.numpy(), dC.contiguous().numpy())
        gradient = torch.from_numpy(cdcgs.gumbel_slope(*parts, t, threads=1))
    assert losses.sum().item() == pytest.approx(loss.item(), rel=1e-10)
    assert (gradient - W.grad).abs().max() <= 1e-6 * W.grad.abs().max()


def test_adam_is_that_of_torch(torch):
    rng = np.random.default_rng(3)
    W, V = (torch.ones(2, 3, 4, dtype=torch.float64) for _ in range(2))
    adam = cdcgs.Adam(torch, W, 0.01)
    theirs = torch.optim.Adam([V.requires_grad_()], lr=0.01, betas=(0.5, 0.999))
    for step in range(6):
        gradient = torch.from_numpy(rng.normal(size=V.shape))
        if step == 3:  # some starts have ended
            W = W[[1]]
            adam.keep(W, [1])
        adam.step(gradient[-len(W) :])
        V.grad = gradient
        theirs.step()
    torch.testing.assert_close(W[0], V[1].detach(), rtol=1e-12, atol=0)


def test_temperature():
    model = CDCGS()
    seen = [model._temperature(epoch) for epoch in range(1, 601)]
    expected = [(75, 4), (25, 2.5), (50, 2), (50, 1.5), (100, 1), (100, 0.5), (100, 0.25), (100, 0.1)]
    np.testing.assert_allclose(seen, np.concatenate([np.full(epochs, t) for epochs, t in expected]), rtol=1e-12)
    assert CDCGS(temperature=2.0, min_temperature=0.6)._temperature(600) == 0.6
    assert CDCGS(temperature=2.0)._temperature(1) == 2


# Communities ----------------------------------------------------------------------------------------------------------


def test_karate(torch):
    model = CDCGS(2, random_state=0).fit(KARATE.adjacency)
    assert adjusted_rand_score(KARATE.labels, model.labels_) == 1
    assert model.objective_ / 2 == pytest.approx(0.390, abs=5e-4)
    U, A = model.memberships_, KARATE.adjacency.toarray()
    assert model.objective_ == pytest.approx(identity_by_loops(A, U), rel=1e-9)
    np.testing.assert_allclose(model.interaction_matrix_, U.T @ A @ U, rtol=1e-12)
    assert model.interaction_matrix_.sum() == pytest.approx(A.sum())
    shares = np.exp(model.logits_)
    np.testing.assert_allclose(U, shares / shares.sum(axis=1, keepdims=True), rtol=1e-12)
    assert U.max(axis=1).mean() > 0.98
    assert model.converged_ and model.n_iter_ in (575, 600)
    assert len(model.objective_history_) == model.n_iter_ // 25


def test_four_communities_of_karate(torch):
    """The authors print a modularity of 0.420."""
    model = CDCGS(4, random_state=0).fit(KARATE.adjacency)
    found = modularity_by_loops(KARATE.adjacency.toarray(), np.eye(4)[model.labels_])
    assert -found == pytest.approx(0.42, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_two_cliques(torch, seed):
    A = np.kron(np.eye(2), np.ones((10, 10)))
    A[9, 10] = A[10, 9] = 1
    model = CDCGS(2, n_init=1, random_state=seed).fit(A)
    assert adjusted_rand_score(np.repeat([0, 1], 10), model.labels_) == 1


@pytest.mark.parametrize("objective", ["identity", "modularity"])
def test_planted_communities(torch, objective, planted):
    A, y = planted([60] * 3, 0.5, 0.02, 0)
    model = CDCGS(3, objective=objective, random_state=0).fit(A)
    assert adjusted_rand_score(y, model.labels_) == 1
    if objective == "identity":
        assert model.objective_ / 3 == pytest.approx(0.602, abs=2e-3)
    else:
        assert model.objective_ == pytest.approx(modularity_by_loops(A.toarray(), model.memberships_), rel=1e-9)


def test_new_nodes(torch, planted):
    A, y = planted([50] * 4, 0.3, 0.03, 1)
    test = np.random.default_rng(0).permutation(200) < 40
    model = CDCGS(4, n_init=3, random_state=0).fit(A[~test][:, ~test])
    assert adjusted_rand_score(y[~test], model.labels_) == 1
    links = A[test][:, ~test]
    assert adjusted_rand_score(y[test], model.predict(links)) >= 0.9
    U = model.predict_memberships(links)
    linked = np.flatnonzero(links[[0]].toarray()[0])
    np.testing.assert_allclose(U[0], model.memberships_[linked].mean(axis=0), rtol=1e-12)
    weights = np.zeros((2, 160))
    weights[0, [3, 60]] = 1e80, 3e80
    U = model.predict_memberships(weights)
    np.testing.assert_allclose(U[0], model.memberships_[[3, 60]].T @ [0.25, 0.75], rtol=1e-12)
    np.testing.assert_array_equal(U[1], np.full(4, 0.25))


@pytest.mark.parametrize("name, n_init, least", [("dolphins", 20, 0.93), ("polbooks", 5, 0.55), ("football", 3, 0.75)])
def test_real_graphs(torch, shared_data, name, n_init, least):
    """The loss is smallest where the groups are; single starts miss them."""
    graph = load_graph(name, data_home=shared_data / "graphs")
    model = CDCGS(len(set(graph.labels)), n_init=n_init, tol=None, random_state=0).fit(graph.adjacency)
    assert adjusted_rand_score(graph.labels, model.labels_) >= least


# Weights, isolated nodes, precision -----------------------------------------------------------------------------------


def test_weights_count(torch, planted):
    A, y = planted([20, 20], 0.9, 0.9, 0)
    strong = A.toarray() * np.where(y[:, None] == y, 1.0, 0.05)
    assert adjusted_rand_score(y, CDCGS(2, **QUICK).fit(strong).labels_) == 1
    assert adjusted_rand_score(y, CDCGS(2, **QUICK).fit(A).labels_) < 0.5


def test_units_of_weights_do_not_matter(torch):
    A = weighted(30)
    model = CDCGS(3, **QUICK).fit(A)
    for unit in (2.0**-250, 2.0**250):
        other = CDCGS(3, **QUICK).fit(unit * A)
        np.testing.assert_array_equal(other.memberships_, model.memberships_)
        np.testing.assert_array_equal(other.interaction_matrix_, unit * model.interaction_matrix_)
        assert other.objective_ == model.objective_


@pytest.mark.parametrize("least, most", [(1e-200, 1e200), (1e-300, 1e-300), (1e300, 1e305)])
def test_links_of_extreme_weights_sum_to_one(torch, least, most):
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = least
    A[2, 3] = A[3, 2] = most
    degrees = links_of(torch, A).degrees.numpy()
    assert degrees.sum() == pytest.approx(1, rel=1e-14)
    assert degrees[2] == pytest.approx(0.5 / (1 + least / most), rel=1e-14)


@pytest.mark.parametrize("objective", ["identity", "modularity"])
def test_isolated_nodes_have_equal_memberships(torch, objective):
    A = np.zeros((36, 36))
    A[:34, :34] = KARATE.adjacency.toarray()
    model = CDCGS(2, **QUICK, objective=objective).fit(A)
    np.testing.assert_array_equal(model.memberships_[34:], np.full((2, 2), 0.5))
    np.testing.assert_array_equal(model.logits_[34:], np.ones((2, 2)))
    assert model.memberships_[:34].max(axis=1).min() > 0.5


def test_no_links(torch):
    with pytest.warns(UserWarning, match="X has no link"):
        model = CDCGS(3).fit(np.eye(5))
    np.testing.assert_array_equal(model.memberships_, np.full((5, 3), 1 / 3))
    np.testing.assert_array_equal(model.interaction_matrix_, np.zeros((3, 3)))
    assert model.converged_ and model.objective_ == 0
    np.testing.assert_array_equal(model.predict_memberships(np.ones((1, 5))), np.full((1, 3), 1 / 3))


def test_single_precision(torch):
    double = CDCGS(2, **QUICK).fit(KARATE.adjacency)
    single = CDCGS(2, **QUICK).fit(KARATE.adjacency.astype(np.float32))
    for name, dtype in (("memberships_", np.float32), ("logits_", np.float32), ("interaction_matrix_", np.float64)):
        assert getattr(single, name).dtype == dtype
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), rtol=1e-5, atol=1e-6)
    assert single.predict_memberships(KARATE.adjacency.astype(np.float32)).dtype == np.float32


# Reproducibility ------------------------------------------------------------------------------------------------------


def test_threads_and_modes_change_not_a_bit(torch, planted):
    A, _ = planted([150] * 4, 0.1, 0.01, 0)
    settings = QUICK | {"max_epochs": 20, "n_draws": 20}
    model = CDCGS(4, **settings).fit(A)
    threads = torch.get_num_threads()

    def same():
        other = CDCGS(4, **settings).fit(A)
        np.testing.assert_array_equal(other.memberships_, model.memberships_)
        np.testing.assert_array_equal(other.objective_history_, model.objective_history_)

    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            same()
            assert torch.get_num_threads() == count
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(77)
        with torch.inference_mode():
            same()
    finally:
        torch.set_num_threads(threads)
        torch.set_default_dtype(torch.float32)
    assert np.abs(CDCGS(4, **settings | {"random_state": 1}).fit(A).logits_ - model.logits_).max() > 0


def test_fit_leaves_torch_alone(torch):
    def state():
        return (
            torch.get_rng_state().numpy().tobytes(),
            torch.get_num_threads(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
            torch.is_grad_enabled(),
        )

    before = state()
    CDCGS(2, **QUICK).fit(KARATE.adjacency).predict(KARATE.adjacency)
    with pytest.raises(ValueError, match="diverged"):
        CDCGS(2, **QUICK | {"learning_rate": 1e308}).fit(KARATE.adjacency)
    assert state() == before


def test_starts_run_alone_as_in_a_stack(torch, monkeypatch, planted):
    settings = {"max_epochs": 250, "n_draws": 2, "learning_rate": 0.05, "n_init": 4, "random_state": 0, "tol": 1e-6}
    A, _ = planted([30] * 3, 0.3, 0.03, 0)
    for K in (3, 4):
        together = CDCGS(K, **settings).fit(A)
        with monkeypatch.context() as patch:
            patch.setattr(cdcgs, "_STACK", 1)
            alone = CDCGS(K, **settings).fit(A)
        np.testing.assert_allclose(alone.memberships_, together.memberships_, atol=1e-9)
        np.testing.assert_allclose(alone.objective_history_, together.objective_history_, rtol=1e-9)
        assert alone.n_iter_ == together.n_iter_


def test_starts_that_have_converged_leave_the_stack(torch, monkeypatch):
    sizes = []
    original = cdcgs.gumbel_softmax
    monkeypatch.setattr(cdcgs, "gumbel_softmax", lambda W, *more: sizes.append(len(W)) or original(W, *more))
    kept = []
    monkeypatch.setattr(cdcgs.Fit, "report_start", lambda fit, number, run: kept.append(run))
    graph = load_graph("karate")
    CDCGS(4, n_init=6, tol=1e-6, random_state=2).fit(graph.adjacency)
    assert len(kept) == 6
    assert len(set(sizes)) > 1 and sizes == sorted(sizes, reverse=True)
    for run in kept:
        assert len(run.history) == len(run.settled) == run.n_iter // 25
        assert run.converged == (max(run.settled[-4:]) - min(run.settled[-4:]) <= 1e-6 * run.settled[-1])
        assert run.n_iter == 600 or run.converged


@pytest.mark.parametrize("looks", [0, 3])
def test_an_interrupted_fit_keeps_what_it_has(torch, looks, monkeypatch):
    settings = {"n_clusters": 2, "tol": None, "random_state": 0}
    original, calls = cdcgs.gumbel_softmax, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) > 25 * looks + 10:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(cdcgs, "gumbel_softmax", interrupted)
    model = CDCGS(**settings)
    with pytest.raises(KeyboardInterrupt):
        model.fit(KARATE.adjacency)
    assert hasattr(model, "memberships_") == (looks > 0)
    if looks:
        assert model.n_iter_ == 75
        assert len(model.objective_history_) == 3
        assert not model.converged_
        np.testing.assert_allclose(model.memberships_, softmax(model.logits_, axis=1), rtol=1e-12)
        assert model.predict(KARATE.adjacency).shape == (34,)


def test_other_seeds_draw_otherwise(torch):
    models = [CDCGS(2, n_init=1, n_draws=1, max_epochs=1, tol=None, random_state=seed) for seed in range(20)]
    assert len({model.fit(KARATE.adjacency).objective_ for model in models}) == 20


def test_best_start_is_kept(torch):
    graph = load_graph("karate")
    singles = []
    rng = np.random.RandomState(5)
    for _ in range(4):
        singles.append(CDCGS(4, **QUICK | {"n_init": 1, "random_state": rng}).fit(graph.adjacency).objective_)
    best = CDCGS(4, **QUICK | {"n_init": 4, "random_state": np.random.RandomState(5)}).fit(graph.adjacency)
    assert best.objective_ == pytest.approx(min(singles), rel=1e-9)
    assert max(singles) > min(singles) + 1e-6


# Parameters, endings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_clusters", 0),
        ("n_clusters", None),
        ("objective", "literal"),
        ("n_draws", 0),
        ("temperature", 0.0),
        ("min_temperature", 0.0),
        ("learning_rate", -0.01),
        ("n_init", 0),
        ("max_epochs", 0),
        ("tol", -1.0),
        ("device", "tpu of mine"),
        ("device", 0),
    ],
)
def test_bad_parameters_are_named(torch, name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        CDCGS(**{name: value}).fit(KARATE.adjacency)


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 1e-300},
        {"temperature": 1e300},
        {"min_temperature": 1e-6, "temperature": 1e-6},
        {"min_temperature": 1e300},
        {"learning_rate": 1e-300},
        {"learning_rate": 1e6},
        {"n_draws": 1, "n_init": 1, "max_epochs": 1},
        {"objective": "modularity", "min_temperature": 1e-6},
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extreme_settings(torch, settings):
    model = CDCGS(3, **QUICK | settings).fit(KARATE.adjacency)
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1, rtol=1e-9)
    assert np.isfinite(model.objective_history_).all() and np.isfinite(model.logits_).all()


def test_convergence(torch):
    with pytest.warns(
        ConvergenceWarning, match=r"CDCGS did not converge in max_epochs=3 epochs .* Increase max_epochs"
    ):
        model = CDCGS(2, **QUICK | {"tol": 1e-6, "max_epochs": 3}).fit(KARATE.adjacency)
    assert not model.converged_ and model.n_iter_ == 3
    model = CDCGS(2, **QUICK | {"tol": 0.0}).fit(KARATE.adjacency)
    assert model.converged_ and 56 <= model.n_iter_ <= 60  # three looks, two epochs apart, from epoch 50 on
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not CDCGS(2, **QUICK).fit(KARATE.adjacency).converged_
        assert (
            not CDCGS(2, **QUICK | {"tol": 0.0, "max_epochs": 1, "learning_rate": 0.01})
            .fit(KARATE.adjacency)
            .converged_
        )


def test_empty_communities_warn(torch):
    A = np.kron(np.eye(2), np.ones((6, 6)))
    with pytest.warns(ConvergenceWarning, match=r"CDCGS left communities empty: \d of n_clusters=6 have members"):
        CDCGS(6, **QUICK, objective="modularity").fit(A)


def test_verbose(torch, capsys):
    CDCGS(2, **QUICK, verbose=1).fit(KARATE.adjacency)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("CDCGS start 1: objective ") and lines[0].endswith("60 epochs, not converged")
    CDCGS(2, **QUICK, verbose=2).fit(KARATE.adjacency)
    assert len(capsys.readouterr().out.splitlines()) == 2 + 2 * 30


def test_pickle_needs_no_torch(torch, monkeypatch):
    model = CDCGS(2, **QUICK).fit(KARATE.adjacency)
    expected = model.predict_memberships(KARATE.adjacency)
    stored = pickle.dumps(model)
    monkeypatch.setitem(sys.modules, "torch", None)
    np.testing.assert_array_equal(pickle.loads(stored).predict_memberships(KARATE.adjacency), expected)


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    model = clone(CDCGS(3, device="cuda"))
    assert repr(model) == "CDCGS(device='cuda', n_clusters=3)"
    with pytest.raises(ImportError, match=r'CDCGS needs PyTorch: pip install "soft-clustering\[deep\]"'):
        model.fit(KARATE.adjacency)
    with pytest.raises(ValueError, match="square"):
        model.fit(np.ones((3, 4)))
