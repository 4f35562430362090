"""The default networks."""

import numpy as np
import pytest

from soft_clustering.deep.autoencoders import make_autoencoder

torch = pytest.importorskip("torch")


def widths(network):
    return [(layer.in_features, layer.out_features) for layer in network if isinstance(layer, torch.nn.Linear)]


def test_dense_layers_mirror_each_other():
    encoder, decoder = make_autoencoder(torch, (7,), (5, 4), 2, torch.Generator())
    assert widths(encoder) == [(7, 5), (5, 4), (4, 2)]
    assert widths(decoder) == [(2, 4), (4, 5), (5, 7)]
    kinds = [type(layer).__name__ for layer in encoder]
    assert kinds == ["Flatten", "Linear", "ReLU", "Linear", "ReLU", "Linear"]
    linear, _ = make_autoencoder(torch, (7,), (), 2, torch.Generator())
    assert widths(linear) == [(7, 2)]


@pytest.mark.parametrize("shape", [(3,), (1, 8, 8), (1, 11, 40), (1, 12, 12), (3, 13, 14), (2, 15, 16), (1, 64, 64)])
def test_shapes_come_back(shape):
    encoder, decoder = make_autoencoder(torch, shape, (6,), 4, torch.Generator())
    codes = encoder(torch.ones(5, *shape))
    assert codes.shape == (5, 4)
    assert decoder(codes).shape == (5, *shape)
    strides = [layer.stride for layer in encoder if isinstance(layer, torch.nn.Conv2d)]
    assert strides == ([(2, 2)] * 3 if len(shape) == 3 and min(shape[1:]) >= 12 else [])


@pytest.mark.parametrize("shape", [(30,), (1, 16, 16)])
def test_weights_are_glorots_and_come_from_the_generator(shape):
    before = torch.get_rng_state()
    first, again, other = (
        make_autoencoder(torch, shape, (50, 20), 5, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(torch.get_rng_state(), before)
    for a, b, c in zip(
        *([p for part in nets for p in part.parameters()] for nets in (first, again, other)), strict=True
    ):
        assert a.dtype == torch.float32
        assert torch.equal(a, b)
        assert (a.ndim == 1) == torch.equal(a, c)  # the biases are 0
    weight = first[0][1].weight if len(shape) == 1 else first[0][0].weight
    receptive = int(np.prod(weight.shape[2:]))
    bound = np.sqrt(6 / ((weight.shape[0] + weight.shape[1]) * receptive))
    assert 0.9 * bound < weight.abs().max().item() <= bound


def test_defaults_of_torch_do_not_matter():
    torch.set_default_dtype(torch.float64)
    try:
        encoder, _ = make_autoencoder(torch, (3,), (4,), 2, torch.Generator())
    finally:
        torch.set_default_dtype(torch.float32)
    assert all(p.dtype == torch.float32 for p in encoder.parameters())
