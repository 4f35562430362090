"""Multivariate beta mixture: its density, planted components, limits, scaling, degenerate data."""

import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets, planted_mixture
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, polygamma, psi
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import MBMM
from soft_clustering.engine import blocks as blocks_module
from soft_clustering.engine.loop import UNSCALED
from soft_clustering.mixture import derived
from soft_clustering.mixture.base import LeastLikely
from soft_clustering.mixture.mbmm import Components, fresh_change

pytestmark = pytest.mark.filterwarnings("ignore:MBMM did not converge")

IRIS = load_iris().data
PLANTED = np.array([[2.0, 9, 3], [9, 2, 3], [8, 8, 8]])


def draw(shapes, labels, seed):
    rng = np.random.RandomState(seed)
    gamma = rng.gamma(np.asarray(shapes)[labels])
    return gamma[:, :-1] / (gamma[:, :-1] + gamma[:, -1:])


def planted(seed, n=1500):
    y = np.repeat(np.arange(3), n // 3)
    return draw(PLANTED, y, seed), y


def log_density(x, shapes):
    """The published density of one sample, by loops."""
    a, b = shapes[:-1], shapes[-1]
    s = a.sum() + b
    answer = gammaln(s) - gammaln(b)
    odds = 0.0
    for x_j, a_j in zip(x, a, strict=True):
        answer += -gammaln(a_j) + (a_j - 1) * np.log(x_j) - (a_j + 1) * np.log(1 - x_j)
        odds += x_j / (1 - x_j)
    return answer - s * np.log(1 + odds)


def with_parameters(weights, shapes):
    """A model that was not fitted, but given its parameters; the data are taken as they are."""
    shapes = np.asarray(shapes, dtype=float)
    K, d = len(shapes), shapes.shape[1] - 1
    model = MBMM(K, init=np.tile(np.eye(K), (4, 1)), max_iter=1, scaling=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(np.random.default_rng(0).uniform(0.1, 0.9, (4 * K, d)))
    model._state = Components(np.asarray(weights), shapes, np.ones(K, dtype=bool))
    model.shapes_ = shapes
    return model


# The model ------------------------------------------------------------------------------------------------------------


def test_density_is_the_published_one():
    X = np.random.default_rng(1).uniform(0.01, 0.99, (200, 3))
    shapes = np.array([[2.0, 3.0, 0.7, 4.0], [0.4, 8.0, 2.0, 1.5]])
    model = with_parameters([0.3, 0.7], shapes)
    joint = np.array([[np.log(w) + log_density(x, a) for w, a in zip([0.3, 0.7], shapes, strict=True)] for x in X])
    expected = np.logaddexp(*joint.T)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=0, atol=2e-13)
    np.testing.assert_allclose(model.predict_memberships(X), np.exp(joint - expected[:, None]), rtol=0, atol=1e-13)
    assert model.score(X) == pytest.approx(expected.mean(), abs=1e-12)


def test_density_integrates_to_one():
    axis = (np.arange(400) + 0.5) / 400
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    f = np.exp(with_parameters([1.0], [[2.0, 3.0, 4.0]]).score_samples(grid)) / 400**2
    assert f.sum() == pytest.approx(1.0, abs=1e-5)
    assert f @ grid[:, 0] == pytest.approx(1 / 3, abs=1e-5)


def test_marginals_are_beta_and_correlated():
    X = with_parameters([1.0], [[2.0, 3.0, 4.0]]).sample(40_000)[0]
    for j, a in enumerate((2.0, 3.0)):
        assert stats.kstest(X[:, j], stats.beta(a, 4.0).cdf).pvalue > 1e-3
    assert np.corrcoef(X.T)[0, 1] > 0.2


def test_one_pass_by_loops():
    X, _ = planted(0, 60)
    U = np.random.default_rng(0).dirichlet(np.ones(2), 60)
    weight = np.random.default_rng(1).uniform(0.5, 2, 60)
    model = MBMM(2, init=U, max_iter=1).fit(X, sample_weight=weight)
    # the start is the M-step of U; one pass is an E-step and an M-step
    odds = X / (1 - X)
    L = np.log(np.hstack([odds, np.ones((60, 1))]) / (1 + odds.sum(axis=1, keepdims=True)))

    def m_step(R):
        N = (weight[:, None] * R).sum(axis=0)
        return N / N.sum(), (weight[:, None] * R).T @ L / N[:, None]

    def solve(means):
        answer = []
        for s in means:
            a = np.ones(3)
            for _ in range(20_000):  # Minka's fixed point: slow, but another way
                target = psi(a.sum()) + s
                a = np.where(target > -2.22, np.exp(target) + 0.5, -1 / (target - psi(1)))
                for _ in range(6):
                    a = a - (psi(a) - target) / polygamma(1, a)
                if np.abs(psi(a.sum()) - psi(a) + s).max() < 1e-12:
                    break
            answer.append(a)
        return np.array(answer)

    weights, means = m_step(U)
    shapes = solve(means)
    joint = np.array([[np.log(w) + log_density(x, a) for w, a in zip(weights, shapes, strict=True)] for x in X])
    total = np.logaddexp(*joint.T)
    assert model.objective_history_[0] == pytest.approx(np.average(total, weights=weight), abs=1e-9)
    weights, means = m_step(np.exp(joint - total[:, None]))
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-8)
    np.testing.assert_allclose(model.shapes_, solve(means), rtol=1e-7)


