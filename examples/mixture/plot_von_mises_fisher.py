"""
VonMisesFisherMixture: clusters of directions
=============================================

Of a text it matters which words it uses, not how many; of an embedding, where it points. The mixture of von
Mises-Fisher distributions divides each sample by its length and looks for clusters on the unit sphere. Take it for
tf-idf, embeddings, spectra and other profiles.
"""

# %%
# Lengths that say nothing
# ------------------------
# Samples of three kinds: the kind decides the direction, and the length is random. In the plane they form three bundles
# of rays. Fuzzy c-means looks at positions: it puts the short samples of all kinds together and cuts the bundles. The
# mixture follows the bundles to the origin.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import FCM, VonMisesFisherMixture
from soft_clustering.plotting import MembershipScatterDisplay, cluster_colors

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 150)
angle = np.array([0.25, 1.1, 2.4])[y] + rng.normal(0, 0.14, 450)
X = rng.gamma(1.5, 2.0, (450, 1)) * np.column_stack([np.cos(angle), np.sin(angle)])

vmf = VonMisesFisherMixture(3, random_state=0).fit(X)
fcm = FCM(3, random_state=0).fit(X)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharex=True, sharey=True)
for ax, model in zip(axes, (fcm, vmf), strict=True):
    display = MembershipScatterDisplay.from_estimator(model, X, ax=ax, s=10)
    if model is fcm:
        display.legend_.remove()
    agreement = adjusted_rand_score(y, model.labels_)
    ax.set(title=f"{type(model).__name__}: Rand index {agreement:.2f}", aspect="equal", xlabel="x", ylabel="y")

# %%
# The density over the directions
# -------------------------------
# On the circle each component is a bump around its mean direction: narrow if its concentration is large. By default
# all components share one concentration. If the clusters have different widths, ``concentration="free"`` gives each its
# own; BIC says whether that is worth the parameters.

spread = np.array([0.05, 0.3, 0.6])
angle = np.array([-1.6, 0.0, 1.8])[y] + rng.normal(0, 1, 450) * spread[y]
rays = np.column_stack([np.cos(angle), np.sin(angle)])
grid = np.linspace(-np.pi, np.pi, 721)
circle = np.column_stack([np.cos(grid), np.sin(grid)])

figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), sharey=True)
for ax, concentration in zip(axes, ("tied", "free"), strict=True):
    model = VonMisesFisherMixture(3, concentration=concentration, random_state=0).fit(rays)
    density, memberships = np.exp(model.score_samples(circle)), model.predict_memberships(circle)
    ax.hist(np.arctan2(rays[:, 1], rays[:, 0]), bins=90, range=(-np.pi, np.pi), density=True, color="0.85")
    for k, color in enumerate(cluster_colors(3)):
        kappa = model.concentrations_[k]
        ax.plot(grid, density * memberships[:, k], color=color, label=f"$\\kappa$ = {kappa:.1f}")
    ax.set(title=f"{concentration}: BIC {model.bic(rays):.0f}", xlabel="angle", xticks=[-np.pi, 0, np.pi])
    ax.set_xticklabels([r"$-\pi$", "0", r"$\pi$"])
    ax.legend()
axes[0].set_ylabel("density")

# %%
# Texts
# -----
# Short texts of four subjects, some of them mixed. Their tf-idf rows are sparse and stay so. The words of largest
# weight in ``centers_`` say what a cluster is about. In many features the memberships are nearly hard, as the
# concentration that fits is large; a smaller one, given as a number, shows which texts lie between two subjects.

from sklearn.feature_extraction.text import TfidfVectorizer

subjects = {
    "football": "goal match team league coach player cup season referee stadium",
    "politics": "vote party election minister law parliament seat budget campaign reform",
    "cooking": "salt butter oven recipe onion flour garlic pan sauce bake",
    "computers": "software code network data server memory file user program disk",
}
words = [line.split() for line in subjects.values()]
texts, kinds, lengths = [], [], []
for i in range(240):
    first, second = rng.choice(4, 2, replace=False)
    n_words, part = rng.integers(4, 40), 0.5 if i % 12 == 0 else 0.95
    drawn = [words[first if rng.uniform() < part else second][rng.integers(10)] for _ in range(n_words)]
    texts.append(" ".join(drawn))
    kinds.append(4 if part == 0.5 else first)
    lengths.append(n_words)
mixed, lengths = np.array(kinds) == 4, np.array(lengths)

vectorizer = TfidfVectorizer()
tfidf = vectorizer.fit_transform(texts)
hard = VonMisesFisherMixture(4, random_state=0).fit(tfidf)
soft = VonMisesFisherMixture(4, concentration=5.0, random_state=0).fit(tfidf)
vocabulary = vectorizer.get_feature_names_out()
for k, center in enumerate(hard.centers_):
    print(f"cluster {k}:", *vocabulary[np.argsort(-center)[:5]])

figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), sharey=True)
for ax, model in zip(axes, (hard, soft), strict=True):
    most = model.memberships_.max(axis=1)
    ax.scatter(most[~mixed], lengths[~mixed], s=12, color="0.6", label="one subject")
    ax.scatter(most[mixed], lengths[mixed], s=24, color="C3", label="two subjects")
    ax.set(xlabel="largest membership", title=f"concentration {model.concentrations_[0]:.0f}", xlim=(0.4, 1.02))
axes[0].set(ylabel="words in the text")
axes[0].legend(loc="upper left")

# %%
# When it fails
# -------------
# Two clusters that lie behind each other, as seen from the origin, have the same direction. Fuzzy c-means tells them
# apart; the mixture of directions sees one bundle, in which there is nothing to find. Moving the origin changes all
# directions, so centring the data is no harmless step here.

behind = np.concatenate([rng.normal([2, 2], 0.35, (150, 2)), rng.normal([6, 6], 0.7, (150, 2))])
which = np.repeat([0, 1], 150)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharex=True, sharey=True)
for ax, model in zip(axes, (FCM(2, random_state=0), VonMisesFisherMixture(2, random_state=0)), strict=True):
    display = MembershipScatterDisplay.from_estimator(model.fit(behind), behind, ax=ax, s=12)
    if ax is axes[0]:
        display.legend_.remove()
    agreement = adjusted_rand_score(which, model.labels_)
    ax.plot(0, 0, "k+", markersize=10)
    ax.set(
        title=f"{type(model).__name__}: Rand index {agreement:.2f}", xlim=(-0.5, 8.5), ylim=(-0.5, 8.5), aspect="equal"
    )
