/* The compiled kernels: what a tile is, the instantiations per type and vector width, and the loops over chunks.

   Rows are split into chunks whose number does not depend on the number of threads; a thread owns a chunk and works
   through it tile by tile; the results of the chunks are added in index order. The sums are therefore bitwise the
   same for any number of threads. */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define TILE 64
#define PAD 4      /* topics are filled up to a multiple of it */
#define TINY 1e-200 /* no probability of a word is smaller */
#define FLOOR 1e-12 /* no rate of a link is smaller */
#define STRIP 256
#define WEIGHTS 0
#define MEMBERSHIPS 1
#define POSTERIOR 0
#define TEMPERED 1
#define METRIC 2

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#define INLINE inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define ALIGNED __declspec(align(64))
#define INLINE __forceinline
#else
#define ALIGNED
#define INLINE inline
#endif
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define HAS_WIDE 1
#else
#define HAS_WIDE 0
#endif

typedef struct {
    int64_t n, d;
    int is_float, index64;
    const void *values;   /* (n, d) row-major, or the data of a CSR matrix */
    const void *indices, *indptr; /* NULL for dense rows */
    const double *shift, *scale; /* (d,): z = (x - shift) * scale */
    const double *weight; /* NULL: all one */
} rows_t;

typedef struct {
    int64_t K;
    const void *V;      /* (K, d) in the type of the rows */
    const double *Vt;   /* (d, K), CSR rows only */
    const double *norm; /* (K,) squared norms, CSR rows only */
} prototypes_t;

typedef struct {
    int64_t K;
    int full;               /* factor is (K, d, d) lower triangular, else (K, d) */
    const double *mean;     /* (K, d) */
    const double *factor;   /* NULL where memberships are given */
    const double *constant; /* (K,) log weight + log determinant of the factor - d/2 log(2 pi) */
} gauss_t;

typedef struct {
    int64_t wide, longest; /* topics filled up; most words of a document */
    int64_t max_iter;
    double tol, beta;
    const double *B;     /* (V, wide) */
    const double *prior; /* (K,): alpha, or log P(topic) */
    const double *start; /* (n, K), NULL: ones, or equal shares */
    int words;           /* whether statistics of the words are wanted */
} topics_t;

typedef struct {
    void *T;      /* the tile, [feature][row] */
    double *D;    /* [prototype][row]: distances, then memberships or weights */
    double *E;    /* scratch, as D */
    void *narrow; /* scratch: D in float, or centred and weighted tiles */
} tile_t;

