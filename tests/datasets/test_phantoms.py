"""Phantom images: regions, shading, noise, and what thresholds make of them."""

import numpy as np
import pytest
from scipy.ndimage import label

from soft_clustering.datasets import make_phantom


def test_parts_make_the_image():
    phantom = make_phantom(noise=0, random_state=0)
    assert phantom.image.shape == phantom.labels.shape == phantom.bias.shape == (128, 128)
    assert phantom.image.dtype == phantom.bias.dtype == np.float64 and phantom.labels.dtype.kind == "i"
    np.testing.assert_array_equal(phantom.image, np.array([0.25, 0.6, 1.0])[phantom.labels] * phantom.bias)


def test_noise():
    phantom = make_phantom(noise=0.03, random_state=0)
    residual = phantom.image - np.array([0.25, 0.6, 1.0])[phantom.labels] * phantom.bias
    assert residual.std() == pytest.approx(0.03, rel=0.02) and abs(residual.mean()) < 0.001


@pytest.mark.parametrize("strength", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("shape", [(128, 128), (96, 120), (1, 50), (3, 1)])
def test_bias_field(strength, shape):
    field = make_phantom(shape, bias=strength, random_state=0).bias
    for i in range(shape[0]):
        for j in range(shape[1]):
            y = i / (shape[0] - 1) - 0.5 if shape[0] > 1 else -0.5
            x = j / (shape[1] - 1) - 0.5 if shape[1] > 1 else -0.5
            assert field[i, j] == pytest.approx(
                1 + strength * (1.2 * x + 0.8 * np.sin(2.5 * y) + 0.6 * x * y), abs=1e-14
            )
    assert field.min() > 0.03


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("shape", [(128, 128), (95, 121)])
def test_regions(n_classes, shape):
    """Classes of equal size in few, connected regions, whatever the seed."""
    phantom = make_phantom(shape, intensities=np.arange(n_classes) + 1.0, random_state=0)
    sizes = np.bincount(phantom.labels.ravel())
    assert len(sizes) == n_classes and np.ptp(sizes) <= 1
    for k in range(n_classes):
        assert label(phantom.labels == k)[1] <= 6
    other = make_phantom(shape, intensities=np.arange(n_classes) + 1.0, random_state=1)
    np.testing.assert_array_equal(phantom.labels, other.labels)
    assert (phantom.image != other.image).any()


def best_thresholds(image, labels, levels):
    """Accuracy of the nearest level."""
    return (np.abs(image[..., None] - levels).argmin(axis=-1) == labels).mean()


def test_shading_defeats_thresholds_and_its_removal_restores_them():
    levels = np.array([0.25, 0.6, 1.0])
    plain, shaded, strong = (make_phantom(bias=bias, random_state=0) for bias in (0.0, 0.4, 0.8))
    assert best_thresholds(plain.image, plain.labels, levels) == 1
    assert best_thresholds(shaded.image, shaded.labels, levels) < 0.9
    assert best_thresholds(strong.image, strong.labels, levels) < 0.75
    assert best_thresholds(shaded.image / shaded.bias, shaded.labels, levels) > 0.999


def test_four_regions_with_gaussian_noise():
    """Nearest level: of four levels 70 apart, 1.5 Q(35 / noise) of the pixels are wrong."""
    levels = np.array([20, 90, 160, 230])
    for noise, accuracy in [(20, 0.9398), (30, 0.8176)]:
        phantom = make_phantom(intensities=levels, noise=noise, bias=0, random_state=0)
        assert best_thresholds(phantom.image, phantom.labels, levels) == pytest.approx(accuracy, abs=0.01)


def test_impulses():
    levels = [20, 90, 160, 230]
    phantom = make_phantom(intensities=levels, noise=0, bias=0, impulses=0.1, random_state=0)
    changed = phantom.image != np.array(levels)[phantom.labels]
    # half of the pixels of the outer levels are hit by their own level
    assert changed.mean() == pytest.approx(0.1 * 0.75, abs=0.01)
    assert set(phantom.image[changed]) == {20.0, 230.0}
    everywhere = make_phantom(intensities=levels, impulses=1, random_state=0).image
    assert set(everywhere.ravel()) == {20.0, 230.0} and (everywhere == 20).mean() == pytest.approx(0.5, abs=0.02)


def test_order_of_intensities_is_free():
    up, down = make_phantom(noise=0, bias=0), make_phantom(noise=0, bias=0, intensities=[1.0, 0.6, 0.25])
    np.testing.assert_array_equal(up.labels, down.labels)
    np.testing.assert_array_equal(up.image == 0.25, down.image == 1.0)


def test_reproducible():
    np.testing.assert_array_equal(make_phantom(random_state=5).image, make_phantom(random_state=5).image)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"shape": (128,)}, r"shape must be two integers >= 1. Got \(128,\) instead"),
        ({"shape": (4, 5, 6)}, "shape must be two integers"),
        ({"shape": (0, 5)}, "shape must be two integers"),
        ({"shape": (4.0, 5)}, "shape must be two integers"),
        ({"shape": 128}, "'shape' parameter of make_phantom"),
        ({"intensities": 3.0}, "'intensities' parameter of make_phantom"),
        ({"intensities": []}, "intensities|minimum of 1"),
        ({"intensities": [[1.0, 2.0]]}, "intensities must be 1 to 16384 numbers"),
        ({"intensities": [1.0, np.nan]}, "intensities contains NaN"),
        ({"intensities": ["a", "b"]}, "could not convert string to float|Unable to convert"),
        ({"shape": (1, 2)}, "intensities must be 1 to 2 numbers"),
        ({"noise": -1}, "'noise' parameter"),
        ({"noise": np.inf}, "'noise' parameter"),
        ({"bias": 0.9}, "'bias' parameter"),
        ({"bias": -0.1}, "'bias' parameter"),
        ({"impulses": 1.5}, "'impulses' parameter"),
        ({"random_state": "x"}, "'random_state' parameter"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_phantom(**arguments)
