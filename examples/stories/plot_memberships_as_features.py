"""
Memberships as features in GridSearchCV
=======================================

A soft clusterer is a transformer: its memberships can be the features of a simple classifier or regressor, and the
number of clusters is a parameter that a grid search tunes. This story measures on two data sets what that is worth,
beside the raw features and beside hard clusters.
"""

# %%
# A pipeline with clusters inside
# -------------------------------
# The first data set has ten measurements of 442 diabetes patients and the progress of their disease a year later. A
# ridge regression sees either the measurements themselves, or the memberships of the patients in K clusters, or only
# the cluster of each patient as zeros and ones. The clusterer is a step of the pipeline, so every fold of the
# cross-validation fits its own clusters and the memberships of its test rows are predicted.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import ScalarFormatter
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from soft_clustering import FCM


def harden(memberships):
    """Replace the memberships of each sample by 1 for its cluster and 0 for the others."""
    return np.eye(memberships.shape[1])[memberships.argmax(axis=1)]


def search(features, last_step, n_clusters, cv=5):
    """Return a grid search over the number of clusters, for soft or hard features."""
    middle = {"soft": "passthrough", "hard": FunctionTransformer(harden)}[features]
    clusters = FCM(n_init=1, tol=1e-2, random_state=0)  # features need no exact optimum
    steps = [("clusters", clusters), ("features", middle), ("model", last_step)]
    return GridSearchCV(Pipeline(steps), {"clusters__n_clusters": n_clusters}, cv=cv)


X, y = load_diabetes(return_X_y=True)
folds = KFold(5, shuffle=True, random_state=0)
numbers = [2, 3, 5, 8, 12, 20]
searches = {features: search(features, Ridge(0.1), numbers, folds).fit(X, y) for features in ("soft", "hard")}
raw = cross_val_score(Ridge(0.1), X, y, cv=folds).mean()

# %%
# Diabetes: soft is better than hard, raw is better than both
# -----------------------------------------------------------
# With few clusters the memberships say much more than the labels: a patient between two clusters gets a prediction
# between theirs. But the progress of the disease depends on the measurements nearly linearly, and a linear model of the
# measurements themselves is hard to beat.


def draw(ax, searches, raw, unit):
    """Draw the mean score of the folds over the number of clusters."""
    for (features, found), marker in zip(searches.items(), "os", strict=True):
        scores = found.cv_results_["mean_test_score"]
        tried = [setting["clusters__n_clusters"] for setting in found.cv_results_["params"]]
        ax.plot(tried, scores, marker=marker, label=f"{features} clusters")
    ax.axhline(raw, color="0.4", linestyle="--", label="raw features")
    ax.set_xscale("log", base=2)
    ax.set_xticks(tried)
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.minorticks_off()
    ax.set(xlabel="number of clusters K", ylabel=f"{unit}, mean of the folds")
    ax.legend()


figure, ax = plt.subplots(figsize=(7, 4.2))
draw(ax, searches, raw, "R²")
best = {features: found.best_score_ for features, found in searches.items()}
ax.set_title(f"Diabetes: raw {raw:.2f}, soft {best['soft']:.2f}, hard {best['hard']:.2f}")

# %%
# The best K was chosen by the same folds that measured it, so these figures flatter the clusters a little. A search
# inside an outer cross-validation is free of that:

for features in ("soft", "hard"):
    outer = KFold(5, shuffle=True, random_state=1)
    nested = cross_val_score(search(features, Ridge(0.1), numbers, cv=3), X, y, cv=outer)
    print(f"{features} clusters: R² {nested.mean():.2f} +- {nested.std():.2f} over the outer folds")
nested = cross_val_score(Ridge(0.1), X, y, cv=outer)
print(f"raw features:  R² {nested.mean():.2f} +- {nested.std():.2f}")

# %%
# Digits: clusters are better than raw, soft hardly better than hard
# ------------------------------------------------------------------
# A linear classifier of the 64 grey levels of a digit is too simple: a seven with a bar and a seven without one need
# different weights. Many small clusters give each style of writing its own weight. Half of the images are held
# out for the figures in the title, and the grid search sees the others only.

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
numbers = [10, 20, 40, 80, 120]
searches = {
    features: search(features, RidgeClassifier(), numbers, cv=3).fit(X_train, y_train) for features in ("soft", "hard")
}
raw = cross_val_score(RidgeClassifier(), X_train, y_train, cv=3).mean()
held_out = {features: found.score(X_test, y_test) for features, found in searches.items()}
held_out["raw"] = RidgeClassifier().fit(X_train, y_train).score(X_test, y_test)

figure, ax = plt.subplots(figsize=(7, 4.2))
draw(ax, searches, raw, "accuracy")
ax.set_title("Digits, held-out images: " + ", ".join(f"{name} {score:.1%}" for name, score in held_out.items()))

# %%
# In 64 features the fuzzifier is near 1, for a reason that the next section shows, and memberships are close to 0 and
# 1: soft and hard features are nearly the same. The grid took the largest K that it was offered, so more clusters may
# do even better.

for features, found in searches.items():
    print(f"{features}: K = {found.best_params_['clusters__n_clusters']}")

# %%
# When it fails
# -------------
# In 64 features all distances are alike, and a fuzzifier of 2 makes all memberships alike, too: they approach 1 / K and
# hold no information. The default ``m="auto"`` of :class:`~soft_clustering.FCM` falls with the number of features.
# Whoever sets ``m`` should search over it as well and read the warnings, of which the last is printed here.
# :class:`~soft_clustering.GMM` is another way out: its memberships have no fuzzifier.

fuzzifiers = [1.05, 1.2, 1.35, 1.5, 1.7]
accuracies, largest = [], []
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for m in fuzzifiers:
        clusters = FCM(40, m=m, n_init=1, tol=1e-2, random_state=0).fit(X_train)
        classifier = RidgeClassifier().fit(clusters.memberships_, y_train)
        accuracies.append(classifier.score(clusters.transform(X_test), y_test))
        largest.append(clusters.memberships_.max(axis=1).mean())
print(caught[-1].message)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharex=True)
axes[0].plot(fuzzifiers, accuracies, marker="o")
axes[1].plot(fuzzifiers, largest, marker="o")
axes[1].axhline(1 / 40, color="0.4", linestyle="--", label="1 / K")
axes[1].legend()
axes[0].set(title="Accuracy falls when m is too large", ylabel="accuracy, K = 40")
axes[1].set(title="because all memberships become equal", ylabel="mean of the largest membership")
for ax in axes:
    ax.set_xlabel("fuzzifier m")
    ax.set_ylim(0, 1.02)
