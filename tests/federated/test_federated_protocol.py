"""The five functions: each by its definition, what crosses the boundary, and what is held back."""

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from trajectories import trajectories

from soft_clustering import FCM
from soft_clustering.federated import (
    Aggregate,
    Plan,
    Settings,
    client_fit,
    client_project,
    client_score,
    client_summary,
    protocol,
    server_aggregate,
    server_plan,
)
from soft_clustering.federated.imputation import impute
from soft_clustering.federated.sammon import sammon_map
from soft_clustering.fuzzy.fuzzifier import auto_fuzzifier
from soft_clustering.metrics import xie_beni

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def run(clients, settings, names=None):
    """All messages of a run."""
    names = names or [None] * len(clients)
    pairs = list(zip(clients, names, strict=True))
    summaries = [client_summary(X, settings, feature_names=own) for X, own in pairs]
    plan = server_plan(summaries, settings)
    fits = [client_fit(X, plan, feature_names=own) for X, own in pairs]
    return summaries, plan, fits, server_aggregate(fits, plan)


def leaves(message, path=""):
    """Every number, text and array of a message, by its place."""
    if hasattr(message, "_asdict"):
        for name, value in message._asdict().items():
            yield from leaves(value, f"{path}.{name}")
    elif isinstance(message, (list, tuple)):
        for i, value in enumerate(message):
            yield from leaves(value, f"{path}[{i}]")
    else:
        yield path, message


# What crosses the boundary --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [None, 3])
def test_no_message_grows_with_the_rows(n_clusters):
    settings = Settings(n_clusters=n_clusters, max_clusters=4)
    few = run(trajectories(0, 0.2, sizes=(61, 67))[0], settings)
    many = run(trajectories(0, 0.2, sizes=(183, 201))[0], settings)
    shapes = [{path: np.shape(value) for path, value in leaves(messages)} for messages in (few, many)]
    # The server's own history tells passes, not rows.
    few_shapes, many_shapes = ({k: v for k, v in table.items() if "history" not in k} for table in shapes)
    assert few_shapes == many_shapes
    assert len(few_shapes) > 30
    rows = {61, 67, 128, 183, 201, 384}
    for path, value in leaves(many):
        assert isinstance(value, (str, int, float, np.ndarray, type(None))), path
        assert not rows & set(np.shape(value)), path


def test_no_row_is_sent():
    clients, _ = trajectories(1, 0.1, sizes=(40, 50))
    summaries, plan, fits, aggregate = run(clients, Settings(n_clusters=3))
    for _, value in leaves((summaries, fits, aggregate)):
        for number in np.ravel(value) if isinstance(value, np.ndarray) else []:
            for X in clients:
                Z = (X - plan.mean) / plan.std
                assert not np.isclose(X, number, rtol=1e-12, atol=0).any()
                assert not np.isclose(Z, number, rtol=1e-12, atol=0).any()


def test_small_clusters_are_held_back():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.1, (60, 2)), rng.normal(5, 0.1, (50, 2)), rng.normal([0, 30], 0.1, (4, 2))])
    _, plan, (fit,), _ = run([X], Settings(n_clusters=3, min_count=0))
    assert sorted(np.round(fit.mass)) == [4, 50, 60]
    fit = client_fit(X, plan._replace(settings=Settings(n_clusters=3, min_count=5)))
    assert sorted(np.round(fit.mass)) == [0, 50, 60]
    held = fit.mass == 0
    assert np.isnan(fit.centers[held]).all()
    assert np.isfinite(fit.centers[~held]).all()


def test_rare_features_are_held_back():
    X = np.random.default_rng(0).standard_normal((30, 3))
    X[4:, 1] = np.nan
    summary = client_summary(X, Settings(n_clusters=2))
    assert summary.features == ["x0", "x2"]
    assert len(summary.mean) == len(summary.std) == len(summary.n_values) == 2
    assert client_summary(X, Settings(n_clusters=2, min_count=4)).features == ["x0", "x1", "x2"]


