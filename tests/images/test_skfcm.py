"""Spatial kernel fuzzy c-means: definitions by loops, a phantom with noise, limits, windows, degenerate images."""

import itertools
import math
import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_sample_image
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from soft_clustering import KFCM, SKFCM, kernels
from soft_clustering.engine.blocks import Frame, make_blocks
from soft_clustering.images.skfcm import Grid, memberships_at
from soft_clustering.kernels.reference import fcm_rule

VARIANTS = ("penalty", "neighbors", "mean", "median")
each_variant = pytest.mark.parametrize("spatial", VARIANTS)
RNG = np.random.default_rng(0)
STRIPES = np.repeat([0.0, 4.0, 9.0], 5)[None] + 0.3 * RNG.standard_normal((9, 15))
GREY = RNG.normal(size=(6, 5)) + np.array([[0.0, 0, 3, 3, 5]])
COLOUR = RNG.normal(size=(4, 7, 2)) + np.array([0.0, 0, 0, 3, 3, 5, 5])[None, :, None]
START = {1: np.array([[0.1], [2.9], [5.2]]), 2: np.array([[0.1, 0], [2.9, 3.2], [5.2, 4.8]])}


# Definitions by loops -------------------------------------------------------------------------------------------------


def neighbors(pixel, shape, window):
    """The pixels of the window inside the image, but for the one in the middle."""
    reach = window // 2
    offsets = itertools.product(range(-reach, reach + 1), repeat=2)
    around = [(pixel[0] + dy, pixel[1] + dx) for dy, dx in offsets if (dy, dx) != (0, 0)]
    return [(y, x) for y, x in around if 0 <= y < shape[0] and 0 <= x < shape[1]]


class Loops:
    """The published model, written as sums over pixels, neighbours and clusters."""

    def __init__(self, image, m, gamma, spatial, weight, window):
        self.x = image.reshape(*image.shape[:2], -1)
        self.m, self.gamma, self.spatial, self.weight = m, gamma, spatial, weight
        self.pixels = list(itertools.product(*map(range, self.x.shape[:2])))
        self.around = {i: neighbors(i, self.x.shape[:2], window) for i in self.pixels}
        rule = {"mean": np.mean, "median": np.median}.get(spatial)
        self.smooth = rule and {i: rule([self.x[r] for r in [i, *self.around[i]]], axis=0) for i in self.pixels}

    def kernel(self, x, v):
        return math.exp(-self.gamma * sum((a - b) ** 2 for a, b in zip(x, v, strict=True)))

    def term(self, U, V, i, k):
        """S_ik: what the spatial term adds to the distance of pixel i and centre k."""
        if self.spatial in ("mean", "median"):
            return 1 - self.kernel(self.smooth[i], V[k])
        if self.spatial == "neighbors":
            parts = [1 - self.kernel(self.x[r], V[k]) for r in self.around[i]]
        else:
            parts = [(1 - U[r][k]) ** self.m for r in self.around[i]]
        return sum(parts) / len(parts)

    def update(self, U, V, spatial=True):
        """Memberships from those of before, {pixel: (K,)}."""
        new = {}
        for i in self.pixels:
            G = [1 - self.kernel(self.x[i], v) for v in V]
            if spatial:
                G = [g + self.weight * self.term(U, V, i, k) for k, g in enumerate(G)]
            new[i] = [1 / sum((g / other) ** (1 / (self.m - 1)) for other in G) for g in G]
        return new

    def objective(self, U, V):
        return sum(
            U[i][k] ** self.m * (1 - self.kernel(self.x[i], v) + self.weight * self.term(U, V, i, k))
            for i in self.pixels
            for k, v in enumerate(V)
        )

    def centers(self, U, V):
        new = []
        for k, v in enumerate(V):
            total, weight = 0.0, 0.0
            for i in self.pixels:
                parts = [(U[i][k] ** self.m, self.x[i])]
                if self.spatial in ("mean", "median"):
                    parts.append((self.weight * U[i][k] ** self.m, self.smooth[i]))
                if self.spatial == "neighbors":
                    share = self.weight * U[i][k] ** self.m / len(self.around[i])
                    parts += [(share, self.x[r]) for r in self.around[i]]
                for w, x in parts:
                    total, weight = total + w * self.kernel(x, v) * x, weight + w * self.kernel(x, v)
            new.append(total / weight)
        return np.array(new)

    def rows(self, U):
        return np.array([U[i] for i in self.pixels])