/* Sum of a tile row in eight strands: the order of a sum is the compiler's only if we say so. */
static INLINE double tile_sum(const double *x)
{
    double s[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int r = 0; r < TILE; r += 8)
        for (int l = 0; l < 8; l++)
            s[l] += x[r + l];
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

static INLINE double tile_max(const double *x)
{
    double s[8];
    memcpy(s, x, sizeof s);
    for (int r = 8; r < TILE; r += 8)
        for (int l = 0; l < 8; l++)
            s[l] = x[r + l] > s[l] ? x[r + l] : s[l];
    for (int l = 1; l < 8; l++)
        s[0] = s[l] > s[0] ? s[l] : s[0];
    return s[0];
}

static INLINE int64_t csr_at(const void *array, int index64, int64_t i)
{
    return index64 ? ((const int64_t *)array)[i] : (int64_t)((const int32_t *)array)[i];
}

/* A number from another one, alike in nothing: the finaliser of MurmurHash3. */
static INLINE uint32_t scramble(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

static INLINE double scaled(double x, double scale)
{
    const double z = x * scale;
    return z < 1e100 ? (z > -1e100 ? z : -1e100) : 1e100;
}

/* Instantiations: {double, float} x {16, 32 bytes}; one lane where the compiler has no vector types. */
#if defined(__GNUC__)
#define NARROW 16
#else
#define NARROW sizeof(REAL)
#endif

#define TARGET
#define BYTES NARROW
#define REAL float
#define NAME(x) x##_f32_narrow
#include "tile.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_f64_narrow
#include "tile.h"
#undef NAME
#define NAME(x) x##_narrow
#define DNAME(x) x##_f64_narrow
#include "rules.h"
#include "gauss.h"
#include "topics.h"
#include "graphs.h"
#undef NAME
#undef DNAME
#undef REAL
#undef BYTES
#undef TARGET

#if HAS_WIDE
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define REAL float
#define NAME(x) x##_f32_wide
#include "tile.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_f64_wide
#include "tile.h"
#undef NAME
#define NAME(x) x##_wide
#define DNAME(x) x##_f64_wide
#include "rules.h"
#include "gauss.h"
#include "topics.h"
#include "graphs.h"
#undef NAME
#undef DNAME
#undef REAL
#undef BYTES
#undef TARGET
#endif

/* One table per vector width, one entry per step; distances and totals by [CSR][float]. */
typedef void (*rule_t)(tile_t *, int64_t, const double *, int, double *);

typedef struct {
    void (*distances[2][2])(const rows_t *, int64_t, int64_t, const prototypes_t *, tile_t *);
    void (*totals[2][2])(const rows_t *, int64_t, int64_t, const prototypes_t *, tile_t *, double *);
    rule_t rules[8];
    void (*pair_bumps)(double *, int64_t, double, const double *, const double *, double *, double *);
    void (*window)(const double *, double, double, int64_t, int64_t *, double *);
    void (*temper)(tile_t *, int64_t, double, double *);
    void (*tempered)(tile_t *, int64_t, const double *, const double *, double *, double *);
    void (*log_densities)(const rows_t *, int64_t, int64_t, const gauss_t *, tile_t *);
    void (*load_double)(const rows_t *, int64_t, int64_t, double *);
    void (*posteriors)(tile_t *, int64_t, double *);
    void (*moments)(const gauss_t *, int64_t, tile_t *, double *, double *, double *);
    void (*digammas)(const double *, int64_t, double *, double *);
    double (*lda_document)(const double *, const double *, int64_t, const double *, int64_t, int64_t, int64_t, double, double *,
                           double *, double *, double *);
    double (*explain)(const double *, const double *, const double *, const int64_t *, int64_t, int64_t, double, double *,
                      double *);
    double (*plsi_document)(const double *, const double *, const double *, const int64_t *, int64_t, int64_t, double, double *,
                            double *, double *);
    void (*fold_in_document)(const double *, const double *, int64_t, double, const double *, int64_t, int64_t, int64_t, double,
                             double *, double *, double *);
    double (*ratio_row)(const double *, const double *, const double *, const int64_t *, int64_t, int64_t, double *);
    double (*affiliation_value)(const double *, const double *, const int64_t *, int64_t, int64_t, const double *, double);
    int (*affiliation_step)(double *, const double *, const int64_t *, int64_t, int64_t, const double *, double, double, double *,
                            double *);
    void (*gumbel_tile)(const double *, int64_t, int64_t, int64_t, double, const uint64_t *, int64_t, double *, float *, double *);
    void (*gumbel_slope_tile)(const float *, const double *, const double *, int64_t, int64_t, int64_t, double, int64_t, double *);
} steps_t;

static const steps_t steps_narrow = {
    {{dense_distances_f64_narrow, dense_distances_f32_narrow}, {sparse_distances_f64_narrow, sparse_distances_f32_narrow}},
    {{dense_totals_f64_narrow, dense_totals_f32_narrow}, {sparse_totals_f64_narrow, sparse_totals_f32_narrow}},
    {rule_fcm_narrow, rule_rational_narrow, rule_exponential_narrow, rule_pfcm_narrow, rule_entropy_narrow, rule_bumps_narrow,
     rule_kernel_narrow, rule_nearest_narrow},
    pair_bumps_narrow, window_narrow, temper_narrow, tempered_narrow, log_densities_narrow, load_double_narrow, posteriors_narrow, moments_narrow,
    digammas_narrow, lda_document_narrow, explain_narrow, plsi_document_narrow, fold_in_document_narrow,
    ratio_row_narrow, affiliation_value_narrow, affiliation_step_narrow, gumbel_tile_narrow, gumbel_slope_tile_narrow};
#if HAS_WIDE
static const steps_t steps_wide = {
    {{dense_distances_f64_wide, dense_distances_f32_wide}, {sparse_distances_f64_wide, sparse_distances_f32_wide}},
    {{dense_totals_f64_wide, dense_totals_f32_wide}, {sparse_totals_f64_wide, sparse_totals_f32_wide}},
    {rule_fcm_wide, rule_rational_wide, rule_exponential_wide, rule_pfcm_wide, rule_entropy_wide, rule_bumps_wide,
     rule_kernel_wide, rule_nearest_wide},
    pair_bumps_wide, window_wide, temper_wide, tempered_wide, log_densities_wide, load_double_wide, posteriors_wide, moments_wide,
    digammas_wide, lda_document_wide, explain_wide, plsi_document_wide, fold_in_document_wide,
    ratio_row_wide, affiliation_value_wide, affiliation_step_wide, gumbel_tile_wide, gumbel_slope_tile_wide};
#endif

static int use_wide = -1;

/* Bytes of the vectors in use; `limit` (0: none) caps it, for tests of the baseline code. */
static int vector_bytes(int limit)
{
#if HAS_WIDE
    __builtin_cpu_init();
    use_wide = (limit == 0 || limit >= 32) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    (void)limit;
    use_wide = 0;
#endif
#if defined(__GNUC__)
    return use_wide ? 32 : 16;
#else
    return 8;
#endif
}

static const steps_t *steps(void)
{
    if (use_wide < 0)
        vector_bytes(0);
#if HAS_WIDE
    if (use_wide)
        return &steps_wide;
#endif
    return &steps_narrow;
}

static int max_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* Scratch of one thread. `wide` asks for the two (d, TILE) buffers of the Gaussian steps. */
static size_t tile_bytes(const rows_t *x, int64_t K, int gauss)
{
    const int64_t d = gauss || x->d < STRIP ? x->d : STRIP;
    return sizeof(double) * TILE * (size_t)(d + 2 * K + (gauss ? 2 * d : 2 * K)) + 64;
}

static tile_t tile_in(void *memory, const rows_t *x, int64_t K, int gauss)
{
    const int64_t d = gauss || x->d < STRIP ? x->d : STRIP;
    double *p = (double *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    tile_t t;
    t.T = p;
    t.D = p + d * TILE;
    t.E = t.D + K * TILE;
    t.narrow = t.E + K * TILE;
    return t;
}

typedef struct job_s {
    const rows_t *x;
    int64_t K, width; /* width: doubles in the result of one chunk */
    int gauss;
    double *results;  /* (chunks, width), zeroed; NULL where a chunk has none */
    void (*chunk)(const struct job_s *, tile_t *, int64_t lo, int64_t hi, double *result);
    const prototypes_t *v;
    const gauss_t *g;
    const topics_t *topics;
    int rule;
    const double *parameters;
    const double *given;     /* (n, K) memberships to use in place of the densities */
    void *out;               /* (n, K) memberships in the type of the rows */
    double *row_out;         /* (n,) */
    double *closest;         /* (n,) */
} job_t;

static int64_t chunk_edge(int64_t n, int64_t chunks, int64_t c)
{
    const int64_t tiles = (n + TILE - 1) / TILE, edge = tiles * c / chunks * TILE;
    return edge < n ? edge : n;
}

/* Run job->chunk over all chunks; 0, or -1 where memory ran out. */
static int run(const job_t *job, int64_t chunks, int threads)
{
    const size_t bytes = tile_bytes(job->x, job->K, job->gauss);
    int failed = 0;
    if (threads < 2) {
        void *memory = malloc(bytes);
        if (!memory)
            return -1;
        tile_t t = tile_in(memory, job->x, job->K, job->gauss);
        for (int64_t c = 0; c < chunks; c++)
            job->chunk(job, &t, chunk_edge(job->x->n, chunks, c), chunk_edge(job->x->n, chunks, c + 1),
                       job->results + c * job->width);
        free(memory);
        return 0;
    }
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        void *memory = malloc(bytes);
        tile_t t = tile_in(memory, job->x, job->K, job->gauss);
        int64_t c;
        if (!memory)
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (c = 0; c < chunks; c++)
            if (memory)
                job->chunk(job, &t, chunk_edge(job->x->n, chunks, c), chunk_edge(job->x->n, chunks, c + 1),
                           job->results + c * job->width);
        free(memory);
    }
    return failed ? -1 : 0;
}

/* weights *= sample weights; the rows that only fill up the tile get 0 */
static void weigh(double *W, int64_t K, const rows_t *x, int64_t first, int64_t count)
{
    if (x->weight)
        for (int64_t k = 0; k < K; k++)
            for (int64_t r = 0; r < count; r++)
                W[k * TILE + r] *= x->weight[first + r];
    if (count < TILE)
        for (int64_t k = 0; k < K; k++)
            memset(W + k * TILE + count, 0, sizeof(double) * (size_t)(TILE - count));
}

#define FOR_TILES                                                                                                      \
    for (int64_t first = lo, count = hi - lo < TILE ? hi - lo : TILE; first < hi;                                      \
         first += TILE, count = hi - first < TILE ? hi - first : TILE)

#define DISTANCES(job) steps()->distances[(job)->x->indptr != NULL][(job)->x->is_float]

/* Result: objective, worst row objective, its row, weight (K), total (K, d) [CSR: (d, K)]. */
static void center_statistics_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const rows_t *x = job->x;
    const steps_t *s = steps();
    const int64_t K = job->K;
    double *weight = result + 3, *total = weight + K;
    ALIGNED double row[TILE];
    result[1] = -1;
    FOR_TILES
    {
        s->distances[x->indptr != NULL][x->is_float](x, first, count, job->v, t);
        s->rules[job->rule](t, K, job->parameters, WEIGHTS, row);
        /* the rows that fill up the tile repeat its last one: they do not change the maximum */
        if (tile_max(row) > result[1])
            for (int64_t r = 0; r < count; r++)
                if (row[r] > result[1]) {
                    result[1] = row[r];
                    result[2] = (double)(first + r);
                }
        weigh(row, 1, x, first, count);
        result[0] += tile_sum(row);
        weigh(t->D, K, x, first, count);
        for (int64_t k = 0; k < K; k++)
            weight[k] += tile_sum(t->D + k * TILE);
        s->totals[x->indptr != NULL][x->is_float](x, first, count, job->v, t, total);
    }
}

/* Result (2, K): summed weights, and summed weights times squared distances. */
static void center_scatter_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const int64_t K = job->K;
    double *D = (double *)t->narrow + K * TILE;
    ALIGNED double row[TILE];
    FOR_TILES
    {
        DISTANCES(job)(job->x, first, count, job->v, t);
        memcpy(D, t->D, sizeof(double) * TILE * (size_t)K);
        steps()->rules[job->rule](t, K, job->parameters, WEIGHTS, row);
        weigh(t->D, K, job->x, first, count);
        for (int64_t k = 0; k < K; k++)
            for (int r = 0; r < TILE; r++) {
                result[k] += t->D[k * TILE + r];
                result[K + k] += t->D[k * TILE + r] * D[k * TILE + r];
            }
    }
}

