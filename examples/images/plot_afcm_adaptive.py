"""Segmentation under uneven light: a gain field is estimated together with the segments.

The light is three times as bright in one corner as in the opposite one. Fuzzy c-means goes by brightness and joins dark
pixels of a bright region with bright pixels of a dark one. AFCMAdaptive finds the shading, divides by it, and segments
the result. Run ``python examples/plot_afcm_adaptive.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import FCM, AFCMAdaptive
from soft_clustering.datasets import make_phantom


def main() -> None:
    phantom = make_phantom((128, 160), bias=0.4, noise=0.03, random_state=0)
    fcm = FCM(n_clusters=3, m=2.0, random_state=0).fit(phantom.image.reshape(-1, 1))
    brightness = np.argsort(np.argsort(fcm.centers_[:, 0]))[fcm.labels_].reshape(phantom.image.shape)
    model = AFCMAdaptive(n_clusters=3, random_state=0).fit(phantom.image)
    right = [f"{(found == phantom.labels).mean():.1%} right" for found in (brightness, model.label_image_)]

    figure, axes = plt.subplots(2, 3, figsize=(11, 6.4), layout="constrained")
    axes[0, 0].imshow(phantom.image, cmap="gray", vmin=0, vmax=1.5)
    axes[0, 0].set_title("image")
    axes[0, 1].imshow(brightness, cmap="cividis")
    axes[0, 1].set_title(f"FCM: {right[0]}")
    axes[0, 2].imshow(model.label_image_, cmap="cividis")
    axes[0, 2].set_title(f"AFCMAdaptive: {right[1]}")
    axes[1, 0].imshow(model.corrected_image_, cmap="gray", vmin=0, vmax=1.5)
    axes[1, 0].set_title("image / gain")
    shown = axes[1, 1].imshow(model.gain_, cmap="viridis")
    figure.colorbar(shown, ax=axes[1, 1], shrink=0.8)
    axes[1, 1].contour(phantom.bias / phantom.bias.mean(), levels=[0.7, 1.0, 1.3], colors="white", linewidths=1)
    axes[1, 1].contour(model.gain_, levels=[0.7, 1.0, 1.3], colors="black", linewidths=1, linestyles="dashed")
    axes[1, 1].set_title("gain: true in white, found dashed")
    for axis in axes.flat[:5]:
        axis.set_xticks([])
        axis.set_yticks([])
    bins = np.linspace(0, 2, 150)
    for image, label in ((phantom.image, "image"), (model.corrected_image_, "image / gain")):
        axes[1, 2].hist(image.ravel(), bins, histtype="step", label=label)
    for center in model.centers_[:, 0]:
        axes[1, 2].axvline(center, color="0.6", linewidth=0.8, zorder=0)
    axes[1, 2].set_title("values, and the centres found")
    axes[1, 2].set_yticks([])
    axes[1, 2].legend(frameon=False, loc="upper right")
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
