/* All that is compiled once per vector width: needs WIDTH (a word for the names), BYTES, TARGET and PLAIN.

   NAME(x) is the name of a function for this width, DNAME(x) and FNAME(x) of those of tile.h for double and float. */

#define PASTE(x, suffix) x##_##suffix
#define JOIN(x, suffix) PASTE(x, suffix)
#define DNAME(x) JOIN(x, JOIN(f64, WIDTH))
#define FNAME(x) JOIN(x, JOIN(f32, WIDTH))

#define REAL float
#define IS_DOUBLE 0
#define NAME(x) FNAME(x)
#include "tile.h"
#undef REAL
#undef IS_DOUBLE
#undef NAME
#define REAL double
#define IS_DOUBLE 1
#define NAME(x) DNAME(x)
#include "tile.h"
#undef NAME

#define NAME(x) JOIN(x, WIDTH)
#include "elementary.h"
#include "rules.h"
#include "pairs.h"
#include "gauss.h"
#include "topics.h"
#include "graphs.h"
#include "gumbel.h"
#include "hierarchy.h"

static const steps_t NAME(steps) = {
    .lanes = BYTES / sizeof(double),
    .distances = {{DNAME(dense_distances), FNAME(dense_distances)}, {DNAME(sparse_distances), FNAME(sparse_distances)}},
    .totals = {{DNAME(dense_totals), FNAME(dense_totals)}, {DNAME(sparse_totals), FNAME(sparse_totals)}},
#define X(name) NAME(rule_##name),
    .rules = {RULE_LIST},
#undef X
#define X(name) NAME(gauss_rule_##name),
    .gauss_rules = {GAUSS_RULE_LIST},
#undef X
    .pair_bumps = NAME(pair_bumps),
    .window = NAME(window),
    .keep_nearest = NAME(keep_nearest),
    .prim_step = NAME(prim_step),
    .log_densities = NAME(log_densities),
    .load_double = NAME(load_double),
    .load_all = {DNAME(load_all), FNAME(load_all)},
    .tail_sums = NAME(tail_sums),
    .moments = NAME(moments),
    .digammas = NAME(digammas),
    .lda_document = NAME(lda_document),
    .explain = NAME(explain),
    .plsi_document = NAME(plsi_document),
    .fold_in_document = NAME(fold_in_document),
    .ratio_row = NAME(ratio_row),
    .product_row = NAME(product_row),
    .factor_row = NAME(factor_row),
    .block_expectations = NAME(block_expectations),
    .block_links = NAME(block_links),
    .block_others = NAME(block_others),
    .block_near = NAME(block_near),
    .affiliation_value = NAME(affiliation_value),
    .affiliation_step = NAME(affiliation_step),
    .gumbel_tile = NAME(gumbel_tile),
    .gumbel_slope_tile = NAME(gumbel_slope_tile),
    .leaf_distances = NAME(leaf_distances),
};

#undef REAL
#undef IS_DOUBLE
#undef NAME
#undef DNAME
#undef FNAME
#undef JOIN
#undef PASTE
