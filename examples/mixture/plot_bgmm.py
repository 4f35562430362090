"""
BGMM: measurements together with proportions
============================================

Samples are often described in two ways: by measurements without limits, and by proportions or probabilities between
0 and 1. The beta-Gaussian mixture models the first by Gaussians and the second by beta distributions, in one set of
clusters. Take it if each kind of feature separates only some of the clusters.
"""

# %%
# Two views of the same genes
# ---------------------------
# The model was made for genes. Each of the 500 made-up genes here has an expression level, and a probability that a
# certain protein binds to it. Expression separates one group from the other two; binding separates these two. A
# Gaussian mixture of the expression alone cannot see the two groups on the right, and cuts the left one in two. With
# both columns the likeliest Gaussian mixture spends a component on all genes that crowd near probability 0, which no
# Gaussian fits. The beta-Gaussian mixture uses the right kind of distribution for each column and finds the groups.

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from soft_clustering import BGMM, GMM
from soft_clustering.plotting import IndexCurvesDisplay, MembershipScatterDisplay

rng = np.random.default_rng(0)
y = rng.choice(3, 500, p=[0.45, 0.35, 0.2])
expression = rng.normal(np.array([-2.0, 2.0, 2.0])[y])
binding = rng.beta(np.array([0.5, 0.5, 6.0])[y], np.array([4.0, 4.0, 1.0])[y])
genes = np.column_stack([expression, binding])

models = {
    "GMM, expression alone": GMM(3, n_init=10, random_state=0).fit(genes[:, :1]),
    "GMM, both columns": GMM(3, n_init=10, random_state=0).fit(genes),
    "BGMM, both columns": BGMM(3, beta_features=[1], random_state=0).fit(genes),
}
joint = models["BGMM, both columns"]

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.3), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    _, order = linear_sum_assignment(joint.memberships_.T @ model.memberships_, maximize=True)  # the same colours
    display = MembershipScatterDisplay.from_memberships(model.memberships_[:, order], genes, ax=ax)
    ax.set(xlabel="expression", ylabel="binding probability" if ax is axes[0] else "")
    ax.set_title(f"{name}: Rand index {adjusted_rand_score(y, model.labels_):.2f}")
    if ax is not axes[2]:
        display.legend_.remove()

# %%
# The columns of proportions are named by ``beta_features``. If they are in a table of their own, pass it as
# ``X_beta``; the result is the same.

apart = BGMM(3, random_state=0).fit(expression, X_beta=binding)
print("largest difference:", abs(apart.memberships_ - joint.memberships_).max())

# %%
# How many clusters
# -----------------
# The model has a likelihood, and four criteria that charge for its parameters: AIC, AIC3, BIC and ICL, which also
# charges for doubt between the clusters. All four find the three groups. Mixtures with too many components converge
# slowly, so the tolerance is larger here.

sizes = range(1, 7)
fits = [BGMM(K, beta_features=[1], tol=1e-6, random_state=0).fit(genes) for K in sizes]
scores = {name.upper(): [getattr(fit, name)(genes) for fit in fits] for name in ("aic", "aic3", "bic", "icl")}
best = {name: sizes[int(np.argmin(values))] for name, values in scores.items()}
display = IndexCurvesDisplay(sizes, scores, best=best, senses=dict.fromkeys(scores, "min")).plot()

# %%
# When it fails
# -------------
# Within a cluster the two views must be independent. Here they are not: in both groups genes of higher expression
# also bind more often, so that each group is a curved band. The beta-Gaussian mixture explains the dependence by a
# cluster of low values and one of high values, and cuts both bands. If views depend on each other, transform the
# proportions to log odds and fit a :class:`~soft_clustering.GMM` with full covariances.

rng = np.random.default_rng(0)
group = np.repeat([0, 1], 250)
common = rng.normal(0, 1.5, 500)
level = common + np.array([-1.2, 1.2])[group] + rng.normal(0, 0.3, 500)
log_odds = common - np.array([-1.2, 1.2])[group] + rng.normal(0, 0.3, 500)
dependent = np.column_stack([level, 1 / (1 + np.exp(-log_odds))])

cut = BGMM(2, beta_features=[1], tol=1e-6, random_state=0).fit(dependent)
followed = GMM(2, n_init=5, random_state=0).fit(np.column_stack([level, log_odds]))

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True)
MembershipScatterDisplay.from_memberships(cut.memberships_, dependent, ax=axes[0]).legend_.remove()
MembershipScatterDisplay.from_memberships(followed.memberships_, dependent, ax=axes[1])
axes[0].set(xlabel="expression", ylabel="binding probability", title="BGMM cuts the bands")
axes[1].set(xlabel="expression", ylabel="", title="GMM on the log odds follows them")
