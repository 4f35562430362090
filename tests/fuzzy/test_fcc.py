"""Fuzzy colour clustering: the rule by loops, fuzzy c-means as a limit, colours, images, copies, conformance."""

import dataclasses
import warnings

import numpy as np
import pytest
from helpers.tables import offline_sets
from sklearn.datasets import load_iris, load_sample_image
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCC, FCM
from soft_clustering.fuzzy import fcc
from soft_clustering.inputs.colors import lab_to_rgb, rgb_to_lab
from soft_clustering.kernels.reference import ball_rule
from soft_clustering.testing import ALL_CHECKS, SAMPLES

IRIS = load_iris().data
START = IRIS[[0, 60, 120]]
WEIGHT = np.random.RandomState(0).uniform(0.1, 3, 150)


def brute_force(X, V, radius, m, weight):
    """J and U by a loop over samples, case by case as in the module's docstring."""
    U, J = np.zeros((len(X), len(V))), 0.0
    for i, x in enumerate(X):
        d = [float(np.sqrt(((x - v) ** 2).sum())) for v in V]
        inside = [k for k in range(len(V)) if d[k] <= radius]
        if len(inside) == 1:
            U[i, inside[0]] = 1
            continue
        candidates = inside or list(range(len(V)))
        distances = {k: d[k] if inside else d[k] - radius for k in candidates}
        on = [k for k in candidates if distances[k] == 0]
        for k in candidates:
            if on:
                U[i, k] = (k in on) / len(on)
            else:
                U[i, k] = 1 / sum((distances[k] / distances[j]) ** (2 / (m - 1)) for j in candidates)
            J += 0 if inside else weight[i] * U[i, k] ** m * distances[k] ** 2
    return J, U


