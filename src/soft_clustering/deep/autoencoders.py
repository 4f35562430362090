"""Autoencoders: an encoder from samples to codes, and its mirror image back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_CHANNELS = (16, 32, 64)  # of the convolutions, each of which halves height and width
_LEAST_SIDE = 12  # of images that are convolved


def make_autoencoder(
    torch: ModuleType,
    shape: tuple[int, ...],
    hidden_layer_sizes: Sequence[int],
    n_components: int,
    generator: torch.Generator,
) -> tuple[Any, Any]:
    """Encoder and decoder of samples of a shape, (d,) or (C, H, W).

    Images of at least 12 by 12 are convolved, everything else passes layers of the given widths, ReLU between them.
    Glorot's initial weights, drawn from the generator.
    """
    if len(shape) == 3 and min(shape[1:]) >= _LEAST_SIDE:
        encoder, decoder = _convolutions(torch, shape, n_components)
    else:
        encoder, decoder = _dense(torch, shape, hidden_layer_sizes, n_components)
    for network in (encoder, decoder):
        for parameter in network.parameters():
            if parameter.ndim > 1:
                torch.nn.init.xavier_uniform_(parameter, generator=generator)
            else:
                torch.nn.init.zeros_(parameter)
    return encoder, decoder


def _layer(torch: ModuleType, kind: str, *arguments: Any, **keywords: Any) -> Any:
    """A layer whose weights are not yet drawn: its own draw would be from the global generator."""
    layer = getattr(torch.nn, kind)
    return torch.nn.utils.skip_init(layer, *arguments, device="cpu", dtype=torch.float32, **keywords)


def _with_relus(torch: ModuleType, layers: list[Any]) -> list[Any]:
    return [part for layer in layers for part in (layer, torch.nn.ReLU())][:-1]


def _dense(torch: ModuleType, shape: tuple[int, ...], hidden: Sequence[int], q: int) -> tuple[Any, Any]:
    nn = torch.nn
    sizes = [math.prod(shape), *hidden, q]
    inward = [_layer(torch, "Linear", a, b) for a, b in pairwise(sizes)]
    outward = [_layer(torch, "Linear", a, b) for a, b in pairwise(sizes[::-1])]
    return (
        nn.Sequential(nn.Flatten(), *_with_relus(torch, inward)),
        nn.Sequential(*_with_relus(torch, outward), nn.Unflatten(1, shape)),
    )


def _convolutions(torch: ModuleType, shape: tuple[int, ...], q: int) -> tuple[Any, Any]:
    nn = torch.nn
    inward: list[Any] = []
    outward: list[Any] = []
    sides = shape[1:]
    for a, b in pairwise((shape[0], *_CHANNELS)):
        inward.append(_layer(torch, "Conv2d", a, b, 3, stride=2, padding=1))
        # An even side 2h comes back from h with one more row, an odd one 2h - 1 without.
        more = tuple(1 - side % 2 for side in sides)
        outward.insert(0, _layer(torch, "ConvTranspose2d", b, a, 3, stride=2, padding=1, output_padding=more))
        sides = tuple(-(-side // 2) for side in sides)
    last = (_CHANNELS[-1], *sides)
    width = math.prod(last)
    encoder = [*_with_relus(torch, inward), nn.ReLU(), nn.Flatten(), _layer(torch, "Linear", width, q)]
    decoder = [_layer(torch, "Linear", q, width), nn.ReLU(), nn.Unflatten(1, last), *_with_relus(torch, outward)]
    return nn.Sequential(*encoder), nn.Sequential(*decoder)
