"""Tempering of probabilistic latent semantic indexing: on short texts, maximum likelihood learns the texts by heart.

Run ``python examples/plot_plsi.py [picture.png]``; without a file name a window opens.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from soft_clustering import PLSI
from soft_clustering.datasets import make_topic_corpus

K = 6


def perplexity(model: PLSI, read: np.ndarray, scored: np.ndarray) -> float:
    """The perplexity of some words, given shares that come from the others."""
    probabilities = model.predict_memberships(read) @ model.topic_word_
    known = model.topic_word_.any(axis=0)
    logs = np.log(np.maximum(probabilities[:, known], 1e-12))
    return float(np.exp(-(scored[:, known] * logs).sum() / scored[:, known].sum()))


def main() -> None:
    corpus = make_topic_corpus(2400, K, vocabulary_size=400, document_length=12, beta=0.1, random_state=0)
    counts = corpus.counts.toarray()
    train, new = counts[:1600], counts[1600:]
    read = np.random.default_rng(0).binomial(new, 0.5)

    betas = np.round(np.arange(0.4, 1.001, 0.05), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # below 0.6 all topics are the same, and PLSI says so
        fits = [PLSI(K, beta=beta, n_init=1, random_state=0).fit(train) for beta in betas]
    learnt = [perplexity(model, train, train) for model in fits]
    unseen = [perplexity(model, read, new - read) for model in fits]
    tempered = PLSI(K, tempered=True, random_state=0).fit(train)

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
    axes[0].plot(betas, learnt, "o-", color="tab:blue")
    axes[0].plot(betas, unseen, "o-", color="tab:red")
    axes[0].text(0.99, learnt[-1] - 20, "texts learnt from", color="tab:blue", ha="right", va="top")
    axes[0].text(0.93, unseen[-2], "unread half\nof new texts", color="tab:red", ha="right", va="center")
    axes[0].text(0.4, unseen[0] + 12, "all topics the same", color="0.3")
    axes[0].axvline(tempered.beta_, color="0.4", linestyle="--")
    axes[0].annotate(
        f"tempering stops\nat {tempered.beta_:.2f}",
        (tempered.beta_, max(unseen)),
        (5, -4),
        textcoords="offset points",
        va="center",
        color="0.3",
    )
    axes[0].set(xlabel="inverse temperature beta", ylabel="perplexity (lower is better)", title="One temperature kept")
    axes[0].set_ylim(0)

    history = np.exp(-tempered.validation_history_)
    axes[1].plot(np.arange(1, len(history) + 1), history, color="tab:purple")
    best = int(history.argmin())
    axes[1].plot(best + 1, history[best], "*", markersize=14, color="gold", markeredgecolor="black", label="best")
    axes[1].set(xlabel="pass", ylabel="perplexity of held-out words", title="The schedule: when it rises, beta falls")
    axes[1].legend()

    shares = {
        "planted": (corpus.document_topics[:1600], "0.75"),
        "beta = 1": (fits[-1].memberships_, "tab:blue"),
        f"tempered, beta = {tempered.beta_:.2f}": (tempered.memberships_, "tab:purple"),
    }
    for label, (memberships, color) in shares.items():
        filled = color == "0.75"
        axes[2].hist(
            memberships.max(axis=1),
            bins=np.linspace(1 / K, 1, 21),
            histtype="stepfilled" if filled else "step",
            color=color,
            linewidth=1.8,
            label=label,
        )
    axes[2].set(xlabel="largest share of a text", ylabel="texts", title="Tempered shares are softer")
    axes[2].legend(loc="upper left")
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
