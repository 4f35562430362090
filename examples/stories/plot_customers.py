"""
Customer segmentation, from CSV to report
=========================================

A shop wants to know which kinds of customers it has. Its export is as exports are: semicolons between the cells, commas
in the numbers, dates, categories, gaps and an id. This story reads the file, chooses the number of segments, says in
plain words what each segment is, finds the customers who stand between two of them, and writes a report that can be
sent to others.
"""

# %%
# The export
# ----------
# This cell writes such a file, so that the story can be run anywhere. Four kinds of customers are behind it: young
# bargain hunters, families, elderly regulars and small firms. The file does not say who is who.

import tempfile
from pathlib import Path

import numpy as np
import pandas

rng = np.random.default_rng(0)
kind = rng.choice(4, 900, p=[0.35, 0.3, 0.2, 0.15])  # hunters, families, regulars, firms
spend = np.array([300, 900, 550, 3800])[kind] * rng.lognormal(0, 0.5, 900)
returned = 100 * rng.beta(np.array([5, 3, 1, 1])[kind], np.array([14, 17, 24, 30])[kind])
days = rng.gamma(5, np.array([70, 150, 600, 300])[kind]).round()
online = rng.random(900) < np.array([0.95, 0.9, 0.3, 0.95])[kind]
mobile = rng.random(900) < np.array([0.8, 0.3, 0.2, 0.02])[kind]

export = pandas.DataFrame(
    {
        "customer_id": rng.permutation(900) + 10_001,
        "country": "DE",
        "age": (np.array([27, 42, 66, 46])[kind] + rng.normal(0, 9, 900)).clip(18, 95).round(),
        "spend (EUR)": spend.round(2),
        "orders": rng.poisson(np.array([14, 9, 4, 20])[kind]) + 1,
        "returned (%)": returned.round(1),
        "channel": np.where(online, np.where(mobile, "app", "web"), "store"),
        "city": rng.choice(["Köln", "Münster", "Bonn", "Aachen"], 900),
        "since": pandas.Timestamp("2026-01-01") - pandas.to_timedelta(days, unit="D"),
    }
)
for column, share in {"age": 0.06, "spend (EUR)": 0.04, "channel": 0.05}.items():
    export.loc[rng.random(900) < share, column] = None

folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "customers.csv")
export.to_csv(path, sep=";", decimal=",", date_format="%d.%m.%Y", encoding="cp1252", index=False)
print(*path.read_text("cp1252").splitlines()[:5], sep="\n")

# %%
# Reading and preparing
# ---------------------
# ``read_table`` recognises the encoding, the separator and the decimal comma. ``prepare`` decides what each column is
# and makes features of them. Both say in sentences what they did: here a misunderstanding would show.
#
# The segments shall be kinds of behaviour, so the channel and the city take no part in finding them. They come back
# later, when the segments are described.

from soft_clustering import prepare
from soft_clustering.inputs import read_table

customers = read_table(path)
print(*(note.replace(f"{path}", path.name) for note in customers.attrs["notes"]), sep="\n")
customers = customers.set_index("customer_id")
preparation = prepare(customers, drop=["channel", "city"])
X = preparation.transform(customers)
print(*preparation.notes_, sep="\n")
print("features:", *preparation.get_feature_names_out(), sep="\n  ")

# %%
# How many segments?
# ------------------
# Fuzzy c-means is fitted with two to eight segments, and three criteria judge the results. They need not agree;
# ``recommended`` follows the one that is right most often (see :doc:`/guide/selection`).

from soft_clustering import FCM
from soft_clustering.selection import choose_n_clusters

criteria = ["gaussian_bic", "calinski_harabasz", "modified_partition_coefficient"]
choice = choose_n_clusters(FCM(n_init=10), X, range(2, 9), criteria=criteria, random_state=0)
K = choice.recommended
choice.plot()
print(f"K = {K}: {choice.reason}")

# %%
# Three models of the same customers
# ----------------------------------
# K-means is what most segmentations are made with: every customer is in one segment, and nothing says how surely. Fuzzy
# c-means has the same round segments with degrees. A Gaussian mixture lets each segment have its own size and spread,
# which fits here: firms differ much more in their spending than bargain hunters do. Fuzzy c-means leaves many customers
# undecided, since it measures all segments with the same yardstick.
#
# The picture shows the customers along the two directions in which they differ most. All models start from the same
# centres, so their colours match.

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from soft_clustering import GMM
from soft_clustering.plotting import MembershipScatterDisplay

fcm = choice.estimators[K]
kmeans = KMeans(K, init=fcm.centers_, n_init=1).fit(X)
gmm = GMM(K, covariance_type="diag", means_init=fcm.centers_, random_state=0).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), sharex=True, sharey=True)
models = {"k-means": np.eye(K)[kmeans.labels_], "FCM": fcm.memberships_, "GMM": gmm.memberships_}
for ax, (name, memberships) in zip(axes, models.items(), strict=True):
    MembershipScatterDisplay.from_memberships(memberships, X, ax=ax)
    ax.set_title(f"{name}: {(memberships.max(axis=1) < 0.8).mean():.0%} of the customers below 0.8")
