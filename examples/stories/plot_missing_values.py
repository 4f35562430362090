"""
Rows with gaps: cluster what is there
=====================================

A table with missing values need not be imputed first. Methods that take NaN compare a row by the values that it has,
and give memberships to incomplete rows, old and new.
"""

# %%
# More and more values are missing
# --------------------------------
# Values of the wine data are removed at random, more and more of them. ``FCM`` and ``GMM`` take the rows as they are;
# beside them the same methods after each gap is filled with the mean of its column. The curves are means of five draws.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from soft_clustering import FCM, GMM

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
models = {
    "FCM": FCM(3, random_state=0),
    "GMM": GMM(3, covariance_type="diag", reg_covar=1e-3, n_init=3, random_state=0),
}


def with_gaps(share, draw):
    """The rows without some of their values; the first rows keep theirs."""
    holes = np.random.default_rng(draw).uniform(size=X.shape) < share
    holes[:2] = False
    return np.where(holes, np.nan, X)


def agreement(model, fill):
    """Mean agreement with the three cultivars, for each share of missing values."""
    means = []
    for share in shares:
        draws = [with_gaps(share, draw) for draw in range(5)]
        tables = [SimpleImputer().fit_transform(rows) for rows in draws] if fill else draws
        means.append(np.mean([adjusted_rand_score(wine.target, model.fit(rows).labels_) for rows in tables]))
    return means


figure, ax = plt.subplots(figsize=(7, 4.5))
for color, (name, model) in zip(("C0", "C1"), models.items(), strict=True):
    ax.plot(shares, agreement(model, fill=False), "o-", color=color, label=f"{name}, rows with gaps")
    ax.plot(shares, agreement(model, fill=True), "o--", color=color, alpha=0.6, label=f"{name}, gaps filled with means")
ax.set(xlabel="share of missing values", ylabel="adjusted Rand index", ylim=(0, 1))
ax.legend(loc="lower left")

# %%
# What is known of a row decides
# ------------------------------
# A wine of which fewer and fewer values are known: its memberships become less sure, and those of a row without any
# value are equal.

model = FCM(3, random_state=0).fit(with_gaps(0.3, 0))
row = X[141]
names, bars = [], []
for known in (13, 6, 3, 1, 0):
    part = np.where(np.arange(13) < known, row, np.nan)
    names.append(f"{known} values")
    bars.append(model.predict_memberships(part[None])[0])

figure, ax = plt.subplots(figsize=(7, 3))
left = np.zeros(len(bars))
for k in range(3):
    width = np.array(bars)[:, k]
    ax.barh(names, width, left=left, label=f"cluster {k}")
    left += width
ax.invert_yaxis()
ax.set_xlabel("membership")
ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.2))
plt.show()
