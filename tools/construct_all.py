"""Import, construct and clone every estimator of the registry, from the installed package.

Run it outside the checkout: ``python path/to/tools/construct_all.py``.
"""

from __future__ import annotations

import sys

from sklearn.base import clone

import soft_clustering
from soft_clustering._registry import REGISTRY


def construct(name: str) -> str:
    """Return the text form of the estimator ``name`` made without arguments, after cloning it."""
    estimator = getattr(soft_clustering, name)()
    copy = clone(estimator)
    if type(copy) is not type(estimator) or copy.get_params().keys() != estimator.get_params().keys():
        raise TypeError(f"clone made {copy!r} of {estimator!r}")
    return str(estimator)


def main() -> int:
    print(f"soft_clustering from {soft_clustering.__file__}")
    if not REGISTRY:
        print("FAILED: the registry is empty", file=sys.stderr)
        return 1
    failed = 0
    for row in REGISTRY:
        try:
            print(f"ok      {row.name:16} {row.module:40} {construct(row.name)}")
        except Exception as error:  # whatever goes wrong, the other estimators are tried as well
            failed += 1
            print(f"FAILED  {row.name:16} {row.module:40} {type(error).__name__}: {error}", file=sys.stderr)
    print(f"{len(REGISTRY) - failed} of {len(REGISTRY)} estimators constructed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
