"""``{chooser}``, the questions that lead to a method, and ``{method-map}``, the same drawn as a map.

Both are made from the registry: a question asks for traits, and a method is ranked by how many of them it has. Among
equals the method with the better agreement in the records of the benchmarks comes first.
"""

import inspect
import json
from collections import defaultdict
from html import escape
from itertools import product
from statistics import mean
from typing import NamedTuple

import method_map
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import soft_clustering
from benchmarks.lib import records
from soft_clustering._registry import REGISTRY, TRAITS
from soft_clustering.cli.models import needs_n_clusters, takes

# What one may have: its name in the form, and what it is called in code
DATA = {
    "features": ("a table", "X", "a row per sample"),
    "documents": ("texts", "texts", "a list of strings, or a matrix of counts"),
    "graph": ("a graph", "A", "a matrix of links, a networkx graph or a list of edges"),
    "image": ("images", "image", "an array of pixels"),
    "distances": ("distances between items", "D", "a square matrix"),
    "partitions": ("several clusterings of the same items", "partitions", "a list of label vectors or memberships"),
    "clients": ("tables that must stay with several owners", "clients", "a list of tables"),
}


class Option(NamedTuple):
    """An answer: the trait that it asks for, and how a method that has not got it is described."""

    trait: str
    text: str
    lacking: str = ""


class Question(NamedTuple):
    """A question, the kinds of data it is put for, and how much its answer counts."""

    key: str
    text: str
    data: tuple[str, ...]
    options: tuple[Option, ...]
    weight: int = 1
    none: str = "no, or not sure"


MOST = ("features", "documents", "graph")
QUESTIONS = (
    Question(
        "k",
        "Is the number of clusters known?",
        (*MOST, "clients"),
        (Option("unknown_k", "no, it must be found", "needs the number of clusters; the code below chooses it"),),
        2,
        "yes, or I want to try several",
    ),
    Question(
        "shape",
        "What shape are the clusters?",
        ("features",),
        (
            Option("round", "round", "made for other shapes"),
            Option("elongated", "long or tilted", "takes clusters to be round"),
            Option("any_shape", "bent, or any shape", "does not follow bent clusters"),
        ),
        2,
        "not sure",
    ),
    Question(
        "outliers",
        "Are there outliers?",
        ("features", "documents"),
        (Option("outliers", "yes", "outliers disturb it"),),
        2,
    ),
    Question("overlap", "Do clusters overlap?", MOST, (Option("overlap", "yes", "prefers separate clusters"),)),
    Question(
        "size",
        "How much data is there?",
        MOST,
        (Option("large", "more", "slow or hungry for memory there"),),
        2,
        "up to 100,000 rows, texts or nodes",
    ),
    Question(
        "labels",
        "Are there labels for a few rows?",
        ("features",),
        (Option("labels", "yes", "makes no use of labels"),),
        4,
        "no",
    ),
    Question(
        "missing",
        "Are values missing?",
        ("features", "clients"),
        (Option("missing", "yes", "takes no gaps; the code below fills them"),),
        1,
        "no",
    ),
    Question(
        "special",
        "Is there anything special about the table?",
        ("features",),
        (
            Option("proportions", "all values lie between 0 and 1", "not made for proportions"),
            Option("categories", "it holds categories", "takes categories only as numbers"),
            Option("two_views", "measurements and proportions", "does not tell measurements from proportions"),
            Option("many_features", "many related features", "not made for many related features"),
            Option("many_clusters", "many clusters", "may end in a poor optimum of many clusters"),
            Option("learnt_softness", "how soft must be learnt", "the softness is a parameter"),
            Option("doubt", "sure members told from doubtful ones", "has degrees only"),
            Option("typicality", "how typical a row is of a cluster", "has shares and no typicalities"),
            Option("prior", "what is known of the clusters shall count", "takes no prior"),
            Option("stream", "rows arrive in batches", "needs all rows at once"),
        ),
        4,
        "no",
    ),
    Question(
        "texts",
        "Is there anything special about the texts?",
        ("documents",),
        (
            Option("short_texts", "they are short", "needs longer texts"),
            Option("stream", "they arrive one after the other", "needs all texts at once"),
            Option("similarity", "I have a similarity of my own", "has a similarity of its own"),
        ),
        4,
        "no",
    ),
    Question(
        "links",
        "Is there anything special about the graph?",
        ("graph",),
        (
            Option("weighted", "links have weights", "ignores or refuses weights"),
            Option("attributes", "nodes have attributes", "makes no use of attributes"),
            Option("blocks", "I want to know how groups are linked", "does not describe links between groups"),
            Option("dense_overlaps", "nodes in two communities have most links", "shares out a node's links"),
            Option("circles", "small dense circles, some inside others", "joins small circles into larger communities"),
            Option("quick", "a million links or more", "takes longer there"),
            Option("separate", "each node has one community only", "lets communities overlap"),
        ),
        4,
        "no",
    ),
    Question(
        "items",
        "What do you want to know of the items?",
        ("distances",),
        (
            Option("outliers", "which are outliers", "outliers disturb it"),
            Option("doubt", "which are surely members and which are in doubt", "has degrees only"),
            Option("medoids", "a typical one of each cluster", "names no typical item"),
        ),
        2,
        "only the clusters",
    ),
    Question(
        "picture",
        "What is the task?",
        ("image",),
        (
            Option("noise", "segment a noisy image", "does not smooth noise"),
            Option("shading", "segment a shaded grey image", "takes shading for another region"),
            Option("colours", "reduce colours to those that look different", "not made for colours"),
            Option("image_sets", "group many small images", "segments one image"),
        ),
        4,
        "not sure",
    ),
    Question(
        "members",
        "What are the clusterings like?",
        ("partitions",),
        (
            Option("different_k", "they have different numbers of clusters", "wants similar numbers of clusters"),
            Option("cluster_groups", "I want to know which clusters go together", "does not group clusters"),
            Option("soft_members", "soft, with similar clusters", "not made for soft partitions"),
        ),
        2,
        "not sure",
    ),
)
# What a method needs beside the data, and what is said of it
PARAMETERS = {
    ("BGMM", "features"): ("beta_features=[0]", "beta_features: the columns that are proportions"),
    ("FCC", "image"): ('color_space="rgb"', "(height, width, 3)"),
    **{
        (name, "distances"): ('metric="precomputed"', "")
        for name in ("EVCLUS", "RelationalFCM", "FuzzyCMedoids", "SoftHDBSCAN")
    },
}


