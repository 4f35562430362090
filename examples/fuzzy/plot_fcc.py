"""A photograph in six colours: which pixels have a colour of the palette, which lie between, and where each colour is.

Run ``python examples/plot_fcc.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from soft_clustering import FCC


def main() -> None:
    image = load_sample_image("china.jpg")[::2, ::2]
    model = FCC(n_clusters=6, color_space="rgb", random_state=0).fit(image)
    order = np.argsort(-model.centers_[:, 0])  # from light to dark
    palette = model.centers_rgb_[order]
    memberships = model.membership_image_[..., order]
    largest = memberships.max(axis=2)

    figure, axes = plt.subplots(3, 3, figsize=(12, 8.6), layout="constrained")
    pictures = {
        f"{len(np.unique(image.reshape(-1, 3), axis=0)):,} colours": image,
        "the nearest of 6": palette[memberships.argmax(axis=2)],
        "mixed by membership": memberships @ palette,
    }
    for axis, (title, picture) in zip(axes[0], pictures.items(), strict=True):
        axis.imshow(picture)
        axis.set_title(title, fontsize=10)
    for k, axis in zip(range(5), axes.flat[3:], strict=False):
        axis.imshow(memberships[..., k], cmap="gray", vmin=0, vmax=1)
        axis.set_title(f"membership in colour {k + 1}", fontsize=10)
        for side in axis.spines.values():
            side.set(color=palette[k], linewidth=6)
    whole = (largest == 1).mean()
    shown = axes[2, 2].imshow(largest, cmap="magma", vmin=1 / 6, vmax=1)
    axes[2, 2].set_title(f"largest membership; {whole:.0%} look just like a colour", fontsize=10)
    figure.colorbar(shown, ax=axes[2, 2], shrink=0.8)
    for axis in axes.flat:
        axis.set_xticks([])
        axis.set_yticks([])
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