/* row_out[i] += the objective of the row under the rule. */
static void center_rows_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    ALIGNED double row[TILE];
    (void)result;
    FOR_TILES
    {
        DISTANCES(job)(job->x, first, count, job->v, t);
        steps()->rules[job->rule](t, job->K, job->parameters, WEIGHTS, row);
        for (int64_t r = 0; r < count; r++)
            job->row_out[first + r] += row[r];
    }
}

/* t->D (prototype by row) into the (n, K) result */
static void store(const job_t *job, const tile_t *t, int64_t first, int64_t count)
{
    const int64_t K = job->K;
    if (job->x->is_float) {
        float *out = (float *)job->out + first * K;
        for (int64_t r = 0; r < count; r++)
            for (int64_t k = 0; k < K; k++)
                out[r * K + k] = (float)t->D[k * TILE + r];
    } else {
        double *out = (double *)job->out + first * K;
        for (int64_t r = 0; r < count; r++)
            for (int64_t k = 0; k < K; k++)
                out[r * K + k] = t->D[k * TILE + r];
    }
}

static void center_memberships_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    ALIGNED double row[TILE];
    (void)result;
    FOR_TILES
    {
        DISTANCES(job)(job->x, first, count, job->v, t);
        steps()->rules[job->rule](t, job->K, job->parameters, MEMBERSHIPS, row);
        store(job, t, first, count);
    }
}

