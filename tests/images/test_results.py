"""Results in the shape of the image: the same names everywhere, and no second copy."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_sample_image

from soft_clustering import FCC, SKFCM, AFCMAdaptive

COLOUR = load_sample_image("flower.jpg")[::8, ::8]
GREY = COLOUR.mean(axis=2)
CASES = {
    "SKFCM, grey": (SKFCM(4, random_state=0), GREY),
    "SKFCM, colour": (SKFCM(4, random_state=0), COLOUR),
    "FCC": (FCC(4, color_space="rgb", random_state=0), COLOUR),
    "AFCMAdaptive": (AFCMAdaptive(4, random_state=0), GREY),
    "AFCMAdaptive, volume": (AFCMAdaptive(4, random_state=0), np.stack([GREY, 0.9 * GREY])),
}


@pytest.mark.parametrize("case", CASES)
def test_results_in_the_shape_of_the_image(case):
    model, image = CASES[case]
    for name in ("membership_image_", "label_image_"):
        assert not hasattr(model, name)
    model.fit(image)
    grid = GREY.shape if image.ndim == 2 or "volume" not in case else image.shape
    assert model.image_shape_ == grid
    assert model.membership_image_.shape == (*grid, 4)
    assert model.label_image_.shape == grid
    np.testing.assert_array_equal(model.membership_image_.argmax(axis=-1), model.label_image_)
    np.testing.assert_array_equal(model.membership_image_.reshape(-1, 4), model.memberships_)
    assert np.shares_memory(model.membership_image_, model.memberships_)
    assert np.shares_memory(model.label_image_, model.labels_)


def test_a_stored_model_holds_the_memberships_once():
    model = SKFCM(4, random_state=0).fit(GREY)
    stored = pickle.dumps(model)
    assert len(stored) < 1.1 * (model.memberships_.nbytes + model.labels_.nbytes)
    np.testing.assert_array_equal(pickle.loads(stored).membership_image_, model.membership_image_)


def test_features_are_no_image():
    model = FCC(3, random_state=0).fit(COLOUR.reshape(-1, 3).astype(float))
    assert not hasattr(model, "membership_image_")
    assert not hasattr(model, "label_image_")