def test_one_feature_and_one_component_is_a_beta_fit():
    x = np.random.RandomState(0).beta(2.5, 7, 5000)
    model = MBMM(1).fit(x[:, None])
    np.testing.assert_allclose(model.shapes_[0], stats.beta.fit(x, floc=0, fscale=1)[:2], rtol=1e-8)
    np.testing.assert_allclose(model.shapes_[0], [2.5394, 7.1232], atol=5e-5)
    assert model.centers_[0, 0] == pytest.approx(2.5394 / (2.5394 + 7.1232), abs=1e-4)


def test_one_feature_is_a_beta_mixture():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.beta(2, 8, 400), rng.beta(9, 3, 600)])
    model = MBMM(2, random_state=0).fit(x[:, None])
    joint = np.stack(
        [w * stats.beta(a, b).pdf(x) for w, (a, b) in zip(model.weights_, model.shapes_, strict=True)], axis=1
    )
    np.testing.assert_allclose(model.memberships_, joint / joint.sum(axis=1, keepdims=True), rtol=0, atol=1e-11)
    np.testing.assert_allclose(model.score_samples(x[:, None]), np.log(joint.sum(axis=1)), rtol=0, atol=1e-11)
    assert sorted(model.shapes_[:, 0].round(0)) == [2, 9]


@pytest.mark.parametrize("seed", range(4))
def test_planted_components(seed):
    X, y = planted(seed)
    model = MBMM(3, random_state=0).fit(X)
    rule = with_parameters(np.full(3, 1 / 3), PLANTED).predict(X)
    found = adjusted_rand_score(y, model.labels_)
    assert found >= 0.70
    assert found >= adjusted_rand_score(y, rule) - 0.02


def test_planted_shapes():
    X, _ = planted(0, 30_000)
    model = MBMM(3, n_init=1, random_state=0).fit(X)
    order = [np.abs(model.shapes_ - shapes).sum(axis=1).argmin() for shapes in PLANTED]
    np.testing.assert_allclose(model.shapes_[order], PLANTED, atol=0.4)
    np.testing.assert_allclose(model.weights_, 1 / 3, atol=0.02)


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("data", [load_iris, load_wine, load_breast_cancer])
def test_likelihood_never_falls(data, margin):
    history = MBMM(3, margin=margin, random_state=0).fit(data().data).objective_history_
    assert np.diff(history).min() > -1e-10 * np.abs(history).max()


def test_quality_on_the_offline_sets():
    scores = {}
    for name, (X, y) in offline_sets().items():
        step = 1 if len(X) < 2000 else 2
        model = MBMM(len(np.unique(y)), random_state=0).fit(X[::step])
        scores[name] = adjusted_rand_score(y[::step], model.labels_)
    assert np.mean(list(scores.values())) > 0.69, scores


def test_quality_on_planted_mixtures():
    """Ranges that have to be scaled have no borders: a margin of 0.1 has 0.74 here."""
    sets = [planted_mixture(seed) for seed in range(200, 208)]
    found = [adjusted_rand_score(y, MBMM(len(np.unique(y)), random_state=0).fit(X).labels_) for X, y in sets]
    assert np.mean(found) > 0.77


# Scaling --------------------------------------------------------------------------------------------------------------


