"""What the methods with networks share: devices, seeds, settings that belong to the caller."""

import math
import sys

import numpy as np
import pytest

from soft_clustering.engine.training import (
    check_finite,
    check_layer_sizes,
    load_torch,
    make_adam,
    make_generator,
    reproducible,
    resolve_device,
    run_epoch,
)

torch = pytest.importorskip("torch")


def test_missing_torch_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'NOCD needs PyTorch: pip install "soft-clustering\[deep\]"'):
        load_torch("NOCD")


def test_devices():
    assert load_torch("any") is torch
    assert resolve_device(torch, "cpu").type == "cpu"
    assert resolve_device(torch, "cpu:0").type == "cpu"
    assert resolve_device(torch, "auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("device", ["gpu", "cuda:977", "meta", ""])
def test_unknown_device_is_refused(device):
    with pytest.raises(ValueError, match=f"device must be 'cpu', 'cuda', 'auto' or .* Got {device!r} instead: ."):
        resolve_device(torch, device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_missing_gpu_is_refused():
    with pytest.raises(ValueError, match=r"Got 'cuda' instead: .*CUDA"):
        resolve_device(torch, "cuda")


def test_generator_follows_the_seed():
    draws = [torch.rand(3, generator=make_generator(torch, np.random.RandomState(seed))) for seed in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


def settings():
    return (
        torch.get_num_threads(),
        torch.get_rng_state().numpy().tobytes(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
    )


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("fails", [False, True])
def test_settings_are_set_back(seed, fails):
    before, threads = settings(), torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        changed = settings()
        with torch.inference_mode(), pytest.raises(KeyError) if fails else torch.no_grad():
            with reproducible(torch, seed=seed):
                assert torch.get_num_threads() == 1
                assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
                if seed is not None:
                    assert torch.rand(1).item() == torch.rand(1, generator=torch.Generator().manual_seed(seed)).item()
                if fails:
                    raise KeyError
            assert torch.get_num_threads() == 2
        assert settings() == changed
    finally:
        torch.set_num_threads(threads)
    assert settings() == before


def test_epoch_visits_every_sample_once_in_random_batches():
    weight = torch.zeros(1, requires_grad=True)
    seen = []

    def loss(batch):
        seen.append(batch)
        return (weight - batch.double().mean()).square().sum()

    adam = make_adam(torch, [weight], 1e-3, 0.0, torch.device("cpu"))
    value = run_epoch(torch, 10, 4, torch.Generator().manual_seed(0), adam, loss)
    assert [len(batch) for batch in seen] == [4, 4, 2]
    indices = torch.cat(seen).tolist()
    assert sorted(indices) == list(range(10)) and indices != list(range(10))
    assert weight.item() > 0
    # The steps are tiny: the loss is the square of the mean index of each batch.
    expected = sum(len(batch) * batch.double().mean().item() ** 2 for batch in seen) / 10
    assert value == pytest.approx(expected, rel=2e-3)


def test_adam_adds_the_penalty():
    """A first step of Adam goes by the sign of the gradient: here of (w - 1)^2 + penalty w^2 at w = 0.4."""
    for penalty, step in ((0.0, 1), (1.0, 1), (2.0, -1)):
        weight = torch.full((1,), 0.4, requires_grad=True)
        adam = make_adam(torch, [weight], 1e-3, penalty, torch.device("cpu"))
        run_epoch(torch, 1, 1, torch.Generator(), adam, lambda batch, weight=weight: (weight - 1).square().sum())
        assert weight.item() == pytest.approx(0.4 + step * 1e-3, abs=1e-6)


def test_infinite_loss_is_refused():
    assert check_finite(2.5, "never") == 2.5
    for loss in (math.nan, math.inf):
        with pytest.raises(ValueError, match=f"its loss is {loss}: use a smaller rate"):
            check_finite(loss, "use a smaller rate")


def test_layer_sizes():
    assert check_layer_sizes((3, np.int64(4))) == [3, 4]
    assert check_layer_sizes([]) == []
    for sizes, least in (((0,), 0), ((4, 0), 0), ((2.5,), 0), ("ab", 0), (((1, 2), (3, 4)), 0), ((), 1)):
        with pytest.raises(ValueError, match="hidden_layer_sizes must be a sequence"):
            check_layer_sizes(sizes, least=least)
