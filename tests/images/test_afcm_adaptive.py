"""Adaptive fuzzy c-means: definitions by loops, the gain against a direct solver, shaded phantoms, limits, masks."""

import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from soft_clustering import FCM, AFCMAdaptive
from soft_clustering.datasets import make_phantom
from soft_clustering.images import afcm_adaptive
from soft_clustering.images.afcm_adaptive import Modes, levels

LEVELS = np.array([0.25, 0.6, 1.0])


def shading(shape, strength):
    y, x = np.meshgrid(*(np.linspace(-0.5, 0.5, size) for size in shape), indexing="ij")
    return 1 + strength * (1.2 * x + 0.8 * np.sin(2.5 * y) + 0.6 * x * y)


def discs(n=128, outer=0.42, inner=0.25):
    y, x = np.meshgrid(*(np.linspace(-0.5, 0.5, n),) * 2, indexing="ij")
    return (np.hypot(x, y) < outer).astype(int) + (np.hypot(x, y) < inner)


LAYOUTS = {
    "discs": discs(),
    "stripes": np.tile(np.arange(128) // 16 % 3, (128, 1)),
    "three stripes": np.tile(np.arange(128) * 3 // 128, (128, 1)),
    "waves": make_phantom((128, 128), bias=0.0, noise=0.0).labels,
}


def phantom(labels, strength, seed=0, noise=0.03):
    rng = np.random.default_rng(seed)
    return LEVELS[labels] * shading(labels.shape, strength) + noise * rng.standard_normal(labels.shape)


def correlation(a, b):
    return np.corrcoef(a.ravel(), b.ravel())[0, 1]


SMALL = phantom(discs(24), 0.3, noise=0.02)[:18]
VOLUME = np.stack([SMALL[:9, :8] * factor for factor in (0.8, 0.9, 1.0, 1.1)])


def fit(image, mask=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return AFCMAdaptive(**{"random_state": 0} | parameters).fit(image, mask=mask)


# Definitions by loops -------------------------------------------------------------------------------------------------


def minus_laplacian(shape):
    """H as a matrix, from the pairs of neighbours."""
    number = np.arange(np.prod(shape)).reshape(shape)
    H = np.zeros((number.size, number.size))
    for pixel in itertools.product(*map(range, shape)):
        for axis in range(len(shape)):
            other = tuple(p + (r == axis) for r, p in enumerate(pixel))
            if other[axis] < shape[axis]:
                i, j = number[pixel], number[other]
                H[i, i] += 1
                H[j, j] += 1
                H[i, j] -= 1
                H[j, i] -= 1
    return H


def loop_memberships(y, g, V, m):
    U = np.empty((len(y), len(V)))
    for p, k in itertools.product(range(len(y)), range(len(V))):
        U[p, k] = 1 / sum(((y[p] - g[p] * V[k]) ** 2 / (y[p] - g[p] * v) ** 2) ** (1 / (m - 1)) for v in V)
    return U


def loop_objective(y, g, V, U, m, a, b, H):
    data = sum(U[p, k] ** m * (y[p] - g[p] * V[k]) ** 2 for p in range(len(y)) for k in range(len(V)))
    return data + a * g @ H @ g + b * g @ H @ H @ g


def best_centers(y, g, W):
    """The centres that minimise J for the gain g and memberships whose powers are W."""
    return np.array([(w * g * y).sum() / (w * g * g).sum() for w in W.T])


def best_gain(y, V, W, a, b, H, inside):
    """The gain of mean 1 that minimises J for the centres V: the system of its Lagrange function, solved directly."""
    n, H = len(y), sparse.csc_matrix(H)
    A = sparse.diags(W @ V**2) + a * H + b * H @ H
    mean = inside[:, None] / inside.sum()
    lagrange = sparse.bmat([[A, mean], [mean.T, None]], format="csc")
    return spsolve(lagrange, np.append(y * (W @ V), 1.0))[:n]


def loop_pass(y, g, V, U, m, a, b, H, inside):
    """New gain and centres."""
    V = best_centers(y, g, U**m)
    return best_gain(y, V, U**m, a, b, H, inside), V


CASES = [(SMALL, 2.0, None), (SMALL, 1.6, None), (VOLUME, 2.5, None), (SMALL, 2.0, SMALL > 0.2)]


@pytest.mark.parametrize("image, m, mask", CASES)
def test_passes_by_loops(image, m, mask, monkeypatch):
    monkeypatch.setattr(afcm_adaptive, "_REDUCTION", 0.0)
    monkeypatch.setattr(afcm_adaptive, "_ACCURACY", 1e-13)
    monkeypatch.setattr(afcm_adaptive, "_FREE", np.inf)
    H, y = minus_laplacian(image.shape), image.ravel()
    inside = np.ones(len(y), bool) if mask is None else mask.ravel()
    model = fit(image, mask, m=m, bias_scale=0.2, tol=0, max_iter=4)
    values, count = levels(y[inside])
    V = np.sort(FCM(3, m=m, random_state=0).fit(values[:, None], sample_weight=count).centers_[:, 0])
    visited, history = [(np.ones(len(y)), V)], []
    w, length = ((loop_memberships(y, *visited[0], m) ** m)[inside] @ V**2).mean(), 0.2 * max(image.shape)
    a, b = model.gradient_weight_, model.curvature_weight_
    np.testing.assert_allclose([a, b], [0.03 * w * length**2, 0.3 * w * length**4], rtol=1e-6)
    for _ in range(4):
        U = loop_memberships(y, *visited[-1], m)
        U[~inside] = 0
        history.append(loop_objective(y, *visited[-1], U, m, a, b, H))
        visited.append(loop_pass(y, *visited[-1], U, m, a, b, H, inside))
    np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-6)
    g, V = visited[-1]
    np.testing.assert_allclose(model.gain_.ravel(), g, rtol=1e-6)
    np.testing.assert_allclose(model.centers_[:, 0], V, rtol=1e-6)
    U = loop_memberships(y, g, V, m)
    U[~inside] = 0
    assert model.objective_ == pytest.approx(loop_objective(y, g, V, U, m, a, b, H), rel=1e-6)
    U[~inside] = 1 / 3
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-5)
    assert model.score(image, mask=mask) == pytest.approx(-model.objective_, rel=1e-12)


def roughness(plane):
    """x^T H x and x^T H^2 x, from the penalties of the modes."""
    found = []
    for weights in ((1.0, 0.0), (0.0, 1.0)):
        modes = Modes(np.ones(plane.shape), *weights, np.inf)
        found.append((modes.penalty * modes.coefficients(plane) ** 2).sum())
    return found


@pytest.mark.parametrize("shape", [(6, 5), (1, 7), (8, 1), (3, 4, 5), (1, 1)])
def test_roughness_by_loops(shape):
    plane, H = np.random.default_rng(0).normal(size=shape), minus_laplacian(shape)
    x = plane.ravel()
    np.testing.assert_allclose(roughness(plane), [x @ H @ x, x @ H @ H @ x], rtol=1e-12)


@pytest.mark.parametrize("shape", [(12, 11), (9, 10, 8)])
def test_away_from_the_border_the_laplacian_is_all_second_differences(shape):
    g = np.zeros(shape)
    middle = tuple(slice(3, size - 3) for size in shape)
    g[middle] = np.random.default_rng(1).normal(size=g[middle].shape)
    second = 0.0
    for r, s in itertools.product(range(len(shape)), repeat=2):
        second += (np.diff(np.diff(g, axis=r), axis=s) ** 2).sum()
    assert roughness(g)[1] == pytest.approx(second, rel=1e-12)


# The gain against a direct solver -------------------------------------------------------------------------------------


def sparse_laplacian(shape):
    def line(size):
        diagonal = np.full(size, 2.0)
        diagonal[[0, -1]] = 1
        return sparse.diags([diagonal, -np.ones(size - 1), -np.ones(size - 1)], [0, 1, -1])

    return sparse.csc_matrix(sparse.kronsum(line(shape[1]), line(shape[0])))


def solve(modes, w, r, guess):
    return modes.on_grid(modes.solve(w, r, modes.coefficients(guess)))


@pytest.mark.parametrize("a, b", [(10.0, 1e3), (0.0, 1e5), (30.0, 0.0), (0.1, 0.01), (1e3, 1e6)])
def test_the_system_is_solved(a, b, monkeypatch):
    rng = np.random.default_rng(0)
    shape = (40, 31)
    w, r = rng.uniform(0.02, 1, shape), rng.normal(size=shape)
    inside = rng.random(shape) < 0.7
    H = sparse_laplacian(shape)
    A = sparse.csc_matrix(sparse.diags(w.ravel()) + a * H + b * H @ H)
    some = inside.reshape(-1, 1).astype(float)
    lagrange = sparse.bmat([[A, some], [some.T, None]], format="csc")
    exact = spsolve(lagrange, np.append(r.ravel(), 0.0))[:-1].reshape(shape)
    modes = Modes(inside.astype(float), a, b, np.inf)
    monkeypatch.setattr(afcm_adaptive, "_REDUCTION", 0.0)
    for accuracy, near in ((1e-5, 1e-4), (1e-12, 1e-9)):
        monkeypatch.setattr(afcm_adaptive, "_ACCURACY", accuracy)
        for guess in (np.zeros(shape), rng.normal(size=shape), exact):
            found = solve(modes, w, r, guess)
            assert np.abs(found - exact).max() <= near * np.abs(exact).max()
            assert abs(found[inside].mean()) <= 1e-13 * np.abs(exact).max()
    # Without the modes that are not free: against what the right-hand side would do without a penalty.
    few = Modes(inside.astype(float), a, b, 1e6 * w.mean())
    found = solve(few, w, r, np.zeros(shape))
    assert np.abs(found - exact).max() <= 1e-5 * r.std() / w.mean()


def test_a_part_of_a_solution_lowers_the_objective():
    """However early the conjugate gradients stop, and from whatever guess."""
    rng = np.random.default_rng(1)
    shape = (20, 24)
    w, r = rng.uniform(0.02, 1, shape), rng.normal(size=shape)
    H = sparse_laplacian(shape)
    A = sparse.csc_matrix(sparse.diags(w.ravel()) + 5 * H + 200 * H @ H)
    modes = Modes(np.ones(shape), 5.0, 200.0, np.inf)
    d = rng.normal(size=shape)
    d -= d.mean()
    values = []
    for _ in range(6):
        values.append(d.ravel() @ (A @ d.ravel()) - 2 * np.vdot(r, d))
        d = solve(modes, w, r, d)
    assert (np.diff(values) < 0).all()


def check_at_rest(image, model, mask=None, m=2.0):
    """No step of the publication lowers J at the fitted state by more than a millionth; J is that of the docstring."""
    y, g, V, U = image.ravel(), model.gain_.ravel(), model.centers_[:, 0], model.memberships_.copy()
    a, b = model.gradient_weight_, model.curvature_weight_
    H = sparse.csc_matrix(minus_laplacian(image.shape))
    inside = np.ones(len(y), bool) if mask is None else mask.ravel()
    U[~inside] = 0

    def J(g, V, U):
        return (U**m * (y[:, None] - g[:, None] * V) ** 2).sum() + a * g @ H @ g + b * g @ H @ H @ g

    assert g[inside].mean() == pytest.approx(1, rel=1e-12)
    assert J(g, V, U) == pytest.approx(model.objective_, rel=1e-9)
    near = loop_memberships(y, g, V, m)
    near[~inside] = 0
    steps = (g, best_centers(y, g, U**m), U), (best_gain(y, V, U**m, a, b, H, inside), V, U), (g, V, near)
    falls = [1 - J(*step) / model.objective_ for step in steps]
    assert max(falls) < 1e-6
    assert min(falls) > -1e-9  # they are steps of descent
    assert (np.diff(model.objective_history_) <= 1e-12 * model.objective_).all()


@pytest.mark.parametrize("strength", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("layout", ["discs", "three stripes", "waves"])
def test_no_step_lowers_the_objective_at_the_end(layout, strength):
    image = phantom(LAYOUTS[layout][::4, ::4], strength)
    model = AFCMAdaptive(3, random_state=0).fit(image)
    assert model.converged_
    check_at_rest(image, model)


def test_no_step_lowers_the_objective_under_a_mask():
    image = phantom(discs(32), 0.4)
    mask = discs(32) > 0
    check_at_rest(image, AFCMAdaptive(2, m=1.8, random_state=0).fit(image, mask=mask), mask, m=1.8)


def test_the_objective_that_is_reached():
    """With the gain divided by its mean after each step the alternation ended at 13.812."""
    image = make_phantom((30, 40), noise=0.02, bias=0.8, random_state=0).image
    auto = AFCMAdaptive(3, random_state=0).fit(image)
    weights = {"gradient_weight": auto.gradient_weight_ / 0.3, "curvature_weight": auto.curvature_weight_ / 0.3}
    stiff = AFCMAdaptive(3, random_state=0, **weights).fit(image)
    assert stiff.objective_ == pytest.approx(13.45578, abs=1e-5)
    for model in (auto, stiff):
        check_at_rest(image, model)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_memberships_are_at_rest(layout):
    image = phantom(LAYOUTS[layout], 0.4)
    model, longer = (AFCMAdaptive(3, tol=tol, max_iter=500, random_state=0).fit(image) for tol in (1e-5, 1e-8))
    np.testing.assert_allclose(model.memberships_, longer.memberships_, rtol=0, atol=1e-4)


def test_few_steps_whatever_the_weights(monkeypatch):
    calls = []
    monkeypatch.setattr(afcm_adaptive, "_REDUCTION", 0.0)
    monkeypatch.setattr(afcm_adaptive, "_ACCURACY", 1e-5)
    inner = Modes.on_grid
    monkeypatch.setattr(Modes, "on_grid", lambda self, x: calls.append(1) or inner(self, x))
    rng = np.random.default_rng(0)
    w, r = rng.uniform(0.06, 1, (50, 50)), rng.normal(size=(50, 50))
    for strength in (1e-6, 1.0, 1e3, 1e9, 1e100):
        calls.clear()
        solve(Modes(np.ones_like(w), 0.1 * strength, strength, 1e6 * w.mean()), w, r, np.zeros_like(w))
        assert len(calls) <= 30


def test_modes_are_the_cosine_transform():
    plane = np.random.default_rng(0).normal(size=(7, 5, 4))
    everything = Modes(np.ones(plane.shape), 1.0, 1.0, np.inf)
    np.testing.assert_allclose(everything.on_grid(everything.coefficients(plane)), plane, rtol=0, atol=1e-14)
    few = Modes(np.ones(plane.shape), 0.0, 1.0, 0.2)
    assert few.penalty.shape == (2, 2, 1)
    mean = Modes(np.ones(plane.shape), 1.0, 1.0, 0.0)
    assert mean.penalty.shape == (1, 1, 1)
    np.testing.assert_allclose(mean.on_grid(mean.coefficients(plane)), plane.mean(), rtol=1e-13)
    smooth = few.on_grid(few.coefficients(plane))
    np.testing.assert_allclose(few.on_grid(few.coefficients(smooth)), smooth, rtol=0, atol=1e-14)
    np.testing.assert_allclose(few.coefficients(smooth), everything.coefficients(smooth)[:2, :2, :1], atol=1e-14)


# Shaded phantoms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(5))
def test_accuracy_under_shading(layout, seed):
    labels = LAYOUTS[layout]
    image = phantom(labels, 0.4, seed)
    model = AFCMAdaptive(3, random_state=0).fit(image)
    assert model.converged_
    assert (model.label_image_ == labels).mean() > 0.999
    # In three stripes shading along one axis looks like classes.
    assert correlation(model.gain_, shading(labels.shape, 0.4)) > (0.97 if layout == "three stripes" else 0.995)
    fcm = FCM(3, m=2.0, random_state=0).fit(image.reshape(-1, 1))
    assert (np.argsort(np.argsort(fcm.centers_[:, 0]))[fcm.labels_] == labels.ravel()).mean() < 0.95


@pytest.mark.parametrize("layout", LAYOUTS)
def test_without_shading_it_is_fuzzy_c_means(layout):
    labels = LAYOUTS[layout]
    image = phantom(labels, 0.0)
    model = AFCMAdaptive(3, random_state=0).fit(image)
    np.testing.assert_array_equal(model.label_image_, labels)
    fcm = FCM(3, m=2.0, random_state=0).fit(image.reshape(-1, 1))
    order = np.argsort(fcm.centers_[:, 0])
    np.testing.assert_array_equal(model.labels_, np.argsort(order)[fcm.labels_])
    # The smooth part of the noise, 3 % of the brightest class a pixel, is all that there is for the gain.
    np.testing.assert_allclose(model.gain_, 1, atol=0.006)
    np.testing.assert_allclose(model.centers_, fcm.centers_[order], rtol=0.003)
    assert np.abs(model.memberships_ - fcm.memberships_[:, order]).mean() < 3e-4
    # The gain 1 is allowed: J is at most that of fuzzy c-means.
    assert 0.995 * fcm.objective_ < model.objective_ <= fcm.objective_
    clean = AFCMAdaptive(3, random_state=0).fit(LEVELS[labels])
    np.testing.assert_allclose(clean.gain_, 1, atol=1e-9)
    np.testing.assert_allclose(clean.centers_[:, 0], LEVELS, rtol=1e-9)


def test_strong_shading_needs_a_short_scale():
    """A length of 54 pixels is as good as no gain. Even the true gain leaves 1 % wrong, in the dark corner."""
    labels = discs(inner=0.27)
    image = phantom(labels, 0.8)
    accuracy = {L: (fit(image, bias_scale=L / 128).label_image_ == labels).mean() for L in (14, 27, 54)}
    assert accuracy[14] > 0.985
    assert accuracy[27] > 0.985
    assert accuracy[54] < 0.7


def test_strong_shading_of_other_layouts():
    for layout in ("stripes", "three stripes", "waves"):
        labels = LAYOUTS[layout]
        model = fit(phantom(labels, 0.8), bias_scale=10 / 128)
        assert (model.label_image_ == labels).mean() > 0.96
        assert correlation(model.gain_, shading(labels.shape, 0.8)) > 0.99


def test_volumes():
    labels = np.stack([discs(40, inner=0.1 + 0.02 * z) for z in range(9)])
    z = np.linspace(0.8, 1.2, 9)[:, None, None]
    image = LEVELS[labels] * shading((40, 40), 0.2) * z + 0.03 * np.random.default_rng(0).standard_normal(labels.shape)
    model = AFCMAdaptive(3, random_state=0).fit(image)
    assert model.image_shape_ == (9, 40, 40)
    assert model.membership_image_.shape == (9, 40, 40, 3)
    assert (model.label_image_ == labels).mean() > 0.99
    fcm = FCM(3, m=2.0, random_state=0).fit(image.reshape(-1, 1))
    assert (np.argsort(np.argsort(fcm.centers_[:, 0]))[fcm.labels_] == labels.ravel()).mean() < 0.98


# What it is related to ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights", [{"curvature_weight": 1e14}, {"gradient_weight": 1e14}, {"bias_scale": 1e4}, {"gradient_weight": 1e300}]
)
@pytest.mark.parametrize("m", [2.0, 1.5])
def test_with_large_weights_it_is_fuzzy_c_means(m, weights):
    image = phantom(discs(48), 0.4)
    fcm = FCM(3, m=m, tol=1e-10, max_iter=2000, random_state=0).fit(image.reshape(-1, 1))
    model = AFCMAdaptive(3, m=m, tol=1e-9, max_iter=2000, random_state=0, **weights).fit(image)
    order = np.argsort(fcm.centers_[:, 0])
    np.testing.assert_allclose(model.memberships_, fcm.memberships_[:, order], rtol=0, atol=1e-6)
    np.testing.assert_allclose(model.centers_, fcm.centers_[order], rtol=1e-6)
    np.testing.assert_allclose(model.gain_, 1, atol=1e-6)
    assert model.objective_ == pytest.approx(fcm.objective_, rel=1e-6)


def test_weights_can_be_given():
    auto = fit(SMALL)
    given = fit(SMALL, gradient_weight=auto.gradient_weight_, curvature_weight=auto.curvature_weight_)
    np.testing.assert_array_equal(given.memberships_, auto.memberships_)
    assert given.gradient_weight_ == auto.gradient_weight_
    one = fit(SMALL, gradient_weight=0)
    assert one.gradient_weight_ == 0
    assert one.curvature_weight_ == auto.curvature_weight_
    stiff, loose = (fit(SMALL, curvature_weight=f * auto.curvature_weight_).gain_.std() for f in (100, 0.01))
    assert stiff < auto.gain_.std() < loose


# The parts of the result ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("image", [SMALL, VOLUME, SMALL.astype(np.float32)], ids=["image", "volume", "float32"])
def test_attributes(image):
    model = fit(image)
    assert model.image_shape_ == image.shape
    assert model.n_features_in_ == 1
    assert model.centers_.shape == (3, 1)
    assert (np.diff(model.centers_[:, 0]) > 0).all()
    np.testing.assert_array_equal(model.label_image_, model.labels_.reshape(image.shape))
    np.testing.assert_array_equal(model.membership_image_, model.memberships_.reshape(*image.shape, 3))
    np.testing.assert_allclose(model.gain_.mean(dtype=float), 1, rtol=1e-6 if image.dtype == np.float32 else 1e-12)
    np.testing.assert_allclose(model.corrected_image_ * model.gain_, image, rtol=1e-6)
    for result in (model.gain_, model.corrected_image_, model.centers_, model.memberships_):
        assert result.dtype == image.dtype
    np.testing.assert_array_equal(model.predict_memberships(image), model.memberships_)


def test_prediction_uses_the_gain():
    labels = discs(64)
    model = AFCMAdaptive(3, random_state=0).fit(phantom(labels, 0.4))
    turned = labels.T[::-1]  # other regions under the same lamp
    turned = np.where(np.arange(64) < 20, 2 - turned, turned)
    assert (model.predict(phantom(turned, 0.4, seed=1)).reshape(64, 64) == turned).mean() > 0.99
    with pytest.raises(ValueError, match=r"shape of the fitted image, \(64, 64\).* Got an array of shape \(64, 63\)"):
        model.predict(np.zeros((64, 63)))
    with pytest.raises(NotFittedError):
        AFCMAdaptive().predict(SMALL)


def test_mask():
    labels = discs(64)
    image, inside = phantom(labels, 0.4), labels > 0
    spoiled = np.where(inside, image, 1e6)
    model = fit(spoiled, inside, n_clusters=2)
    assert (model.label_image_[inside] == labels[inside] - 1).mean() > 0.99
    np.testing.assert_array_equal(model.membership_image_[~inside], 0.5)
    np.testing.assert_array_equal(model.label_image_[~inside], 0)
    other = fit(np.where(inside, image, -3.0), inside, n_clusters=2)
    np.testing.assert_array_equal(other.memberships_, model.memberships_)
    assert model.gain_[inside].mean() == pytest.approx(1, rel=1e-12)
    assert correlation(model.gain_[inside], shading(image.shape, 0.4)[inside]) > 0.98
    # Continued smoothly to the outside.
    assert np.abs(np.diff(model.gain_, axis=0)).max() < 0.1
    assert correlation(model.gain_, shading(image.shape, 0.4)) > 0.9
    np.testing.assert_array_equal(model.predict_memberships(spoiled, mask=inside), model.memberships_)
    np.testing.assert_array_equal(model.predict_memberships(image)[inside.ravel()], model.memberships_[inside.ravel()])
    assert model.score(spoiled, mask=inside) == pytest.approx(-model.objective_, rel=1e-12)
    fresh = AFCMAdaptive(2, random_state=0)
    np.testing.assert_array_equal(fresh.fit_predict(spoiled, mask=inside), model.labels_)
    np.testing.assert_array_equal(fresh.fit_transform(spoiled, mask=inside), model.memberships_)
    everywhere = np.ones(image.shape, bool)
    np.testing.assert_allclose(fit(image, everywhere).memberships_, fit(image).memberships_, rtol=0, atol=1e-12)


# Degenerate images ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X, parameters, message",
    [
        (np.zeros(12), {}, r"X must be an image of shape \(height, width\) or \(depth, height, width\)"),
        (np.zeros((2, 2, 2, 2)), {}, r"Got an array of shape \(2, 2, 2, 2\)"),
        (np.array([[1.0, np.nan]]), {}, "NaN"),
        (np.zeros((0, 3)), {}, "at least one pixel"),
        (SMALL[:1, :2], {}, "n_samples=2 should be >= n_clusters=3"),
        (SMALL, {"n_clusters": 0}, "n_clusters"),
        (SMALL, {"m": 1.0}, "m"),
        (SMALL, {"m": 1e4}, "m=10000 is too large"),
        (SMALL, {"gradient_weight": -1.0}, "gradient_weight"),
        (SMALL, {"curvature_weight": "stiff"}, "curvature_weight"),
        (SMALL, {"gradient_weight": 0, "curvature_weight": 0.0}, "must not both be 0"),
        (SMALL, {"bias_scale": 0.0}, "bias_scale"),
        (SMALL, {"tol": -1.0}, "tol"),
    ],
)
def test_refused(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        AFCMAdaptive(**parameters).fit(X)


@pytest.mark.parametrize(
    "mask, message",
    [
        (np.ones((3, 3), bool), r"mask must be a boolean array of the shape of X, \(18, 24\)"),
        (np.ones(SMALL.shape), "Got an array of dtype float64"),
        (np.arange(SMALL.size).reshape(SMALL.shape) < 2, "mask must be True for at least n_clusters=3 pixels. Got 2"),
    ],
)
def test_refused_masks(mask, message):
    with pytest.raises(ValueError, match=message):
        AFCMAdaptive(3).fit(SMALL, mask=mask)


FAR = SMALL.copy()
FAR[0, 0] = 1e6
IMAGES = {
    "one row": SMALL[:1],
    "one column": SMALL[:, :1],
    "negative": -SMALL,
    "of both signs": SMALL - 0.5,
    "a far value": FAR,
    "offset": SMALL + 1e8,
    "integers": (100 * SMALL).astype(np.uint8),
    "float32": SMALL.astype(np.float32),
    "two values": (SMALL > 0.5).astype(float),
    "noise": np.random.default_rng(0).normal(size=(9, 9)),
    "largest numbers": np.where(SMALL > 0.5, 1.7e308, -1.7e308),
    "least numbers": np.where(SMALL > 0.5, 5e-324, 0.0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "parameters",
    [{}, {"n_clusters": 1}, {"m": 1.02}, {"m": 6.0}, {"bias_scale": 1e-200}, {"bias_scale": 1e200}],
    ids=str,
)
@pytest.mark.parametrize("case", IMAGES)
def test_unusual_images(case, parameters):
    model = AFCMAdaptive(**{"n_clusters": 3, "random_state": 0} | parameters).fit(IMAGES[case])
    U = model.memberships_
    np.testing.assert_allclose(U.sum(axis=1, dtype=float), 1, atol=1e-6 if U.dtype == np.float32 else 1e-12)
    assert np.isfinite(model.centers_).all()
    assert np.isfinite(model.gain_).all()
    assert (model.gain_ > 0).all()
    assert not np.isnan(model.objective_history_).any()
    np.testing.assert_array_equal(model.predict_memberships(IMAGES[case]), U)


@pytest.mark.parametrize("scale", [2.0**450, 2.0**-450, 4.0, -1.0])
def test_units_do_not_matter(scale):
    model, other = fit(SMALL), fit(scale * SMALL)
    order = slice(None) if scale > 0 else slice(None, None, -1)
    np.testing.assert_allclose(other.memberships_[:, order], model.memberships_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(other.centers_[order] / scale, model.centers_, rtol=1e-5)
    np.testing.assert_allclose(other.gain_, model.gain_, rtol=1e-5)
    assert other.objective_ / scale / scale == pytest.approx(model.objective_, rel=1e-5)
    assert other.curvature_weight_ / scale / scale == pytest.approx(model.curvature_weight_, rel=1e-5)


@pytest.mark.parametrize("value", [0.0, 0.1, -1 / 3, 1e200])
def test_an_even_image(value):
    with pytest.warns(ConvergenceWarning, match="AFCMAdaptive collapsed"):
        model = AFCMAdaptive(3, random_state=0).fit(np.full((5, 6), value))
    assert model.converged_
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-12)
    np.testing.assert_array_equal(model.centers_, np.full((3, 1), value))
    np.testing.assert_array_equal(model.gain_, np.ones((5, 6)))


def test_as_many_pixels_as_clusters():
    model = AFCMAdaptive(4, random_state=0).fit([[1.0, 2.0], [5.0, 9.0]])
    np.testing.assert_allclose(model.memberships_, np.eye(4), atol=1e-12)
    assert AFCMAdaptive(1).fit([[3.0]]).centers_ == [[3.0]]


def test_a_gain_that_is_not_positive():
    image = np.tile(np.linspace(-0.2, 1, 60), (40, 1))
    with pytest.warns(
        ConvergenceWarning, match=r"gain would not be positive everywhere, so it was held at 0\.001 or more"
    ):
        model = AFCMAdaptive(1, bias_scale=0.02, random_state=0).fit(image)
    assert (model.gain_ > 0).all()
    assert np.isfinite(model.corrected_image_).all()


def test_levels():
    values, count = levels(np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0]))
    np.testing.assert_array_equal(values, [0, 1, 2])
    np.testing.assert_array_equal(count, [2, 3, 1])
    y = np.random.default_rng(0).normal(size=5000)
    values, count = levels(y)
    assert 100 < len(values) <= 256
    assert count.sum() == 5000
    assert values @ count == pytest.approx(y.sum(), abs=1e-9)
    np.testing.assert_array_equal(levels(np.full(7, 0.1))[1], [7])


def test_memory_is_linear_in_the_pixels():
    image = phantom(discs(200), 0.4)
    AFCMAdaptive(3, random_state=0).fit(image)
    tracemalloc.start()
    AFCMAdaptive(3, random_state=0).fit(image)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * image.nbytes
    line = np.repeat(image.reshape(1, -1), 2, axis=0)
    tracemalloc.start()
    fit(line, bias_scale=1e-4, max_iter=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * line.nbytes


def test_interrupted_fit_keeps_the_best_state(monkeypatch):
    calls = itertools.count()
    step = AFCMAdaptive._update

    def interrupting(self, *arguments):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(AFCMAdaptive, "_update", interrupting)
    model = AFCMAdaptive(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(SMALL)
    assert not model.converged_
    np.testing.assert_array_equal(model.predict_memberships(SMALL), model.memberships_)