/* Result (K,): the potential sum_i w_i min(closest_i, D_ik) that each candidate would leave. */
static void potentials_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    FOR_TILES
    {
        DISTANCES(job)(job->x, first, count, job->v, t);
        for (int64_t k = 0; k < job->K; k++)
            for (int64_t r = 0; r < count; r++)
                t->D[k * TILE + r] =
                    t->D[k * TILE + r] < job->closest[first + r] ? t->D[k * TILE + r] : job->closest[first + r];
        weigh(t->D, job->K, job->x, first, count);
        for (int64_t k = 0; k < job->K; k++)
            result[k] += tile_sum(t->D + k * TILE);
    }
}

/* closest_i = min(closest_i, D_i) for one prototype. */
static void closest_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    (void)result;
    FOR_TILES
    {
        DISTANCES(job)(job->x, first, count, job->v, t);
        for (int64_t r = 0; r < count; r++)
            if (t->D[r] < job->closest[first + r])
                job->closest[first + r] = t->D[r];
    }
}

/* Squared distances t->D of the rows of a tile to those of the tile at `from`; the rows are in the frame, in double. */
static void pair_distances(const job_t *job, tile_t *t, int64_t first, int64_t count, int64_t from)
{
    const prototypes_t v = {from == first ? count : TILE, (const double *)job->x->values + from * job->x->d, NULL, NULL};
    DISTANCES(job)(job->x, first, count, &v, t);
}

