"""What methods with networks share: torch on demand, devices, seeds, reproducible passes over random batches.

The generators and settings of torch belong to the caller: nothing here draws from the global generators, and what is
set for a fit is set back after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._extras import require

if TYPE_CHECKING:
    import torch

_SEEDS = 2**31 - 1
_WITH_FUSED_ADAM = ("cpu", "cuda")


def load_torch(model: str) -> Any:
    """The module torch, or an error that says how to get it."""
    return require("torch", f"{model} needs PyTorch", extra="deep")


def resolve_device(torch: ModuleType, device: str) -> Any:
    """The device of this name; ``'auto'`` is the first GPU, or the CPU. Raises an error if there is no such device."""
    name = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    try:
        resolved = torch.device(name)
        torch.zeros(1, device=resolved).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"device must be 'cpu', 'cuda', 'auto' or the name of a torch device of this machine. Got {device!r} "
            f"instead: {reason}"
        ) from error
    return resolved


def make_generator(torch: ModuleType, rng: np.random.RandomState) -> Any:
    """A generator of torch with a seed drawn from ours; on the CPU, so that its draws do not depend on the device."""
    return torch.Generator(device="cpu").manual_seed(int(rng.randint(_SEEDS)))


@contextmanager
def reproducible(torch: ModuleType, *, seed: int | None = None) -> Iterator[None]:
    """A context in which torch learns the same on any number of cores: on one thread, with gradients enabled.

    With a ``seed`` random layers (dropout) draw reproducibly, too: the global generator gets the seed, and its former
    state back at the end.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with (
            torch.random.fork_rng(enabled=seed is not None),
            torch.inference_mode(False),
            torch.enable_grad(),
        ):
            if seed is not None:
                torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def check_layer_sizes(sizes: ArrayLike, *, least: int = 0) -> list[int]:
    """The widths of hidden layers; there must be at least ``least``."""
    found = np.asarray(sizes)
    if found.ndim != 1 or len(found) < least or (found.size and (found.dtype.kind not in "iu" or found.min() < 1)):
        length = f" of length >= {least}" if least else ""
        raise ValueError(f"hidden_layer_sizes must be a sequence{length} of integers >= 1. Got {sizes!r} instead.")
    widths: list[int] = found.tolist()
    return widths


def make_adam(
    torch: ModuleType, parameters: list[Any], learning_rate: float, penalty: float, device: torch.device
) -> Any:
    """Adam on a loss plus ``penalty`` times the sum of the squared parameters."""
    # torch's weight decay multiplies half of that sum.
    return torch.optim.Adam(
        parameters, lr=learning_rate, weight_decay=2 * penalty, fused=device.type in _WITH_FUSED_ADAM
    )


def run_epoch(
    torch: ModuleType,
    n: int,
    batch_size: int,
    generator: torch.Generator,
    optimizer: torch.optim.Optimizer,
    loss: Callable[[Any], Any],
) -> float:
    """Make a step of the optimiser for each random batch of n samples; return the mean of ``loss(indices)``."""
    total = 0.0
    for batch in torch.randperm(n, generator=generator, device="cpu").split(batch_size):
        optimizer.zero_grad()
        value = loss(batch)
        value.backward()
        optimizer.step()
        total += len(batch) * value.item()
    return total / n


def check_finite(loss: float, remedy: str) -> float:
    """Return the loss; raise an error if it is infinite or NaN, which happens if the steps are too long."""
    if not math.isfinite(loss):
        raise ValueError(f"The network diverged, its loss is {loss}: {remedy}.")
    return loss
