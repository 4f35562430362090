"""Reports: a comparison of models as one HTML file that opens anywhere, without a network.

:func:`compare` fits the models and writes the report. :func:`summarize_comparison` turns the runs of a benchmark into
plain data, and :func:`write` turns these into the file.
"""

from .comparison import compare
from .html import render, write
from .summary import summarize_comparison

__all__ = ["compare", "render", "summarize_comparison", "write"]
