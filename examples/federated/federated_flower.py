"""
FeMIFuzzy over Flower: clients on other machines
================================================

Four clinics, whose rows never leave them, find common clusters of patients in Flower's simulation. On several machines
the two apps are the same: ``load`` then reads the clinic's own file, and ``keep`` writes the memberships of its
patients beside it.

The script needs Flower with its simulation, ``pip install "flwr[simulation]>=1.21"``, and is not run for this page:
run it yourself by ``python examples/federated/federated_flower.py``. It prints the common centres, how many numbers
the server saw, and the difference from a fit in one process.
"""

import os

# set before Flower is imported, so that neither package sends usage reports
os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np

try:
    from flwr.serverapp import ServerApp
    from flwr.simulation import run_simulation
except ImportError:
    raise SystemExit('This example needs Flower with its simulation: pip install "flwr[simulation]>=1.21"') from None

from soft_clustering import FeMIFuzzy
from soft_clustering.federated.flower import fit_over_grid, make_client_app

WEEKS = [f"week {j}" for j in range(1, 7)]
SIZES = (150, 80, 60, 200)


def rows_of(clinic: int) -> np.ndarray:
    """Six weekly measurements of a clinic's patients, who get better, get worse, or relapse; a fifth is missing."""
    rng = np.random.default_rng(clinic)
    time = np.linspace(0, 1, 6)
    courses = 5 * np.array([time, 1 - time, np.sin(np.pi * time)])
    X = courses[rng.choice(3, SIZES[clinic], p=np.roll([0.6, 0.2, 0.2], clinic))]
    X = X + rng.standard_normal(X.shape)
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    return X


def load(context):
    """What a client works on: its rows and the names of their features."""
    return rows_of(context.node_config["partition-id"]), WEEKS


def keep(context, memberships):
    """What a client does with the memberships of its rows; here, it would save them."""


client_app = make_client_app(load, keep)
server_app = ServerApp()
fitted = []


@server_app.main()
def server(grid, context):
    fitted.append(fit_over_grid(FeMIFuzzy(n_clusters=3, random_state=0), grid, n_clients=len(SIZES), timeout=300))


def main() -> None:
    run_simulation(server_app, client_app, num_supernodes=len(SIZES))
    (model,) = fitted
    print("centres, week by week:")
    print(model.centers_.round(2))
    numbers = sum(fit.centers.size + fit.mass.size for fit in model.messages_["fits"])
    print(f"numbers that the server saw in the second round: {numbers}, of {6 * sum(SIZES)} that the clinics have")
    here = FeMIFuzzy(n_clusters=3, random_state=0).fit([rows_of(c) for c in range(len(SIZES))], feature_names=WEEKS)
    difference = np.abs(model.centers_ - here.centers_).max()
    print(f"largest difference of a centre from a fit in one process: {difference:.3g}")


if __name__ == "__main__":
    main()
