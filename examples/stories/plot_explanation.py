"""What the clusters are: customers with numbers, a category, a date and missing values, explained in their own units.

``prepare`` makes features of the table; ``explain`` looks at the table itself.

Run ``python examples/plot_explanation.py [picture.png]``; without a file name a window opens.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from soft_clustering import GMM, explain, prepare


def make_customers(n: int, seed: int) -> pd.DataFrame:
    """Three groups: young city dwellers, families, and retired people who have been customers for long."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.45, 0.35, 0.2])
    city = np.where(rng.random(n) < np.array([0.7, 0.3, 0.2])[group], "Paris", rng.choice(["Lyon", "Nice", "Lille"], n))
    customers = pd.DataFrame(
        {
            "age": np.array([27, 41, 69])[group] + rng.normal(0, 5, n),
            "income": np.array([32_000, 61_000, 28_000])[group] * rng.lognormal(0, 0.2, n),
            "visits": rng.poisson(np.array([14, 6, 3])[group]),
            "city": city,
            "newsletter": rng.random(n) < np.array([0.2, 0.5, 0.4])[group],
            "since": pd.Timestamp("2024-01-01")
            - pd.to_timedelta(rng.gamma(4, np.array([90, 300, 900])[group]).round(), unit="D"),
        },
        index=[f"C{number:05d}" for number in range(n)],
    )
    customers.loc[rng.random(n) < 0.08, "income"] = np.nan
    return customers


def main() -> None:
    customers = make_customers(3000, seed=0)
    preparation = prepare(customers)
    print("\n".join(preparation.notes_), end="\n\n")
    model = make_pipeline(preparation, GMM(3, covariance_type="diag", random_state=0, n_init=3)).fit(customers)
    explanation = explain(model, customers)
    print(explanation)
    print()
    for sentence in explanation.sentences:
        print(sentence)
    figure = explanation.plot().figure_
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)
    else:
        plt.show()


if __name__ == "__main__":
    main()
