/* All that is compiled once per vector width: needs WIDTH (a word for the names), BYTES, TARGET and ROWS_OF_PADS: whether
   rows that are filled up to a multiple of PAD consist of whole vectors. Where they do not, the next width works on them.

   NAME(x) is the name of a function for this width, DNAME(x) and FNAME(x) of those of tile.h for double and float. */

#define PASTE(x, suffix) x##_##suffix
#define JOIN(x, suffix) PASTE(x, suffix)
#define DNAME(x) JOIN(x, JOIN(f64, WIDTH))
#define FNAME(x) JOIN(x, JOIN(f32, WIDTH))

#define REAL float
#define NAME(x) FNAME(x)
#include "tile.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) DNAME(x)
#include "tile.h"
#undef NAME

#define NAME(x) JOIN(x, WIDTH)
#include "elementary.h"
#include "rules.h"
#include "pairs.h"
#include "gauss.h"
#if ROWS_OF_PADS
#include "topics.h"
#include "graphs.h"
#include "gumbel.h"
#define PADDED(x) NAME(x)
#else
#define PADDED(x) JOIN(x, wide)
#endif

static const steps_t NAME(steps) = {
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
    .moments = NAME(moments),
    .digammas = PADDED(digammas),
    .lda_document = PADDED(lda_document),
    .explain = PADDED(explain),
    .plsi_document = PADDED(plsi_document),
    .fold_in_document = PADDED(fold_in_document),
    .ratio_row = PADDED(ratio_row),
    .product_row = PADDED(product_row),
    .factor_row = PADDED(factor_row),
    .block_expectations = PADDED(block_expectations),
    .block_links = PADDED(block_links),
    .block_others = PADDED(block_others),
    .block_near = PADDED(block_near),
    .affiliation_value = PADDED(affiliation_value),
    .affiliation_step = PADDED(affiliation_step),
    .gumbel_tile = PADDED(gumbel_tile),
    .gumbel_slope_tile = PADDED(gumbel_slope_tile),
};

#undef REAL
#undef PADDED
#undef NAME
#undef DNAME
#undef FNAME
#undef JOIN
#undef PASTE