def agreements():
    """Yield method, data set and agreement with the truth, from the records of the benchmarks."""
    for group, methods_of in records.read("tables").items():
        for method, sets in methods_of.items() if group != "stamp" else ():
            for name, values in sets.items():
                yield method, f"{group} {name}", mean(values)
    record = records.read("communities")
    for kind, scale in (("overlapping", 100), ("lfr", 100), ("disjoint", 1)):
        for method, sets in record[kind].items():
            for name, runs in sets.items():
                yield method, name, mean(run.get("onmi", run.get("ari")) for run in runs) / scale
    for key, runs in records.read("documents")["quality"].items():
        method, name = key.split(", ")
        yield method, name, mean(run["ari"] for run in runs)


def standings():
    """Return the mean of each method's agreement beyond the mean of all methods on the same data sets."""
    by_set = defaultdict(dict)
    for method, name, value in agreements():
        by_set[name][method] = value
    beyond = defaultdict(list)
    for values in by_set.values():
        for method, value in values.items():
            beyond[method].append(value - mean(values.values()))
    return {method: mean(values) for method, values in beyond.items()}


def code(row, model, kind, *, unknown_k, missing, labels, outliers):
    """Return the lines of Python that fit a method to data of a kind."""
    _, data, what = DATA[kind]
    if kind == "image" and "image_sets" in row.suits:
        data, what = "X", "an image per row, its pixels side by side"
    parameter, note = PARAMETERS.get((row.name, kind), ("", ""))
    known = inspect.signature(model).parameters
    given = ["n_clusters=3"] * ("n_clusters" in known and not unknown_k)
    given += [f'{name}="auto"' for name in ("noise_distance", "noise") if outliers and _is_off(known.get(name))]
    given += [parameter] * bool(parameter) + ["random_state=0"] * ("random_state" in known)
    new = f"{row.name}({', '.join(given)})"
    search = unknown_k and needs_n_clusters(model) and not labels
    fill = missing and kind == "features" and "missing" not in row.suits

    lines = ["from sklearn.impute import SimpleImputer", ""] * fill
    lines += [f"from soft_clustering import {row.name}"]
    lines += ["from soft_clustering.selection import choose_n_clusters"] * search
    lines += ["", f"# {data}: {'; '.join(filter(None, (what, note)))}"]
    lines += ["# y: the labels, -1 where there is none"] * labels
    lines += [f'{data} = SimpleImputer(strategy="median").fit_transform({data})'] * fill
    if search:
        lines += [f"result = choose_n_clusters({new}, {data}, range(2, 9))", "print(result.reason)"]
        lines += ["model = result.estimators[result.recommended]"]
    else:
        lines += [f"model = {new}.fit({data}{', y' * labels})"]
    return "\n".join([*lines, "model.memberships_  # a column per cluster"])


