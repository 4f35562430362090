"""
AFCMAdaptive: segments under uneven light
=========================================

Light that falls off across an image makes one material bright here and dark there, and fuzzy c-means of grey values
mixes the materials up. AFCMAdaptive estimates a smooth gain, the shading, together with the segments. Take it for
grey images and volumes such as magnetic resonance scans, or photographs under a lamp.
"""

# %%
# Three materials, one lamp
# -------------------------
# The phantom has three grey levels and light from the lower right. Fuzzy c-means cuts the grey values at two fixed
# thresholds, so the same material changes its segment on the way from the dark corner to the bright one. AFCMAdaptive
# moves the thresholds with the light.

import matplotlib.pyplot as plt
import numpy as np

from soft_clustering import FCM, AFCMAdaptive
from soft_clustering.datasets import make_phantom
from soft_clustering.plotting import SegmentationDisplay, cluster_colors


def draw(ax, labels, truth, name):
    """Draw segments, and say how many pixels are in the right one."""
    ax.imshow(cluster_colors(truth.max() + 1)[labels.reshape(truth.shape)], interpolation="nearest")
    ax.set_title(f"{name}: {(labels.ravel() == truth.ravel()).mean():.1%} right")
    ax.set_axis_off()


phantom = make_phantom((128, 160), bias=0.4, noise=0.03, random_state=0)
model = AFCMAdaptive(3, random_state=0).fit(phantom.image)
fcm = FCM(3, init=[[0.25], [0.6], [1.0]]).fit(phantom.image.reshape(-1, 1))  # from dark to bright, as the other

figure, axes = plt.subplots(1, 3, figsize=(11, 3.3))
axes[0].imshow(phantom.image, cmap="gray")
axes[0].set_title(f"the brightest light is {phantom.bias.max() / phantom.bias.min():.1f} times the darkest")
axes[0].set_axis_off()
draw(axes[1], fcm.labels_, phantom.labels, "FCM")
draw(axes[2], model.labels_, phantom.labels, "AFCMAdaptive")

# %%
# The shading that it finds
# -------------------------
# ``gain_`` is the shading, with mean 1; ``corrected_image_`` is the image divided by it. The display draws both. The
# histogram shows what the correction is worth: three overlapping heaps become three separate peaks, with a centre in
# each.

display = SegmentationDisplay.from_estimator(model, phantom.image)
correlation = np.corrcoef(model.gain_.flat, phantom.bias.flat)[0, 1]
display.axes_[2].set_title(f"gain: correlation {correlation:.3f} with the truth")

figure, ax = plt.subplots(figsize=(8, 2.6))
for image, label, color in ((phantom.image, "image", "0.6"), (model.corrected_image_, "image / gain", "black")):
    ax.hist(image.ravel(), np.linspace(0, 1.6, 160), histtype="step", label=label, color=color)
for center, color in zip(model.centers_[:, 0], cluster_colors(3), strict=True):
    ax.axvline(center, color=color, linestyle="--")
ax.set(title="grey values before and after the correction, and the centres", xlabel="grey value", yticks=[])
ax.legend()

# %%
# When it fails
# -------------
# A region that is as large as the scale of the shading can be taken for shading. Here there is none: three wide
# stripes from dark to bright, which fuzzy c-means finds. The default gain explains a part of the step from stripe to
# stripe, and the segments break up. A larger ``bias_scale`` forbids such a gain. Noise is not smoothed in any case:
# each pixel is judged alone, as by fuzzy c-means; :class:`~soft_clustering.SKFCM` is for noise.

x = np.linspace(0, 0.999, 160) + 0.06 * np.sin(np.linspace(0, 9, 128))[:, None]
truth = np.clip(3 * x, 0, 2.999).astype(int)
stripes = np.array([0.4, 0.7, 1.0])[truth] + 0.06 * np.random.default_rng(0).standard_normal(truth.shape)
figure, axes = plt.subplots(1, 4, figsize=(12, 2.9))
axes[0].imshow(stripes, cmap="gray")
axes[0].set_title("no shading, only stripes")
axes[0].set_axis_off()
draw(axes[1], FCM(3, init=[[0.4], [0.7], [1.0]]).fit(stripes.reshape(-1, 1)).labels_, truth, "FCM")
for ax, scale in zip(axes[2:], (0.15, 0.3), strict=True):
    draw(ax, AFCMAdaptive(3, bias_scale=scale, random_state=0).fit(stripes).labels_, truth, f"bias_scale {scale:g}")
