"""Doctests of estimators that need an extra run where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["soft_clustering/deep/*"]
