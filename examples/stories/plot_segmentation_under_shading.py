"""
Segmentation under shading
==========================

A scanner that sees one side better than the other, and noise on top: which method finds the tissues? This story tries
three methods on the shading alone, on the noise alone and on both, combines two of them, and ends with the amounts of
tissue that one wanted to know.
"""

# %%
# The scene
# ---------
# The drawing imitates a slice of a head: fluid (dark), grey matter and white matter (bright), on an empty background.
# The sensitivity of the scanner, the gain, falls off from the upper right to the lower left.

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import FCM, SKFCM, AFCMAdaptive
from soft_clustering.plotting import SegmentationDisplay, cluster_colors

y, x = np.mgrid[-1:1:144j, -1:1:144j]
radius, angle = np.hypot(x / 0.8, y / 0.95), np.arctan2(y, x)
white_matter = radius + 0.07 * np.sin(9 * angle) + 0.03 * np.sin(17 * angle + 1) < 0.72
ventricles = np.hypot((np.abs(x) - 0.17) / 0.11, (y + 0.05) / 0.36) < 1
nuclei = np.hypot((np.abs(x) - 0.42) / 0.12, (y - 0.1) / 0.2) < 1
truth = np.select([radius >= 1, ventricles, nuclei, white_matter, radius < 0.9], [-1, 0, 1, 2, 1], 0)
inside = truth >= 0

levels = np.array([0.25, 0.6, 1.0])
clean = np.where(inside, levels[truth], 0.0)
gain = np.exp(-((x - 0.6) ** 2 + (y + 0.7) ** 2) / 2.2)
gain /= gain[inside].mean()
noise = np.random.default_rng(0).standard_normal(clean.shape)
images = {
    "shading": np.abs(clean * gain + 0.03 * noise),
    "noise": np.abs(clean + 0.13 * noise),
    "shading and noise": np.abs(clean * gain + 0.1 * noise),
}
print(f"The largest gain in the head is {gain[inside].max() / gain[inside].min():.1f} times the smallest.")

# %%
# Three methods, three troubles
# -----------------------------
# Fuzzy c-means sees grey values only. SKFCM also sees the neighbours of a pixel, AFCMAdaptive also estimates the gain.
# The background is left out of fuzzy c-means and of AFCMAdaptive (``mask``); SKFCM takes it as one more segment. In the
# first row the shading decides, and neighbours are no help. In the second row the noise decides, and a gain is no
# help. In the third row neither of them is good enough.

start = np.append(0, levels)[:, None]  # the segments keep this order, from dark to bright


def draw(ax, labels, name):
    """Draw the segments of the pixels of the head, and say how many are right."""
    picture = np.ones((*truth.shape, 3))
    picture[inside] = cluster_colors(3)[labels]
    ax.imshow(picture, interpolation="nearest")
    ax.set_title(f"{name}: {(labels == truth[inside]).mean():.1%} right")
    ax.set_axis_off()


figure, axes = plt.subplots(3, 4, figsize=(12, 9.6))
for row, (trouble, image) in zip(axes, images.items(), strict=True):
    fcm = FCM(3, init=start[1:]).fit(image[inside][:, None])
    skfcm = SKFCM(4, init=start).fit(image)
    adaptive = AFCMAdaptive(3, random_state=0).fit(image, mask=inside)
    row[0].imshow(image, cmap="gray", vmin=0, vmax=1.6, interpolation="nearest")
    row[0].set_title(trouble)
    row[0].set_axis_off()
    draw(row[1], fcm.labels_, "FCM")
    draw(row[2], (skfcm.label_image_[inside] - 1).clip(0), "SKFCM")  # in the head the background is fluid
    draw(row[3], adaptive.label_image_[inside], "AFCMAdaptive")

# %%
# One after the other
# -------------------
# The two methods mend different troubles, so one can follow the other: AFCMAdaptive finds the gain, and SKFCM segments
# the image divided by it. The gain falls off steeply here, so it gets a smaller ``bias_scale`` than the default.
# Division by a small gain makes the noise larger, so the lower left remains the most doubtful part.

adaptive = AFCMAdaptive(3, bias_scale=0.08, random_state=0).fit(image, mask=inside)
corrected = np.where(inside, adaptive.corrected_image_, 0)
both = SKFCM(4, init=np.vstack([[0], adaptive.centers_])).fit(corrected)
tissues = both.memberships_[:, [1, 2, 3, 0]]  # fluid, grey matter, white matter, background
SegmentationDisplay.from_memberships(tissues, image, bias=adaptive.gain_, corrected=corrected)

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6))
draw(axes[0], adaptive.label_image_[inside], "AFCMAdaptive")
draw(axes[1], (both.label_image_[inside] - 1).clip(0), "and then SKFCM")
for scale in (0.05, 0.08, 0.11, 0.15, 0.2, 0.3):
    model = AFCMAdaptive(3, bias_scale=scale, random_state=0).fit(image, mask=inside)
    axes[2].plot(scale, (model.label_image_ == truth)[inside].mean(), "ko")
axes[2].set(title="AFCMAdaptive: a stiff gain cannot follow", xlabel="bias_scale", ylabel="pixels right", ylim=(0, 1))

# %%
# How much of each tissue
# -----------------------
# The question behind a segmentation is often an amount. Fuzzy c-means takes the white matter of the dark side for grey
# matter, and the grey matter there for fluid. After the correction the amounts are near the truth.

names = ["fluid", "grey matter", "white matter"]
counts = {"truth": np.bincount(truth[inside])}
counts["FCM"] = np.bincount(fcm.labels_)
counts["AFCMAdaptive, then SKFCM"] = np.bincount((both.label_image_[inside] - 1).clip(0))
figure, ax = plt.subplots(figsize=(8, 3))
for i, ((name, count), color) in enumerate(zip(counts.items(), ("black", "0.75", "0.45"), strict=True)):
    ax.bar(np.arange(3) + 0.27 * (i - 1), count / inside.sum(), 0.27, color=color, label=name)
ax.set_xticks(range(3), names)
ax.set(title="share of the head", ylim=(0, 0.75))
ax.legend(ncols=3)