def test_small_clients_say_nothing():
    summary = client_summary(np.ones((4, 3)), Settings())
    assert summary.features == []
    assert summary.n_samples == 0
    assert np.isnan(summary.log_xie_beni).all()
    with pytest.raises(ValueError, match="min_count=5"):
        server_plan([summary], Settings())


def test_what_is_left_must_suffice():
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match=r"n_clusters=6 is too large.*min_count=5"):
        run([X], Settings(n_clusters=6))


# The summary ----------------------------------------------------------------------------------------------------------


def test_moments():
    clients, _ = trajectories(0, 0.3)
    summaries, plan, _, _ = run(clients, Settings(n_clusters=3))
    for X, summary in zip(clients, summaries, strict=True):
        np.testing.assert_array_equal(summary.n_values, (~np.isnan(X)).sum(axis=0))
        np.testing.assert_allclose(summary.mean, np.nanmean(X, axis=0), rtol=1e-12)
        np.testing.assert_allclose(summary.std, np.nanstd(X, axis=0), rtol=1e-12)
    pooled = np.vstack(clients)
    np.testing.assert_allclose(plan.mean, np.nanmean(pooled, axis=0), rtol=1e-12)
    np.testing.assert_allclose(plan.std, np.nanstd(pooled, axis=0), rtol=1e-12)


@pytest.mark.parametrize("offset, unit", [(1e8, 1.0), (-1e12, 1.0), (0, 1e150), (0, 1e-150), (1e300, 1e299)])
def test_moments_far_from_the_origin_and_in_any_unit(offset, unit):
    clients, _ = trajectories(0)
    plain = server_plan([client_summary(X, Settings(n_clusters=3)) for X in clients], Settings(n_clusters=3))
    shifted = [client_summary(X * unit + offset, Settings(n_clusters=3)) for X in clients]
    plan = server_plan(shifted, Settings(n_clusters=3))
    np.testing.assert_allclose((plan.mean - offset) / unit, plain.mean, atol=1e-3)
    np.testing.assert_allclose(plan.std / unit, plain.std, rtol=1e-3)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3, -1e200])
def test_constant_feature_has_unit_one(value):
    clients = [np.column_stack([X[:, :2], np.full(len(X), value)]) for X in trajectories(0)[0]]
    plan = run(clients, Settings(n_clusters=3))[1]
    assert plan.std[2] == 1
    assert plan.mean[2] == pytest.approx(value, rel=1e-12)


def test_log_xie_beni_by_the_metric():
    X = trajectories(0)[0][0]
    settings = Settings(max_clusters=4, seed=3)
    summary = client_summary(X, settings)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for i, K in enumerate((2, 3, 4)):
        model = FCM(K, n_init=3, max_iter=100, random_state=3).fit(Z)
        expected = np.log(xie_beni(Z, model.memberships_, model.centers_, m=model.m_))
        assert summary.log_xie_beni[i] == pytest.approx(expected, abs=1e-6)


def test_log_xie_beni_is_the_mean_over_the_copies():
    X = trajectories(0, 0.2)[0][2]
    settings = Settings(min_clusters=3, max_clusters=3, n_imputations=4, seed=3)
    Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    found, init = [], "k-means++"
    for copy in impute(Z, 4, np.random.RandomState(3)):
        model = FCM(3, init=init, n_init=3, max_iter=100, random_state=3).fit(copy)
        init = model.centers_ if isinstance(init, str) else init
        found.append(np.log(xie_beni(copy, model.memberships_, model.centers_, m=model.m_)))
    assert client_summary(X, settings).log_xie_beni[0] == pytest.approx(np.mean(found), abs=1e-6)


def test_no_index_where_the_number_of_clusters_is_given():
    assert len(client_summary(trajectories(0)[0][0], Settings(n_clusters=4)).log_xie_beni) == 0


def test_too_few_rows_for_a_candidate():
    X = np.random.default_rng(0).standard_normal((6, 2))
    scores = client_summary(X, Settings(max_clusters=8)).log_xie_beni
    assert np.isfinite(scores).tolist() == [True] * 4 + [False] * 3


# The plan -------------------------------------------------------------------------------------------------------------


