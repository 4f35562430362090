"""Derive the 20 colours in ``src/soft_clustering/plotting/palette.py``.

The eight colours of Okabe and Ito come first. Each further one is, in a grid of sRGB, the colour whose smallest
distance to the colours before it, to white and to the grey of samples without a cluster is largest. A distance is the
smallest Euclidean distance in Oklab among normal vision and three simulated deficiencies.

Run ``python tools/make_palette.py`` and paste what is printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from soft_clustering.plotting.palette import UNASSIGNED, from_hex, to_linear

# The order begins with colours far from each other.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000")
# In Oklab: one black is enough, light colours are lost on white paper, and greys look like mixtures.
DARKEST, LIGHTEST, GREYEST = 0.3, 0.92, 0.07

# These act on amounts of red, green and blue light; G. M. Machado et al. (2009), severity 1.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}

# B. Ottosson (2020): responses of the cones from light, Oklab from their cube roots.
CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def oklab(srgb: np.ndarray, vision: str = "normal") -> np.ndarray:
    """Oklab coordinates of the colours as they are seen: lightness and two opponent ones, 0 for a grey."""
    light = (to_linear(srgb) @ VISIONS[vision].T).clip(0, 1)
    return np.cbrt(light @ CONES.T) @ OKLAB.T


def distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The distance of each colour of the first array to each of the second, in the worst vision."""
    seen = [oklab(first, vision)[:, None] - oklab(second, vision) for vision in VISIONS]
    return np.min([np.linalg.norm(difference, axis=-1) for difference in seen], axis=0)


def make_palette(n_colors: int = 20) -> tuple[str, ...]:
    """The palette as ``#RRGGBB``."""
    levels = np.arange(0, 256, 15) / 255
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    lightness, a, b = oklab(grid).T
    grid = grid[(lightness > DARKEST) & (lightness < LIGHTEST) & (np.hypot(a, b) > GREYEST)]
    palette = list(OKABE_ITO)
    nearest = distances(grid, from_hex((*OKABE_ITO, "#FFFFFF", UNASSIGNED))).min(axis=1)
    while len(palette) < n_colors:
        best = grid[nearest.argmax()]
        palette.append("#" + "".join(f"{round(255 * level):02X}" for level in best))
        nearest = np.minimum(nearest, distances(grid, best[None])[:, 0])
    return tuple(palette)


def main() -> None:
    """Print the palette and its smallest distances."""
    palette = make_palette()
    print(*palette)
    for n in (8, len(palette)):
        apart = distances(from_hex(palette[:n]), from_hex(palette[:n]))
        print(f"smallest distance of the first {n}: {apart[~np.eye(n, dtype=bool)].min():.4f}")


if __name__ == "__main__":
    main()
