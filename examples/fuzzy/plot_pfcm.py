"""
PFCM: doubt and outlier told apart
==================================

A membership of one half may mean that a sample lies between two clusters, or that it lies far from both. Possibilistic
fuzzy c-means learns a membership *and* a typicality: the first says which cluster, the second says whether the sample
fits there at all. Outliers pull its centres less than those of fuzzy c-means, and the memberships keep the centres
apart, which may coincide in possibilistic c-means.
"""

# %%
# A sample between the clusters, and one far from both
# ----------------------------------------------------
# These are the twelve points with which the authors of the method explain it: two diamonds, a point half-way between
# them, and an outlier above that point. By symmetry both have the memberships 0.5 and 0.5. Their typicalities differ.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from soft_clustering import FCM, PCM, PFCM, RPFKM
from soft_clustering.plotting import MembershipContourDisplay, MembershipScatterDisplay, cluster_colors

diamond = np.array([(-5, 0), (-3.34, 1.67), (-3.34, 0), (-3.34, -1.67), (-1.67, 0)])
X = np.vstack([diamond, (0, 0), -diamond, (0, 10)])
between, outlier = 5, 11
pfcm = PFCM(2, random_state=0).fit(X)

x, y = np.linspace(-8, 8, 200), np.linspace(-4, 12, 200)
plane = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), sharex=True, sharey=True)
panels = [
    (pfcm.predict_memberships(plane), pfcm.memberships_, (0.5, 0.9)),
    (pfcm.predict_typicalities(plane), pfcm.typicalities_, (0.1, 0.5, 0.9)),
]
for ax, (surface, degrees, levels) in zip(axes, panels, strict=True):
    display = MembershipContourDisplay(x, y, surface.reshape(200, 200, 2), points=X, centers=pfcm.centers_)
    display.plot(ax, levels=levels)
    display.points_.set_sizes([25])
    for row in (between, outlier):
        label = " and ".join(f"{degree:.2f}" for degree in degrees[row])
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.annotate(label, X[row], xytext=(0, 12), textcoords="offset points", ha="center", bbox=box)
    ax.set_aspect("equal")
    if degrees is pfcm.memberships_:
        display.legend_.remove()
axes[0].set_title("Memberships: both samples look the same")
axes[1].set_title("Typicalities: the outlier is typical of nothing")

# %%
# How much the typicalities count
# -------------------------------
# Memberships and typicalities both move the centres, with the weights ``membership_weight`` and ``typicality_weight``.
# Without typicalities the method is fuzzy c-means, whose centres the outlier lifts by more than half a unit. The more
# the typicalities count, the less it does; in the end the lift is that of possibilistic c-means.

weights = np.geomspace(0.1, 100, 16)
lifts = [PFCM(2, typicality_weight=weight, random_state=0).fit(X).centers_[:, 1].mean() for weight in weights]
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.semilogx(weights, lifts, "o-", color=cluster_colors(1)[0], label="PFCM")
ax.axhline(FCM(2, random_state=0).fit(X).centers_[:, 1].mean(), color="0.5", linestyle="--", label="FCM")
possibilistic = PCM(2, typicality="rational", m=2.0, bandwidth_scale=1.0, random_state=0).fit(X)
ax.axhline(possibilistic.centers_[:, 1].mean(), color="0.5", linestyle=":", label="PCM")
ax.set(
    xlabel="typicality_weight", ylabel="lift of the centres", title="The outlier pulls less as typicalities count more"
)
ax.legend()

# %%
# When it fails
# -------------
# The method starts from fuzzy c-means and stays near that solution. If a dense group of outliers lies far away, fuzzy
# c-means gives it a centre, and two clusters must share the next one: typicalities cannot repair that.
# :class:`~soft_clustering.RPFKM` does not square the distances and draws no starting centre from such a group, so it
# finds the three clusters. Removing the group and fitting again also works, as the group is easy to see here.

centers = np.array([[-4, 0], [4, 0], [0, 6]])
clusters, _ = make_blobs(300, centers=centers, cluster_std=1, random_state=0)
group = np.random.default_rng(0).normal(20, 0.5, size=(10, 2))
data = np.vstack([clusters, group])

pfcm = PFCM(3, random_state=0).fit(data)
rpfkm = RPFKM(3, random_state=0).fit(data)
order = linear_sum_assignment(cdist(pfcm.centers_, rpfkm.centers_))[1]  # the same colours in both panels
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), sharex=True, sharey=True)
MembershipScatterDisplay.from_estimator(pfcm, data, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_memberships(rpfkm.memberships_[:, order], data, centers=rpfkm.centers_[order], ax=axes[1])
axes[0].set_title("PFCM: ten outliers take a centre")
axes[1].set_title("RPFKM: three clusters, three centres")