/* Result (n,): sum_j w_j exp(-alpha D_ij), parameters {alpha, w (n)}: each distance serves both of its rows. */
static void pair_bumps_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const double *weight = job->parameters + 1;
    ALIGNED double row[TILE], own[TILE];
    FOR_TILES
    {
        memset(row, 0, sizeof row);
        for (int r = 0; r < TILE; r++)
            own[r] = r < count ? weight[first + r] : 0;
        for (int64_t from = 0; from <= first; from += TILE) {
            pair_distances(job, t, first, count, from);
            steps()->pair_bumps(t->D, from == first ? count : TILE, job->parameters[0], weight + from, own, row,
                                from == first ? NULL : result + from);
        }
        for (int64_t r = 0; r < count; r++)
            result[first + r] += row[r];
    }
}

/* Result: how many pairs of rows have distance 0, how many one below `low`, how many one in [low, high], and of these the
   first `capacity`; parameters {low, high, capacity}. */
static void pair_window_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const double low = job->parameters[0], high = job->parameters[1];
    const int64_t capacity = (int64_t)job->parameters[2];
    int64_t counts[3] = {0, 0, 0};
    FOR_TILES
    {
        for (int64_t from = 0; from <= first; from += TILE) {
            const int64_t K = from == first ? count : TILE;
            pair_distances(job, t, first, count, from);
            for (int64_t k = 0; k < K; k++) {
                double *D = t->D + k * TILE;
                /* no pair: the row with itself, with one after it, and what fills up the tile */
                for (int64_t r = 0; from == first && r <= k; r++)
                    D[r] = INFINITY;
                for (int64_t r = count; r < TILE; r++)
                    D[r] = INFINITY;
                steps()->window(D, low, high, capacity, counts, result + 3);
            }
        }
    }
    for (int i = 0; i < 3; i++)
        result[i] = (double)counts[i];
}

/* Fuzzy c-means in the metric of each component, parameters {m, volume (K)}: from log densities whose constants are 0. */
static void metric_rule(const job_t *job, tile_t *t, int want, double *row)
{
    for (int64_t k = 0; k < job->K; k++)
        for (int r = 0; r < TILE; r++)
            t->D[k * TILE + r] *= -2.0 * job->parameters[1 + k];
    steps()->rules[0](t, job->K, job->parameters, want, row);
}

/* Result: objective, weight (K), first (K, d), second (K, d, d) or (K, d) moments about the means; for TEMPERED also
   the weight (K) and first moments (K, d) under u^m, and the shares (K). */