# The rule -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2.0, 1.3, 4.0])
@pytest.mark.parametrize("radius", [0.2, 0.8, 2.5])
def test_rule_by_brute_force(radius, m):
    """From few samples inside a ball to most of them inside several."""
    model = FCC(3, radius=radius, m=m, init=START).fit(IRIS, sample_weight=WEIGHT)
    J, U = brute_force(IRIS, model.centers_, radius, m, WEIGHT)
    assert model.objective_ == pytest.approx(J, rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(model.memberships_, U, rtol=0, atol=1e-10)
    W = WEIGHT[:, None] * U**m
    np.testing.assert_allclose(model.centers_, W.T @ IRIS / W.sum(axis=0)[:, None], rtol=0, atol=1e-4)
    new = IRIS[:30] + 0.3
    J, U = brute_force(new, model.centers_, radius, m, np.ones(30))
    np.testing.assert_allclose(model.predict_memberships(new), U, rtol=0, atol=1e-10)
    assert model.score(new) == pytest.approx(-J, rel=1e-10, abs=1e-12)


def test_first_passes_by_hand():
    V, history = START, []
    for n_passes in range(1, 5):
        J, U = brute_force(IRIS, V, 0.5, 2.0, np.ones(150))
        history.append(J)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = FCC(3, radius=0.5, m=2.0, init=START, max_iter=n_passes, tol=0).fit(IRIS)
        V = (U**2).T @ IRIS / (U**2).sum(axis=0)[:, None]
        np.testing.assert_allclose(model.centers_, V, rtol=0, atol=1e-12)
        np.testing.assert_allclose(model.objective_history_[:-1], history, rtol=1e-11)


def test_samples_on_centers_and_in_several_balls():
    d = np.array([[0.0, 1.0, 0.0, 3.0, 2.0], [0.0, 2.0, 1.0, 3.0, 9.0], [5.0, 9.0, 1.5, 3.0, 2.5]])
    U, W, J = ball_rule(d.T**2, 2.0, 2.0)
    np.testing.assert_allclose(U, [[0.5, 0.5, 0], [0.8, 0.2, 0], [1, 0, 0], [1 / 3] * 3, [1, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(W, U**2, atol=1e-15)
    np.testing.assert_allclose(J, [0, 0, 0, 1 / 3, 0], atol=1e-15)


def test_a_ball_without_a_sample_stays():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    model = FCC(3, radius=1.0, init=[[0.0, 0.5], [9.0, 0.5], [99.0, 0.0]], max_iter=1).fit(X)
    np.testing.assert_allclose(model.centers_, [[0.0, 0.5], [9.0, 0.5], [99.0, 0.0]], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(model.memberships_, np.eye(3)[[0, 0, 1, 1]])


@pytest.mark.parametrize("m", ["auto", 1.5, 3.0])
@pytest.mark.parametrize("data", ["iris", "copies"])
def test_radius_zero_is_fuzzy_c_means(m, data):
    X = IRIS if data == "iris" else np.round(IRIS[:, :3])
    settings = {"color_space": None if data == "iris" else "lab"}
    ours = FCC(3, radius=0, m=m, random_state=0, tol=1e-9, max_iter=2000, **settings).fit(X)
    fcm = FCM(3, m=m, random_state=0, tol=1e-9, max_iter=2000, accelerate=False).fit(X)
    np.testing.assert_allclose(ours.memberships_, fcm.memberships_, rtol=0, atol=1e-12 if data == "iris" else 1e-8)
    assert ours.objective_ == pytest.approx(fcm.objective_, rel=1e-12)
    assert ours.m_ == fcm.m_
    assert ours._policy.monotone


def test_a_palette_maps_the_rows_that_it_keeps():
    rows = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [2.0, 2.0, 2.0]])
    palette = fcc.Palette(rows, np.array([1.0, 0.0, 2.0, 3.0]))
    found = palette.map_rows(lambda block: block.take(slice(None)))
    np.testing.assert_array_equal(palette.kept, [0, 2, 3])
    np.testing.assert_allclose(palette.frame.to_input(found), rows[[0, 2, 3]], rtol=0, atol=1e-15)


def test_a_tiny_radius_is_nearly_none():
    ours = FCC(3, radius=1e-9, init=START, tol=1e-9, max_iter=2000).fit(IRIS)
    fcm = FCM(3, init=START, tol=1e-9, max_iter=2000).fit(IRIS)
    np.testing.assert_allclose(ours.memberships_, fcm.memberships_, rtol=0, atol=1e-6)


@pytest.mark.parametrize("radius", [1e3, 1e300])
def test_balls_that_hold_everything_leave_fuzzy_c_means(radius):
    """The older package made all memberships equal there."""
    ours = FCC(3, radius=radius, init=START, tol=1e-9, max_iter=2000).fit(IRIS)
    fcm = FCM(3, init=START, tol=1e-9, max_iter=2000).fit(IRIS)
    np.testing.assert_allclose(ours.memberships_, fcm.memberships_, rtol=0, atol=1e-6)
    assert ours.objective_ == 0


def test_radius_auto():
    assert FCC(random_state=0).fit(IRIS).radius_ == pytest.approx(0.05 * np.sqrt(IRIS.var(axis=0).sum()), rel=1e-12)
    assert FCC(random_state=0).fit(1e6 * IRIS).radius_ == pytest.approx(5e4 * np.sqrt(IRIS.var(axis=0).sum()))
    assert FCC(color_space="lab", random_state=0).fit(20 * IRIS[:, :3]).radius_ == 2.3
    assert FCC(color_space="rgb", random_state=0).fit(IRIS[:, :3] / 8).radius_ == 2.3
    model = FCC(color_space="lab", random_state=0).fit(20 * IRIS[:, :3])
    assert model.m_ == 2


def test_bad_radius():
    with pytest.raises(ValueError, match="'radius' parameter of FCC"):
        FCC(radius=-1.0).fit(IRIS)


# Colours and images ---------------------------------------------------------------------------------------------------

PATCHES = np.array([[30, 40, 20], [60, -40, 30], [80, 5, 70], [45, 20, -50], [90, 0, 0], [20, 0, 0]], dtype=float)


def patches():
    rng = np.random.default_rng(0)
    y = np.repeat(np.repeat(np.arange(6).reshape(2, 3), 20, axis=0), 20, axis=1)
    return PATCHES[y] + rng.normal(size=(40, 60, 3)), y


def test_image_of_flat_patches():
    """Six patches with noise of deviation 1: what looks like the patch belongs to it wholly."""
    image, y = patches()
    model = FCC(6, color_space="lab", random_state=0).fit(image)
    assert model.image_shape_ == (40, 60)
    assert model.label_image_.shape == (40, 60)
    assert model.membership_image_.shape == (40, 60, 6)
    np.testing.assert_array_equal(model.membership_image_.reshape(-1, 6), model.memberships_)
    np.testing.assert_array_equal(model.label_image_.ravel(), model.labels_)
    assert adjusted_rand_score(y.ravel(), model.labels_) == 1
    order = np.array([np.linalg.norm(model.centers_ - patch, axis=1).argmin() for patch in PATCHES])
    own = model.centers_[order[y]]
    distance = np.linalg.norm(image - own, axis=2)
    near = distance <= 2.3 - 1e-9
    assert 0.8 < near.mean() < 0.99
    mine = np.take_along_axis(model.membership_image_, order[y][..., None], axis=2)[..., 0]
    np.testing.assert_array_equal(mine[near], 1)
    assert mine[distance > 2.3 + 1e-9].max() < 1
    assert np.abs(model.centers_[order] - PATCHES).max() < 0.2


def test_rgb_is_clustered_in_lab():
    image, _ = patches()
    rgb = lab_to_rgb(image.reshape(-1, 3)).reshape(image.shape)
    model = FCC(6, color_space="rgb", random_state=0).fit(rgb)
    lab = FCC(6, color_space="lab", random_state=0).fit(rgb_to_lab(rgb.reshape(-1, 3)))
    np.testing.assert_array_equal(model.memberships_, lab.memberships_)
    np.testing.assert_array_equal(model.centers_, lab.centers_)
    np.testing.assert_allclose(rgb_to_lab(model.centers_rgb_), model.centers_, rtol=0, atol=1e-4)
    assert not hasattr(lab, "centers_rgb_")
    assert not hasattr(lab, "image_shape_")
    np.testing.assert_array_equal(model.predict_memberships(rgb), model.memberships_)
    np.testing.assert_array_equal(model.predict(rgb[:5, :7]), model.label_image_[:5, :7].ravel())
    assert model.score(rgb) == pytest.approx(-model.objective_, rel=1e-12)


def test_bytes_and_floats_are_the_same_colors():
    pixels = load_sample_image("china.jpg")[::16, ::16]
    model = FCC(4, color_space="rgb", random_state=0).fit(pixels)
    floats = FCC(4, color_space="rgb", random_state=0).fit(pixels / 255)
    np.testing.assert_array_equal(model.memberships_, floats.memberships_)
    assert model.centers_rgb_.min() >= 0
    assert model.centers_rgb_.max() <= 1
    single = FCC(4, color_space="rgb", random_state=0).fit((pixels / 255).astype(np.float32))
    assert single.memberships_.dtype == single.centers_.dtype == single.centers_rgb_.dtype == np.float32
    np.testing.assert_allclose(model.predict_memberships(pixels.astype(int)), model.memberships_, rtol=0, atol=1e-12)


def test_image_of_features():
    image, _ = patches()
    model = FCC(6, random_state=0).fit(image)
    assert model.label_image_.shape == (40, 60)
    rows = FCC(6, random_state=0).fit(image.reshape(-1, 3))
    np.testing.assert_allclose(model.memberships_, rows.memberships_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(rows.predict_memberships(image), rows.memberships_)


def test_refit_forgets_the_image():
    image, _ = patches()
    model = FCC(6, color_space="lab", random_state=0).fit(image)
    model.set_params(color_space=None).fit(IRIS)
    for name in ("image_shape_", "label_image_", "membership_image_", "centers_rgb_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    "X, color_space, match",
    [
        (np.zeros((4, 5, 2)), None, r"image of shape \(height, width, 3\). Got an array of shape \(4, 5, 2\)"),
        (np.zeros((4, 5, 3, 1)), None, "dim 4"),
        (np.zeros((9, 2)), "rgb", "X must have 3 features with color_space='rgb'. Got 2"),
        (np.zeros((9, 4)), "lab", "X must have 3 features with color_space='lab'. Got 4"),
        (np.full((9, 3), 12.0), "rgb", "floats from 12 to 12"),
        (np.full((9, 3), 300), "rgb", "integers from 300 to 300"),
        (np.full((4, 5, 3), np.nan), "rgb", "X contains NaN"),
    ],
)
def test_refused(X, color_space, match):
    with pytest.raises(ValueError, match=match):
        FCC(color_space=color_space).fit(X)


def test_dask_only_without_colors():
    da = pytest.importorskip("dask.array")
    data = da.from_array(IRIS[:, :3] / 8, chunks=(50, 3))
    with pytest.raises(TypeError, match="colours only in memory"):
        FCC(color_space="lab").fit(data)


# Copies ---------------------------------------------------------------------------------------------------------------


def test_copies_are_clustered_once(monkeypatch):
    pixels = np.random.RandomState(0).randint(0, 4, (400, 3)) * 60.0
    weight = np.random.RandomState(1).randint(0, 3, 400)
    for given in (None, weight):
        model = FCC(4, color_space="lab", random_state=0).fit(pixels, sample_weight=given)
        plain = FCC(4, radius=2.3, random_state=0).fit(pixels, sample_weight=given)
        np.testing.assert_allclose(model.memberships_, plain.memberships_, rtol=0, atol=1e-9)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-10)
        assert model.m_ == plain.m_
    sizes = []
    original = fcc.center_statistics
    monkeypatch.setattr(fcc, "center_statistics", lambda block, *rest: sizes.append(block.n) or original(block, *rest))
    FCC(4, color_space="lab", random_state=0).fit(pixels)
    assert max(sizes) <= 64
    sizes.clear()
    FCC(4, radius=2.3, random_state=0).fit(pixels)  # other features are taken as they are
    assert min(sizes) == 400


def test_fewer_colors_than_clusters():
    image = np.zeros((6, 8, 3), dtype=np.uint8)
    image[:, 4:] = [200, 30, 30]
    with pytest.warns(ConvergenceWarning, match="FCC found 2 distinct prototypes, fewer than n_clusters=3"):
        model = FCC(3, color_space="rgb", random_state=0).fit(image)
    assert np.isfinite(model.memberships_).all()


def test_distinct_rows():
    rows = np.random.RandomState(0).randint(0, 3, (50, 2)).astype(float)
    rows[3] = -0.0
    unlike, place = fcc.distinct(rows)
    np.testing.assert_array_equal(unlike[place], rows)
    assert len(unlike) == len(np.unique(rows, axis=0))


# Conformance on colours -----------------------------------------------------------------------------------------------


FEATURES = SAMPLES["features"]


def color_sample(low, high):
    """The feature sample, moved to colours; ``other`` has three columns, too."""

    def sample(n_clusters):
        plain = FEATURES(n_clusters)
        least, most = plain.X.min(), plain.X.max()

        def move(data):
            inner = (np.clip(data, least - 1, most + 1) - least + 1) / (most - least + 2)
            return low + (high - low) * inner

        X = move(plain.X)
        return dataclasses.replace(
            plain,
            X=X,
            known=X,
            new=move(plain.new),
            batches=tuple(move(batch) for batch in plain.batches),
            worse=move(plain.worse),
            hard=move(plain.hard),
            other=move(plain.hard[:31] - 5),
            same={"Fortran order": np.asfortranarray(X), "a nested list": X.tolist()},
            starts=(),
            frame=None if plain.frame is None else plain.frame * 0 + X,
        )

    return sample


@pytest.mark.parametrize("check", ALL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("color_space, low, high", [("lab", 0, 90), ("rgb", 0, 1)])
def test_conformance_on_colors(monkeypatch, check, color_space, low, high):
    if color_space == "rgb" and check.__name__ == "check_float32":
        pytest.skip("integers are colours from 0 to 255, not those of the same numbers as floats")
    monkeypatch.setitem(SAMPLES, "features", color_sample(low, high))
    check(FCC(color_space=color_space))


# Measured values ------------------------------------------------------------------------------------------------------

TABLE = [0.729, 0.371, 0.667, 0.486, 0.952, 0.239, -0.001, 0.936, 0.878, 1]


@pytest.mark.filterwarnings("ignore:FCC did not converge")
def test_agreement_with_the_classes_of_ten_sets():
    found = []
    for (name, (X, y)), expected in zip(offline_sets().items(), TABLE, strict=True):
        found.append(adjusted_rand_score(y, FCC(len(np.unique(y)), random_state=0).fit(X).labels_))
        assert found[-1] >= expected - 0.02, name
    assert np.mean(found) >= 0.62