def test_data_in_the_unit_cube_are_taken_as_they_are():
    X, _ = planted(0, 300)
    U = np.random.default_rng(0).dirichlet(np.ones(3), 300)
    as_is = MBMM(3, init=U, scaling=None).fit(X)
    np.testing.assert_array_equal(MBMM(3, init=U).fit(X).shapes_, as_is.shapes_)
    np.testing.assert_array_equal(MBMM(3, init=U, margin=0.3).fit(X).shapes_, as_is.shapes_)
    # one entry outside, and the range is mapped
    assert np.abs(MBMM(3, init=U).fit(X + 0.5).shapes_ - as_is.shapes_).max() > 0.1


@pytest.mark.parametrize("scale, offset", [(3.0, -7.0), (1e-150, 0), (1e150, 0), (1.0, 1e8)])
def test_other_units_are_mapped(scale, offset):
    U = np.random.default_rng(0).dirichlet(np.ones(3), 150)
    X = np.round(IRIS * 64) / 64 - 3  # exact beside 1e8, and outside of the cube in any unit
    plain, other = MBMM(3, init=U).fit(X), MBMM(3, init=U).fit(X * scale + offset)
    np.testing.assert_allclose(other.memberships_, plain.memberships_, atol=1e-6)
    np.testing.assert_allclose(other.shapes_, plain.shapes_, rtol=1e-6)
    np.testing.assert_allclose((other.centers_ - offset) / scale, plain.centers_, rtol=1e-6, atol=1e-6)
    assert other.objective_ == pytest.approx(plain.objective_ - 4 * np.log(scale), abs=1e-6)


def test_mapped_density_is_one_of_the_data():
    x = np.random.default_rng(0).normal(5, 2, (400, 1))
    model = MBMM(2, margin=0.1, random_state=0).fit(x)
    low, high = x.min(), x.max()
    room = (high - low) / 8  # a margin of 0.1 of the mapped range
    grid = np.linspace(low - room, high + room, 20_001)[1:-1]
    assert np.exp(model.score_samples(grid[:, None])).sum() * (grid[1] - grid[0]) == pytest.approx(1, abs=1e-4)


def test_positive_data_in_tiny_units_are_in_the_cube():
    with pytest.warns(ConvergenceWarning, match="all samples have the same memberships"):
        MBMM(3, init=np.random.default_rng(0).dirichlet(np.ones(3), 150)).fit(IRIS * 1e-9)


def test_margin_is_the_room_at_the_ends():
    for margin in (0.0, 0.1, 0.3):
        model = MBMM(1, margin=margin).fit(IRIS)
        Z = model._new_blocks(IRIS).blocks[0].take(np.arange(150)) + 0.5
        np.testing.assert_allclose(Z.min(axis=0), margin, atol=1e-12)
        np.testing.assert_allclose(Z.max(axis=0), 1 - margin, atol=1e-12)


def test_new_data_beyond_the_cube_are_moved_to_its_border():
    model = MBMM(3, margin=0.1, random_state=0).fit(IRIS)
    spread = np.ptp(IRIS, axis=0)
    far = np.stack([IRIS.max(axis=0) + factor * spread for factor in (0.2, 1, 1e6, 1e100)])
    U = model.predict_memberships(far)
    np.testing.assert_allclose(U, U[[0]] * np.ones((4, 1)), atol=1e-12)
    np.testing.assert_allclose(model.score_samples(far), model.score_samples(far)[0], rtol=1e-12)


def test_entries_at_the_border_are_moved_inside():
    X, _ = planted(0, 300)
    U = np.random.default_rng(0).dirichlet(np.ones(3), 300)
    X[:5], X[5:10] = 0.0, 1.0
    inside = np.clip(X, 1e-6, 1 - 1e-6)
    model, moved = MBMM(3, init=U).fit(X), MBMM(3, init=U, scaling=None).fit(inside)
    np.testing.assert_allclose(model.memberships_, moved.memberships_, rtol=0, atol=1e-7)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, 3.0])
def test_without_scaling_the_open_cube_is_demanded(bad):
    X, _ = planted(0, 60)
    model = MBMM(3, scaling=None, random_state=0).fit(X)
    X[7, 1] = bad
    for call in (MBMM(3, scaling=None).fit, model.predict, model.score_samples, model.bic):
        with pytest.raises(ValueError, match="X must have entries between 0 and 1 with scaling=None"):
            call(X)


# The protocol, and what a mixture can do besides ----------------------------------------------------------------------