static void gauss_statistics_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const rows_t *x = job->x;
    const steps_t *s = steps();
    const int64_t K = job->K;
    const int64_t d = x->d, wide = job->g->full ? d * d : d;
    double *weight = result + 1, *moment = weight + K, *more = moment + K * d + K * wide;
    ALIGNED double row[TILE], ones[TILE];
    FOR_TILES
    {
        if (job->given) {
            s->load_double(x, first, count, (double *)t->T);
            for (int64_t k = 0; k < K; k++)
                for (int64_t r = 0; r < count; r++)
                    t->D[k * TILE + r] = job->given[(first + r) * K + k];
        } else {
            s->log_densities(x, first, count, job->g, t);
            if (job->rule == POSTERIOR) {
                s->posteriors(t, K, row);
            } else if (job->rule == TEMPERED) {
                for (int r = 0; r < TILE; r++)
                    ones[r] = 1;
                weigh(ones, 1, x, first, count);
                s->tempered(t, K, job->parameters, ones, more + K + K * d, row);
            } else {
                metric_rule(job, t, WEIGHTS, row);
            }
            weigh(row, 1, x, first, count);
            result[0] += tile_sum(row);
        }
        weigh(t->D, K, x, first, count);
        s->moments(job->g, d, t, weight, moment, moment + K * d);
        if (job->rule == TEMPERED && !job->given) {
            double *D = t->D;
            weigh(t->E, K, x, first, count);
            t->D = t->E;
            s->moments(job->g, d, t, more, more + K, NULL);
            t->D = D;
        }
    }
}

static void gauss_memberships_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    ALIGNED double row[TILE];
    (void)result;
    FOR_TILES
    {
        steps()->log_densities(job->x, first, count, job->g, t);
        if (job->rule == METRIC)
            metric_rule(job, t, MEMBERSHIPS, row);
        else
            steps()->temper(t, job->K, job->rule == TEMPERED ? job->parameters[0] : 2.0, row);
        memcpy(job->row_out + first, row, sizeof(double) * (size_t)count);
        store(job, t, first, count);
    }
}

/* The words of a document that occur in it, with their counts; where `B` is given also a copy of their rows of the topics. */
static int64_t document(const job_t *job, int64_t row, int64_t *word, double *x, double *B)
{
    const rows_t *r = job->x;
    const int64_t end = csr_at(r->indptr, r->index64, row + 1), wide = job->topics->wide;
    int64_t words = 0;
    for (int64_t p = csr_at(r->indptr, r->index64, row); p < end; p++) {
        x[words] = r->is_float ? (double)((const float *)r->values)[p] : ((const double *)r->values)[p];
        word[words] = csr_at(r->indices, r->index64, p);
        if (x[words] > 0) {
            if (B)
                memcpy(B + words * wide, job->topics->B + word[words] * wide, sizeof(double) * (size_t)wide);
            words++;
        }
    }
    return words;
}

/* Memory of one document: its words, counts, probabilities and topic rows, and six vectors. Where there is none, the result
   is NaN. */
#define DOCUMENT(topics, result)                                                                                       \
    const int64_t wide = (topics)->wide, longest = (topics)->longest;                                                  \
    double *x = malloc(sizeof(double) * (size_t)(longest * (3 + wide) + 6 * wide) + 64), *chance = x + longest;        \
    double *B = chance + longest;                                                                                      \
    double *one = B + longest * wide, *psi = one + wide, *A = psi + wide, *acc = A + wide, *log_gamma = acc + wide;    \
    int64_t *word = (int64_t *)(log_gamma + 2 * wide);                                                                 \
    if (!x) {                                                                                                          \
        *(result) = NAN;                                                                                               \
        return;                                                                                                        \
    }

/* A row of the result: values / total. */
static void put(const job_t *job, int64_t row, const double *values, double total)
{
    const int64_t K = job->K;
    for (int64_t k = 0; k < K; k++)
        if (job->x->is_float)
            ((float *)job->out)[row * K + k] = (float)(values[k] / total);
        else
            ((double *)job->out)[row * K + k] = values[k] / total;
}

/* The E-step of latent Dirichlet allocation. Result: the documents' part of the bound, summed E[log theta] (wide), and
   where wanted sum_d A_dk x_dw / s_dw (V, wide); out: the memberships. */
