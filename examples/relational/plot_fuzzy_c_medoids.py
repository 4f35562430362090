"""
FuzzyCMedoids: typical objects
==============================

Each cluster of fuzzy c-medoids is an object of the data, its medoid, and the degrees of all others follow from how
dissimilar they are to the medoids. So any dissimilarity will do, and the clusters explain themselves: here they are
shapes.
"""

# %%
# Shapes, compared by dynamic time warping
# ----------------------------------------
# The outlines of handwritten digits (2, 4, 5 and 7) are closed curves of 40 points, from the topmost one on. Point by
# point, two outlines of the same digit may differ much: where one writer makes a stroke longer, all points after it
# have moved on. Dynamic time warping lets a point be compared with points that come a little earlier or later, and
# takes the cheapest way through both curves. It gives a number for each pair of shapes and nothing else.

import matplotlib.pyplot as plt
import numpy as np
from contourpy import contour_generator
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, FuzzyCMedoids, RelationalFCM
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

N_POINTS, BAND = 40, 8


def outline(image):
    """The longest contour of an image, as points (40, 2) around their mean, from the topmost one on."""
    curve = max(contour_generator(z=np.pad(image, 1)).lines(6.0), key=len)
    length = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(curve, axis=0).T))])
    at = np.linspace(0, length[-1], N_POINTS, endpoint=False)
    points = np.column_stack([np.interp(at, length, curve[:, axis]) for axis in (0, 1)])
    points -= points.mean(axis=0)
    return np.roll(points, -points[:, 1].argmin(), axis=0)


def warped(first, second):
    """Costs of dynamic time warping of pairs of outlines (pairs, 40, 2), within a band around the diagonal."""
    cost = np.full((len(first), N_POINTS + 1, N_POINTS + 1), np.inf)
    cost[:, 0, 0] = 0
    for i in range(N_POINTS):
        for j in range(max(0, i - BAND), min(N_POINTS, i + BAND + 1)):
            before = np.minimum(np.minimum(cost[:, i, j], cost[:, i, j + 1]), cost[:, i + 1, j])
            cost[:, i + 1, j + 1] = before + np.hypot(*(first[:, i] - second[:, j]).T)
    return cost[:, -1, -1]


def shapes_of(*digits, first, last):
    rows = [row for digit in digits for row in np.flatnonzero(images.target == digit)[first:last]]
    return np.array([outline(images.images[row]) for row in rows]), images.target[rows]


images = load_digits()
shapes, digits = shapes_of(2, 4, 5, 7, first=0, last=60)
pairs = np.triu_indices(len(shapes), 1)
D = np.zeros((len(shapes), len(shapes)))
D[pairs] = warped(shapes[pairs[0]], shapes[pairs[1]])
D += D.T

model = FuzzyCMedoids(4, metric="precomputed", random_state=0).fit(D)
by_points = cdist(shapes.reshape(len(shapes), -1), shapes.reshape(len(shapes), -1))
plain = FuzzyCMedoids(4, metric="precomputed", random_state=0).fit(by_points)


