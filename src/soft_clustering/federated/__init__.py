"""Federated clustering: clients keep their rows, a server sees summaries."""

from .protocol import (
    Aggregate,
    Fit,
    Plan,
    Settings,
    Summary,
    client_fit,
    client_project,
    client_score,
    client_summary,
    server_aggregate,
    server_plan,
)

__all__ = [
    "Aggregate",
    "Fit",
    "Plan",
    "Settings",
    "Summary",
    "client_fit",
    "client_project",
    "client_score",
    "client_summary",
    "server_aggregate",
    "server_plan",
]
