"""What the pages show of the records. Each part is a function that returns Markdown, or draws a picture.

A page of the documentation shows a part with the directive ``recorded`` or ``recorded-picture`` and its name. The
README has the table of :func:`speed.short` between two marks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from benchmarks.pages import guide, quality, scale, speed

PARTS: dict[str, Callable[[], str]] = {
    part.__name__: part
    for part in (
        *(speed.highlights, speed.default_fits, speed.units),
        *(speed.fastest_peers, speed.peers, speed.further_packages, speed.packages),
        *(quality.paper_protocol, quality.tables, quality.best_radius, quality.few_labels, quality.documents),
        quality.categories,
        *(quality.communities, quality.planted_communities, quality.lfr_communities, quality.methods_of_graphs),
        quality.shading,
        *(scale.whole_fits, scale.passes, scale.scheduler, scale.graphs, scale.whole_graphs),
        *(guide.intervals, guide.explanation_cost, guide.sampled_measures, guide.choose_k_mixed, guide.report_size),
        *(guide.choose_k, guide.choose_k_tables, guide.choose_k_others, guide.choose_k_graphs),
        *(
            guide.missing_values,
            guide.missing_cost,
            guide.noise_clusters,
            guide.noise_on_clean_data,
            guide.mixtures_and_outliers,
            guide.directions,
        ),
        guide.dissimilarities,
        *(guide.hierarchy_degrees, guide.hierarchy_labels),
    )
}
PICTURES: dict[str, Callable[[], Any]] = {
    picture.__name__: picture for picture in (speed.speedups, quality.heat_map, scale.by_rows, scale.by_samples)
}

BEGIN, END = "<!-- made by python -m benchmarks write -->", "<!-- end -->"


def with_table(readme: str) -> str:
    """The README with its table as the records give it."""
    made = f"{BEGIN}\n\n{speed.short()}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: made, readme, flags=re.DOTALL)