def draw(ax, shape, color, **options):
    ax.fill(*shape.T, facecolor=color, **{"alpha": 0.85} | options)
    ax.set(aspect="equal", xlim=(-5, 5), ylim=(5, -5), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


figure, axes = plt.subplots(4, 9, figsize=(11, 5.4), width_ratios=[1.6, 0.25, *7 * [1]])
for k, row in enumerate(axes):
    color, members = cluster_colors(4)[k], np.argsort(-model.memberships_[:, k])
    members = members[model.labels_[members] == k]
    draw(row[0], shapes[model.medoid_indices_[k]], color)
    row[1].set_axis_off()
    for ax, place in zip(row[2:], np.linspace(1, len(members) - 1, 7).astype(int), strict=True):
        draw(ax, shapes[members[place]], color, alpha=0.5)
        ax.set_xlabel(f"{model.memberships_[members[place], k]:.2f}", fontsize="small")
axes[0, 0].set_title("medoid")
axes[0, 5].set_title("members, from the surest to the least sure")
scores = [adjusted_rand_score(digits, fitted.labels_) for fitted in (model, plain)]
print(
    f"Agreement with the digits: {scores[0]:.2f} by time warping, {scores[1]:.2f} point by point (adjusted Rand index)"
)

# %%
# New shapes
# ----------
# A new shape is compared with the four medoids only: prediction takes four numbers per shape. Of 200 new digits of the
# same kinds nearly all come to the right cluster.

new, new_digits = shapes_of(2, 4, 5, 7, first=60, last=110)
medoids = shapes[model.medoid_indices_]
to_medoids = np.column_stack([warped(new, np.broadcast_to(medoid, new.shape)) for medoid in medoids])
found = digits[model.medoid_indices_][model.predict(to_medoids)]
print(f"{np.mean(found == new_digits):.0%} of the new shapes come to the medoid of their digit")

# %%
# Shapes that belong to no cluster
# --------------------------------
# Twenty of the digits lie on their side, as if the scanner had turned them. Without more they are divided among the
# four clusters, as degrees sum to 1. With ``noise_distance`` there is one more cluster, which is equally far from
# everything and has no medoid. It takes most of the lying shapes and hardly anything of the others.

lying = np.array([np.roll(shape, -shape[:, 1].argmin(), axis=0) for shape in shapes[::12, :, ::-1] * [1, -1]])
across = np.column_stack([warped(shapes, np.broadcast_to(shape, shapes.shape)) for shape in lying])
among = np.array([warped(lying, np.broadcast_to(shape, lying.shape)) for shape in lying])
every = np.block([[D, across], [across.T, (among + among.T) / 2]])
noisy = FuzzyCMedoids(4, metric="precomputed", m=1.3, noise_distance="auto", noise_scale=6.0, random_state=0).fit(every)
upright, turned = np.split(noisy.noise_mass_, [len(shapes)])

figure = plt.figure(figsize=(10.5, 3.6))
cells = figure.add_gridspec(2, 6, width_ratios=[5.5, 0.2, 1, 1, 1, 1])
ax, place = figure.add_subplot(cells[:, 0]), np.random.default_rng(0).uniform(-0.3, 0.3, len(every))
for column, digit in enumerate((2, 4, 5, 7)):
    rows = np.flatnonzero(digits == digit)
    ax.scatter(column + place[rows], upright[rows], s=12, color=cluster_colors(2)[0])
ax.scatter(4 + place[len(shapes) :], turned, s=12, color="0.35")
ax.set_xticks(range(5), ["2", "4", "5", "7", "lying"])
ax.set_ylabel("degree in the noise")
ax.set_title(f"{np.mean(noisy.labels_[len(shapes) :] == -1):.0%} of the lying shapes are noise")
for cell, shape in enumerate(lying[[0, 6, 12, 18, 3, 8, 13, 16]]):
    draw(figure.add_subplot(cells[cell // 4, 2 + cell % 4]), shape, "0.35")

# %%
# Swaps
# -----
# As published, a medoid moves to the best object for the members of its cluster, weighted by their degrees. It hardly
# ever leaves its cluster: if two medoids start in one cluster and none in another, it stays so. Swaps with objects of
# other clusters end that. Each dot is the result of one start on 300 samples of 12 clusters.

rng = np.random.default_rng(3)
places = rng.uniform(-14, 14, (12, 2))
X = np.repeat(places, 25, axis=0) + rng.normal(size=(300, 2))
figure, ax = plt.subplots(figsize=(8, 2.6))
for height, swap in enumerate((True, False)):
    objectives = [
        FuzzyCMedoids(12, m=1.3, swap=swap, init="random", n_init=1, random_state=seed).fit(X).objective_
        for seed in range(30)
    ]
    ax.scatter(objectives, height + rng.uniform(-0.15, 0.15, 30), s=18, color=cluster_colors(2)[height])
ax.set_yticks([0, 1], ["with swaps", "moves alone"])
ax.set(xlabel="objective, from 30 random starts", ylim=(-0.5, 1.5), title="Moves alone end in many poor places")

# %%
# When it fails
# -------------
# A medoid is one sample with all its noise. In 40 features each sample of a round cluster is about as far from its
# neighbours as from anything else, and no single one stands for the cluster; a mean of many does, because the noise
# averages out. The same four clusters, shown in the two features that tell them apart: fuzzy c-medoids loses them,
# fuzzy c-means and relational fuzzy c-means, whose prototypes are means, do not.

truth = np.repeat(range(4), 60)
X = np.random.default_rng(1).normal(size=(240, 40))
X[:, :2] += 4.5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[truth]
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), sharex=True, sharey=True)
models = FuzzyCMedoids(4, random_state=0), RelationalFCM(4, random_state=0), FCM(4, random_state=0)
for ax, fitted in zip(axes, models, strict=True):
    fitted.fit(X)
    MembershipScatterDisplay.from_memberships(fitted.memberships_, X[:, :2], ax=ax)
    if ax is not axes[2]:
        ax.legend_.remove()
    ax.set_title(f"{type(fitted).__name__}: {adjusted_rand_score(truth, fitted.labels_):.2f}")
figure.suptitle("Agreement with the four clusters, two of the 40 features shown")