def summary_with(scores, n, features=("a",), n_centroids=None):
    d = len(features)
    moments = np.full(d, float(n)), np.zeros(d), np.ones(d)
    told = np.where(np.isnan(scores), 0, 99) if n_centroids is None else np.array(n_centroids)
    return protocol.Summary(list(features), n, *moments, np.array(scores), told)


def test_number_of_clusters_by_the_weighted_mean():
    settings = Settings(max_clusters=4)
    summaries = [summary_with([1.0, 0.0, 5.0], 100), summary_with([0.0, 0.5, 5.0], 50)]
    plan = server_plan(summaries, settings)
    np.testing.assert_allclose(plan.log_xie_beni, [100 / 150, 25 / 150, 5])
    assert plan.n_clusters == 3
    assert server_plan(summaries[::-1], settings).log_xie_beni.tolist() == plan.log_xie_beni.tolist()


def test_ties_go_to_fewer_clusters():
    assert server_plan([summary_with([1.0, 1.0, 1.0], 100)], Settings(max_clusters=4)).n_clusters == 2


def test_small_clients_do_not_choose():
    summaries = [summary_with([1.0, 0.0, 5.0], 100), summary_with([-90.0, np.nan, np.nan], 3)]
    assert server_plan(summaries, Settings(max_clusters=4)).n_clusters == 3


def test_small_clients_choose_where_there_are_no_others():
    summaries = [summary_with([0.0, -1.0, np.nan], 10), summary_with([-90.0, np.nan, np.nan], 10)]
    plan = server_plan(summaries, Settings(max_clusters=4))
    assert plan.n_clusters == 3
    assert np.isnan(plan.log_xie_beni).tolist() == [False, False, True]


def test_number_of_clusters_that_the_clients_can_send():
    settings = Settings(max_clusters=4)
    summaries = [summary_with([1.0, 0.0, -5.0], 100, n_centroids=[2, 2, 2]), summary_with([1.0, 0.0, -5.0], 50)]
    assert server_plan(summaries, settings).n_clusters == 4
    plan = server_plan([summaries[0], summaries[1]._replace(n_centroids=np.array([2, 1, 1]))], settings)
    assert plan.n_clusters == 3
    assert np.isnan(plan.log_xie_beni[2])


def test_centroids_that_a_client_could_send():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.1, (60, 2)), rng.normal(5, 0.1, (50, 2)), rng.normal([0, 30], 0.1, (4, 2))])
    for min_count, expected in ((0, [2, 3]), (5, [2, 2])):
        summary = client_summary(X, Settings(max_clusters=3, min_count=min_count))
        assert summary.n_centroids.tolist() == expected


def test_fewer_centroids_than_were_planned():
    fits = [told([[0, 0], [9, 9], [5, 5]], [10, 30, 0]), told([[1, 1], [2, 2], [3, 3]], [0, 0, 0])]
    with pytest.warns(ConvergenceWarning, match=r"n_clusters=3 is too large: the clients sent 2 centroids"):
        aggregate = server_aggregate(fits, make_plan(2, 3))
    assert aggregate.centers.shape == (2, 2)
    assert client_score(np.zeros((4, 2)), make_plan(2, 3), aggregate, feature_names=["f0", "f1"]).shape == (4, 2)
    with pytest.raises(ValueError, match="the clients sent 2 centroids"):
        server_aggregate(fits, make_plan(2, 3, n_clusters=3))
    with pytest.raises(ValueError, match="the clients sent 0 centroids"):
        server_aggregate(fits[1:], make_plan(2, 3))


def test_nobody_can_choose():
    with pytest.raises(ValueError, match="n_clusters=None needs a client with more than min_clusters=2 rows"):
        server_plan([summary_with([np.nan, np.nan], 10)], Settings(max_clusters=3))


def test_given_number_of_clusters():
    plan = server_plan([summary_with([], 100)], Settings(n_clusters=7))
    assert plan.n_clusters == 7
    with pytest.raises(ValueError, match="n_samples=100 should be >= n_clusters=101"):
        server_plan([summary_with([], 100)], Settings(n_clusters=101))


