"""AFCMAdaptive on shaded phantoms, beside fuzzy c-means, which does not model the shading.

``python -m benchmarks shading [--seeds 5]`` takes phantoms of 128 x 128 pixels with three classes in several layouts,
with the shading and the noise of ``make_phantom``; and waves of 96 x 120 pixels with three and four classes, both those
of ``make_phantom`` and others under another shading, on which no default was chosen. Prints a Markdown table of the
mean accuracy over the noise seeds: of FCM with m = 2; of AFCMAdaptive by default (bias_scale 0.15) and with smoothness
lengths of 20 and 10 pixels; and of the nearest class if the gain is known, which only noise keeps below 1. The last
columns are the correlation of the default gain with the true one, and the passes of the default. The figures of every
seed are recorded.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from benchmarks.lib.records import Record
from soft_clustering import FCM, AFCMAdaptive
from soft_clustering.datasets import make_phantom

NOISE = 0.03
LEVELS = {3: np.array([0.25, 0.6, 1.0]), 4: np.array([0.25, 0.5, 0.75, 1.0])}


class Phantom(NamedTuple):
    """An image without its noise."""

    labels: Any
    gain: Any
    strength: float


def grid(shape: tuple[int, int]) -> Any:
    return np.meshgrid(*(np.linspace(-0.5, 0.5, size) for size in shape), indexing="ij")


def ranges(field: Any, K: int) -> Any:
    """Classes of equal size by the values of a field."""
    return np.searchsorted(np.quantile(field, np.arange(1, K) / K), field)


def layouts(n: int = 128) -> dict[str, Any]:
    """Three classes, darkest first."""
    y, x = grid((n, n))
    r = np.hypot(x, y)
    column = np.tile(np.arange(n), (n, 1))
    blobs = gaussian_filter(np.random.default_rng(7).standard_normal((n, n)), 8)
    return {
        "discs, radii .42 and .25": (r < 0.42).astype(int) + (r < 0.25),
        "discs, radii .42 and .30": (r < 0.42).astype(int) + (r < 0.3),
        "stripes of 16 pixels": column // 16 % 3,
        "three stripes": column * 3 // n,
        "blobs": ranges(blobs, 3),
        "make_phantom": make_phantom((n, n), bias=0.0, noise=0.0).labels,
    }


def phantoms() -> dict[str, Phantom]:
    found = {}
    for strength in (0.0, 0.4, 0.8):
        gain = make_phantom((128, 128), bias=strength).bias
        for name, labels in layouts().items():
            found[f"{name}; {strength:g}"] = Phantom(labels, gain, strength)
    y, x = grid((96, 120))
    wave = np.sin(5.5 * x - 3 * y) + np.cos(7 * y + 2.5 * x)
    shade = np.sin(2.3 * x + 1.1 * y) + 0.7 * np.sin(2.9 * y - 0.8 * x)
    for K in (3, 4):
        for strength in (0.3, 0.6):
            known = make_phantom((96, 120), intensities=LEVELS[K], bias=strength, noise=0.0)
            found[f"make_phantom, 96 x 120, K = {K}; {strength:g}"] = Phantom(known.labels, known.bias, strength)
            gain = 1 + strength * shade / np.abs(shade).max()
            found[f"other waves, K = {K}; {strength:g}"] = Phantom(ranges(wave, K), gain, strength)
    return found


def accuracy(model: Any, labels: Any) -> float:
    rank = np.argsort(np.argsort(model.centers_[:, 0]))
    return float((rank[model.labels_] == labels.ravel()).mean())


def measure(phantom: Phantom, seed: int) -> dict[str, float | None]:
    K = int(phantom.labels.max()) + 1
    labels, levels = phantom.labels, LEVELS[K]
    image = levels[labels] * phantom.gain + NOISE * np.random.default_rng(seed).standard_normal(labels.shape)
    side = max(image.shape)
    start = time.perf_counter()
    model = AFCMAdaptive(K, random_state=seed).fit(image)
    seconds = time.perf_counter() - start
    nearest = np.abs(image[..., None] - phantom.gain[..., None] * levels).argmin(axis=-1)
    even = phantom.strength == 0
    return {
        "FCM": accuracy(FCM(K, m=2.0, random_state=seed).fit(image.reshape(-1, 1)), labels),
        "default": accuracy(model, labels),
        "20 pixels": accuracy(AFCMAdaptive(K, bias_scale=20 / side, random_state=seed).fit(image), labels),
        "10 pixels": accuracy(AFCMAdaptive(K, bias_scale=10 / side, random_state=seed).fit(image), labels),
        "known gain": float((nearest == labels).mean()),
        "correlation": None if even else float(np.corrcoef(model.gain_.ravel(), phantom.gain.ravel())[0, 1]),
        "passes": model.n_iter_,
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    record = Record("shading", partial=arguments != parser.parse_args([]))
    columns = ["FCM", "default", "20 pixels", "10 pixels", "known gain", "correlation", "passes"]
    print("| phantom; shading | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, phantom in phantoms().items():
        found = [measure(phantom, seed) for seed in range(arguments.seeds)]
        record[name] = {key: [row[key] for row in found] for key in found[0]}
        digits = [(record[name][key], 1 if key == "passes" else 4) for key in columns]
        cells = ["" if None in values else f"{np.mean(values):.{places}f}" for values, places in digits]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    record.save()


if __name__ == "__main__":
    main()