for ax in axes[:2]:
    ax.get_legend().remove()

# %%
# We made these customers, so we can look at the answer: how well do the segments agree with the four kinds? (1 is
# perfect, 0 is chance.) A real shop cannot do this and decides by what the segments mean.

from sklearn.metrics import adjusted_rand_score

for name, memberships in models.items():
    print(f"{name:8s}{adjusted_rand_score(kind, memberships.argmax(axis=1)):.2f}")

# %%
# What the segments are
# ---------------------
# :func:`~soft_clustering.explanation.explain` describes the clusters of a model by its features. Here the channel and
# the city shall be described, too, so the function for any table and any memberships is called. It speaks in the
# units of the file: years, euros, dates. A bar says by how many standard deviations the mean of a segment differs
# from all others, and its whisker is the 95 % interval. The planted kinds are easy to recognise. The model has never
# seen the channel, but the segments differ in it; they do not differ in the city.

from textwrap import fill

from soft_clustering.explanation import explain_memberships

table = customers.assign(since=pandas.to_datetime(customers["since"], format="%d.%m.%Y"))
explanation = explain_memberships(gmm.memberships_, table)
explanation.plot(n_top=4)
print(*(fill(sentence, 90) for sentence in explanation.sentences), sep="\n\n")

# %%
# The customers in between
# ------------------------
# A hard segmentation would put these customers into one segment and send them the wrong letter half of the time. Their
# shares say which two segments they stand between: either letter may fit, or a neutral one.

shares = pandas.DataFrame(gmm.memberships_, index=customers.index).add_prefix("segment ")
between = shares.max(axis=1).nsmallest(8).index
print(customers.loc[between, ["age", "spend (EUR)", "orders"]].join(shares.round(2)).to_string())

# %%
# Keep the model, use it tomorrow
# -------------------------------
# The pipeline holds the preparation and the mixture. A ``.skops`` file of it holds data only, no code, and can be
# loaded without trust in its sender. A new customer comes as a row of the same table, gaps included.

from sklearn.pipeline import make_pipeline

from soft_clustering.saving import load_model, save_model

save_model(Path(folder.name, "segments.skops"), make_pipeline(preparation, gmm))
again = load_model(Path(folder.name, "segments.skops"))
new = customers.iloc[:1].assign(**{"age": 31, "spend (EUR)": np.nan, "orders": 17})
print("shares of the new customer:", again.predict_proba(new)[0].round(2))

# %%
# A report for everyone else
# --------------------------
# ``report.compare`` fits several models, each in a process of its own, and writes one HTML file that needs no network:
# which model to take and why, the profiles of its segments, the customers about whom the models disagree, and how each
# model ended. A model that fails is a line in the report: the last one is refused, since a fuzzifier must be larger
# than 1.
#
# The recommendation knows only the data, not the four kinds. It names a second opinion and the customers about whom the
# two differ: look at these before you decide.

from soft_clustering import report

features = pandas.DataFrame(X, columns=preparation.get_feature_names_out(), index=customers.index)
summary = report.compare(
    {
        "k-means": KMeans(K),
        "FCM": FCM(K),
        "GMM": GMM(K, covariance_type="diag", n_init=3),
        "FCM, m = 0.5": FCM(K, m=0.5),
    },
    features,
    path=Path(folder.name, "report.html"),
    name="customers",
    verbose=0,
)
print(f"report.html: {Path(folder.name, 'report.html').stat().st_size / 1e6:.1f} MB")
for row in summary["models"]:
    print(f"{row['name']:14s}{row['status']:8s}{row.get('reason') or ''}")
advice = summary["recommendation"]
print(fill(advice["reason"], 90))
second = summary["models"][advice["second"]]["name"]
print(f"Second opinion: {second}, which differs about {advice['n_differ']} of {len(customers)} customers.")

# %%
# The command line makes the same report from the file itself, with the preparation included:
#
# .. code-block:: sh
#
#    soft-clustering compare customers.csv --id customer_id --report report.html

# %%
# When it fails
# -------------
# Fuzzy c-means and k-means rest on the preparation. Without scaling, the columns with the largest numbers decide alone,
# which are the euros and the days. Then age and returns, which tell bargain hunters from families and regulars, do not
# count: the bargain hunters and most families become one segment.

raw = prepare(customers, drop=["channel", "city"], scale="none")
numbers = raw.transform(customers)
unscaled = FCM(K, init=numbers[fcm.memberships_.argmax(axis=0)]).fit(numbers)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, {"Not scaled": unscaled, "Scaled": fcm}.items(), strict=True):
    MembershipScatterDisplay.from_memberships(model.memberships_, numbers[:, [0, 3]], ax=ax)
    ax.set(xlabel="age", ylabel="returned (%)")
    ax.set_title(f"{name}: agreement with the four kinds {adjusted_rand_score(kind, model.labels_):.2f}")
axes[0].get_legend().remove()

folder.cleanup()
