"""
Iris six ways
=============

Fisher's 150 iris flowers are of three species. Setosa stands apart, but versicolor and virginica overlap. Six methods
of six families look at the same flowers: they agree about most, and differ in what they say about the flowers between
the two species.
"""

# %%
# Six methods, three clusters
# ---------------------------
# Each method gets the four measurements in centimetres and never sees the species. Five are told that there are three
# clusters; :class:`~soft_clustering.SCM` finds the number itself. The last method, a consensus, does not look at the
# flowers at all: it joins the answers of the other five. The numbers of the clusters are arbitrary, so the columns of
# each answer are put into the order of the species they fit best. This is the only use of the species.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from soft_clustering import ECM, FCM, GMM, SCM, SMCLA, SoftKSC
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

iris = load_iris()
X, species = iris.data, iris.target
families = {
    "FCM": "fuzzy",
    "GMM": "mixture",
    "ECM": "evidential",
    "SoftKSC": "kernelized",
    "SCM": "density",
    "SMCLA": "consensus",
}

models = {
    "FCM": FCM(3, random_state=0).fit(X),
    "GMM": GMM(3, random_state=0).fit(X),
    "ECM": ECM(3, random_state=0).fit(X),
    "SoftKSC": SoftKSC(3, random_state=0).fit(X),
    "SCM": SCM().fit(X),
}
found = {name: model.memberships_ for name, model in models.items()}
found["SMCLA"] = SMCLA(3, random_state=0).fit(list(found.values())).consensus_memberships_

memberships = {}
for name, columns in found.items():
    _, order = linear_sum_assignment(np.eye(3)[species].T @ columns, maximize=True)
    memberships[name] = columns[:, order]

# %%
# What they say about the flowers in between
# ------------------------------------------
# All six set the 50 setosa apart (outside the panels, at petals shorter than 2 cm). The panels show the other 100
# flowers: clear colours mean certainty, faint ones doubt. A black ring marks a misplaced flower: its largest membership
# is in the cluster of the other species. The flowers are measured to a millimetre, and are moved a little so that equal
# ones do not hide each other.

jitter = np.random.default_rng(0).uniform(-0.04, 0.04, size=(150, 2))
petals = X[:, 2:] + jitter

figure, axes = plt.subplots(2, 3, figsize=(12, 7), sharex=True, sharey=True)
for ax, (name, columns) in zip(axes.ravel(), memberships.items(), strict=True):
    display = MembershipScatterDisplay(petals, columns, axis_names=["petal length (cm)", "petal width (cm)"])
    display.plot(ax, s=28)
    display.legend_.remove()
    wrong = columns.argmax(axis=1) != species
    ax.scatter(*petals[wrong].T, facecolors="none", edgecolors="black", s=60, linewidths=1)
    ax.set(xlim=(2.8, 7.1), ylim=(0.9, 2.65), title=f"{name} ({families[name]}): {wrong.sum()} misplaced")
    ax.label_outer()
handles = [plt.Line2D([], [], color=color, marker="o", linestyle="none") for color in cluster_colors(3)[1:]]
handles += [plt.Line2D([], [], color="black", marker="o", linestyle="none", fillstyle="none")]
axes[0, 0].legend(handles, ["versicolor", "virginica", "misplaced"], loc="lower right", fontsize="small")

# %%
# Agreement and doubt
# -------------------
# A flower is doubtful here if its largest membership is below 0.7. The last column says how many of the misplaced
# flowers are among the doubtful ones: doubt is useful if it falls on the right flowers.

print(f"{'method':9}{'family':12}{'Rand index':>11}{'misplaced':>11}{'doubtful':>10}{'misplaced and doubtful':>24}")
for name, columns in memberships.items():
    labels = columns.argmax(axis=1)
    wrong, doubtful = labels != species, columns.max(axis=1) < 0.7
    rand = adjusted_rand_score(species, labels)
    print(f"{name:9}{families[name]:12}{rand:11.2f}{wrong.sum():11d}{doubtful.sum():10d}{(wrong & doubtful).sum():24d}")

# %%
# Three lessons are in this table.
#
# * The *mixture* has by far the fewest misplaced flowers, since versicolor and virginica are two long ellipses side by
#   side and only it learns their shape. But it is almost never in doubt, not even about the flowers it misplaces: a
#   probability of 0.99 is a statement about the model, and the model may be wrong.
# * *Fuzzy*, *evidential* and *consensus* memberships misplace more, but are in doubt about most of these flowers. Who
#   can look at doubtful flowers again loses few.
# * The *kernelized* and the *density* method misplace as many as fuzzy c-means and are nearly as sure as the mixture.
#   Doubt has another meaning in each method. One threshold for all of them compares little.

# %%
# Where all agree
# ---------------
# Methods of different kinds make different mistakes, so their agreement is worth more than the certainty of any of
# them.

labels = np.column_stack([columns.argmax(axis=1) for columns in memberships.values()])
unanimous = (labels == labels[:, :1]).all(axis=1)
print(f"all six agree on {unanimous.sum()} flowers; {(labels[unanimous, 0] != species[unanimous]).sum()} are misplaced")

# %%
# Disputed flowers
# ----------------
# The rest are disputed. Each line follows a flower through the six methods; its height is the membership in the
# virginica cluster. The colour is the true species: a green line belongs to the top, an orange one to the bottom.
#
# On the left are the flowers that the mixture alone calls virginica: small for a virginica, and nearer to the
# versicolor centre, but within the long virginica ellipse. Mostly it is right, against a majority of five. On the right
# are the other disputed flowers, with their row numbers: here no two methods say quite the same.

others = np.delete(labels, 1, axis=1)
alone = ~unanimous & (others == others[:, :1]).all(axis=1)
virginica = np.column_stack([columns[:, 2] for columns in memberships.values()])
right = labels[alone, 1] == species[alone]

figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), sharey=True)
for ax, chosen in zip(axes, (alone, ~unanimous & ~alone), strict=True):
    for flower in np.flatnonzero(chosen):
        color = cluster_colors(3)[species[flower]]
        ax.plot(list(memberships), virginica[flower], color=color, marker="o", markersize=4, linewidth=1.2)
    ax.axhline(0.5, color="0.5", linestyle=":", linewidth=1)
height = 0.0
for flower in sorted(np.flatnonzero(chosen), key=lambda flower: virginica[flower, -1]):
    height = max(height + 0.05, virginica[flower, -1])  # numbers that do not overlap
    axes[1].text(5.1, height, str(flower), color=cluster_colors(3)[species[flower]], va="center")
axes[0].set(ylabel="membership in the virginica cluster", ylim=(-0.03, 1.03))
axes[0].set_title(f"GMM against all others: right {right.sum()} times, wrong {(~right).sum()} times")
axes[1].set_title("The other disputed flowers")
axes[0].legend(handles[:2], ["versicolor", "virginica"], loc="center right")