def test_fuzzifier_of_the_memberships():
    summaries = [summary_with([], 300, [f"f{j}" for j in range(20)]), summary_with([], 200, ["f1", "f25"])]
    assert server_plan(summaries, Settings(n_clusters=3)).m == auto_fuzzifier(500, 21)
    assert server_plan(summaries, Settings(n_clusters=3, align="intersection")).m == auto_fuzzifier(500, 1)
    assert server_plan(summaries, Settings(n_clusters=3, m=1.7)).m == 1.7


@pytest.mark.parametrize(
    "align, features",
    [
        ("union", [["a", "b"], ["c", "d"]]),
        ("union", [["a", "b"], ["b", "c"], ["c", "d"]]),
        ("intersection", [["a", "b"], ["b", "c"], ["c", "a"]]),
    ],
)
def test_features_in_common(align, features):
    summaries = [summary_with([], 50, own) for own in features]
    with pytest.raises(ValueError, match=r"clients must have features in common.*Got feature_names \[\['a', 'b'\]"):
        server_plan(summaries, Settings(n_clusters=2, align=align))


def test_pairs_in_common_are_enough_for_the_union():
    summaries = [summary_with([], 50, own) for own in (["a", "b"], ["b", "c"], ["c", "a"])]
    assert server_plan(summaries, Settings(n_clusters=2)).features == ["a", "b", "c"]


@pytest.mark.parametrize(
    "setting", [{"m": 1.0}, {"n_clusters": 0}, {"min_count": -1}, {"align": "all"}, {"n_imputations": 0}]
)
def test_bad_settings_are_named(setting):
    (name,) = setting
    with pytest.raises(ValueError, match=f"'{name}' parameter of Settings"):
        client_summary(np.ones((10, 2)), Settings(**setting))
    with pytest.raises(ValueError, match=f"'{name}' parameter of Settings"):
        server_plan([summary_with([], 10)], Settings(**setting))


def test_range_of_the_number_of_clusters():
    with pytest.raises(
        ValueError, match=r"max_clusters must be >= min_clusters. Got max_clusters=3 and min_clusters=4"
    ):
        client_summary(np.ones((10, 2)), Settings(min_clusters=4, max_clusters=3))


# The fit of a client --------------------------------------------------------------------------------------------------


def test_centroids_are_matched_and_averaged():
    X = trajectories(3, 0.3)[0][3]
    settings = Settings(n_clusters=3, n_imputations=3, seed=5, tol=1e-7, max_iter=1000)
    plan = server_plan([client_summary(X, settings)], settings)
    fit = client_fit(X, plan)
    mean, std = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    found, masses = [], []
    for copy in impute((X - mean) / std, 3, np.random.RandomState(5)):
        # from scratch: the same optimum as from the start at the first copy's
        model = FCM(3, n_init=5, tol=1e-7, max_iter=1000, random_state=0).fit(copy)
        mass = (model.memberships_**model.m_).sum(axis=0)
        best = min(
            itertools.permutations(range(3)),
            key=lambda p: 0 if not found else np.sum((found[0] - model.centers_[list(p)]) ** 2),
        )
        found.append(model.centers_[list(best)])
        masses.append(mass[list(best)])
    expected, mass = np.mean(found, axis=0), np.mean(masses, axis=0)
    order = [np.linalg.norm(expected - v, axis=1).argmin() for v in fit.centers]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(fit.centers, expected[order], atol=1e-4)
    np.testing.assert_allclose(fit.mass, mass[order], rtol=1e-3)


def test_own_fuzzifier_of_a_client(monkeypatch):
    used = []
    monkeypatch.setattr(protocol, "FCM", lambda K, **settings: used.append(settings) or FCM(K, **settings))
    clients = [np.random.default_rng(0).standard_normal((n, 12)) for n in (40, 300)]
    run(clients, Settings(n_clusters=2, n_init=2, max_iter=50, tol=1e-3, min_count=0, seed=9))
    for settings in used:
        assert {**settings, "init": None} == {
            "m": "auto",
            "init": None,
            "n_init": 2,
            "max_iter": 50,
            "tol": 1e-3,
            "random_state": 9,
        }