def methods():
    """Return what the page knows of each method, best standing first."""
    standing, found = standings(), []
    for row in REGISTRY:
        model = getattr(soft_clustering, row.name)
        kinds = [kind for kind in DATA if takes(model, kind)]
        kinds += ["image"] * (model.modality == "features" and bool({"colours", "image_sets"} & set(row.suits)))
        finds_k = not needs_n_clusters(model)
        use, _, avoid = row.use_when.partition("; not ")
        module = row.module.rpartition(".")[2]
        found.append(
            {
                "name": row.name,
                "kinds": kinds,
                "suits": ["unknown_k"] * finds_k + list(row.suits),
                "standing": standing.get(row.name, 0.0),
                "use": use,
                "avoid": avoid,
                "citation": row.citation,
                "reconstructed": bool(row.reconstructed),
                "extra": row.extra,
                "page": f"api/generated/soft_clustering.{row.name}.html",
                "example": f"gallery/{row.family}/plot_{module}.html",
                "guide": f"guide/families/{row.family}.html#{row.name.lower()}",
                "code": {kind: variants(row, model, kind) for kind in kinds},
            }
        )
    return sorted(found, key=lambda method: -method["standing"])


def variants(row, model, kind):
    """Return the code for each answer to the questions that change it; the key is a digit for each of the four."""
    asked = {option.trait for question in QUESTIONS if kind in question.data for option in question.options}
    traits = ("unknown_k", "missing", "labels", "outliers")
    answers = product(*((False, True)[: 1 + (trait in asked)] for trait in traits))
    return {
        "".join(f"{given:d}" for given in answer): code(
            row,
            model,
            kind,
            unknown_k=answer[0],
            missing=answer[1],
            labels=answer[2] and "labels" in row.suits,
            outliers=answer[3] and "outliers" in row.suits,
        )
        for answer in answers
    }


def _is_off(parameter):
    """Whether there is such a parameter, and it is None by default."""
    return parameter is not None and parameter.default is None


def form():
    """Return the questions as a form; each is a group of radio buttons."""
    kinds = [Option(kind, text) for kind, (text, _, _) in DATA.items()]
    parts = [fieldset("data", "What do you have?", kinds, "features", "")]
    for question in QUESTIONS:
        options = [Option("", question.none), *question.options]
        parts.append(fieldset(question.key, question.text, options, "", " ".join(question.data)))
    return "".join(parts)


def fieldset(name, legend, options, checked, data):
    """Return one group of radio buttons."""
    buttons = "".join(
        f'<label><input type="radio" name="{name}" value="{option.trait}"{" checked" * (option.trait == checked)}>'
        f"<span>{escape(option.text)}</span></label>"
        for option in options
    )
    shown_for = f' data-for="{data}"' if data else ""
    return f'<fieldset{shown_for}><legend>{escape(legend)}</legend><div class="options">{buttons}</div></fieldset>'


class Chooser(SphinxDirective):
    """The form, the place of the answer, and what the script reads."""

    def run(self):
        facts = {
            "traits": TRAITS | {"unknown_k": "finds the number of clusters"},
            "questions": [question._asdict() | {"options": []} for question in QUESTIONS],
            "lacking": {f"{q.key} {option.trait}": option.lacking for q in QUESTIONS for option in q.options},
            "methods": methods(),
        }
        data = json.dumps(facts).replace("</", "<\\/")
        html = (
            f'<div class="chooser"><form aria-label="Questions">{form()}'
            '<button type="reset">Start again</button><button type="button" class="summary"></button></form>'
            '<section class="answers" aria-live="polite" aria-label="Methods to try">'
            "<noscript><p>The questions need JavaScript; the map below does not.</p></noscript></section></div>"
            f'<script type="application/json" id="chooser-data">{data}</script>'
        )
        return [nodes.raw("", html, format="html")]


class MethodMap(SphinxDirective):
    """A ladder of questions for each kind of data."""

    def run(self):
        ladders, known, placed = [], methods(), set()
        for kind in reversed(DATA):  # tables last: what stands elsewhere, need not stand there
            those, rows = [method for method in known if kind in method["kinds"]], []
            for question in (question for question in QUESTIONS if kind in question.data):
                for option in question.options:
                    having = [method for method in those if option.trait in method["suits"]]
                    if 0 < len(having) < len(those):
                        shown = method_map.that_fit(having)
                        rows.append((method_map.LABELS[option.trait], shown))
                        placed |= {method["name"] for method in shown}
            rest = [method for method in those if method["name"] not in placed]
            placed |= {method["name"] for method in rest}
            ladders.append((DATA[kind][0], [*rows, *([("otherwise" if rows else "any", rest)] if rest else [])]))
        return [nodes.raw("", method_map.draw(ladders[::-1]), format="html")]


def setup(app):
    app.add_directive("chooser", Chooser)
    app.add_directive("method-map", MethodMap)
    return {"parallel_read_safe": True}
