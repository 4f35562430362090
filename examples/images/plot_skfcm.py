"""
SKFCM: the neighbours of a pixel help against noise
===================================================

Fuzzy c-means of grey values judges every pixel alone, so noise goes straight into the segments. SKFCM adds a spatial
term: a pixel tends to belong where its neighbours belong. Take it for grey or colour images with noise or with single
wrong pixels.
"""

# %%
# Two kinds of noise
# ------------------
# A phantom is a drawn image whose regions are known; this one has four grey levels. Gaussian noise shifts every value a
# little, salt and pepper replace some values by black or white. Fuzzy c-means cannot tell a dark speck from a dark
# region. SKFCM can, because it also looks at the median of the window around each pixel. Filtering the image before
# fuzzy c-means helps in the same way, and is the rival to compare with: the printed lines do.

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import median_filter

from soft_clustering import FCM, GMM, SKFCM
from soft_clustering.datasets import make_phantom
from soft_clustering.plotting import cluster_colors, membership_colors

levels = np.array([[0.1], [0.4], [0.7], [1.0]])  # started there, all models number the segments alike
common = {"shape": (128, 128), "intensities": levels[:, 0], "bias": 0.0, "random_state": 0}
noisy = make_phantom(noise=0.13, **common)
speckled = make_phantom(noise=0.02, impulses=0.15, **common)

figure, axes = plt.subplots(2, 3, figsize=(9, 6.4))
for row, phantom, title in zip(axes, (noisy, speckled), ("Gaussian noise", "salt and pepper"), strict=True):
    truth = phantom.labels.ravel()
    fcm = FCM(4, init=levels).fit(phantom.image.reshape(-1, 1))
    skfcm = SKFCM(4, init=levels).fit(phantom.image)
    row[0].imshow(phantom.image, cmap="gray", interpolation="nearest")
    row[0].set_title(title)
    for ax, model in zip(row[1:], (fcm, skfcm), strict=True):
        ax.imshow(cluster_colors(4)[model.labels_].reshape(128, 128, 3), interpolation="nearest")
        ax.set_title(f"{type(model).__name__}: {(model.labels_ == truth).mean():.1%} right")
    filtered = FCM(4, init=levels).fit(median_filter(phantom.image, 3).reshape(-1, 1))
    print(f"{title}: FCM after a median filter has {(filtered.labels_ == truth).mean():.1%} right")
for ax in axes.flat:
    ax.set_axis_off()

# %%
# Four spatial terms
# ------------------
# These are the memberships of the image with salt and pepper, fainter where a pixel is doubtful. The default
# ``spatial="median"`` leaves the specks themselves in doubt and their surroundings clear. The mean of a window is drawn
# off by a speck, so the doubt spreads to its neighbours, and some pixels go to a wrong segment. ``"neighbors"`` counts
# the values of the neighbours as the pixel's own; ``"penalty"`` asks them for similar memberships, and takes more
# passes.

terms = {"median": "auto", "mean": "auto", "neighbors": 4.0, "penalty": 2.0}
figure, axes = plt.subplots(1, 4, figsize=(12, 3.4))
for ax, (spatial, weight) in zip(axes, terms.items(), strict=True):
    model = SKFCM(4, spatial=spatial, spatial_weight=weight, init=levels).fit(speckled.image)
    ax.imshow(membership_colors(model.memberships_).reshape(128, 128, 4), interpolation="nearest")
    right = (model.label_image_ == speckled.labels).mean()
    ax.set_title(f'"{spatial}": {right:.1%} right, {model.n_iter_} passes')
    ax.set_axis_off()

# %%
# When it fails
# -------------
# Like fuzzy c-means, SKFCM prefers segments of similar size. Two small discs on a large noisy background share a
# centre, and the background is split in two. A mixture whose segments have weights, :class:`~soft_clustering.GMM`,
# does better, here after a median filter.

y, x = np.mgrid[-1:1:128j, -1:1:128j]
truth = np.select([(x + 0.3) ** 2 + (y + 0.2) ** 2 < 0.06, (x - 0.35) ** 2 + (y - 0.3) ** 2 < 0.05], [1, 2], 0)
image = np.array([0.3, 0.6, 0.9])[truth] + 0.13 * np.random.default_rng(0).standard_normal(truth.shape)
skfcm = SKFCM(3, random_state=0).fit(image)
gmm = GMM(3, random_state=0).fit(median_filter(image, 3).reshape(-1, 1))

figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
axes[0].imshow(image, cmap="gray", interpolation="nearest")
axes[0].set_title(f"{(truth == 0).mean():.0%} of the pixels are background")
for ax, model, name in zip(axes[1:], (skfcm, gmm), ("SKFCM", "GMM after a median filter"), strict=True):
    segments = np.argsort(np.argsort(model.centers_[:, 0]))[model.labels_].reshape(truth.shape)  # from dark to bright
    ax.imshow(cluster_colors(3)[segments], interpolation="nearest")
    ax.set_title(f"{name}: {(segments == truth).mean():.1%} right")
for ax in axes:
    ax.set_axis_off()
