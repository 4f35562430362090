"""Beta-Gaussian mixture: expression and binding probability of genes, each of which separates only some of the groups.

Run ``python examples/plot_bgmm.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from soft_clustering import BGMM, GMM

COLOURS = np.array([[0.00, 0.45, 0.70], [0.84, 0.37, 0.00], [0.00, 0.62, 0.45]])
MEANS = np.array([-2.0, 2.0, 2.0])
A, B = np.array([1.2, 1.2, 5.0]), np.array([6.0, 6.0, 1.5])


def main() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(3, 500, p=[0.45, 0.35, 0.2])
    expression, binding = rng.normal(MEANS[y]), rng.beta(A[y], B[y])
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    models = {
        "GMM, expression alone": GMM(3, n_init=5, random_state=0).fit(expression[:, None]),
        "BGMM, expression and binding": BGMM(3, random_state=0).fit(expression, X_beta=binding),
    }
    for axis, (title, model) in zip(axes, models.items(), strict=False):
        order = np.argsort([np.mean(y[model.labels_ == k]) for k in range(3)])
        axis.scatter(expression, binding, c=model.memberships_[:, order] @ COLOURS, s=12, linewidths=0)
        axis.set(xlabel="expression (Gaussian)", ylabel="binding probability (beta)")
        axis.set_title(f"{title}\nARI {adjusted_rand_score(y, model.labels_):.2f}", fontsize=10)
    axes[1].scatter(*model.centers_.T, marker="X", s=90, c=COLOURS[np.argsort(order)], edgecolors="black")
    sizes = range(1, 7)
    fits = [BGMM(k, random_state=0).fit(expression, X_beta=binding) for k in sizes]
    for name in ("aic", "aic3", "bic", "icl"):
        scores = [getattr(fit, name)(expression, X_beta=binding) for fit in fits]
        axes[2].plot(sizes, scores, marker="o", label=name.upper())
    axes[2].set_title("Criteria (smaller is better)", fontsize=10)
    axes[2].set(xlabel="components")
    axes[2].legend()
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
