"""Image files of all kinds that Pillow writes."""

import numpy as np
import pytest

from soft_clustering.inputs import read_image

pillow = pytest.importorskip("PIL.Image")
RNG = np.random.RandomState(0)
GREY = RNG.randint(0, 256, (4, 6)).astype(np.uint8)
COLOUR = RNG.randint(0, 256, (4, 6, 3)).astype(np.uint8)


def saved(tmp_path, array, name="p.png", mode=None, **options):
    picture = pillow.fromarray(array)
    (picture if mode is None else picture.convert(mode)).save(tmp_path / name, **options)
    return tmp_path / name


@pytest.mark.parametrize("name", ["p.png", "p.tif", "p.bmp"])
@pytest.mark.parametrize("levels", [GREY, COLOUR], ids=["grey", "colour"])
def test_levels_are_kept(name, levels, tmp_path):
    found = read_image(saved(tmp_path, levels, name))
    np.testing.assert_array_equal(found.image, levels / 255)
    assert found.image.dtype == np.float64
    kind = "grey" if levels.ndim == 2 else "colour"
    assert found.notes == [f"{name} is a {kind} image of 4 x 6 pixels."]


def test_jpeg(tmp_path):
    smooth = np.linspace(0, 255, 64 * 64).reshape(64, 64).astype(np.uint8)
    assert np.abs(read_image(saved(tmp_path, smooth, "p.jpg", quality=95)).image - smooth / 255).max() < 0.03


def test_transparency_is_left_out(tmp_path):
    alpha = RNG.randint(0, 256, (4, 6, 1)).astype(np.uint8)
    found = read_image(saved(tmp_path, np.concatenate([COLOUR, alpha], axis=2)))
    np.testing.assert_array_equal(found.image, COLOUR / 255)
    assert "The transparency of the pixels is left out." in found.notes
    path = tmp_path / "la.png"
    pillow.merge("LA", [pillow.fromarray(GREY), pillow.fromarray(alpha[..., 0])]).save(path)
    np.testing.assert_array_equal(read_image(path).image, GREY / 255)


@pytest.mark.parametrize("name", ["p.png", "p.tif"])
def test_16_bits(name, tmp_path):
    levels = RNG.randint(0, 65536, (4, 6)).astype(np.uint16)
    found = read_image(saved(tmp_path, levels, name))
    np.testing.assert_array_equal(found.image, levels / 65535)
    assert "The levels have 16 bits." in found.notes


def test_floats(tmp_path):
    levels = RNG.uniform(0, 1, (4, 6)).astype(np.float32)
    np.testing.assert_array_equal(read_image(saved(tmp_path, levels, "p.tif")).image, levels)
    found = read_image(saved(tmp_path, levels * 10 - 5, "q.tif"))
    assert found.image.min() == 0 and found.image.max() == 1
    assert any("were scaled to [0, 1]" in note for note in found.notes)
    assert (read_image(saved(tmp_path, np.full((4, 6), 7, np.float32), "r.tif")).image == 0).all()
    levels[0, 0] = np.nan
    with pytest.raises(ValueError, match="has pixels that are NaN or infinite"):
        read_image(saved(tmp_path, levels, "p.tif"))


def test_palettes_and_bits(tmp_path):
    few = np.array([[[255, 0, 0], [0, 0, 255]]], dtype=np.uint8)
    np.testing.assert_array_equal(read_image(saved(tmp_path, few, mode="P")).image, few / 255)
    bits = np.array([[0, 255], [255, 255]], dtype=np.uint8)
    np.testing.assert_array_equal(read_image(saved(tmp_path, bits, mode="1")).image, bits / 255)


def test_equal_channels_are_grey(tmp_path):
    found = read_image(saved(tmp_path, np.repeat(GREY[..., None], 3, axis=2)))
    np.testing.assert_array_equal(found.image, GREY / 255)
    assert "The three channels are equal: it is taken as a grey image." in found.notes


def test_other_colours_are_converted(tmp_path):
    found = read_image(saved(tmp_path, COLOUR, "p.tif", mode="CMYK"))
    np.testing.assert_array_equal(found.image, COLOUR / 255)
    assert "The colours were converted from CMYK to red, green and blue." in found.notes


def test_turned_photographs(tmp_path):
    exif = pillow.Exif()
    exif[0x0112] = 6  # turned by a quarter
    found = read_image(saved(tmp_path, GREY, "p.png", exif=exif))
    np.testing.assert_array_equal(found.image, np.rot90(GREY, -1) / 255)
    assert "The image was turned as its camera says." in found.notes


def test_first_of_several(tmp_path):
    frames = [pillow.fromarray(GREY), pillow.fromarray(255 - GREY)]
    frames[0].save(tmp_path / "p.tif", save_all=True, append_images=frames[1:])
    found = read_image(tmp_path / "p.tif")
    np.testing.assert_array_equal(found.image, GREY / 255)
    assert "p.tif has 2 images: the first one is taken." in found.notes


def test_refused(tmp_path, monkeypatch):
    path = tmp_path / "p.png"
    for content in (b"not an image", saved(tmp_path, COLOUR, "q.png").read_bytes()[:60]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"p.png is not an image that Pillow reads") as caught:
            read_image(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_image(tmp_path / "nowhere.png")
    monkeypatch.setattr(pillow, "MAX_IMAGE_PIXELS", 20)
    with pytest.raises(ValueError, match="is too large an image: make it smaller first"):
        read_image(saved(tmp_path, COLOUR, "r.png"))