static void lda_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const topics_t *topics = job->topics;
    const steps_t *s = steps();
    const int64_t K = job->K;
    DOCUMENT(topics, result)
    double *logs = result + 1, *to = topics->words ? logs + wide : NULL, alphas = 0, prior = 0;
    (void)t;
    for (int64_t k = 0; k < wide; k++)
        one[k] = k < K ? topics->prior[k] : 1;
    s->digammas(one, wide, psi, log_gamma);
    for (int64_t k = 0; k < K; k++) {
        alphas += one[k];
        prior -= log_gamma[k];
    }
    for (int64_t row = lo; row < hi; row++) {
        const int64_t words = document(job, row, word, x, B);
        const double weight = job->x->weight ? job->x->weight[row] : 1;
        ALIGNED double sums[PAD] = {1, 1, 1, 1}, sum_psi[PAD], sum_log[PAD];
        double count = 0, gammas = 0, bound, unit;
        for (int64_t k = 0; k < wide; k++)
            one[k] = k >= K ? 1 : !words ? topics->prior[k] : topics->start ? topics->start[row * K + k] : 1;
        unit = s->lda_document(B, x, words, topics->prior, K, wide, words ? topics->max_iter : 0, topics->tol, one, psi, A, acc);
        for (int64_t k = 0; k < K; k++)
            gammas += one[k];
        if (job->out)
            put(job, row, one, gammas);
        sums[0] = gammas;
        sums[1] = alphas;
        s->digammas(sums, PAD, sum_psi, sum_log);
        s->digammas(one, wide, psi, log_gamma);
        for (int64_t w = 0; w < words; w++)
            count += x[w];
        bound = s->explain(A, B, x, word, words, wide, weight, chance, to) + count * (unit - sum_psi[0]);
        bound += prior + sum_log[1] - sum_log[0];
        for (int64_t k = 0; k < K; k++) {
            bound += (topics->prior[k] - one[k]) * (psi[k] - sum_psi[0]) + log_gamma[k];
            logs[k] += weight * (psi[k] - sum_psi[0]);
        }
        *result += weight * bound;
    }
    free(x);
}

/* A step of probabilistic latent semantic analysis, from A (n, K) in job->given to T (n, K) in job->row_out. Result: the log
   likelihood under A and B, and sum_d A_dk x_dw / s_dw (V, wide). */
static void plsi_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const int64_t K = job->K;
    DOCUMENT(job->topics, result)
    (void)t;
    (void)acc;
    memset(A, 0, sizeof(double) * (size_t)wide);
    for (int64_t row = lo; row < hi; row++) {
        const int64_t words = document(job, row, word, x, NULL);
        const double weight = job->x->weight ? job->x->weight[row] : 1;
        memcpy(A, job->given + row * K, sizeof(double) * (size_t)K);
        *result += weight * steps()->plsi_document(A, job->topics->B, x, word, words, wide, weight, chance, one, result + 1);
        memcpy(job->row_out + row * K, one, sizeof(double) * (size_t)K);
    }
    free(x);
}

/* Shares of the topics in documents, the topics fixed. Result: the log likelihood; out: the shares, all zero without a word. */
static void fold_in_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const topics_t *topics = job->topics;
    const steps_t *s = steps();
    const int64_t K = job->K;
    DOCUMENT(topics, result)
    (void)t;
    for (int64_t row = lo; row < hi; row++) {
        const int64_t words = document(job, row, word, x, B);
        for (int64_t k = 0; k < wide; k++)
            one[k] = k < K && words ? 1.0 / (double)K : 0;
        s->fold_in_document(B, x, words, topics->beta, topics->prior, K, wide, topics->max_iter, topics->tol, one, A, acc);
        put(job, row, one, 1);
        *result += (job->x->weight ? job->x->weight[row] : 1) * s->explain(one, B, x, word, words, wide, 1, chance, NULL);
    }
    free(x);
}

/* For each node i, with s_ij = P_i . Q_j: out_i = sum_j x_ij / s_ij Q_j over its links (row_out, (n, wide)). Result:
   sum x_ij log s_ij. P is job->given, Q job->topics->B. */
