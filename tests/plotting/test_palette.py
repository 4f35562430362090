"""The colours: distinct in every simulated vision, derived by the tool, mixed in light."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from soft_clustering.plotting import cluster_colors, membership_colors
from soft_clustering.plotting.palette import PALETTE, UNASSIGNED, from_hex, membership_shares, to_linear, to_srgb

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("make_palette", ROOT / "tools" / "make_palette.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tool_derives_the_palette(tool):
    assert tool.make_palette() == PALETTE


@pytest.mark.parametrize("vision", ["normal", "protanopia", "deuteranopia", "tritanopia"])
@pytest.mark.parametrize("n", [8, 20])
def test_any_two_colors_differ(tool, vision, n):
    """0.02 is just noticeable; 0.076 is the smallest distance among the eight of Okabe and Ito."""
    seen = tool.oklab(cluster_colors(n), vision)
    apart = np.linalg.norm(seen[:, None] - seen, axis=2)[~np.eye(n, dtype=bool)]
    assert apart.min() > 0.076


def test_colors_differ_from_white_and_from_the_grey_of_no_cluster(tool):
    apart = tool.distances(cluster_colors(20)[8:], from_hex(("#FFFFFF", UNASSIGNED)))
    assert apart.min() > 0.076


def test_simulated_vision(tool):
    """A deuteranope confuses the red and the green that differ most for others; greys stay greys in every vision."""
    red_green = np.array([[0.75, 0.25, 0.25], [0.40, 0.46, 0.22]])
    apart = {vision: np.linalg.norm(np.diff(tool.oklab(red_green, vision), axis=0)) for vision in tool.VISIONS}
    assert apart["deuteranopia"] < apart["normal"] / 3
    for vision in tool.VISIONS:
        np.testing.assert_allclose(tool.oklab(np.full((1, 3), 0.5), vision)[0, 1:], 0, atol=1e-5)


def test_oklab_of_known_colors(tool):
    """Published: white is (1, 0, 0), red (0.628, 0.225, 0.126)."""
    np.testing.assert_allclose(
        tool.oklab(np.array([[1.0, 1, 1], [1, 0, 0]])), [[1, 0, 0], [0.628, 0.225, 0.126]], atol=6e-4
    )


def test_first_colors_do_not_depend_on_their_number():
    np.testing.assert_array_equal(cluster_colors(20)[:7], cluster_colors(7))


def test_more_than_20_clusters():
    with pytest.warns(UserWarning, match="26 clusters, but only 20 colours"):
        colors = cluster_colors(26)
    np.testing.assert_array_equal(colors[20:], colors[:6])


@pytest.mark.parametrize("wrong, error", [(0, ValueError), (-3, ValueError), (2.0, TypeError), ("3", TypeError)])
def test_wrong_number_of_colors(wrong, error):
    with pytest.raises(error, match="n_clusters"):
        cluster_colors(wrong)


def test_light_and_srgb_are_inverse():
    levels = np.linspace(0, 1, 1001)
    np.testing.assert_allclose(to_srgb(to_linear(levels)), levels, rtol=0, atol=1e-7)
    assert to_linear(np.array(0.5)) == pytest.approx(0.21404, abs=1e-5)


def test_one_cluster_has_its_own_color():
    colors = membership_colors(np.eye(20))
    np.testing.assert_allclose(colors[:, :3], cluster_colors(20), atol=1e-12)
    np.testing.assert_array_equal(colors[:, 3], 1)


def test_mixture_is_the_mean_of_light():
    shares = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    # 2.2 is the usual approximation of the sRGB curve
    light = shares @ cluster_colors(3) ** 2.2
    np.testing.assert_allclose(membership_colors(shares)[:, :3], light ** (1 / 2.2), atol=0.02)
    plain_mean = (cluster_colors(3)[0] + cluster_colors(3)[1]) / 2
    assert np.abs(membership_colors(shares)[0, :3] - plain_mean).max() > 0.1


def test_opacity_is_certainty():
    U = np.array([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0], [2 / 3, 1 / 3, 0]])
    np.testing.assert_allclose(membership_colors(U)[:, 3], [1, 0.25, 0.25 + 0.75 * 0.25, 0.25 + 0.75 * 0.5])
    np.testing.assert_allclose(membership_colors(U, min_opacity=0)[:, 3], [1, 0, 0.25, 0.5], atol=1e-12)


def test_only_shares_matter_for_the_hue_of_unnormalised_memberships():
    U = np.random.RandomState(0).uniform(0, 1, (50, 4))
    scale = np.random.RandomState(1).uniform(0.1, 10, (50, 1))
    np.testing.assert_allclose(membership_colors(U * scale)[:, :3], membership_colors(U)[:, :3], atol=1e-12)


def test_outliers_of_possibilistic_memberships_fade():
    opacity = membership_colors([[0.9, 0.0], [0.1, 0.0], [3.0, 0.0]])[:, 3]
    np.testing.assert_allclose(opacity, [0.25 + 0.75 * 0.9, 0.25 + 0.75 * 0.1, 1])


def test_no_cluster_is_grey_and_opaque():
    colors = membership_colors([[0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(colors[0], [0.6, 0.6, 0.6, 1])


def test_one_cluster_only():
    np.testing.assert_allclose(membership_colors([[1.0], [0.2]])[:, 3], [1, 0.25 + 0.75 * 0.2])


def test_huge_and_tiny_memberships():
    U = np.array([[1e308, 1e308], [1e-308, 3e-308], [1.7e308, 0]])
    np.testing.assert_allclose(membership_shares(U), [[0.5, 0.5], [0.25, 0.75], [1, 0]])
    assert np.isfinite(membership_colors(U)).all()


@pytest.mark.parametrize(
    "wrong, message",
    [
        ([[0.5, -0.1]], "memberships must be non-negative. Got -0.1"),
        ([0.5, 0.5], r"memberships must have shape \(n_samples, n_clusters\). Got shape \(2,\)"),
        ([[np.nan, 1]], "memberships contains NaN"),
        ([["a", "b"]], "memberships must be numeric"),
        (np.empty((0, 2)), "memberships"),
    ],
)
def test_wrong_memberships(wrong, message):
    with pytest.raises(ValueError, match=message):
        membership_colors(wrong)


@pytest.mark.parametrize("wrong", [-0.1, 1.5])
def test_wrong_opacity(wrong):
    with pytest.raises(ValueError, match=r"min_opacity must be in \[0, 1\]"):
        membership_colors([[1.0]], min_opacity=wrong)
