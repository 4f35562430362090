"""Reports: a comparison of models as one HTML file that opens anywhere, without a network.

:func:`compare` fits the models and writes the report. :func:`summarize` makes plain data of a benchmark's runs,
:func:`write` a file of them.
"""

from .comparison import compare
from .html import render, write
from .summary import summarize

__all__ = ["compare", "render", "summarize", "write"]
