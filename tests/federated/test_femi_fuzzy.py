"""Federated fuzzy clustering: measured quality, agreement with fuzzy c-means, invariances, hostile input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from trajectories import CURVES, trajectories

from soft_clustering import FCM, FeMIFuzzy
from soft_clustering.federated import client_fit, client_score, client_summary, server_aggregate, server_plan

NAMES = ["t0", "t1", "t2", "t3", "t4", "t5"]
pytestmark = pytest.mark.filterwarnings("ignore:FeMIFuzzy did not converge")


def matched(V, other):
    """Columns of ``other`` in the order of ``V``."""
    order = np.array([np.linalg.norm(other - v, axis=1).argmin() for v in V])
    assert len(set(order)) == len(V)
    return order


def in_order(centers):
    return centers[np.lexsort(centers.T)]


# Measured quality -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing, least", [(0.0, 0.99), (0.2, 0.93), (0.4, 0.78)])
def test_trajectories(missing, least):
    found, pooled = [], []
    for seed in range(5):
        clients, y = trajectories(seed, missing)
        found.append(adjusted_rand_score(y, FeMIFuzzy(3, random_state=seed).fit(clients).labels_))
        X = np.vstack(clients)
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
        pooled.append(adjusted_rand_score(y, FCM(3, m=2, random_state=seed).fit(X).labels_))
    assert np.mean(found) >= least  # 0.82 over 40 seeds with 40 % missing; the mean of five varies by 0.015
    if missing:  # than means in the gaps of pooled rows
        assert np.mean(found) > np.mean(pooled) + 0.05


def test_number_of_trajectories_is_found():
    for seed in range(5):
        clients, _ = trajectories(seed)
        model = FeMIFuzzy(max_clusters=5, random_state=seed).fit(clients)
        assert model.n_clusters_ == 3
        assert min(model.xie_beni_, key=model.xie_beni_.get) == 3
        assert list(model.xie_beni_) == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "holdings, few, many",
    [([[0, 1, 2, 3]] * 4, 4, 4), ([[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]], 3, 3), ([[0], [1], [2]], 4, 8)],
    ids=["all", "three of four at each client: too few", "one of three at each client: too many"],
)
def test_number_of_clusters_with_different_mixes(holdings, few, many):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        centers = 8 * np.eye(4)
        clients = [centers[rng.choice(held, 120)] + rng.standard_normal((120, 4)) for held in holdings]
        assert few <= FeMIFuzzy(random_state=seed).fit(clients).n_clusters_ <= many


def test_centers_are_the_curves():
    model = FeMIFuzzy(3, random_state=0).fit(trajectories(0, 0.1)[0])
    difference = model.centers_[matched(CURVES, model.centers_)] - CURVES
    assert np.abs(difference).max() < 0.2  # 0.175; the class means of complete rows have 0.14
    assert np.sqrt(np.square(difference).mean()) < 0.1


# Agreement ------------------------------------------------------------------------------------------------------------


def test_one_complete_client_is_fuzzy_c_means():
    X = np.vstack(trajectories(0)[0])
    model = FeMIFuzzy(3, tol=1e-9, max_iter=1000, random_state=0).fit([X])
    mean, std = X.mean(axis=0), X.std(axis=0)
    fcm = FCM(3, tol=1e-9, max_iter=1000, random_state=0).fit((X - mean) / std)
    assert model.m_ == fcm.m_
    order = matched((model.centers_ - mean) / std, fcm.centers_)
    np.testing.assert_array_equal(model.labels_, np.argsort(order)[fcm.labels_])
    np.testing.assert_allclose(model.memberships_, fcm.memberships_[:, order], atol=1e-7)
    np.testing.assert_allclose(model.centers_, mean + std * fcm.centers_[order], atol=1e-7)


def test_fit_is_the_five_functions():
    clients, _ = trajectories(0, 0.2)
    model = FeMIFuzzy(max_clusters=4, random_state=0).fit(clients)
    settings = model.messages_["settings"]
    summaries = [client_summary(X, settings) for X in clients]
    plan = server_plan(summaries, settings)
    fits = [client_fit(X, plan) for X in clients]
    aggregate = server_aggregate(fits, plan)
    memberships = [client_score(X, plan, aggregate) for X in clients]
    np.testing.assert_array_equal(model.memberships_, np.vstack(memberships))
    np.testing.assert_array_equal(model.messages_["aggregate"].centers, aggregate.centers)
    assert list(model.messages_) == ["settings", "summaries", "plan", "fits", "aggregate"]
    assert model.messages_["plan"].settings is settings


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_order_of_the_clients_does_not_matter(missing):
    clients, _ = trajectories(0, missing)
    one = FeMIFuzzy(max_clusters=4, random_state=0).fit(clients)
    two = FeMIFuzzy(max_clusters=4, random_state=0).fit(clients[::-1])
    np.testing.assert_array_equal(one.centers_, two.centers_)
    for a, b in zip(one.client_memberships_, two.client_memberships_[::-1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_attributes_per_row_and_client():
    clients, _ = trajectories(0, 0.1)
    model = FeMIFuzzy(3, random_state=0).fit(clients)
    np.testing.assert_array_equal(model.client_sizes_, [150, 80, 60, 200])
    np.testing.assert_array_equal(model.client_index_, np.repeat(range(4), model.client_sizes_))
    np.testing.assert_array_equal(np.vstack(model.client_memberships_), model.memberships_)
    assert model.n_features_in_ == 6
    assert not hasattr(model, "feature_names_in_")
    assert model.xie_beni_ == {}
    assert model.n_iter_ == max(fit.n_iter for fit in model.messages_["fits"])


def test_more_imputations_depend_less_on_the_draws():
    clients, _ = trajectories(0, 0.3)
    gaps = np.isnan(np.vstack(clients)).any(axis=1)

    def difference(n_imputations):
        a, b = (FeMIFuzzy(3, n_imputations=n_imputations, random_state=seed).fit(clients) for seed in (0, 1))
        return np.abs(a.memberships_ - b.memberships_[:, matched(a.centers_, b.centers_)])[gaps].mean()

    assert difference(20) < 0.4 * difference(1)


# Features -------------------------------------------------------------------------------------------------------------


def test_union_of_features():
    clients, y = trajectories(0)
    columns = [[0, 1, 2, 3], [2, 3, 4, 5], [5, 4, 3, 1], [0, 1, 2, 3, 4, 5]]
    parts = [X[:, own] for X, own in zip(clients, columns, strict=True)]
    names = [[NAMES[j] for j in own] for own in columns]
    model = FeMIFuzzy(3, random_state=0).fit(parts, feature_names=names)
    assert list(model.feature_names_in_) == NAMES
    assert model.centers_.shape == (3, 6)
    assert adjusted_rand_score(y, model.labels_) > 0.85
    assert not model._policy.monotone  # partial distances: the first pass of k-means may be below the others
    assert FeMIFuzzy(3, random_state=0).fit(clients)._policy.monotone
    frames = [pd.DataFrame(X, columns=own) for X, own in zip(parts, names, strict=True)]
    np.testing.assert_array_equal(FeMIFuzzy(3, random_state=0).fit(frames).memberships_, model.memberships_)


def test_intersection_of_features():
    clients, _ = trajectories(0)
    parts = [clients[0][:, :5], clients[1][:, [4, 3, 2, 1]]]
    names = [NAMES[:5], ["t4", "t3", "t2", "t1"]]
    model = FeMIFuzzy(3, align="intersection", random_state=0).fit(parts, feature_names=names)
    assert list(model.feature_names_in_) == ["t1", "t2", "t3", "t4"]
    assert model.centers_.shape == (3, 4)
    same = FeMIFuzzy(3, random_state=0).fit([parts[0][:, 1:], parts[1][:, ::-1]], feature_names=NAMES[1:5])
    assert adjusted_rand_score(model.labels_, same.labels_) > 0.95


def test_column_without_values_is_no_feature():
    clients, _ = trajectories(0)
    clients[1][:, 3] = np.nan
    model = FeMIFuzzy(3, random_state=0).fit(clients)
    assert model.messages_["summaries"][1].features == ["x0", "x1", "x2", "x4", "x5"]
    lacking = [np.delete(X, 3, axis=1) if c == 1 else X for c, X in enumerate(clients)]
    names = [NAMES[:3] + NAMES[4:] if c == 1 else NAMES for c in range(4)]
    other = FeMIFuzzy(3, random_state=0).fit(lacking, feature_names=names)
    np.testing.assert_array_equal(model.memberships_, other.memberships_)


def test_feature_that_nobody_may_tell():
    clients, _ = trajectories(0)
    for X in clients:
        X[3:, 1] = np.nan
    with pytest.warns(ConvergenceWarning, match=r"left out the features \['x1'\]: no client has min_count=5 values"):
        model = FeMIFuzzy(3, random_state=0).fit(clients)
    assert model.n_features_in_ == 5
    assert model.centers_.shape == (3, 5)
    rows = np.delete(np.vstack(clients), 1, axis=1)
    np.testing.assert_allclose(model.predict_memberships(rows), model.memberships_, atol=1e-12)


def test_names_of_a_refit_are_forgotten():
    clients, _ = trajectories(0)
    model = FeMIFuzzy(3, projection="sammon", random_state=0).fit(clients, feature_names=NAMES)
    assert hasattr(model, "feature_names_in_")
    model.set_params(projection=None).fit(clients)
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "embedding_")


# New rows -------------------------------------------------------------------------------------------------------------


def test_complete_training_rows_get_their_memberships():
    clients, _ = trajectories(0, 0.1)
    model = FeMIFuzzy(3, random_state=0).fit(clients)
    X = np.vstack(clients)
    complete = ~np.isnan(X).any(axis=1)
    U = model.predict_memberships(X)
    np.testing.assert_allclose(U[complete], model.memberships_[complete], rtol=0, atol=1e-12)
    assert np.abs(U - model.memberships_)[~complete].max() > 1e-3
    assert np.mean(U.argmax(axis=1) == model.labels_) > 0.95


def test_rows_of_a_client_without_a_feature_get_their_memberships():
    clients, _ = trajectories(0)
    names = [NAMES[:5], NAMES]
    model = FeMIFuzzy(3, random_state=0).fit([clients[0][:, :5], clients[1]], feature_names=names)
    rows = pd.DataFrame(np.column_stack([clients[0][:, :5], np.full(150, np.nan)]), columns=NAMES)
    np.testing.assert_allclose(model.predict_memberships(rows), model.client_memberships_[0], atol=1e-9)


def test_incomplete_rows_by_partial_distances():
    clients, _ = trajectories(0, 0.3)
    model = FeMIFuzzy(3, random_state=0).fit(clients)
    X = np.vstack(clients)[:60]
    X[7] = np.nan
    plan, V = model.messages_["plan"], model.messages_["aggregate"].centers
    U = model.predict_memberships(X)
    for x, u in zip((X - plan.mean) / plan.std, U, strict=True):
        there = ~np.isnan(x)
        if there.any():
            D = ((x - V)[:, there] ** 2).sum(axis=1)
            expected = D ** (-1 / (plan.m - 1)) / (D ** (-1 / (plan.m - 1))).sum()
            np.testing.assert_allclose(u, expected, atol=1e-12)
    np.testing.assert_allclose(U[7], 1 / 3, rtol=1e-15)


@pytest.mark.parametrize("value", [1e10, 1e155, 1e308, -1e300])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_far_rows(value):
    model = FeMIFuzzy(3, random_state=0).fit(trajectories(0)[0])
    X = np.zeros((3, 6))
    X[0] = value
    X[1] = [value, np.nan, -value, 0, 0, 0]
    U = model.predict_memberships(X)
    assert np.isfinite(U).all()
    np.testing.assert_allclose(U.sum(axis=1), 1)
    np.testing.assert_array_equal(U[2:], model.predict_memberships(X[2:]))


@pytest.mark.parametrize(
    "X, message",
    [
        (np.zeros((2, 5)), "features"),
        (np.full((2, 6), np.inf), "infinity"),
        (np.zeros(6), "2D"),
        ([np.zeros((2, 6))], "dim 3|2D"),
        (np.array([["a"] * 6]), "convert"),
    ],
)
def test_bad_new_rows(X, message):
    model = FeMIFuzzy(3, random_state=0).fit(trajectories(0)[0])
    for name in ("predict", "predict_memberships", "transform", "predict_proba"):
        with pytest.raises(ValueError, match=message):
            getattr(model, name)(X)


def test_memberships_as_features():
    clients, _ = trajectories(0)
    model = FeMIFuzzy(3, random_state=0)
    np.testing.assert_array_equal(model.fit_transform(clients), model.memberships_)
    frame = model.set_output(transform="pandas").fit_transform(clients, feature_names=NAMES)
    assert list(frame.columns) == ["femifuzzy0", "femifuzzy1", "femifuzzy2"]
    new = pd.DataFrame(clients[0], columns=NAMES, index=range(5, 155))
    assert list(model.transform(new).index) == list(new.index)


def test_single_precision():
    clients, y = trajectories(0, 0.1)
    model = FeMIFuzzy(3, random_state=0).fit([X.astype(np.float32) for X in clients])
    assert model.memberships_.dtype == model.centers_.dtype == model.client_memberships_[0].dtype == np.float32
    assert model.predict_memberships(clients[0].astype(np.float32)).dtype == np.float32
    assert adjusted_rand_score(y, model.labels_) > 0.9
    mixed = FeMIFuzzy(3, random_state=0).fit([clients[0], clients[1].astype(np.float32)])
    assert mixed.memberships_.dtype == mixed.centers_.dtype == np.float64


# The map --------------------------------------------------------------------------------------------------------------


def test_map_of_the_centroids():
    clients, _ = trajectories(0, 0.1)
    model = FeMIFuzzy(3, projection="sammon", random_state=0).fit(clients)
    sent = sum(int((fit.mass > 0).sum()) for fit in model.messages_["fits"])
    assert model.embedding_.shape == (3 + sent, 2)
    V = np.vstack([model.messages_["aggregate"].centers, *[fit.centers for fit in model.messages_["fits"]]])
    D, E = (np.linalg.norm(P[:, None] - P, axis=2) for P in (V, model.embedding_))
    assert np.corrcoef(D.ravel(), E.ravel())[0, 1] > 0.99
    plain = FeMIFuzzy(3, random_state=0).fit(clients)
    np.testing.assert_array_equal(plain.memberships_, model.memberships_)
    assert not hasattr(plain, "embedding_")


# Units, degenerate data -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale, offset", [(2.0**500, 0), (2.0**-500, 0), (1, 1e8), (3, 0), (2.0**30, 2.0**50)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_units_and_origin_do_not_matter(scale, offset, missing):
    clients = [np.round(X * 16) / 16 for X in trajectories(0, missing)[0][:3]]
    plain = FeMIFuzzy(3, random_state=0).fit(clients)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = FeMIFuzzy(3, random_state=0).fit([X * scale + offset for X in clients])
    order = matched(plain.centers_, (model.centers_ - offset) / scale)
    np.testing.assert_allclose(model.memberships_[:, order], plain.memberships_, atol=1e-4)
    np.testing.assert_allclose((model.centers_[order] - offset) / scale, plain.centers_, atol=1e-3)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3, 1e200])
def test_identical_rows(value):
    with pytest.warns(ConvergenceWarning, match="FeMIFuzzy collapsed"):
        model = FeMIFuzzy(3, min_count=0, random_state=0).fit([np.full((20, 2), value), np.full((30, 2), value)])
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-9)
    np.testing.assert_allclose(model.centers_, value, rtol=1e-12)


HOSTILE = {
    "a constant column": lambda X: np.column_stack([X[:, :3], np.full(len(X), 7.0)]),
    "a column that is constant at each client": lambda X: np.column_stack([X[:, :3], np.full(len(X), len(X))]),
    "different units": lambda X: X * [1e-100, 1.0, 1e100, 1, 1, 1],
    "one column": lambda X: X[:, :1],
    "collinear": lambda X: X[:, :1] * np.arange(1.0, 5),
    "an outlier": lambda X: np.vstack([X, np.full((1, 6), 1e150)]),
    "an outlier in a row with a gap": lambda X: np.vstack([X, [1e150, np.nan, 0, 0, 0, 0]]),
    "denormal": lambda X: X * 1e-310,
    "huge": lambda X: X * 1e305,
    "more columns than rows": lambda X: np.random.default_rng(0).standard_normal((15, 40)),
}


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hostile_data(case, missing):
    clients = [HOSTILE[case](X) for X in trajectories(0)[0][:3]]
    for c, X in enumerate(clients):
        X[np.random.default_rng(c).uniform(size=X.shape) < missing] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = FeMIFuzzy(2, min_count=0, random_state=0).fit(clients)
    assert np.isfinite(model.memberships_).all()
    np.testing.assert_allclose(model.memberships_.sum(axis=1), 1)
    assert np.isfinite(model.centers_).all()


def test_one_cluster():
    clients, _ = trajectories(0)
    model = FeMIFuzzy(1, random_state=0).fit(clients)
    np.testing.assert_array_equal(model.memberships_, np.ones((490, 1)))
    np.testing.assert_allclose(model.centers_[0], np.vstack(clients).mean(axis=0), atol=1e-9)


def test_small_clients_are_scored():
    clients, y = trajectories(0)
    small = [CURVES[[2]], CURVES[[0, 1]], np.full((2, 6), np.nan), CURVES[[1]] * [1, 1, 1, np.nan, np.nan, 1]]
    model = FeMIFuzzy(max_clusters=4, random_state=0).fit([*clients, *small])
    plain = FeMIFuzzy(max_clusters=4, random_state=0).fit(clients)
    np.testing.assert_array_equal(model.centers_, plain.centers_)
    order = matched(CURVES, model.centers_)
    np.testing.assert_array_equal(model.labels_[-6:][[0, 1, 2, 5]], order[[2, 0, 1, 1]])
    np.testing.assert_allclose(model.client_memberships_[6], 1 / 3)
    assert adjusted_rand_score(y, model.labels_[:490]) > 0.98


def test_one_row_at_one_client():
    model = FeMIFuzzy(1, min_count=0).fit([[[1.0, 2.0]]])
    np.testing.assert_array_equal(model.memberships_, [[1.0]])
    np.testing.assert_allclose(model.centers_, [[1.0, 2.0]])


def test_as_many_clusters_as_rows():
    X = np.random.default_rng(0).standard_normal((6, 2))
    model = FeMIFuzzy(6, min_count=0, random_state=0).fit([X])
    np.testing.assert_allclose(in_order(model.centers_), in_order(X), atol=1e-6)


# Warnings, errors, output ---------------------------------------------------------------------------------------------


def test_clients_that_are_not_heard():
    rng = np.random.default_rng(0)
    small = rng.standard_normal((20, 6))
    large = np.repeat(10 * np.eye(6), 50, axis=0) + rng.standard_normal((300, 6))
    with pytest.warns(ConvergenceWarning, match=r"got no centroid from the clients \[1\].*min_count=5"):
        FeMIFuzzy(6, random_state=0).fit([large, small])


def test_not_converged():
    with pytest.warns(ConvergenceWarning, match=r"did not converge in max_iter=2 passes .* clients \[0, 1\]"):
        model = FeMIFuzzy(4, max_iter=2, tol=0, min_count=0, random_state=0).fit(
            list(np.random.default_rng(0).uniform(size=(2, 80, 6)))
        )
    assert not model.converged_
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    "parameter",
    [
        {"n_clusters": 0},
        {"n_clusters": 2.5},
        {"m": 1.0},
        {"m": "automatic"},
        {"min_clusters": 1},
        {"max_clusters": 1},
        {"n_imputations": 0},
        {"align": "all"},
        {"projection": "pca"},
        {"min_count": -1},
        {"min_count": None},
        {"n_init": 0},
        {"max_iter": 0},
        {"tol": -1.0},
        {"random_state": "seed"},
        {"verbose": "yes"},
    ],
    ids=str,
)
def test_bad_parameter_is_named(parameter):
    (name,) = parameter
    with pytest.raises(ValueError, match=f"'{name}' parameter of FeMIFuzzy"):
        FeMIFuzzy(**parameter).fit(trajectories(0)[0])


@pytest.mark.parametrize(
    "parameters, X, message",
    [
        ({"min_clusters": 4, "max_clusters": 3}, trajectories(0)[0], "max_clusters must be >= min_clusters"),
        ({"n_clusters": 491}, trajectories(0)[0], "n_samples=490 should be >= n_clusters=491"),
        ({"n_clusters": 200, "min_count": 0}, [np.zeros((150, 2))] * 2, "n_clusters=200 is too large"),
        ({"n_clusters": 3, "m": 1e5}, trajectories(0)[0], "m=100000 is too large"),
        ({}, [np.full((9, 2), np.nan)], "X must have a client with min_count=5 values"),
        ({"min_count": 0}, [np.zeros((2, 2))], "n_clusters=None needs a client with more than min_clusters=2 rows"),
    ],
)
def test_impossible_fits(parameters, X, message):
    model = FeMIFuzzy(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    with pytest.raises(NotFittedError):
        model.predict([[0.0, 0.0]])


def test_failed_refit_is_no_fit():
    clients, _ = trajectories(0)
    model = FeMIFuzzy(3, random_state=0).fit(clients)
    with pytest.raises(ValueError):
        model.set_params(n_clusters=1000).fit(clients)
    with pytest.raises(NotFittedError):
        model.predict(clients[0])


def test_verbose(capsys):
    FeMIFuzzy(3, verbose=1, random_state=0).fit(trajectories(0)[0])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "FeMIFuzzy client 0: 150 rows, 6 features summarised"
    assert lines[4] == "FeMIFuzzy server: 3 clusters of 6 features"
    assert len(lines) == 10
