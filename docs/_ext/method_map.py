"""The map of methods as a picture: a ladder of questions for each kind of data, with the methods beside its steps."""

from html import escape
from itertools import accumulate

# The steps of the ladders, short enough for a picture
LABELS = {
    "unknown_k": "K unknown",
    "round": "round",
    "elongated": "long or tilted",
    "any_shape": "any shape",
    "outliers": "outliers",
    "overlap": "overlap",
    "large": "large",
    "labels": "a few labels",
    "missing": "values missing",
    "proportions": "values in [0, 1]",
    "two_views": "two views",
    "categories": "categories",
    "many_features": "many features",
    "many_clusters": "many clusters",
    "learnt_softness": "softness learnt",
    "doubt": "sure or doubtful",
    "typicality": "typicalities",
    "prior": "a prior",
    "medoids": "typical items",
    "stream": "batches",
    "short_texts": "short texts",
    "similarity": "own similarity",
    "weighted": "weights",
    "attributes": "attributes",
    "blocks": "links of groups",
    "dense_overlaps": "dense overlaps",
    "circles": "dense circles",
    "quick": "million links",
    "separate": "no overlaps",
    "noise": "noise",
    "shading": "shading",
    "colours": "colours",
    "image_sets": "many images",
    "different_k": "different K",
    "cluster_groups": "groups of clusters",
    "soft_members": "soft members",
}
WIDTH, GAP, STEP = 620, 24, 40  # of a ladder, between ladders, between its steps
SIGN, CHARACTER, PILL = 132, 8.4, 26  # width of a step's sign, of a character, height of a method's pill


def draw(ladders):
    """Return an SVG picture; a ladder is a heading and its steps, each a label and methods."""
    columns, heights = [[], []], [0, 0]
    for ladder in ladders:  # the shorter column takes the next one
        side = heights.index(min(heights))
        columns[side].append((ladder, heights[side]))
        heights[side] += height(ladder) + GAP
    width, bottom = 2 * WIDTH + GAP, max(heights) + 80
    parts = [
        f'<svg viewBox="0 0 {width} {bottom}" width="{width}" height="{bottom}" role="group" '
        'aria-label="Map of methods by kind of data and trait">'
    ]
    middle = width / 2
    for side, column in enumerate(columns):
        left = side * (WIDTH + GAP)
        for _, top in column[:1]:
            x, y = left + WIDTH / 2, top + 80
            parts.append(f'<path class="road" d="M {middle} 32 C {middle} 64 {x} 36 {x} {y}"/>')
    parts.append(f'<g class="start"><rect x="{middle - 120}" y="4" width="240" height="40" rx="20"/>')
    parts.append(f'<text x="{middle}" y="29">What do you have?</text></g>')
    for side, column in enumerate(columns):
        for (heading, steps), top in column:
            parts += ladder_parts(heading, steps, side * (WIDTH + GAP), top + 80)
    return (
        '<div class="method-map" role="region" aria-label="Map of methods" tabindex="0">'
        + "".join(parts)
        + "</svg></div>"
    )


def height(ladder):
    """Return the height of a ladder."""
    return 44 + STEP * len(ladder[1])


def pill_width(method):
    """Return the width of the pill of a method."""
    return CHARACTER * len(method["name"]) + 16


def that_fit(methods):
    """Return the first methods that a step has room for, at most five."""
    ends = accumulate(pill_width(method) + 8 for method in methods[:5])
    return [method for method, end in zip(methods[:5], ends, strict=True) if end <= WIDTH - SIGN - 56]


def ladder_parts(heading, steps, left, top):
    """Return the parts of the picture of one ladder."""
    parts = [
        f'<g class="ladder"><rect class="room" x="{left}" y="{top}" width="{WIDTH}" '
        f'height="{height((heading, steps))}" rx="10"/>'
    ]
    parts.append(f'<text class="heading" x="{left + 18}" y="{top + 26}">{escape(heading)}</text>')
    rail = left + 18 + SIGN / 2
    parts.append(f'<path class="rail" d="M {rail} {top + 40} V {top + 40 + STEP * (len(steps) - 1) + 10}"/>')
    for number, (label, methods) in enumerate(steps):
        y = top + 40 + STEP * number
        parts.append(f'<rect class="sign" x="{left + 18}" y="{y}" width="{SIGN}" height="{PILL}" rx="4"/>')
        parts.append(f'<text class="label" x="{rail}" y="{y + 17.5}">{escape(label)}</text>')
        x = left + 18 + SIGN + 20
        parts.append(f'<path class="arrow" d="M {left + 18 + SIGN} {y + 13} H {x - 4}"/>')
        for method in methods:
            wide = pill_width(method)
            parts.append(
                f'<a href="{method["page"]}" aria-label="{method["name"]}, {escape(label)}">'
                f'<rect class="pill" x="{x}" y="{y}" width="{wide}" height="{PILL}" rx="13"/>'
                f'<text class="name" x="{x + wide / 2}" y="{y + 17.5}">{method["name"]}</text></a>'
            )
            x += wide + 8
    return [*parts, "</g>"]