CASES = [(GREY, 2.0, 1.0, 3), (GREY, 1.6, 3.0, 5), (COLOUR, 2.0, 0.7, 3), (COLOUR, 2.5, 2.0, 7)]


def passes(image, n_passes, **parameters):
    start = START[1 if image.ndim == 2 else image.shape[2]]
    model = SKFCM(3, init=start, tol=0, max_iter=n_passes, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(image)


@each_variant
@pytest.mark.parametrize("image, m, weight, window", CASES)
def test_passes_by_loops(image, m, weight, window, spatial):
    parameters = {"m": m, "gamma": 0.2, "spatial": spatial, "spatial_weight": weight, "window": window}
    loops = Loops(image, m, 0.2, spatial, weight, window)
    visited, history = [START[loops.x.shape[2]]], []
    U = loops.update(None, visited[0], spatial=False)
    for _ in range(3):
        U = loops.update(U, visited[-1])
        history.append(loops.objective(U, visited[-1]))
        visited.append(loops.centers(U, visited[-1]))
    model = passes(image, 3, **parameters)
    np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-11)
    # Where the objective may rise, a run that did not converge ends in the best state that it visited.
    last = 3 if spatial != "penalty" else 1 + int(np.argmin(history[1:]))
    np.testing.assert_allclose(model.centers_, visited[last], rtol=0, atol=1e-11)


@each_variant
@pytest.mark.parametrize("image, m, weight, window", CASES)
def test_memberships_and_objective_by_loops(image, m, weight, window, spatial):
    parameters = {"m": m, "gamma": 0.2, "spatial": spatial, "spatial_weight": weight, "window": window}
    model = passes(image, 8, **parameters)
    loops = Loops(image, m, 0.2, spatial, weight, window)
    U = loops.update(None, model.centers_, spatial=False)
    for _ in range(8 if spatial == "penalty" else 1):
        U = loops.update(U, model.centers_)
    np.testing.assert_allclose(model.memberships_, loops.rows(U), rtol=0, atol=1e-11)
    assert model.objective_ == pytest.approx(loops.objective(U, model.centers_), rel=1e-11)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert model.score(image) == pytest.approx(-model.objective_, rel=1e-12)


