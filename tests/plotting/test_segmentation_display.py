"""Segmented images: panels, pixels in their places, slices and large images."""

import numpy as np
import pytest

from soft_clustering.base import BaseSoftClusterer
from soft_clustering.datasets import make_phantom
from soft_clustering.plotting import SegmentationDisplay, membership_colors

PHANTOM = make_phantom((20, 30), random_state=0)
U = np.random.RandomState(0).dirichlet([0.3] * 3, 600)


def titles(display):
    return [ax.get_title() for ax in display.axes_]


def test_panels():
    display = SegmentationDisplay.from_memberships(U, PHANTOM.image, bias=PHANTOM.bias, corrected=PHANTOM.image + 1)
    assert titles(display) == ["image", "memberships", "bias field", "corrected image"]
    image, memberships, bias, corrected = (picture.get_array() for picture in display.images_)
    np.testing.assert_array_equal(image, PHANTOM.image)
    np.testing.assert_array_equal(bias, PHANTOM.bias)
    np.testing.assert_array_equal(corrected, PHANTOM.image + 1)
    np.testing.assert_allclose(memberships.reshape(-1, 4), membership_colors(U))
    assert PHANTOM.bias.min() < display.contours_.levels[1] < display.contours_.levels[-2] < PHANTOM.bias.max()
    assert len(display.contours_.labelTexts) >= 4
    assert display.note_ is None


def test_only_what_is_given():
    display = SegmentationDisplay.from_memberships(U, PHANTOM.image, corrected=PHANTOM.image)
    assert titles(display) == ["image", "memberships", "corrected image"]
    assert display.contours_ is None
    flat = SegmentationDisplay.from_memberships(U, PHANTOM.image, bias=np.ones((20, 30)))
    assert titles(flat)[2] == "bias field" and flat.contours_ is None


def test_memberships_as_an_image():
    display = SegmentationDisplay(PHANTOM.image, U.reshape(20, 30, 3))
    np.testing.assert_array_equal(display.memberships, U.reshape(20, 30, 3))


def test_hard_labels_as_one_hot_memberships():
    display = SegmentationDisplay.from_memberships(np.eye(3)[PHANTOM.labels], PHANTOM.image)
    colors = display.images_[1].get_array().reshape(-1, 4)
    for k in range(3):
        assert len(np.unique(colors[PHANTOM.labels.ravel() == k], axis=0)) == 1


def test_estimator():
    class Segmenter(BaseSoftClusterer):
        modality = "image"

        def fit(self, X, y=None):
            self._set_memberships(U)
            self.gain_, self.corrected_image_ = PHANTOM.bias, X / PHANTOM.bias
            return self

    display = SegmentationDisplay.from_estimator(Segmenter().fit(PHANTOM.image), PHANTOM.image)
    assert titles(display) == ["image", "Segmenter: memberships", "bias field", "corrected image"]
    np.testing.assert_array_equal(display.images_[3].get_array(), PHANTOM.image / PHANTOM.bias)


def test_middle_slice_of_a_volume():
    volume = np.random.RandomState(0).uniform(size=(5, 6, 7))
    memberships = np.random.RandomState(1).dirichlet([1, 1], 210)
    display = SegmentationDisplay.from_memberships(memberships, volume, bias=volume, corrected=volume)
    for picture in (0, 2, 3):
        np.testing.assert_array_equal(display.images_[picture].get_array(), volume[2])
    np.testing.assert_allclose(display.images_[1].get_array(), membership_colors(memberships).reshape(5, 6, 7, 4)[2])
    assert display.note_.get_text() == "slice 2 of 0 to 4"


@pytest.mark.parametrize("dtype", [np.uint8, float])
def test_color_images(dtype):
    image = np.random.RandomState(0).randint(0, 256, (4, 5, 3)).astype(dtype)
    image[0, 0], image[0, 1] = 0, 255
    display = SegmentationDisplay.from_memberships(np.ones((20, 1)), image)
    shown = display.images_[0].get_array()
    np.testing.assert_allclose(shown if dtype is np.uint8 else 255 * shown, image, atol=1e-9)
    unit = SegmentationDisplay.from_memberships(np.ones((20, 1)), image / 510)
    np.testing.assert_array_equal(unit.images_[0].get_array(), image / 510)


def test_other_numbers_of_channels_are_averaged():
    image = np.random.RandomState(0).uniform(size=(4, 5, 7))
    display = SegmentationDisplay.from_memberships(np.ones((20, 1)), image)
    np.testing.assert_allclose(display.images_[0].get_array(), image.mean(axis=2))


def test_large_images_are_thinned_and_the_plot_says_so():
    display = SegmentationDisplay.from_memberships(U, PHANTOM.image, bias=PHANTOM.bias, max_side=10)
    np.testing.assert_array_equal(display.images_[0].get_array(), PHANTOM.image[::3, ::3])
    np.testing.assert_array_equal(display.images_[2].get_array(), PHANTOM.bias[::3, ::3])
    np.testing.assert_allclose(display.images_[1].get_array(), membership_colors(U).reshape(20, 30, 4)[::3, ::3])
    assert display.note_.get_text() == "1 of 9 pixels shown"


@pytest.mark.parametrize(
    "image, memberships, keywords, message",
    [
        (np.ones(5), np.ones((5, 1)), {}, r"image must have 2 or 3 dimensions. Got shape \(5,\)"),
        (np.full((2, 2), np.nan), np.ones((4, 1)), {}, "image contains NaN"),
        (np.ones((2, 2)), np.ones((5, 1)), {}, r"memberships must have one row per pixel of the image, .*\(2, 2\)"),
        (np.ones((2, 2)), np.ones((4, 1)), {"bias": np.ones((2, 3))}, r"bias must have shape \(2, 2\)"),
        (np.ones((2, 2)), np.ones((4, 1)), {"corrected": np.ones((2, 3))}, r"corrected must have shape \(2, 2\)"),
    ],
)
def test_wrong_images(image, memberships, keywords, message):
    with pytest.raises(ValueError, match=message):
        SegmentationDisplay(image, memberships, **keywords)


def test_wrong_side():
    with pytest.raises(ValueError, match="max_side"):
        SegmentationDisplay(PHANTOM.image, U).plot(max_side=0)
