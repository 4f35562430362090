"""
FCC: colours, grouped by how alike they look
============================================

Fuzzy colour clustering measures the distance of colours as the eye sees it, and its clusters are balls of colours that
one cannot tell apart. Take it to find the palette of an image and how much of each of its colours every pixel has.
"""

# %%
# A photograph in six colours
# ---------------------------
# Fuzzy c-means on the numbers of red, green and blue finds three shades of one dark colour in the leaves: in dark parts
# of an image these numbers differ little, whatever the colour. FCC works in the colour space CIELAB, where distances
# are made to agree with what one sees, and separates bluish from greenish leaves. Below each picture is its palette,
# from light to dark.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from soft_clustering import FCC, FCM, SKFCM
from soft_clustering.plotting import membership_colors

image = load_sample_image("flower.jpg")[::4, ::4]
pixels = image.reshape(-1, 3) / 255
fcm = FCM(6, random_state=0).fit(pixels)
fcc = FCC(6, color_space="rgb", random_state=0).fit(image)

figure, axes = plt.subplots(2, 3, figsize=(12, 3.6), height_ratios=[6, 1])
n_colors = len(np.unique(pixels, axis=0))
pictures = {
    f"photograph: {n_colors:,} colours": image,
    "FCM on red, green, blue: leaves of one hue": fcm.centers_,
    "FCC: bluish and greenish leaves": fcc.centers_rgb_,
}
for column, (title, palette), labels in zip(axes.T, pictures.items(), (None, fcm.labels_, fcc.labels_), strict=True):
    column[0].imshow(palette if labels is None else palette[labels].reshape(image.shape))
    column[0].set_title(title)
    if labels is not None:
        light_to_dark = palette[np.argsort(-palette.sum(axis=1))]
        column[1].imshow(light_to_dark[None], aspect="auto")
    for ax in column:
        ax.set_axis_off()

# %%
# What the memberships are good for
# ---------------------------------
# In the middle every pixel has the nearest colour of the palette, which gives hard edges. On the right the colours of
# the palette are mixed in proportion to the memberships: six colours and the degrees keep the soft transitions of the
# petals.

figure, axes = plt.subplots(1, 3, figsize=(12, 3))
axes[0].imshow(image)
axes[0].set_title("photograph")
versions = {"nearest of six": fcc.centers_rgb_[fcc.labels_], "mixed by membership": fcc.memberships_ @ fcc.centers_rgb_}
for ax, (title, colors) in zip(axes[1:], versions.items(), strict=True):
    ax.imshow(colors.reshape(image.shape))
    ax.set_title(f"{title}: mean error {np.sqrt(np.square(colors - pixels).mean()):.3f}")
for ax in axes:
    ax.set_axis_off()

# %%
# The radius of a ball
# --------------------
# A pixel inside the ball of a colour belongs to it wholly: a difference that nobody sees should not show in the
# memberships. The default radius is 2.3, a just noticeable difference in CIELAB. With radius 0, FCC is fuzzy c-means in
# CIELAB, and no pixel has a membership of 1. Dark parts of these pictures lie between colours of the palette.

figure, axes = plt.subplots(1, 3, figsize=(12, 3))
for ax, radius in zip(axes, (0, 2.3, 6), strict=True):
    model = FCC(6, radius=radius, color_space="rgb", random_state=0).fit(image)
    largest = model.membership_image_.max(axis=2)
    shown = ax.imshow(largest, cmap="gray", vmin=1 / 6, vmax=1)
    ax.set_title(f"radius {radius}: {(largest == 1).mean():.0%} of the pixels wholly in one ball")
    ax.set_axis_off()
figure.colorbar(shown, ax=axes, label="largest membership", shrink=0.8)

# %%
# When it fails
# -------------
# FCC looks at one pixel at a time. In a noisy image it gives neighbouring pixels of the same region to different
# clusters. :class:`~soft_clustering.SKFCM` takes the neighbours of a pixel into account.

rows, columns = np.mgrid[:60, :90]
regions = np.where((columns - 45) ** 2 + (rows - 30) ** 2 < 20**2, 2, columns > 45)
palette = np.array([[0.25, 0.45, 0.7], [0.45, 0.6, 0.35], [0.8, 0.55, 0.35]])
noisy = palette[regions] + np.random.default_rng(0).normal(scale=0.15, size=(60, 90, 3))
noisy = noisy.clip(0, 1)

figure, axes = plt.subplots(1, 3, figsize=(12, 3))
axes[0].imshow(noisy)
axes[0].set_title("three regions with noise")
models = (FCC(3, color_space="rgb", random_state=0).fit(noisy), SKFCM(3, random_state=0).fit(noisy))
for ax, model in zip(axes[1:], models, strict=True):
    counts = np.array([np.bincount(model.labels_[regions.ravel() == k], minlength=3) for k in range(3)])
    order = counts.argmax(axis=1)  # the cluster of each region: the same colours in both pictures
    ax.imshow(membership_colors(model.memberships_[:, order]).reshape(60, 90, 4), interpolation="nearest")
    right = counts.max(axis=1).sum() / counts.sum()
    ax.set_title(f"{type(model).__name__}: {right:.0%} of the pixels in the cluster of their region")
for ax in axes:
    ax.set_axis_off()