def test_client_without_a_feature_of_the_plan():
    clients, _ = trajectories(0)
    names = [["a", "b", "c", "d", "e", "f"], ["b", "a", "g", "d", "e", "f"], *[["a", "b", "c", "d", "e", "f"]] * 2]
    _, plan, fits, _ = run(clients, Settings(n_clusters=3), names)
    assert plan.features == ["a", "b", "c", "d", "e", "f", "g"]
    assert np.isnan(fits[0].centers[:, 6]).all()
    assert np.isfinite(fits[0].centers[:, :6]).all()
    assert np.isnan(fits[1].centers[:, 2]).all()
    assert np.isfinite(fits[1].centers[:, [0, 1, 3, 4, 5, 6]]).all()


def test_client_with_fewer_rows_than_clusters():
    clients, _ = trajectories(0)
    fit = run([*clients, clients[0][:2]], Settings(n_clusters=3, min_count=0))[2][-1]
    assert fit.n_iter == 0
    assert fit.converged
    np.testing.assert_array_equal(fit.mass, 0)


def test_client_says_whether_it_converged():
    X = np.random.default_rng(0).uniform(size=(80, 6))
    settings = Settings(n_clusters=4, max_iter=2, tol=0, min_count=0)
    fit = client_fit(X, server_plan([client_summary(X, settings)], settings))
    assert fit.n_iter == 2
    assert not fit.converged


# The aggregate --------------------------------------------------------------------------------------------------------


def make_plan(d, K, **settings):
    return Plan([f"f{j}" for j in range(d)], np.zeros(d), np.ones(d), K, 2.0, np.empty(0), Settings(**settings))


def told(centers, mass):
    return protocol.Fit(np.array(centers, dtype=float), np.array(mass, dtype=float), 1, True)


def test_centroids_are_grouped_by_place_not_by_index():
    fits = [told([[0, 0], [9, 9]], [10, 30]), told([[9.4, 9], [0, 0.4]], [10, 30])]
    aggregate = server_aggregate(fits, make_plan(2, 2))
    order = np.argsort(aggregate.centers[:, 0])
    np.testing.assert_allclose(aggregate.centers[order], [[0, 0.3], [9.1, 9]])
    np.testing.assert_allclose(aggregate.mass[order], [40, 40])
    expected = 10 * 0.09 + 30 * 0.01 + 30 * 0.01 + 10 * 0.09
    assert aggregate.history[-1] == pytest.approx(expected)


def test_one_client_keeps_its_centroids():
    V = np.random.default_rng(0).standard_normal((5, 3))
    aggregate = server_aggregate([told(V, [1, 2, 3, 4, 5])], make_plan(3, 5))
    order = [np.abs(aggregate.centers - v).sum(axis=1).argmin() for v in V]
    np.testing.assert_allclose(aggregate.centers[order], V, rtol=1e-14)
    np.testing.assert_allclose(aggregate.mass[order], [1, 2, 3, 4, 5])


def test_order_of_the_clients_does_not_matter():
    rng = np.random.default_rng(0)
    fits = [told(rng.standard_normal((4, 3)), rng.uniform(1, 9, 4)) for _ in range(6)]
    one, two = server_aggregate(fits, make_plan(3, 4)), server_aggregate(fits[::-1], make_plan(3, 4))
    np.testing.assert_array_equal(one.centers, two.centers)
    np.testing.assert_array_equal(one.history, two.history)


def test_features_that_some_clients_lack():
    nan = np.nan
    fits = [told([[0, 0, nan], [5, 5, nan]], [10, 10]), told([[0.2, nan, 7], [5.2, nan, 1]], [10, 10])]
    aggregate = server_aggregate(fits, make_plan(3, 2))
    order = np.argsort(aggregate.centers[:, 0])
    np.testing.assert_allclose(aggregate.centers[order], [[0.1, 0, 7], [5.1, 5, 1]])