def test_criteria():
    X, _ = planted(0, 300)
    model = MBMM(3, random_state=0).fit(X)
    likelihood, parameters = 300 * model.objective_, 3 * 3 + 2
    assert model.bic(X) == pytest.approx(-2 * likelihood + parameters * np.log(300), rel=1e-12)
    assert model.aic(X) == pytest.approx(-2 * likelihood + 2 * parameters, rel=1e-12)
    assert model.bic(X, sample_weight=np.full(300, 2.0)) == pytest.approx(model.bic(np.repeat(X, 2, axis=0)), rel=1e-12)


def test_bic_finds_the_number_of_components():
    X, _ = planted(0, 3000)
    scores = {K: MBMM(K, random_state=0).fit(X).bic(X) for K in (1, 2, 3, 4, 5)}
    assert min(scores, key=scores.get) == 3


def test_samples_come_from_the_mixture():
    model = MBMM(3, random_state=0).fit(IRIS)
    X, labels = model.sample(30_000)
    assert X.shape == (30_000, 4)
    assert model.sample()[0].shape == (1, 4)
    np.testing.assert_allclose(np.bincount(labels) / 30_000, model.weights_, atol=0.01)
    for k in range(3):
        np.testing.assert_allclose(X[labels == k].mean(axis=0), model.centers_[k], atol=0.03)
    assert model.score(X) == pytest.approx(model.score_samples(X).mean(), abs=1e-9)
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(0)


def test_samples_of_tiny_shapes():
    X, _ = with_parameters([1.0], [[1e-3, 0.5, 2e-3]]).sample(2000)
    assert np.isfinite(X).all() and X.min() >= 0 and X.max() <= 1


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 10_000))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    X, _ = planted(seed, 60)
    start, counts = rng.dirichlet(np.ones(2), 60), rng.integers(0, 4, 60)
    counts[:5] = counts[-5:] = 2
    weighted = MBMM(2, init=start, max_iter=5, tol=0).fit(X, sample_weight=counts)
    repeated = MBMM(2, init=start.repeat(counts, axis=0), max_iter=5, tol=0).fit(X.repeat(counts, axis=0))
    np.testing.assert_allclose(weighted.shapes_, repeated.shapes_, rtol=1e-7)
    np.testing.assert_allclose(weighted.predict_memberships(X), repeated.predict_memberships(X), atol=1e-8)


def test_starts_take_turns():
    # On the log odds k-means sees two clusters near 0 that are one on the features themselves.
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0.0001, 0.0002, 100), rng.uniform(0.05, 0.1, 100), rng.uniform(0.4, 0.9, 100)])
    model = MBMM(2, n_init=1, max_iter=1)
    blocks = model._blocks(x[:, None])
    starts = [model._starting_memberships(blocks, np.random.RandomState(0), i).argmax(axis=1) for i in range(3)]
    np.testing.assert_array_equal(starts[0], starts[2])
    np.testing.assert_array_equal(np.unique(starts[0][:200]).size, 1)
    assert len(set(starts[1][:100]) & set(starts[1][100:])) == 0


