"""Missing values: NaN in the rows of the methods that take it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import digamma
from scipy.stats import beta, multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import soft_clustering
from soft_clustering import BGMM, ECM, ENTROPYFCM, FCM, GK, GMM, SFCMEP, kernels
from soft_clustering._registry import REGISTRY
from soft_clustering.engine.blocks import Block, Frame
from soft_clustering.engine.missing import conditional, gaps_of
from soft_clustering.kernels import gauss
from soft_clustering.kernels.centers import center_distances, center_memberships, center_statistics

IRIS = StandardScaler().fit_transform(load_iris().data)
CLASSES = load_iris().target


def with_gaps(X, share, seed=0):
    """A copy of X without this share of its values; every column keeps one."""
    holes = np.random.RandomState(seed).uniform(size=X.shape) < share
    holes[0] = False
    return np.where(holes, np.nan, X).astype(X.dtype)


GAPPY = with_gaps(IRIS, 0.3)
GAPPY = GAPPY[~np.isnan(GAPPY).all(axis=1)]
START = GAPPY[[5, 60, 120]].copy()
START[np.isnan(START)] = 0


def gmm(covariance_type, precisions):
    starts = {"weights_init": np.full(3, 1 / 3), "means_init": START, "precisions_init": precisions}
    return GMM(3, covariance_type=covariance_type, **starts)


METHODS = {
    "FCM": FCM(3, init=START),
    "FCM m=1.3": FCM(3, m=1.3, init=START),
    "PCM": soft_clustering.PCM(3, init=START),
    "PCM rational": soft_clustering.PCM(3, typicality="rational", init=START),
    "PFCM": soft_clustering.PFCM(3, init=START),
    "ENTROPYFCM": ENTROPYFCM(3, init=START),
    "ENTROPYFCM weights": ENTROPYFCM(3, learn_weights=True, scaling=None, init=START),
    "AFCMSimple": soft_clustering.AFCMSimple(3, init=START),
    "SFCMEP": SFCMEP(3, random_state=0),
    "KFCM": soft_clustering.KFCM(3, init=START),
    "RoughKMeans": soft_clustering.RoughKMeans(3, init=START),
    "ECM": ECM(3, init=START, delta=5.0),
    "GMM full": gmm("full", np.stack([np.eye(4)] * 3)),
    "GMM tied": gmm("tied", np.eye(4)),
    "GMM diag": gmm("diag", np.ones((3, 4))),
    "GMM spherical": gmm("spherical", np.ones(3)),
    "GathGeva": soft_clustering.GathGeva(3, init=START),
    "BGMM": BGMM(3, random_state=0),
}
every_method = pytest.mark.parametrize("name", METHODS)
needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels are not compiled")


def fitted(name, X=GAPPY, sample_weight=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(METHODS[name]).set_params(**parameters).fit(X, sample_weight=sample_weight)


# Who takes them -------------------------------------------------------------------------------------------------------


def takes_missing(row):
    model = getattr(soft_clustering, row.name)()
    return bool(model.__sklearn_tags__().input_tags.allow_nan)


def test_registry_and_tags_agree():
    rows = [row for row in REGISTRY if row.family != "federated"]
    assert [row.name for row in rows if "missing" in row.suits] == [row.name for row in rows if takes_missing(row)]


def test_others_name_those_who_do():
    with pytest.raises(ValueError, match=r"^Input X contains NaN. GK needs complete rows; FCM, .*GMM.* take missing"):
        GK().fit(GAPPY)
    with pytest.raises(ValueError, match=r"ENTROPYFCM with these parameters needs complete rows; FCM, .*impute"):
        ENTROPYFCM(solver="nsga2").fit(GAPPY)


@pytest.mark.parametrize("model", [FCM(), GMM(), ECM()])
def test_infinity_is_refused(model):
    bad = GAPPY.copy()
    bad[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(bad)


def test_refused_inputs():
    with pytest.raises(ValueError, match="missing values need a dense X"):
        FCM().fit(sparse.csr_array(GAPPY))
    empty = GAPPY.copy()
    empty[:, 2] = np.nan
    with pytest.raises(ValueError, match="X has no values in the columns 2: all are NaN"):
        FCM().fit(empty)
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        FCM().fit(np.where(np.arange(len(IRIS))[:, None] < 2, IRIS, np.nan))
    with pytest.raises(ValueError, match="X has no values"):
        FCM().fit(np.full((9, 2), np.nan))
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        FCM().fit(GAPPY, sample_weight=np.full(len(GAPPY), np.nan))
    with pytest.raises(ValueError, match="init contains NaN"):
        FCM(init=GAPPY[1:4]).fit(GAPPY)


# Kernels --------------------------------------------------------------------------------------------------------------


def problem(n, d, dtype=np.float64, share=0.3):
    rng = np.random.RandomState(n + d)
    X = with_gaps((3 + rng.standard_normal((n, d))).astype(dtype), share, seed=1)
    frame = Frame(np.full(d, 2.5), 0.5, gaps=True)
    return Block(X, rng.uniform(0.1, 3, n), frame), rng


@pytest.fixture(params=[16, 32, 64])
def width(request):
    if kernels.compiled.vector_bytes(request.param) != request.param:
        kernels.compiled.vector_bytes(0)
        pytest.skip(f"the processor has no vectors of {request.param} bytes")
    yield
    kernels.compiled.vector_bytes(0)


def both(monkeypatch, function, *arguments, **keywords):
    found = function(*arguments, **keywords)
    with monkeypatch.context() as context:
        context.setattr(kernels, "compiled", None)
        return found, function(*arguments, **keywords)


@needs_kernels
@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, d, K", [(1, 1, 1), (63, 2, 3), (200, 16, 5), (700, 5, 2), (130, 300, 4)])
def test_prototype_kernels_are_their_twins(monkeypatch, n, d, K, dtype):
    block, rng = problem(n, d, dtype)
    V = rng.standard_normal((K, d))
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    for rule in [("fcm", 1.7), ("nearest",), ("entropy", 0.7, *np.zeros(K))]:
        for _ in range(2):  # the second pass reads the tiles that are kept
            found, expected = both(monkeypatch, center_statistics, block, V, *rule)
            for a, b in zip(found[:3], expected[:3], strict=True):
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(found.seen, expected.seen, rtol=tolerance, atol=tolerance)
    Z = (block.X.astype(np.float64) - 2.5) * 0.5
    brute = np.array([[np.nansum((z - v) ** 2) for v in V] for z in Z])
    np.testing.assert_allclose(center_distances(block, V), brute, rtol=max(tolerance, 1e-12), atol=tolerance)


@needs_kernels
def test_complete_rows_do_not_feel_the_gaps_of_others():
    """The kernels for rows with gaps give complete rows the same bits."""
    V = IRIS[[1, 60, 120]]
    plain, gappy = (Block(IRIS, None, Frame(np.zeros(4), 1.0, gaps=gaps)) for gaps in (False, True))
    np.testing.assert_array_equal(*(center_memberships(block, V, "fcm", 1.6) for block in (plain, gappy)))
    for a, b in zip(*(center_statistics(block, V, "fcm", 1.6)[:3] for block in (plain, gappy)), strict=True):
        np.testing.assert_array_equal(a, b)


def gaussians(rng, K, d, full):
    means = rng.standard_normal((K, d)) / 2
    if not full:
        return means, rng.uniform(0.5, 2, (K, d)), None
    A = rng.standard_normal((K, d, 2 * d))
    covariances = A @ np.swapaxes(A, 1, 2) / (2 * d) + 0.01 * np.eye(d)
    return means, np.linalg.inv(np.linalg.cholesky(covariances)), covariances


def constants_of(factors, full):
    logs = np.log(np.diagonal(factors, axis1=1, axis2=2) if full else factors).sum(axis=1)
    return logs - factors.shape[1] / 2 * np.log(2 * np.pi) - np.log(len(factors))


@needs_kernels
@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("n, d, K", [(1, 1, 1), (63, 2, 3), (300, 7, 2), (700, 5, 4), (130, 40, 2)])
@pytest.mark.parametrize("rule", [("posterior",), ("tempered", 1.7, 1.2)], ids=str)
def test_gaussian_kernels_are_their_twins(monkeypatch, rule, n, d, K, full, dtype):
    block, rng = problem(n, d, dtype)
    means, factors, _ = gaussians(rng, K, d, full)
    arguments = block, means, factors, constants_of(factors, full), *rule[1:]
    keywords = {"full": full, "rule": rule[0]}
    for _ in range(2):
        found, expected = both(monkeypatch, gauss.gauss_statistics, *arguments, **keywords)
        for name, a, b in zip(found._fields, found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=name)
    (U, rows), (U_twin, rows_twin) = both(monkeypatch, gauss.gauss_memberships, *arguments, **keywords)
    np.testing.assert_allclose(U, U_twin, rtol=0, atol=1e-10 if dtype == np.float64 else 6e-8)
    np.testing.assert_allclose(rows, rows_twin, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_kernels), False])
def test_densities_and_moments_are_those_of_conditional_gaussians(monkeypatch, compiled):
    """Against S_MO S_OO^-1 formulas and the marginal densities, written out for each row."""
    if not compiled:
        monkeypatch.setattr(kernels, "compiled", None)
    block, rng = problem(50, 6, share=0.4)
    block.X[7] = np.nan
    means, factors, covariances = gaussians(rng, 2, 6, True)
    Z = (block.X - 2.5) * 0.5
    logs, weight = np.zeros((50, 2)), np.zeros(2)
    first, second = np.zeros((2, 6)), np.zeros((2, 6, 6))
    completed, spread = np.zeros((50, 2, 6)), np.zeros((50, 2, 6, 6))
    for i, z in enumerate(Z):
        there = ~np.isnan(z)
        for k, (mean, S) in enumerate(zip(means, covariances, strict=True)):
            e = np.where(there, z - mean, 0.0)
            logs[i, k] = np.log(0.5)
            if there.any():
                logs[i, k] += multivariate_normal.logpdf(z[there], mean[there], S[np.ix_(there, there)])
                gain = S[np.ix_(~there, there)] @ np.linalg.inv(S[np.ix_(there, there)])
                e[~there] = gain @ e[there]
                inside = S[np.ix_(~there, ~there)] - gain @ S[np.ix_(there, ~there)]
            else:
                inside = S
            spread[i, k][np.ix_(~there, ~there)] = inside
            completed[i, k] = e
    R = np.exp(logs - logs.max(axis=1, keepdims=True))
    R /= R.sum(axis=1, keepdims=True)
    for k in range(2):
        r = block.weight * R[:, k]
        weight[k], first[k] = r.sum(), r @ completed[:, k]
        second[k] = np.einsum("i,ij,il->jl", r, completed[:, k], completed[:, k]) + np.tensordot(r, spread[:, k], 1)
    arguments = block, means, factors, constants_of(factors, True)
    statistics = gauss.gauss_statistics(*arguments, full=True)
    U, rows = gauss.gauss_memberships(*arguments, full=True)
    np.testing.assert_allclose(U, R, rtol=0, atol=1e-10)
    np.testing.assert_allclose(rows, np.log(np.exp(logs).sum(axis=1)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(statistics.weight, weight, rtol=1e-10)
    np.testing.assert_allclose(statistics.first, first, rtol=0, atol=1e-10)
    np.testing.assert_allclose(statistics.second, second, rtol=0, atol=1e-10)
    np.testing.assert_allclose(statistics.seen, (block.weight[:, None] * R).T @ ~np.isnan(Z), rtol=1e-10)


def test_conditional_of_several_patterns():
    rng = np.random.RandomState(0)
    missing = rng.uniform(size=(40, 5)) < 0.4
    E = np.where(missing, 0.0, rng.standard_normal((40, 5)))
    _, factors, covariances = gaussians(rng, 1, 5, True)
    P = np.linalg.inv(covariances[0])
    seen_rows = []
    for gaps in gaps_of(missing):
        expected, inverses = conditional(E, gaps, factors[0])
        for row, member, value in zip(gaps.rows, gaps.member, expected, strict=True):
            g = missing[row]
            np.testing.assert_array_equal(np.flatnonzero(g), gaps.columns[member])
            np.testing.assert_allclose(value, -np.linalg.solve(P[np.ix_(g, g)], (P @ E[row])[g]), atol=1e-10)
            covariance = inverses[member] @ inverses[member].T
            np.testing.assert_allclose(covariance, np.linalg.inv(P[np.ix_(g, g)]), atol=1e-10)
            seen_rows.append(row)
    assert sorted(seen_rows) == np.flatnonzero(missing.any(axis=1)).tolist()


@needs_kernels
@pytest.mark.parametrize("name", ["FCM", "GMM full", "GathGeva"])
def test_threads_do_not_change_a_bit(monkeypatch, name):
    X = with_gaps(np.random.RandomState(0).standard_normal((3000, 4)), 0.2)
    results = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(kernels, "row_grid", lambda block, K, width, threads=threads: (11, threads))
        results.append(fitted(name, X).memberships_)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


# Fits -----------------------------------------------------------------------------------------------------------------


def fcm_objective(X, V, m):
    D = np.array([[np.nansum((x - v) ** 2) for v in V] for x in X])
    return np.sum(np.sum(D ** (-1 / (m - 1)), axis=1) ** (1 - m))


def test_fcm_against_the_formulas():
    """Memberships by partial distances, centres per feature over the rows that have it."""
    model = FCM(3, m=2.0, init=START, tol=1e-12, max_iter=2000).fit(GAPPY)
    D = np.array([[np.nansum((x - v) ** 2) for v in model.centers_] for x in GAPPY])
    U = 1 / D / (1 / D).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-12)
    W, there = U**2, ~np.isnan(GAPPY)
    np.testing.assert_allclose(model.centers_, W.T @ np.nan_to_num(GAPPY) / (W.T @ there), rtol=0, atol=1e-9)
    assert model.objective_ == pytest.approx(fcm_objective(GAPPY, model.centers_, 2.0), rel=1e-12)
    assert model.score(GAPPY) == pytest.approx(-model.objective_, rel=1e-12)


def test_ecm_solves_a_system_for_each_feature():
    model = ECM(3, init=START, delta=5.0, beta=2.0, alpha=1.0, tol=1e-12, max_iter=2000, focal_sets="full").fit(GAPPY)
    masses, sets = model.masses_[:, 1:], model.focal_sets_[1:].astype(float)
    sizes = sets.sum(axis=1)
    for j in range(4):
        there = ~np.isnan(GAPPY[:, j])
        W = masses[there] ** 2
        H = np.einsum("ia,a,al,ak->lk", W, sizes**-1.0, sets, sets)
        B = np.einsum("ia,i,al->l", W, GAPPY[there, j], sets)
        np.testing.assert_allclose(np.linalg.solve(H, B), model.centers_[:, j], rtol=0, atol=1e-7)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_gmm_against_plain_em(covariance_type):
    """Expectation maximisation of the observed likelihood, written out for each row."""
    X, K, reg = with_gaps(IRIS[::3], 0.25, seed=3), 2, 1e-3
    X = X[~np.isnan(X).all(axis=1)]
    n, d = X.shape
    means, covariances, weights = IRIS[[3, 130]].copy(), np.stack([np.eye(d)] * K), np.full(K, 0.5)
    shapes = {"full": covariances, "tied": np.eye(d), "diag": np.ones((K, d)), "spherical": np.ones(K)}
    model = GMM(
        K,
        covariance_type=covariance_type,
        reg_covar=reg,
        weights_init=weights,
        means_init=means,
        precisions_init=shapes[covariance_type],
        max_iter=8,
        tol=0,
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    there = ~np.isnan(X)
    history = []
    for _ in range(9):
        logs = np.zeros((n, K))
        E, C = np.zeros((n, K, d)), np.zeros((n, K, d, d))
        for i in range(n):
            o, g = there[i], ~there[i]
            for k in range(K):
                S = covariances[k]
                logs[i, k] = np.log(weights[k])
                if o.any():
                    logs[i, k] += multivariate_normal.logpdf(X[i, o], means[k, o], S[np.ix_(o, o)])
                    gain = S[np.ix_(g, o)] @ np.linalg.inv(S[np.ix_(o, o)])
                    E[i, k, o] = X[i, o] - means[k, o]
                    E[i, k, g] = gain @ E[i, k, o]
                    C[i, k][np.ix_(g, g)] = S[np.ix_(g, g)] - gain @ S[np.ix_(o, g)]
        total = np.logaddexp.reduce(logs, axis=1)
        R = np.exp(logs - total[:, None])
        history.append(total.mean())
        N = R.sum(axis=0)
        new = []
        for k in range(K):
            r, seen = R[:, k], R[:, k] @ there
            if covariance_type in ("full", "tied"):
                shift = r @ E[:, k] / N[k]
                S = (np.einsum("i,ij,il->jl", r, E[:, k], E[:, k]) + np.tensordot(r, C[:, k], 1)) / N[k]
                new.append((means[k] + shift, S - np.outer(shift, shift) + reg * np.diag(seen / N[k])))
            else:
                mean = np.array([r[there[:, j]] @ X[there[:, j], j] for j in range(d)]) / seen
                scatter = np.array([r[there[:, j]] @ (X[there[:, j], j] - mean[j]) ** 2 for j in range(d)])
                diagonal = scatter / seen if covariance_type == "diag" else np.full(d, scatter.sum() / seen.sum())
                new.append((mean, np.diag(diagonal + reg)))
        last = means.copy(), R
        means = np.array([mean for mean, _ in new])
        covariances = np.stack([S for _, S in new])
        if covariance_type == "tied":
            covariances = np.stack([np.tensordot(N / n, covariances, 1)] * K)
        weights = N / n
    np.testing.assert_allclose(model.objective_history_, history, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.centers_, last[0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.memberships_, last[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("name", [name for name in METHODS if name not in ("RoughKMeans", "GathGeva")])
def test_no_pass_makes_the_objective_worse(name, share):
    """The ridge of a mixture is no part of its likelihood, but times the observed share it does not feed on itself."""
    X = with_gaps(StandardScaler().fit_transform(load_wine().data), share)
    start = np.nan_to_num(X[[5, 80, 150]])
    model = METHODS[name]
    parameters = {"init": start}
    if name == "BGMM":
        parameters = {"reg_covar": 0.0}
    elif "GMM" in name:
        parameters = {"means_init": start, "precisions_init": None, "random_state": 0, "tol": 1e-7, "max_iter": 60}
    parameters = {} if name == "SFCMEP" else parameters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = type(model)(**model.get_params() | parameters).fit(X)
    steps = np.diff(model.objective_history_) * (-1 if "GMM" in name else 1)
    assert steps.max() <= 1e-12 * abs(model.objective_)


@every_method
def test_predicting_the_training_rows(name):
    model = fitted(name)
    np.testing.assert_array_equal(model.predict_memberships(GAPPY), model.memberships_)
    np.testing.assert_array_equal(model.predict(GAPPY), model.labels_)
    # The same rows one at a time, some of them complete: then other kernels are at work.
    alone = np.concatenate([model.predict_memberships(row[None]) for row in GAPPY])
    np.testing.assert_allclose(alone, model.memberships_, rtol=0, atol=1e-12)
    assert np.isfinite(model.score(GAPPY))


@every_method
def test_twins_agree(name, monkeypatch):
    model = fitted(name)
    monkeypatch.setattr(kernels, "compiled", None)
    np.testing.assert_allclose(fitted(name).memberships_, model.memberships_, rtol=0, atol=1e-8)


@every_method
def test_rows_without_values(name):
    """They leave every other number as it is, and get what the method says of a row that nothing is known of."""
    unknown = np.insert(GAPPY, [10, 40], np.nan, axis=0)
    model, other = fitted(name), fitted(name, unknown)
    np.testing.assert_array_equal(other.centers_, model.centers_)
    np.testing.assert_array_equal(np.delete(other.memberships_, [10, 41], axis=0), model.memberships_)
    assert other.objective_ == model.objective_
    row = other.memberships_[10]
    if "GMM" in name or name == "ENTROPYFCM weights":
        np.testing.assert_allclose(row, model.weights_, rtol=1e-9)
    elif "PCM" in name:
        np.testing.assert_array_equal(row, 1)
    elif name != "GathGeva":  # its memberships are softmax(log P_k / (m - 1))
        np.testing.assert_allclose(row, 1 / 3, rtol=1e-9)


@every_method
def test_weights_are_repetitions(name):
    counts = np.random.RandomState(1).randint(0, 3, len(GAPPY))
    to_the_end = {"tol": 1e-10, "max_iter": 2000}  # where a fit stops depends on rounding
    weighted = fitted(name, sample_weight=counts, **to_the_end)
    repeated = fitted(name, np.repeat(GAPPY, counts, axis=0), **to_the_end)
    np.testing.assert_allclose(weighted.centers_, repeated.centers_, rtol=0, atol=1e-6)


@every_method
def test_order_and_units(name):
    """Rows and columns in another order, and other units and origin, change nothing."""
    model = METHODS[name]
    order, columns = np.random.RandomState(0).permutation(len(GAPPY)), [2, 0, 3, 1]
    base = fitted(name)
    if name in ("KFCM", "ECM"):  # their distances have units; columns and rows only
        scale, shift = 1.0, 0.0
    else:
        scale, shift = 64.0, 3.0
    parameters = {"means_init" if name.startswith("GMM") else "init": START[:, columns] * scale + shift}
    if name.startswith("GMM"):
        parameters["reg_covar"] = model.reg_covar * scale**2
        parameters["precisions_init"] = model.precisions_init / scale**2
    if name in ("SFCMEP", "BGMM"):
        parameters, columns = {}, [0, 1, 2, 3]  # their draws go along the features
    if name == "BGMM":
        parameters["reg_covar"] = model.reg_covar * scale**2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        other = type(model)(**model.get_params() | parameters).fit((GAPPY * scale + shift)[order][:, columns])
    np.testing.assert_allclose(other.memberships_, base.memberships_[order], rtol=0, atol=2e-5)


@every_method
def test_float32_and_memory_maps(name, tmp_path):
    base = fitted(name)
    path = tmp_path / "rows.npy"
    np.save(path, GAPPY)
    mapped = fitted(name, np.load(path, mmap_mode="r"))
    np.testing.assert_array_equal(mapped.memberships_, base.memberships_)
    narrow = fitted(name, GAPPY.astype(np.float32))
    assert narrow.memberships_.dtype == np.float32
    assert (narrow.labels_ == base.labels_).mean() > 0.99


@every_method
def test_dask_is_memory(name):
    da = pytest.importorskip("dask.array")
    unknown = np.insert(GAPPY, [10, 40], np.nan, axis=0)
    base, lazy = fitted(name, unknown), fitted(name, da.from_array(unknown, chunks=(40, 4)))
    np.testing.assert_allclose(lazy.centers_, base.centers_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(lazy.memberships_.compute(), base.memberships_, rtol=0, atol=1e-6)
    assert lazy.score(da.from_array(unknown, chunks=(40, 4))) == pytest.approx(base.score(unknown), rel=1e-6)


@pytest.mark.parametrize("name", [name for name, model in METHODS.items() if hasattr(model, "partial_fit")])
def test_batches(name):
    """A first batch as a fit, a complete and an incomplete one after it; the centres stay among the rows."""
    from sklearn.base import clone

    model = clone(METHODS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for batch in (GAPPY[::3], IRIS[1::3], GAPPY[2::3]):
            model.partial_fit(batch)
    assert np.isfinite(model.centers_).all()
    assert (np.abs(model.centers_) <= np.nanmax(np.abs(IRIS), axis=0) + 1e-9).all()
    assert np.isfinite(model.predict_memberships(GAPPY)).all()


def test_batches_of_fcm_are_running_means_per_feature():
    model = FCM(1, init=np.zeros((1, 4))).partial_fit(GAPPY[:50]).partial_fit(GAPPY[50:])
    np.testing.assert_allclose(model.centers_[0], np.nanmean(GAPPY, axis=0), rtol=0, atol=1e-12)


def test_random_batches():
    X = with_gaps(np.vstack([IRIS] * 10), 0.2)
    model = FCM(3, batch_size=200, random_state=0).fit(X)
    whole = FCM(3, random_state=0).fit(X)
    nearest = np.sqrt(((model.centers_[:, None] - whole.centers_) ** 2).sum(axis=2)).min(axis=1)
    assert nearest.max() < 0.15


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data", "trimmed"])
def test_starts_of_gmm(init):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GMM(3, init=init, reg_covar=1e-3, random_state=0).fit(GAPPY)
    assert np.isfinite(model.objective_)
    assert np.isfinite(model.covariances_).all()


def test_likelihood_counts_what_is_there():
    """In other units the density of a row changes by the units of the values that it has."""
    model = GMM(2, reg_covar=0, covariance_type="diag", means_init=START[:2], random_state=0).fit(GAPPY)
    scaled = GMM(2, reg_covar=0, covariance_type="diag", means_init=10 * START[:2], random_state=0).fit(10 * GAPPY)
    there = (~np.isnan(GAPPY)).sum(axis=1)
    difference = model.score_samples(GAPPY) - scaled.score_samples(10 * GAPPY)
    np.testing.assert_allclose(difference, there * np.log(10), rtol=1e-5)
    assert model.score(GAPPY) == pytest.approx(model.score_samples(GAPPY).mean(), rel=1e-12)
    n, parameters = len(GAPPY), 2 * 4 + 2 * 4 + 1
    assert model.bic(GAPPY) == pytest.approx(-2 * n * model.score(GAPPY) + parameters * np.log(n), rel=1e-12)


def test_complete_data_change_in_no_bit():
    """A fit of complete rows is the same whether or not the kernels for gaps are used for it."""
    model = FCM(3, init=START).fit(IRIS)
    assert not model._frame.gaps
    np.testing.assert_array_equal(model.predict_memberships(np.vstack([IRIS, GAPPY]))[: len(IRIS)], model.memberships_)


def test_labels_and_gaps_in_sfcmep():
    rows = with_gaps(IRIS, 0.2)
    labels = np.where(np.arange(len(rows)) % 10 == 0, CLASSES, -1)
    unknown = np.insert(rows, 20, np.nan, axis=0)
    model = SFCMEP(3, random_state=0).fit(unknown, np.insert(labels, 20, 2))
    known = np.flatnonzero(np.insert(labels, 20, 2) >= 0)
    assert (model.labels_[known] == np.insert(labels, 20, 2)[known]).mean() > 0.9
    assert np.isfinite(model.memberships_).all()


def test_quality_is_above_mean_imputation():
    """One set of the guide: 40 % of iris is missing, five masks."""
    from sklearn.impute import SimpleImputer
    from sklearn.metrics import adjusted_rand_score

    partial, imputed = [], []
    for seed in range(5):
        X = with_gaps(IRIS, 0.4, seed)
        partial.append(adjusted_rand_score(CLASSES, FCM(3, random_state=0).fit(X).labels_))
        filled = SimpleImputer().fit_transform(X)
        imputed.append(adjusted_rand_score(CLASSES, FCM(3, random_state=0).fit(filled).labels_))
    assert np.mean(partial) > np.mean(imputed) + 0.02


# Two views ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("beta_update", ["ml", "moments"])
def test_bgmm_by_brute_force(covariance_type, beta_update):
    """A missing feature of either view does not enter: likelihood, posteriors and beta parameters, row by row."""
    rng, n = np.random.RandomState(0), 120
    first = rng.uniform(size=n) < 0.5
    X = rng.standard_normal((n, 3)) + 2.5 * first[:, None]
    Y = np.where(first[:, None], rng.beta(2, 6, (n, 2)), rng.beta(6, 2, (n, 2)))
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    Y[rng.uniform(size=Y.shape) < 0.2] = np.nan
    Y[0], X[1] = np.nan, np.nan
    model = BGMM(2, covariance_type=covariance_type, beta_update=beta_update, random_state=0, reg_covar=1e-3, tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, X_beta=Y)
    covariances = {
        "full": lambda k: model.covariances_[k],
        "tied": lambda k: model.covariances_,
        "diag": lambda k: np.diag(model.covariances_[k]),
        "spherical": lambda k: model.covariances_[k] * np.eye(3),
    }[covariance_type]
    joint = np.empty((n, 2))
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        a, b = ~np.isnan(x), ~np.isnan(y)
        for k in range(2):
            density = model.weights_[k]
            if a.any():
                density *= multivariate_normal(model.means_[k][a], covariances(k)[np.ix_(a, a)]).pdf(x[a])
            joint[i, k] = density * np.prod(beta(model.beta_a_[k][b], model.beta_b_[k][b]).pdf(y[b]))
    np.testing.assert_allclose(model.score_samples(X, X_beta=Y), np.log(joint.sum(axis=1)), rtol=0, atol=1e-9)
    posteriors = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.memberships_, posteriors, rtol=0, atol=1e-9)
    assert model.objective_ == pytest.approx(np.log(joint.sum(axis=1)).mean(), abs=1e-9)
    if beta_update == "ml":
        assert np.diff(model.objective_history_).min() > -1e-9
        for k, j in np.ndindex(2, 2):  # the likelihood equations of each beta distribution, from the rows that have it
            there = ~np.isnan(Y[:, j])
            r, y, a, b = posteriors[there, k], Y[there, j], model.beta_a_[k, j], model.beta_b_[k, j]
            assert digamma(a) - digamma(a + b) == pytest.approx(r @ np.log(y) / r.sum(), abs=1e-5)
            assert digamma(b) - digamma(a + b) == pytest.approx(r @ np.log1p(-y) / r.sum(), abs=1e-5)
    agreement = np.mean((model.labels_ == 0) == first)
    assert max(agreement, 1 - agreement) > 0.9


def test_bgmm_refuses_empty_columns_of_either_view():
    X, Y = np.random.RandomState(0).uniform(size=(2, 30, 2))
    for which in (0, 1):
        views = [X.copy(), Y.copy()]
        views[which][:, 1] = np.nan
        with pytest.raises(ValueError, match="X has no values in the columns"):
            BGMM(2).fit(views[0], X_beta=views[1])