def test_feature_that_no_client_of_a_cluster_has():
    fits = [told([[0, 0], [5, 5]], [10, 10]), told([[30, np.nan], [0.2, np.nan]], [10, 10])]
    with pytest.warns(UserWarning, match=r"some clusters occur in no client with the features \['f1'\]"):
        aggregate = server_aggregate(fits, make_plan(2, 3))
    np.testing.assert_allclose(aggregate.centers[aggregate.centers[:, 0] > 20], [[30, 0]])


# Scores and positions -------------------------------------------------------------------------------------------------


def by_rule(Z, V, m):
    D = ((Z[:, None] - V) ** 2).sum(axis=2)
    U = D ** (-1 / (m - 1))
    return U / U.sum(axis=1, keepdims=True)


def test_memberships_are_the_mean_over_the_copies():
    clients, _ = trajectories(0, 0.3)
    _, plan, _, aggregate = run(clients, Settings(n_clusters=3, seed=4))
    X = clients[1]
    mean, std = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    rows = ~np.isnan(X).all(axis=1)
    copies = impute(((X - mean) / std)[rows], 5, np.random.RandomState(4))
    U = [by_rule((copy * std + mean - plan.mean) / plan.std, aggregate.centers, plan.m) for copy in copies]
    np.testing.assert_allclose(client_score(X, plan, aggregate)[rows], np.mean(U, axis=0), atol=1e-9)


def test_row_and_client_without_values():
    clients, _ = trajectories(0)
    clients[0][5] = np.nan
    _, plan, _, aggregate = run(clients, Settings(n_clusters=3))
    np.testing.assert_array_equal(client_score(clients[0], plan, aggregate)[5], 1 / 3)
    nothing = np.full((4, 6), np.nan)
    np.testing.assert_array_equal(client_score(nothing, plan, aggregate), np.full((4, 3), 1 / 3))
    stranger = client_score(np.ones((4, 2)), plan, aggregate, feature_names=["u", "v"])
    np.testing.assert_array_equal(stranger, np.full((4, 3), 1 / 3))


def test_constant_column_with_gaps_is_filled_with_its_value():
    clients, _ = trajectories(0)
    clients[2][:, 3] = 1e3
    clients[2][::2, 3] = np.nan
    table = protocol._table(protocol.validate_client(clients[2]), 5)
    plan = run(clients, Settings(n_clusters=3))[1]
    for copy in impute(table.Z, 3, np.random.RandomState(0)):
        filled = protocol._standardised(table, copy, plan, list(range(6)))
        np.testing.assert_allclose(filled[:, 3] * plan.std[3] + plan.mean[3], 1e3, rtol=1e-9)


def test_positions_of_rows():
    clients, y = trajectories(0, 0.1)
    _, plan, _, aggregate = run(clients, Settings(n_clusters=3))
    V = aggregate.centers
    landmarks = sammon_map(np.linalg.norm(V[:, None] - V, axis=2))[0]
    positions = np.vstack([client_project(X, plan, aggregate, landmarks) for X in clients])
    assert positions.shape == (490, 2)
    nearest = np.linalg.norm(positions[:, None] - landmarks, axis=2).argmin(axis=1)
    assert adjusted_rand_score(y, nearest) > 0.9
    own = plan.mean + V * plan.std
    np.testing.assert_allclose(client_project(own, plan, aggregate, landmarks), landmarks, atol=1e-2)
    nothing = np.full((2, 6), np.nan)
    np.testing.assert_allclose(client_project(nothing, plan, aggregate, landmarks), [landmarks.mean(axis=0)] * 2)
    with pytest.raises(ValueError, match=r"landmarks must have shape \(3, 2\)"):
        client_project(clients[0], plan, aggregate, landmarks[:2])


def test_warnings_of_clients_stay_at_the_clients(recwarn):
    X = np.random.default_rng(0).uniform(size=(80, 6))
    settings = Settings(n_clusters=3, max_iter=2, tol=0, min_count=0)
    client_fit(X, server_plan([client_summary(X, settings)], settings))
    assert not [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]


def test_messages_are_plain_tuples():
    assert Aggregate(np.zeros((1, 1)), np.ones(1), np.zeros(1))._fields == ("centers", "mass", "history")
