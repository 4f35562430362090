"""The index: a row per benchmark. ``python -m benchmarks`` and ``benchmarks/README.md`` show it."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.lib.markdown import table


class Benchmark(NamedTuple):
    """A benchmark; without arguments its script makes the whole record."""

    folder: str
    script: str  # without .py; also the name of the record
    question: str
    minutes: int  # on two cores
    quoted: tuple[str, ...]  # pages that show its figures

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return self.script.replace("_", "-")

    @property
    def module(self) -> str:
        """The module that is run."""
        return f"benchmarks.{self.folder}.{self.script}"


RESULTS, README, SCALING, GUIDE = "docs/results.md", "README.md", "docs/scaling.md", "docs/guide/{}.md"
BENCHMARKS = [
    Benchmark("speed", "passes", "FCM and GMM: a pass, a fit, memory, import", 1, (README, RESULTS)),
    Benchmark("speed", "default_fits", "Default fits of all methods against 0.2.0", 11, (RESULTS,)),
    Benchmark("speed", "units", "One pass or epoch against 0.2.0", 2, (RESULTS,)),
    Benchmark("speed", "peers", "Fits, objectives and passes of other packages", 14, (README, RESULTS)),
    Benchmark("speed", "lda", "LDA against scikit-learn and gensim", 8, (README, RESULTS)),
    Benchmark("speed", "latent_classes", "LatentClass against StepMix: fits and passes", 1, (RESULTS,)),
    Benchmark("speed", "metrics", "Time and memory of the validity indices", 5, (RESULTS, GUIDE.format("metrics"))),
    Benchmark("speed", "report", "Size of a report, and seconds to write it", 1, (GUIDE.format("report"),)),
    Benchmark("speed", "hierarchy", "SoftHDBSCAN against hdbscan", 5, (RESULTS,)),
    Benchmark(
        "speed",
        "mixtures",
        "BayesianGMM against scikit-learn, StudentTMixture against studenttmixture",
        2,
        (RESULTS, "CHANGELOG.md"),
    ),
    Benchmark("speed", "missing_cost", "What missing values cost a fit", 1, (GUIDE.format("missing"),)),
    Benchmark("speed", "k_modes", "FuzzyKPrototypes beside kmodes", 1, (RESULTS,)),
    Benchmark(
        "speed",
        "relational",
        "Fits from dissimilarities against R and kmedoids",
        1,
        (RESULTS, GUIDE.format("families/relational")),
    ),
    Benchmark("quality", "paper_protocol", "The paper's comparison: 20 methods, 11 sets, 5 seeds", 15, (RESULTS,)),
    Benchmark("quality", "tables", "Agreement with classes: tables and planted mixtures", 8, (RESULTS,)),
    Benchmark(
        "quality",
        "categories",
        "Agreement with classes: categories, mixed tables",
        2,
        (GUIDE.format("families/fuzzy"),),
    ),
    Benchmark("quality", "few_labels", "Agreement with classes if a few labels are known", 1, (RESULTS,)),
    Benchmark(
        "quality", "noise_clusters", "Centres beside outliers, with a cluster of noise", 1, (GUIDE.format("missing"),)
    ),
    Benchmark("quality", "outliers", "Mixtures beside uniform outliers", 5, (GUIDE.format("families/mixture"),)),
    Benchmark("quality", "missing", "Agreement if values are missing; imputation", 5, (GUIDE.format("missing"),)),
    Benchmark(
        "quality",
        "dissimilarities",
        "Agreement with classes: dissimilarities",
        2,
        (GUIDE.format("families/relational"),),
    ),
    Benchmark(
        "quality",
        "soft_hdbscan",
        "SoftHDBSCAN: degrees, labels of hdbscan, defaults",
        2,
        (GUIDE.format("families/density"),),
    ),
    Benchmark("quality", "best_radius", "Radius of the density methods: rule, best, k-means", 3, (RESULTS,)),
    Benchmark("quality", "documents", "Agreement with classes: news and abstracts", 2, (RESULTS,)),
    Benchmark(
        "quality", "directions", "Texts as directions: agreement with classes", 4, (GUIDE.format("families/mixture"),)
    ),
    Benchmark(
        "quality",
        "communities",
        "Agreement with known communities; what starts are worth",
        15,
        (RESULTS, GUIDE.format("families/graphs")),
    ),
    Benchmark("quality", "shading", "AFCMAdaptive on shaded phantoms", 1, (RESULTS,)),
    Benchmark("quality", "choose_k", "How often each criterion finds K", 18, (GUIDE.format("selection"),)),
    Benchmark("quality", "choose_k_graphs", "How often K is found: LFR graphs", 12, (GUIDE.format("selection"),)),
    Benchmark("quality", "choose_k_mixed", "How often K is found in tables with categories", 1, (GUIDE.format("cli"),)),
    Benchmark("quality", "choose_k_samples", "Choosing K by samples of the rows", 5, (GUIDE.format("selection"),)),
    Benchmark(
        "quality",
        "recommendation",
        "The recommended model beside each fixed one",
        60,
        (GUIDE.format("recommendation"),),
    ),
    Benchmark(
        "quality",
        "intervals",
        "Coverage of the intervals of explanations, their cost",
        1,
        (GUIDE.format("explanation"),),
    ),
    Benchmark("quality", "sampled_measures", "Error of measures on samples", 1, (GUIDE.format("metrics"),)),
    Benchmark("quality", "streaming", "One epoch of batches beside the fit of all rows", 4, ("CHANGELOG.md",)),
    Benchmark("agreement", "packages", "Whether other packages find the same", 1, (RESULTS,)),
    Benchmark("scale", "whole_fits", "How the default fit of every method grows", 40, (SCALING,)),
    Benchmark("scale", "cost_curves", "What a pass costs, by rows, features, clusters, workers", 25, (SCALING,)),
    Benchmark("scale", "dask_passes", "What Dask adds to a pass", 8, ("docs/development/architecture.md",)),
    Benchmark(
        "scale",
        "graphs",
        "Passes over a million links; BIGCLAM of other packages",
        8,
        (RESULTS, GUIDE.format("families/graphs")),
    ),
    Benchmark("scale", "seeding", "Starts on Dask: among all rows, or in a sample", 60, (SCALING, "CHANGELOG.md")),
]


def readme() -> str:
    """The text of ``benchmarks/README.md``."""
    rows = [
        [
            row.folder,
            row.question,
            f"`python -m benchmarks {row.name}`",
            row.minutes,
            f"[{row.script}.json](results/{row.script}.json)",
            ", ".join(f"[{page}](../{page})" for page in row.quoted),
        ]
        for row in BENCHMARKS
    ]
    header = ["", "Question", "Command", "Minutes", "Record", "Quoted in"]
    return f"{_ABOVE}\n{table(header, rows, right=False)}\n"


_ABOVE = """# Benchmarks

`python -m benchmarks write` makes this file from `index.py`. Run the commands from the root of the repository:

- `python -m benchmarks` lists the benchmarks and says whether the record of each is fresh, stale (the code has changed
  since) or missing;
- `python -m benchmarks all` makes all records anew, one benchmark after the other (`--only speed`: those of a folder);
- `python -m benchmarks NAME` makes one; with arguments, which `--help` lists, it measures a part or repeats less, and
  records nothing;
- `python -m benchmarks write` writes this file and the short table of the README; the pages of the site read the
  records when the site is built.

Nothing else should run on the machine. The variable `SOFT_CLUSTERING_DATA_SHARED` names the folder of the shared data
(tables, graphs, texts). Environments for packages that clash with ours are made on first use; packages of R are those
of the system, and `lib/environments.py` says which. What the benchmarks share (timing in turns, records, data sets,
processes of other packages) is in `lib/`, and what the pages show of the records in `pages/`. A test fails if a script
is not in the index.

Minutes are those of a machine with two cores.
"""