def on_grid(image, window=3, smoothing=None):
    rows = make_blocks(image.reshape(-1, 1), None, Frame(np.zeros(1), 1.0)).blocks[0]
    return Grid(rows, image.shape, window // 2, smoothing)


SHAPES = [(6, 5), (1, 8), (7, 1), (2, 2), (1, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("window", [3, 5, 9, 21])
def test_windows_by_loops(shape, window):
    image = np.random.default_rng(1).uniform(size=shape)
    grid = on_grid(image, window)
    pixels = list(itertools.product(*map(range, shape)))
    matrix = np.array([[r in neighbors(i, shape, window) for r in pixels] for i in pixels], dtype=float)
    whole = matrix + np.eye(len(pixels))
    x = image.ravel()
    np.testing.assert_array_equal(grid.sizes, whole.sum(axis=1))
    np.testing.assert_allclose(grid.window_sums(x), whole @ x, rtol=1e-14)
    np.testing.assert_allclose(grid.window_means(x), whole @ x / whole.sum(axis=1), rtol=1e-14)
    np.testing.assert_array_equal(grid.window_medians(x), [np.median(x[row > 0]) for row in whole])
    average = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(grid.neighbor_means(x), average @ x, rtol=0, atol=1e-14)
    np.testing.assert_allclose(grid.as_neighbors(x), average.T @ x, rtol=0, atol=1e-14)


def test_medians_in_bands(monkeypatch):
    image = np.random.default_rng(2).uniform(size=(40, 11))
    expected = on_grid(image, 5).window_medians(image.ravel())
    monkeypatch.setattr("soft_clustering.images.skfcm._BAND", 1)
    np.testing.assert_array_equal(on_grid(image, 5).window_medians(image.ravel()), expected)


def test_mean_of_neighbours_is_never_negative():
    image = np.where(np.random.default_rng(3).uniform(size=(50, 50)) < 0.5, 1e-18, 1.0)
    assert on_grid(image).neighbor_means(image.ravel()).min() >= 0


@pytest.mark.parametrize("m", [1.05, 1.7, 2.0, 6.0])
def test_memberships_are_those_of_fuzzy_c_means(m):
    G = np.random.default_rng(4).uniform(size=(3, 200)) ** 4
    for zeros in (False, True):
        if zeros:
            G[0, 5] = G[1, 7] = G[2, 7] = 0
        U, W = memberships_at(G, m)
        expected_U, expected_W, _ = fcm_rule(G.T, m)
        np.testing.assert_allclose(U, expected_U.T, rtol=0, atol=1e-14)
        np.testing.assert_allclose(W, expected_W.T, rtol=0, atol=1e-14)
        np.testing.assert_allclose(W, U**m, rtol=1e-11)
    np.testing.assert_array_equal(U[:, [5, 7]], [[1, 0], [0, 0.5], [0, 0.5]])


# A phantom with noise -------------------------------------------------------------------------------------------------

LEVELS = np.array([20.0, 90.0, 160.0, 230.0])
TRUTH = np.kron([[0, 1], [2, 3]], np.ones((64, 64), dtype=int))


def noisy(kind):
    rng = np.random.default_rng(0)
    image = LEVELS[TRUTH]
    if kind == "salt and pepper":
        hit = rng.uniform(size=image.shape) < 0.1
        image[hit] = rng.choice([0.0, 255.0], hit.sum())
        return image
    return image + kind * rng.standard_normal(image.shape)


def accuracy(model, truth=TRUTH):
    rank = np.argsort(np.argsort(model.centers_[:, 0]))
    return (rank[model.label_image_] == truth).mean()


@pytest.mark.parametrize(
    "kind, spatial, weight, expected",
    [
        (20, "penalty", 0, 0.9435),
        (20, "penalty", 1, 0.9991),
        (20, "neighbors", 4, 0.9990),
        (20, "mean", 1, 0.9960),
        (20, "median", 4, 0.9989),
        (30, "penalty", 0, 0.8143),
        (30, "penalty", 1, 0.9869),
        (30, "penalty", 2, 0.9968),
        (30, "neighbors", 4, 0.9955),
        (30, "mean", 4, 0.9818),
        (30, "median", 4, 0.9904),
        ("salt and pepper", "penalty", 0, 0.9237),
        ("salt and pepper", "penalty", 1, 0.9460),
        ("salt and pepper", "penalty", 2, 0.9957),
        ("salt and pepper", "neighbors", 4, 0.9976),
        ("salt and pepper", "median", 4, 0.9970),
    ],
)
def test_accuracy_on_a_phantom(kind, spatial, weight, expected):
    """The expected values are of another drawing of the noise and of the regions.

    Without a spatial term 12 drawings have standard deviations of 0.002 and 0.004 (noise of 20 and 30).
    """
    model = SKFCM(4, spatial=spatial, spatial_weight=weight, random_state=0).fit(noisy(kind))
    assert model.converged_
    assert accuracy(model) == pytest.approx(expected, abs=0.005 if weight else 0.01)


def test_the_objective_of_the_penalty_rises_little():
    model = SKFCM(4, spatial="penalty", spatial_weight=2.0, random_state=0).fit(noisy(30))
    rise = np.diff(model.objective_history_).max() / model.objective_
    assert 0 < rise < 0.02


@pytest.mark.parametrize("spatial", VARIANTS[1:])
@pytest.mark.parametrize("weight", [0.5, 4.0])
def test_history_does_not_increase(spatial, weight):
    model = SKFCM(4, spatial=spatial, spatial_weight=weight, init="random", random_state=0).fit(noisy(30)[::2, ::2])
    history = model.objective_history_
    assert len(history) > 4
    assert np.all(np.diff(history) <= 1e-12 * history[0])


@each_variant
def test_smoother_with_weight(spatial):
    def edges(weight):
        labels = SKFCM(4, spatial=spatial, spatial_weight=weight, n_init=1, random_state=0).fit(image).label_image_
        return (labels[1:] != labels[:-1]).sum() + (labels[:, 1:] != labels[:, :-1]).sum()

    image = noisy(30)[::2, ::2]
    counts = [edges(weight) for weight in (0, 1, 4)]
    assert counts[0] > counts[1] > counts[2]


# What it is related to ------------------------------------------------------------------------------------------------


@each_variant
@pytest.mark.parametrize("image", [STRIPES, COLOUR], ids=["grey", "colour"])
def test_without_weight_it_is_kernel_fuzzy_c_means(image, spatial):
    rows = image.reshape(-1, image.shape[2] if image.ndim == 3 else 1)
    start = START[rows.shape[1]]
    kfcm = KFCM(3, m=2.0, init=start, tol=1e-10, max_iter=2000).fit(rows)
    model = SKFCM(3, spatial=spatial, spatial_weight=0, init=start, tol=1e-10, max_iter=2000).fit(image)
    assert model.gamma_ == pytest.approx(kfcm.gamma_, rel=1e-14)
    np.testing.assert_allclose(model.centers_, kfcm.centers_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.memberships_, kfcm.memberships_, rtol=0, atol=1e-9)
    assert 2 * model.objective_ == pytest.approx(kfcm.objective_, rel=1e-12)


@each_variant
def test_rows_of_pixels_are_the_image(spatial):
    model = SKFCM(3, spatial=spatial, tol=0.01, random_state=0).fit(COLOUR)
    rows = COLOUR.reshape(-1, 2)
    other = SKFCM(3, spatial=spatial, tol=0.01, random_state=0).fit(rows, image_shape=(4, 7))
    np.testing.assert_array_equal(other.memberships_, model.memberships_)
    assert model.image_shape_ == other.image_shape_ == (4, 7)
    assert model.n_features_in_ == 2
    assert model.centers_.shape == (3, 2)
    np.testing.assert_array_equal(model.membership_image_, model.memberships_.reshape(4, 7, 3))
    np.testing.assert_array_equal(model.label_image_, model.labels_.reshape(4, 7))
    for name in ("predict_memberships", "predict_proba", "transform", "predict"):
        got, expected = getattr(other, name)(rows, image_shape=(4, 7)), getattr(model, name)(COLOUR)
        np.testing.assert_array_equal(got, expected)
    assert other.score(rows, image_shape=(4, 7)) == model.score(COLOUR)
    fresh = SKFCM(3, spatial=spatial, tol=0.01, random_state=0)
    np.testing.assert_array_equal(fresh.fit_predict(rows, image_shape=(4, 7)), model.labels_)
    np.testing.assert_array_equal(fresh.fit_transform(rows, image_shape=(4, 7)), model.memberships_)
    with pytest.raises(ValueError, match="channels"):
        model.predict(rows)


@each_variant
def test_prediction_of_an_image_of_another_size(spatial):
    model = SKFCM(3, spatial=spatial, random_state=0).fit(STRIPES)
    np.testing.assert_array_equal(model.predict_memberships(STRIPES), model.memberships_)
    wide = np.tile(STRIPES, (2, 3))
    labels = model.predict(wide).reshape(wide.shape)
    # Away from the seams the windows are the same.
    assert (labels[:8, :14] == model.label_image_[:8, :14]).mean() > 0.99
    np.testing.assert_allclose(model.predict_memberships(wide).sum(axis=1), 1, rtol=1e-12)
    # The border is that of the new image.
    corner = model.predict_memberships(STRIPES[:1, :1])
    assert corner.shape == (1, 3)


@pytest.mark.parametrize("window", [3, 7])
@each_variant
def test_mirrored_images_have_mirrored_segments(spatial, window):
    model = SKFCM(3, spatial=spatial, window=window, random_state=0).fit(STRIPES)
    start = model.centers_
    expected = SKFCM(3, spatial=spatial, window=window, init=start, tol=1e-9, max_iter=2000).fit(STRIPES)
    for view in (np.fliplr, np.flipud, np.transpose):
        other = SKFCM(3, spatial=spatial, window=window, init=start, tol=1e-9, max_iter=2000).fit(view(STRIPES))
        for k in range(3):
            got, want = other.membership_image_[..., k], view(expected.membership_image_[..., k])
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-8)


def test_best_of_the_starts_is_kept():
    image, rng = noisy(30)[::4, ::4], np.random.RandomState(0)
    parameters = {"spatial": "mean", "init": "random"}
    runs = [SKFCM(6, n_init=1, random_state=rng, **parameters).fit(image).objective_ for _ in range(8)]
    assert max(runs) > min(runs) * 1.01
    best = SKFCM(6, n_init=8, random_state=np.random.RandomState(0), **parameters).fit(image)
    assert best.objective_ == pytest.approx(min(runs), rel=1e-12)
    assert runs[0] > min(runs) or runs[-1] > min(runs)


@pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")
@each_variant
def test_fit_with_the_twins(monkeypatch, spatial):
    compiled = SKFCM(3, spatial=spatial, tol=0.01, random_state=0).fit(COLOUR)
    monkeypatch.setattr(kernels, "compiled", None)
    numpy = SKFCM(3, spatial=spatial, tol=0.01, random_state=0).fit(COLOUR)
    np.testing.assert_allclose(numpy.memberships_, compiled.memberships_, rtol=0, atol=1e-10)


@each_variant
def test_memory_grows_with_the_pixels(spatial):
    image = np.random.default_rng(0).uniform(size=(200, 200))
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        SKFCM(3, spatial=spatial, n_init=6, max_iter=3, random_state=0).fit(image)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15 * image.size * 3 * 8


# Errors and degenerate images -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [3, 5, 8])
@pytest.mark.parametrize("name", ["china.jpg", "flower.jpg"])
def test_photographs(name, n_clusters):
    """The default fit is quick, and does not warn."""
    image = load_sample_image(name)[::2, ::2]
    passes = []

    class Counting(SKFCM):
        def _statistics(self, grid, state):
            passes.append(state)
            return super()._statistics(grid, state)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Counting(n_clusters, random_state=0).fit(image)
    assert model.converged_
    assert len(passes) <= 70  # of all starts together; about 10 ms each for 5 clusters
    assert (np.diff(model.objective_history_) <= 1e-12 * model.objective_).all()
    longer = SKFCM(n_clusters, tol=1e-7, max_iter=2000, random_state=0).fit(image)
    np.testing.assert_allclose(model.memberships_, longer.memberships_, rtol=0, atol=1e-3)


@pytest.mark.parametrize("spatial", VARIANTS)
def test_a_start_that_comes_to_the_centres_of_a_better_one_joins_it(spatial, capsys):
    SKFCM(4, spatial=spatial, spatial_weight=1.0, n_init=4, random_state=0, verbose=1).fit(noisy(20))
    assert "joined the best start" in capsys.readouterr().out


@pytest.mark.parametrize("spatial", VARIANTS)
def test_the_weight_follows_the_term(spatial):
    image = noisy(20)[::2, ::2]
    model = SKFCM(4, spatial=spatial, random_state=0).fit(image)
    assert model.spatial_weight_ == {"mean": 4.0, "median": 4.0}.get(spatial, 1.0)
    given = SKFCM(4, spatial=spatial, spatial_weight=model.spatial_weight_, random_state=0).fit(image)
    np.testing.assert_array_equal(given.memberships_, model.memberships_)


@pytest.mark.parametrize("spatial", VARIANTS)
def test_prediction_uses_what_was_fitted(spatial):
    image = noisy(20)[::2, ::2]
    model = SKFCM(4, spatial=spatial, spatial_weight=0.5, random_state=0).fit(image)
    other = {"penalty": "mean", "mean": "median"}.get(spatial, "penalty")
    model.set_params(spatial=other, spatial_weight=7.0, window=9, m=3.0, gamma=1e-9, tol=1.0, max_iter=1)
    np.testing.assert_array_equal(model.predict_memberships(image), model.memberships_)


def test_a_shape_as_y_is_refused():
    with pytest.raises(TypeError, match=r"image_shape=\(4, 7\)"):
        SKFCM(3).fit(COLOUR.reshape(-1, 2), (4, 7))


@pytest.mark.parametrize(
    "name, value",
    [
        *(("window", value) for value in (1, 2, 4, 3.0, "3")),
        *(("spatial", value) for value in ("none", None, 1)),
        *(("spatial_weight", value) for value in (-1, np.nan, np.inf, "1")),
        *(("m", value) for value in (1, "auto", np.nan)),
        *(("gamma", value) for value in (0, -1.0, "auto")),
        *(("init", value) for value in ("no such start", np.zeros((3, 2)), np.full((3, 1), np.nan))),
        *(("n_clusters", value) for value in (0, 136)),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        SKFCM(**{"n_clusters": 3} | {name: value}).fit(STRIPES)


def test_a_failed_fit_is_no_fit():
    model = SKFCM(3, random_state=0).fit(STRIPES)
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        model.fit(STRIPES[:1, :2])
    assert not hasattr(model, "membership_image_")
    with pytest.raises(NotFittedError):
        model.predict(STRIPES)


def test_refit_with_other_channels():
    model = SKFCM(3, random_state=0).fit(COLOUR).fit(STRIPES)
    assert model.centers_.shape == (3, 1)
    assert model.n_features_in_ == 1
    assert model.image_shape_ == (9, 15)


IMAGES = {
    "offset 1e8": STRIPES + 1e8,
    "units of 1e150": STRIPES * 1e150,
    "units of 1e-150": STRIPES * 1e-150,
    "units of 1e-300": STRIPES * 1e-300,
    "float32": STRIPES.astype(np.float32),
    "one row": STRIPES[:1],
    "one column": STRIPES[:1].T,
    "three pixels": np.array([[1.0, 2.0, 3.0]]),
    "two values": np.where(STRIPES > 6, 1.0, 0.0),
    "bytes": np.clip(20 * STRIPES, 0, 255).astype(np.uint8),
    "an outlier": np.where(STRIPES > 9.5, 1e6, STRIPES),
    "a far outlier": np.where(STRIPES > 9.5, 1e150, STRIPES),
    "colour": COLOUR,
}
EXTREMES = [
    *({"m": 1.0001}, {"m": 50.0}, {"spatial_weight": 1e100}, {"gamma": 1e-300}, {"gamma": 1e300}, {"window": 99}),
    *({}, {"n_clusters": 1}, {"max_iter": 1}, {"gamma": "median"}),
]


@each_variant
@pytest.mark.parametrize("case", IMAGES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_unusual_images(case, spatial):
    for parameters in EXTREMES:
        model = SKFCM(**{"n_clusters": 3, "spatial": spatial, "random_state": 0} | parameters).fit(IMAGES[case])
        U = model.memberships_
        assert np.isfinite(U).all()
        np.testing.assert_allclose(U.sum(axis=1, dtype=np.float64), 1, atol=1e-6 if U.dtype == np.float32 else 1e-12)
        assert np.isfinite(model.centers_).all()
        assert np.isfinite(model.objective_history_).all()
        np.testing.assert_array_equal(model.predict_memberships(IMAGES[case]), U)


@each_variant
@pytest.mark.parametrize("scale, offset", [(2.0**400, 0), (2.0**-400, 0), (1, 2.0**27), (-4, 100)])
def test_units_and_origin_do_not_matter(scale, offset, spatial):
    image = np.round(STRIPES * 64) / 64
    start = np.array([[0.0], [4.0], [9.0]])
    model = SKFCM(3, spatial=spatial, init=start).fit(image)
    other = SKFCM(3, spatial=spatial, init=scale * start + offset).fit(scale * image + offset)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-7)
    np.testing.assert_allclose(other.memberships_, model.memberships_, rtol=0, atol=1e-7)
    np.testing.assert_allclose((other.centers_ - offset) / scale, model.centers_, rtol=0, atol=1e-7)


@each_variant
@pytest.mark.parametrize("value", [0.0, 0.1, 1e200])
def test_an_even_image(value, spatial):
    with pytest.warns(ConvergenceWarning, match="SKFCM collapsed"):
        model = SKFCM(3, spatial=spatial, random_state=0).fit(np.full((5, 6), value))
    np.testing.assert_allclose(model.memberships_, 1 / 3, rtol=1e-12)
    np.testing.assert_allclose(model.centers_, value, rtol=1e-12)


def test_memberships_that_do_not_come_to_rest():
    image = np.random.default_rng(0).uniform(size=(30, 30))
    model = SKFCM(3, spatial="penalty", tol=1e-14, max_iter=4, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"did not settle in max_iter=4 passes .* smaller spatial_weight"):
        model.fit(image)
    with pytest.warns(ConvergenceWarning, match="did not settle"):
        np.testing.assert_array_equal(model.predict_memberships(image), model.memberships_)


def test_interrupted_fit_keeps_the_best_state(monkeypatch):
    calls = itertools.count()
    step = SKFCM._update

    def interrupting(self, *arguments):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(SKFCM, "_update", interrupting)
    model = SKFCM(3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(STRIPES)
    assert not model.converged_
    np.testing.assert_array_equal(model.predict_memberships(STRIPES), model.memberships_)
