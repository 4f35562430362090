"""Doctests of estimators that need an extra run where it is installed; missing kernels are nothing to warn of here."""

import os
from importlib.util import find_spec

from soft_clustering._registry import REGISTRY

os.environ.setdefault("SOFT_CLUSTERING_NO_KERNEL_WARNING", "1")
_DEEP = [f"src/{row.module.replace('.', '/')}.py" for row in REGISTRY if row.extra == "deep"]
collect_ignore_glob = [] if find_spec("torch") else ["src/soft_clustering/deep/*", *_DEEP]
