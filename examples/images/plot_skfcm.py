"""Segmentation of noisy images: without a spatial term every pixel is judged alone, with one its neighbours help.

Run ``python examples/plot_skfcm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import SKFCM
from soft_clustering.datasets import make_phantom

LEVELS = (20, 90, 160, 230)
VARIANTS = {
    "no spatial term (KFCM)": {"spatial_weight": 0.0},
    "penalty, weight 2": {"spatial": "penalty", "spatial_weight": 2.0},
    "neighbors, weight 4": {"spatial": "neighbors", "spatial_weight": 4.0},
    "mean, weight 4": {"spatial": "mean", "spatial_weight": 4.0},
    "median, weight 4": {"spatial": "median", "spatial_weight": 4.0},
}


def main() -> None:
    shape = (128, 128)
    common = {"intensities": LEVELS, "bias": 0.0, "random_state": 0}
    images = {
        "Gaussian noise": make_phantom(shape, noise=30.0, **common),
        "salt and pepper": make_phantom(shape, noise=5.0, impulses=0.15, **common),
    }
    figure, axes = plt.subplots(2, 6, figsize=(15, 5.4), layout="constrained")
    for row, (name, phantom) in zip(axes, images.items(), strict=True):
        row[0].imshow(phantom.image, cmap="gray")
        row[0].set_title(name, fontsize=10)
        for axis, (title, parameters) in zip(row[1:], VARIANTS.items(), strict=True):
            model = SKFCM(n_clusters=4, random_state=0, **parameters).fit(phantom.image)
            # The order of the clusters is arbitrary: number them by brightness.
            brightness = np.argsort(np.argsort(model.centers_[:, 0]))[model.label_image_]
            axis.imshow(brightness, cmap="cividis")
            right = (brightness == phantom.labels).mean()
            axis.set_title(f"{title}\n{right:.1%} of the pixels right", fontsize=10)
    for axis in axes.flat:
        axis.set_xticks([])
        axis.set_yticks([])
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
