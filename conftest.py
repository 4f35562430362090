"""Settings of every test process.

Doctests of estimators that need an extra run only if it is installed; missing kernels give no warning; and the workers
of pytest-xdist share the cores.
"""

import os
from importlib.util import find_spec

from soft_clustering._registry import REGISTRY

# Threads of several workers on one core wait for each other in busy loops. Libraries read this when they are loaded;
# the tests of threads ask for as many as they need.
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
if _WORKERS > 1:
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // _WORKERS)))
os.environ.setdefault("SOFT_CLUSTERING_NO_KERNEL_WARNING", "1")
_DEEP = [f"src/{row.module.replace('.', '/')}.py" for row in REGISTRY if row.extra == "deep"]
collect_ignore_glob = [] if find_spec("torch") else ["src/soft_clustering/deep/*", *_DEEP]
