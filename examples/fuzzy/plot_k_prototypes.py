"""
FuzzyKPrototypes: tables of numbers and categories
==================================================

A mean of the words *card* and *cash* does not exist, but shares of them do. Fuzzy k-prototypes describes a cluster by
the means of the numbers and by the shares of the categories of each column. Take it for tables of categories, of
categories beside numbers, and where cells of such a table are missing.
"""

# %%
# Three kinds of customers
# ------------------------
# A table has two numbers and two columns of categories; one cell in ten is missing. The data frame goes into ``fit``
# as it is: columns of text are taken as categories, numbers are scaled. The numbers alone hardly separate two of the
# groups; with the categories they come apart. The bars are ``frequencies_``: what share of each cluster pays how, and
# reads what.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, FuzzyKPrototypes, prepare
from soft_clustering.plotting import MembershipScatterDisplay

rng = np.random.default_rng(0)
group = rng.integers(3, size=300)
shares = {
    "pays": {"card": [0.8, 0.1, 0.3], "app": [0.15, 0.8, 0.1], "cash": [0.05, 0.1, 0.6]},
    "reads": {"news": [0.7, 0.1, 0.4], "sports": [0.2, 0.2, 0.5], "games": [0.1, 0.7, 0.1]},
}
customers = pd.DataFrame(
    {
        "age": np.array([34, 31, 62])[group] + rng.normal(scale=7, size=300),
        "visits": np.maximum(np.array([6, 8, 3])[group] + rng.normal(scale=2.5, size=300), 0),
        **{
            name: [rng.choice([*words], p=[share[k] for share in words.values()]) for k in group]
            for name, words in shares.items()
        },
    }
)
customers = customers.mask(rng.uniform(size=customers.shape) < 0.1)

model = FuzzyKPrototypes(3, m=1.5, random_state=0).fit(customers)
numbers = customers[["age", "visits"]].to_numpy()
there = ~np.isnan(numbers).any(axis=1)
by_numbers = FCM(3, m=1.5, random_state=0).fit(numbers[there] / numbers[there].std(axis=0))
agreement, alone = adjusted_rand_score(group, model.labels_), adjusted_rand_score(group[there], by_numbers.labels_)
figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), width_ratios=[1.6, 1, 1])
MembershipScatterDisplay.from_memberships(model.memberships_[there], numbers[there], centers=model.centers_, ax=axes[0])
axes[0].set(
    xlabel="age",
    ylabel="visits a month",
    title=f"Agreement {agreement:.2f} (numbers alone {alone:.2f})",
)
colours = plt.get_cmap("Greys")(np.linspace(0.3, 0.8, 3))
for ax, name, words, frequencies in zip(axes[1:], shares, model.categories_, model.frequencies_, strict=True):
    left = np.zeros(3)
    for word, share, colour in zip(words, frequencies.T, colours, strict=True):
        bars = ax.barh([f"cluster {k}" for k in range(3)], share, left=left, color=colour, edgecolor="white")
        labels = [word if part > 0.15 else "" for part in share]
        ax.bar_label(bars, labels, label_type="center", color="black" if colour[0] > 0.5 else "white")
        left += share
    ax.set(title=name, xlim=(0, 1), xticks=[0, 0.5, 1])
    ax.invert_yaxis()
axes[2].set_yticks([])

# %%
# Cells that are missing, words that are new
# ------------------------------------------
# A missing cell is left out: the other columns decide. A word that nobody had in the training data is not missing. It
# fits no cluster, and so it makes the memberships a little more equal.

visitors = pd.DataFrame(
    {"age": [33, 33, 33, np.nan], "visits": [6.0] * 4, "pays": ["card", None, "barter", "cash"], "reads": ["news"] * 4}
)
print(visitors.assign(**{f"cluster {k}": u for k, u in enumerate(model.predict_memberships(visitors).T.round(2))}))

# %%
# Shares or modes
# ---------------
# K-modes keeps one word of each column, the most frequent one, and forgets how frequent it is
# (``centroid="mode"``). Here three groups differ in how often they give each of four answers to twelve questions, but
# two of them often have the same most frequent answer. Modes lose the groups sooner as more answers are random.
# Fuzzy c-means on the features of :func:`~soft_clustering.prepare` finds the same as shares, as it should: indicators
# and squared distances make the two methods one.


def questionnaire(mixed, seed, n=300, questions=12):
    """Answers of three groups; ``mixed`` is the share of random answers."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    usual = rng.dirichlet(np.full(4, 0.7), size=(questions, 3))
    answers = [[rng.choice(4, p=p[k]) if rng.uniform() > mixed else rng.integers(4) for k in y] for p in usual]
    return pd.DataFrame({f"q{j}": np.array(list("abcd"))[a] for j, a in enumerate(answers)}), y


def labels_of_fcm(table):
    return FCM(3, m=1.1, random_state=0).fit(prepare(table).transform(table)).labels_


ways = {
    "shares": lambda table: FuzzyKPrototypes(3, m=1.1, random_state=0).fit(table).labels_,
    "modes": lambda table: FuzzyKPrototypes(3, m=1.1, centroid="mode", random_state=0).fit(table).labels_,
    "FCM on prepared features": labels_of_fcm,
}
levels = np.linspace(0, 0.8, 7)
found = {name: [] for name in ways}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # where nothing is left to find, prototypes coincide
    for mixed in levels:
        tables = [questionnaire(mixed, seed) for seed in range(5)]
        for name, labels in ways.items():
            found[name].append(np.mean([adjusted_rand_score(y, labels(table)) for table, y in tables]))
figure, ax = plt.subplots(figsize=(7, 4))
for (name, scores), style in zip(found.items(), ("-", "--", ":"), strict=True):
    ax.plot(levels, scores, style, color="black", marker="o", label=name)
ax.set(xlabel="share of random answers", ylabel="adjusted Rand index", ylim=(0, 1.02))
ax.legend()

# %%
# When it fails
# -------------
# All columns count alike, also those that say nothing. Left: to the twelve questions come others with random answers,
# and the agreement falls. Choose columns; nothing here does it for you. Right: categories of many columns make all
# samples nearly equally far from all prototypes, and with the customary fuzzifier of 2 all memberships are then 1/3. A
# warning says so. The default ``m="auto"`` is smaller where there are many columns and categories.

added = [0, 12, 24, 48, 96]
agreement = {}
for extra in added:
    scores = []
    for seed in range(5):
        table, y = questionnaire(0.3, seed)
        noise, _ = questionnaire(1.0, 100 + seed, questions=extra)
        both = table if not extra else pd.concat([table, noise.add_prefix("random ")], axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores.append(adjusted_rand_score(y, FuzzyKPrototypes(3, random_state=0).fit(both).labels_))
    agreement[extra] = np.mean(scores)
table, y = questionnaire(0.3, 0)
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8))
axes[0].plot(added, [*agreement.values()], color="black", marker="o")
axes[0].set(xlabel="questions with random answers", ylabel="adjusted Rand index", ylim=(0, 1.02))
axes[0].set_title("12 questions tell the groups apart")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    soft = FuzzyKPrototypes(3, m=2.0, random_state=0).fit(table)
print(caught[0].message)
auto = FuzzyKPrototypes(3, random_state=0).fit(table)
largest = [fitted.memberships_.max(axis=1) for fitted in (soft, auto)]
axes[1].hist(largest, np.linspace(0.3, 1, 15), color=["0.75", "black"], label=["m=2", f'm="auto": {auto.m_:.2f}'])
axes[1].set(xlabel="largest membership of a sample", ylabel="samples", title="Memberships by the fuzzifier")
axes[1].legend()