def test_pieces_do_not_matter(monkeypatch):
    X, _ = planted(0, 300)
    whole = MBMM(3, random_state=0).fit(X)
    monkeypatch.setattr(blocks_module, "_PIECE", 14)
    pieces = MBMM(3, random_state=0).fit(X)
    np.testing.assert_allclose(pieces.memberships_, whole.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(pieces.shapes_, whole.shapes_, rtol=1e-9)


def test_memory_map(tmp_path):
    X, _ = planted(0, 300)
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", mode="r", shape=X.shape, dtype=np.float64)
    np.testing.assert_array_equal(MBMM(3, random_state=0).fit(mapped).shapes_, MBMM(3, random_state=0).fit(X).shapes_)


def test_many_features():
    X, y = load_digits(n_class=3, return_X_y=True)
    model = MBMM(3, random_state=0).fit(X)
    assert model.shapes_.shape == (3, 65)
    assert adjusted_rand_score(y, model.labels_) > 0.75


# Degenerate cases -----------------------------------------------------------------------------------------------------


def test_empty_components_are_seeded_anew():
    X, y = planted(0)
    start = np.zeros((1500, 3))
    start[:, 0] = 1
    model = MBMM(3, init=start).fit(X)
    assert model.weights_.min() > 0.05
    assert model.objective_ > MBMM(1).fit(X).objective_ + 0.05
    assert adjusted_rand_score(y, model.labels_) > 0.65


def test_a_component_that_is_seeded_anew_is_as_concentrated_as_the_others():
    X, _ = planted(0, 300)
    start = np.tile([1.0, 0.0], (300, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MBMM(2, init=start, max_iter=1).fit(X)
    # The parts of the worst row sum to 1.
    assert model.shapes_[1].sum() == pytest.approx(model.shapes_[0].sum(), rel=1e-6)


def test_a_component_stays_empty_rather_than_loop():
    with pytest.warns(ConvergenceWarning, match="components|memberships"):
        model = MBMM(3, init=np.tile([1.0, 0, 0], (30, 1))).fit(np.full((30, 2), 0.3))
    assert model.n_iter_ < 50
    assert np.isfinite(model.memberships_).all()


def test_constant_feature_and_bounded_shapes():
    X = np.column_stack([planted(0, 300)[0], np.full(300, 0.25)])
    model = MBMM(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.centers_[:, 2], 0.25)
    assert model.shapes_.max() <= 1e6
    tight = MBMM(2, random_state=0).fit(np.repeat([[0.2], [0.7]], 10, axis=0))
    assert tight.shapes_.max() == pytest.approx(1e6)
    np.testing.assert_allclose(np.sort(tight.centers_[:, 0]), [0.2, 0.7], rtol=1e-4)
    assert np.isfinite(tight.objective_)


def test_identical_points_collapse_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="collapsed"):
        model = MBMM(2).fit(np.ones((20, 3)))
    np.testing.assert_allclose(model.memberships_, 0.5)
    np.testing.assert_array_equal(model.centers_, 1.0)


def test_fewer_distinct_points_than_components_warn():
    # Rounding decides whether the third component shares a point or is left without one.
    message = "2 distinct components, fewer than n_clusters=3|left 1 of 3 components empty"
    with pytest.warns(ConvergenceWarning, match=message):
        MBMM(3, random_state=0).fit(np.repeat([[0.1, 0.4], [0.8, 0.6]], 10, axis=0))


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"scaling": "minmax"}, "'scaling' parameter"),
        ({"margin": 0.5}, "'margin' parameter"),
        ({"margin": -0.1}, "'margin' parameter"),
        ({"init": "k-means++"}, "'init' parameter"),
        ({"init": np.ones((150, 3))}, "rows that sum to 1"),
        ({"init": np.ones((10, 3)) / 3}, r"init must have shape \(150, 3\)"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        MBMM(3, **parameters).fit(IRIS)


def test_quality_on_held_out_tables(shared_data):
    scores = []
    for name in ("glass", "ecoli", "vehicle", "yeast", "segment", "satimage"):
        table = np.load(shared_data / "tabular" / f"{name}.npz")
        X, y = table["X"].astype(np.float64), table["y"]
        chosen = np.random.RandomState(0).permutation(len(X))[:600]
        model = MBMM(len(np.unique(y)), n_init=2, random_state=0).fit(X[chosen])
        scores.append(adjusted_rand_score(y[chosen], model.labels_))
    assert np.mean(scores) > 0.29, scores  # measured 0.315


def test_the_row_of_least_likelihood_is_kept():
    one, two = LeastLikely(-3.0, np.array([-1.0, -2.0])), LeastLikely(-0.75, np.array([-0.25, -0.05]))
    for merged in (one.merge(two), two.merge(one)):
        assert merged.likelihood == -3.0
        np.testing.assert_array_equal(merged.row, [-1.0, -2.0])


def test_rows_in_pieces_give_the_same(monkeypatch):
    X, _ = planted(0, 3000)
    expected = MBMM(3, random_state=0, tol=1e-12).fit(X)
    monkeypatch.setattr(derived, "_KEPT", 100)
    monkeypatch.setattr(blocks_module, "_PIECE", 500)
    model = MBMM(3, random_state=0, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.memberships_, expected.memberships_, rtol=0, atol=1e-6)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-11)


def test_no_convergence_where_a_component_was_seeded_anew():
    """The likelihood of before is that of other components, even if it happens to be the same."""
    old = Components(np.array([0.5, 0.5]), np.ones((2, 2)), np.array([False, False]))
    seeded = old._replace(fresh=np.array([False, True]))
    assert fresh_change(old, old, [-3.0, -3.0], UNSCALED) == 0
    assert fresh_change(old, seeded, [-3.0, -3.0], UNSCALED) == np.inf
