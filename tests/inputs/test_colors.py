"""sRGB and CIELAB: published values of the primaries, both directions, what is refused."""

import numpy as np
import pytest

from soft_clustering.inputs.colors import lab_to_rgb, rgb_to_lab, validate_rgb

# Values of the primaries for the white point D65 as colour calculators give them, to four digits.
PUBLISHED = {
    (1, 0, 0): (53.2408, 80.0925, 67.2032),
    (0, 1, 0): (87.7347, -86.1827, 83.1793),
    (0, 0, 1): (32.2970, 79.1875, -107.8602),
    (1, 1, 0): (97.1393, -21.5537, 94.4780),
    (0, 1, 1): (91.1132, -48.0875, -14.1312),
    (1, 0, 1): (60.3242, 98.2343, -60.8249),
    (1, 1, 1): (100.0, 0.0, 0.0),
    (0, 0, 0): (0.0, 0.0, 0.0),
    (0.5, 0.5, 0.5): (53.3890, 0.0, 0.0),
}


def test_published_values():
    lab = rgb_to_lab(list(PUBLISHED))
    np.testing.assert_allclose(lab, list(PUBLISHED.values()), rtol=0, atol=2e-4)


def test_agreement_with_scikit_image():
    color = pytest.importorskip("skimage.color")
    rgb = np.random.default_rng(0).uniform(size=(500, 3))
    # its matrix has six digits, which moves blue by 0.003
    np.testing.assert_allclose(rgb_to_lab(rgb), color.rgb2lab(rgb), rtol=0, atol=5e-3)


def test_both_directions():
    levels = np.linspace(0, 1, 18)  # dark ones on the straight lines, too
    rgb = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3)
    dark = rgb / 50
    for colors in (rgb, dark):
        np.testing.assert_allclose(lab_to_rgb(rgb_to_lab(colors)), colors, rtol=0, atol=1e-6)


def test_lightness_by_its_definition():
    """Greys on both sides of the edge of the cube root."""
    grey = np.array([0.002, 0.03, 0.0404, 0.05, 0.0899, 0.0901, 0.4, 0.9])
    linear = np.array([g / 12.92 if g <= 0.04045 else ((g + 0.055) / 1.055) ** 2.4 for g in grey])
    expected = [116 * y ** (1 / 3) - 16 if y > 216 / 24389 else 24389 / 27 * y for y in linear]
    lab = rgb_to_lab(np.repeat(grey[:, None], 3, axis=1))
    np.testing.assert_allclose(lab[:, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(lab[:, 1:], 0, atol=1e-12)


def test_what_no_screen_shows_is_clipped():
    rgb = lab_to_rgb([[50, 150, -150], [120, 0, 0], [-5, 0, 0], [1e6, -1e6, 1e6]])
    assert np.isfinite(rgb).all()
    assert rgb.min() == 0
    assert rgb.max() <= 1
    np.testing.assert_allclose(rgb[1], 1)
    np.testing.assert_allclose(rgb[2], 0)


def test_units():
    np.testing.assert_array_equal(validate_rgb(np.array([[0.0, 51, 255]]), True), [[0, 0.2, 1]])
    np.testing.assert_array_equal(validate_rgb(np.array([[0.0, 0.2, 1]]), False), [[0, 0.2, 1]])


@pytest.mark.parametrize(
    "rows, whole, match",
    [
        ([[0, 0, 256.0]], True, "integers from 0 to 256"),
        ([[-1.0, 0, 0]], True, "integers from -1 to 0"),
        ([[0, 0, 12.5]], False, r"floats from 0 to 12\.5"),
        ([[-0.5, 0, 0]], False, r"floats from -0\.5 to 0"),
    ],
)
def test_refused(rows, whole, match):
    with pytest.raises(ValueError, match=match):
        validate_rgb(np.array(rows), whole)
