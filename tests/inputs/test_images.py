from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from soft_clustering.inputs.images import refuse_shape_as_y, validate_image, validate_scalar_image

GREY = np.arange(12.0).reshape(3, 4)
COLOUR = np.arange(24.0).reshape(3, 4, 2)


def check(X, image_shape=None, reset=True, estimator=None):
    return validate_image(estimator or BaseEstimator(), X, image_shape=image_shape, reset=reset)


@pytest.mark.parametrize("X, image_shape", [(GREY, None), (GREY.reshape(-1, 1), (3, 4)), (GREY[..., None], None)])
def test_grey_images(X, image_shape):
    image = check(X, image_shape)
    assert image.shape == (3, 4)
    np.testing.assert_array_equal(image.pixels, np.arange(12.0)[:, None])


@pytest.mark.parametrize("image_shape", [(3, 4), [3, 4], np.array([3, 4])], ids=["tuple", "list", "array"])
def test_pixels_are_in_row_major_order(image_shape):
    for X, shape in ((COLOUR, None), (COLOUR.reshape(12, 2), image_shape)):
        image = check(X, shape)
        assert image.shape == (3, 4)
        assert all(type(size) is int for size in image.shape)
        assert image.pixels.flags.c_contiguous
        np.testing.assert_array_equal(image.pixels.reshape(3, 4, 2), COLOUR)


def test_types():
    assert check(GREY.astype(np.float32)).pixels.dtype == np.float32
    for other in (np.uint8, np.int64, bool, np.float16, object):
        image = check(GREY.astype(other))
        assert image.pixels.dtype == np.float64
        np.testing.assert_array_equal(image.pixels.ravel(), GREY.astype(other).ravel())
    assert check(GREY.tolist()).shape == (3, 4)
    assert np.shares_memory(check(GREY).pixels, GREY)
    np.testing.assert_array_equal(check(GREY.T).pixels.ravel(), GREY.T.ravel())


def test_channels_are_remembered():
    estimator = BaseEstimator()
    check(COLOUR, estimator=estimator)
    assert estimator.n_features_in_ == 2
    assert check(np.zeros((7, 5, 2)), reset=False, estimator=estimator).shape == (7, 5)
    with pytest.raises(ValueError, match=r"X has 1 features \(channels\), but BaseEstimator is expecting 2"):
        check(GREY, reset=False, estimator=estimator)


@pytest.mark.parametrize(
    "X, message",
    [
        (np.zeros(12), r"X must be an image of shape \(height, width\).* Got an array of shape \(12,\)"),
        (np.zeros((2, 3, 4, 5)), r"X must be an image.* Got an array of shape \(2, 3, 4, 5\)"),
        (np.array(1.0), r"X must be an image.* Got an array of shape \(\)"),
        (np.zeros((0, 4)), r"X must have at least one pixel. Got an array of shape \(0, 4\)"),
        (np.zeros((3, 4, 0)), "X must have at least one pixel"),
        (np.where(GREY == 5, np.nan, GREY), "Input X contains NaN"),
        (np.where(GREY == 5, np.inf, GREY), "Input X contains infinity"),
        (np.array([["a", "b"]]), "X must be numeric"),
        (GREY + 1j, "Complex data not supported"),
        (None, "X"),
    ],
)
def test_bad_images(X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        check(X)


def test_sparse_is_refused():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        check(sparse.csr_matrix(GREY))


@pytest.mark.parametrize("shape", [(3, 5), (12, 12), (1, 1)])
def test_wrong_number_of_pixels(shape):
    expected = shape[0] * shape[1]
    message = (
        rf"image_shape=\({shape[0]}, {shape[1]}\).*shape \({expected}, n_channels\). Got an array of shape \(12, 1\)"
    )
    with pytest.raises(ValueError, match=message):
        check(GREY.reshape(-1, 1), shape)


@pytest.mark.parametrize("X", [GREY, COLOUR, GREY.ravel()], ids=["image", "colour image", "1-D"])
def test_with_a_shape_only_pixels_are_taken(X):
    with pytest.raises(ValueError, match=r"With image_shape=\(3, 4\), X must be the pixels of the image"):
        check(X, (3, 4))


@pytest.mark.parametrize("shape", [3, (3,), (3, 4, 1), "34", (3.0, 4.0), (0, 12), (-3, -4), (None, 4)])
def test_bad_shape_is_named(shape):
    with pytest.raises(ValueError, match=r"image_shape must be .* Got"):
        check(GREY.reshape(-1, 1), shape)


def test_a_shape_in_the_place_of_the_target():
    with pytest.raises(TypeError, match=r"pass the shape of the image as image_shape=\(3, 4\)"):
        refuse_shape_as_y((3, 4))
    for y in (None, np.zeros(12), [1, 2], (1, 2, 3)):
        refuse_shape_as_y(y)


# Scalar images --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [GREY, COLOUR], ids=["image", "volume"])
def test_scalar_images(X):
    estimator = BaseEstimator()
    image = validate_scalar_image(estimator, X, reset=True)
    assert np.shares_memory(image.values, X)
    assert image.mask is None
    assert image.n_inside == X.size
    assert estimator.n_features_in_ == 1
    inside = X > 5
    masked = validate_scalar_image(estimator, X.astype(np.float32), mask=inside.tolist(), reset=True)
    assert masked.values.dtype == np.float32
    np.testing.assert_array_equal(masked.mask, inside)
    assert masked.n_inside == inside.sum()
    estimator.image_shape_ = X.shape
    np.testing.assert_array_equal(validate_scalar_image(estimator, X.tolist(), reset=False).values, X)
    with pytest.raises(ValueError, match=r"X must have the shape of the fitted image, \(3, 4"):
        validate_scalar_image(estimator, X[:2], reset=False)


@pytest.mark.parametrize(
    "X, mask, message",
    [
        (np.zeros(12), None, r"X must be an image of shape .* a number per pixel. Got an array of shape \(12,\)"),
        (np.zeros((1, 2, 3, 4)), None, r"Got an array of shape \(1, 2, 3, 4\)"),
        (np.where(GREY == 5, np.nan, GREY), None, "Input X contains NaN"),
        (
            np.zeros((214, 320, 3)),
            None,
            r"\(214, 320, 3\) is that of a colour image\. Pass a grey .*, as X\.mean",
        ),
        (np.zeros((5, 6, 4), np.uint8), None, r"if X is a volume, pass np\.moveaxis\(X, 2, 0\)"),
        (GREY, GREY, "mask must be a boolean array .* Got an array of dtype float64"),
        (GREY, np.ones(12, bool), r"mask must be .* shape of X, \(3, 4\). Got .* shape \(12,\)"),
        (GREY, True, r"mask must be .* shape of X, \(3, 4\). Got .* shape \(\)"),
        (GREY, "inside", "mask must be a boolean array"),
    ],
)
def test_bad_scalar_images(X, mask, message):
    """And what the message advises is taken."""
    with pytest.raises(ValueError, match=message):
        validate_scalar_image(BaseEstimator(), X, mask=mask, reset=True)
    if X.ndim == 3:
        for remedy in (X.mean(axis=2), np.moveaxis(X, 2, 0)):
            assert validate_scalar_image(BaseEstimator(), remedy, reset=True).values.shape == remedy.shape