static void ratio_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    DOCUMENT(job->topics, result)
    (void)t;
    (void)psi;
    (void)acc;
    (void)one;
    (void)A;
    for (int64_t row = lo; row < hi; row++) {
        const int64_t links = document(job, row, word, x, NULL);
        *result += steps()->ratio_row(job->given + row * wide, job->topics->B, x, word, links, wide, job->row_out + row * wide);
    }
    free(x);
}

/* Ascent of affiliations, node after node in the given order; `sum` is kept equal to the sum of the rows of F. -1 where memory
   ran out. */
static int affiliation_sweep(const int64_t *indptr, const int64_t *indices, double *F, double *sum, const int64_t *order,
                             int64_t n, int64_t wide, double rate, double most)
{
    double *rest = malloc(sizeof(double) * (size_t)(4 * wide)), *g = rest + wide, *trial = g + wide, *old = trial + wide;
    if (!rest)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t u = order[i], links = indptr[u + 1] - indptr[u];
        double *f = F + u * wide;
        for (int64_t k = 0; k < wide; k++)
            rest[k] = sum[k] - f[k];
        memcpy(old, f, sizeof(double) * (size_t)wide);
        if (steps()->affiliation_step(f, F, indices + indptr[u], links, wide, rest, rate, most, g, trial))
            for (int64_t k = 0; k < wide; k++)
                sum[k] = rest[k] + f[k];
    }
    free(rest);
    return 0;
}

/* Rows f (m, wide) of nodes whose links lead to rows of F, each by at most `most_steps` steps of its own. */
static int affiliation_rows(const int64_t *indptr, const int64_t *indices, const double *F, const double *sum, double *f,
                            int64_t m, int64_t wide, double rate, double most, int64_t most_steps)
{
    double *g = malloc(sizeof(double) * (size_t)(2 * wide));
    if (!g)
        return -1;
    for (int64_t u = 0; u < m; u++)
        for (int64_t i = 0; i < most_steps; i++)
            if (!steps()->affiliation_step(f + u * wide, F, indices + indptr[u], indptr[u + 1] - indptr[u], wide, sum, rate,
                                           most, g, g + wide))
                break;
    free(g);
    return 0;
}

/* sum over the links of log(1 - exp(-F_u . F_v - rate)) + F_u . F_v, each link once for both directions: half of the sum. */
static double affiliation_links(const int64_t *indptr, const int64_t *indices, const double *F, const double *zero, int64_t n,
                                int64_t wide, double rate)
{
    double total = 0;
    for (int64_t u = 0; u < n; u++)
        total += steps()->affiliation_value(F + u * wide, F, indices + indptr[u], indptr[u + 1] - indptr[u], wide, zero, rate);
    return total / 2;
}

/* Draws (starts, draws, K, n) of softmax((W + g) / t) for W (starts, K, n), with a key (starts, draws) each, and their means. */
static int gumbel_softmax(const double *W, const uint64_t *keys, int64_t starts, int64_t draws, int64_t K, int64_t n, double t,
                          float *out, double *mean, int threads)
{
    const int64_t tiles = (n + TILE - 1) / TILE;
    int failed = 0;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
        void *memory = malloc(sizeof(double) * TILE * (size_t)K + 64);
        double *scores = (double *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
        int64_t i;
        if (!memory)
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (i = 0; i < starts * tiles; i++) {
            const int64_t start = i / tiles, plane = start * K * n;
            if (memory)
                steps()->gumbel_tile(W + plane, K, n, i % tiles * TILE, t, keys + start * draws, draws, scores, out + plane * draws,
                                     mean + plane);
        }
        free(memory);
    }
    return failed ? -1 : 0;
}

/* The gradients (starts, K, n) in W, from those in the means. */
static void gumbel_slope(const float *in, const double *mean, const double *slope, int64_t starts, int64_t draws, int64_t K,
                         int64_t n, double t, double *out, int threads)
{
    const int64_t tiles = (n + TILE - 1) / TILE;
    int64_t i;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
#endif
    for (i = 0; i < starts * tiles; i++) {
        const int64_t plane = i / tiles * K * n;
        steps()->gumbel_slope_tile(in + plane * draws, mean + plane, slope + plane, K, n, i % tiles * TILE, t, draws, out + plane);
    }
}
