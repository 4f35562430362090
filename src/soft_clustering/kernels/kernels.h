/* The compiled kernels: the instantiations per vector width, how one of them is chosen, and how chunks are run.

   Rows are split into chunks whose number does not depend on the number of threads; a thread owns a chunk and works
   through it tile by tile; the results of the chunks are added in index order. The sums are therefore bitwise the
   same for any number of threads.

   A header of a subject has two parts: its steps on a tile, compiled once per vector width (where WIDTH is defined), and
   its loops over chunks, compiled once. The loops reach the steps through the table `steps()`. */

#include "common.h"

/* The steps of one vector width; distances and totals by [CSR][float]. */
typedef struct {
    int64_t lanes; /* doubles in a vector */
    void (*distances[2][2])(const rows_t *, int64_t, int64_t, const prototypes_t *, tile_t *);
    void (*totals[2][2])(const rows_t *, int64_t, int64_t, const prototypes_t *, tile_t *, double *);
    void (*rules[N_RULES])(tile_t *, int64_t, const double *, int, double *);
    void (*gauss_rules[N_GAUSS_RULES])(tile_t *, int64_t, const double *, int, const double *, double *, double *);
    void (*pair_bumps)(double *, int64_t, double, const double *, const double *, double *, double *);
    void (*window)(const double *, double, double, int64_t, int64_t *, double *);
    void (*keep_nearest)(const double *, int64_t, int64_t, double *, double *, int64_t *);
    int64_t (*prim_step)(const double *, int64_t, int64_t, int64_t, const double *, double, const double *, int64_t, double *,
                         int64_t *);
    void (*log_densities)(const rows_t *, int64_t, int64_t, const gauss_t *, tile_t *);
    void (*load_double)(const rows_t *, int64_t, int64_t, tile_t *);
    void (*load_all[2])(const rows_t *, void *, void *); /* by [float] */
    void (*tail_sums)(const gauss_t *, const rows_t *, tile_t *, double *, double *, double *);
    void (*moments)(const gauss_t *, const rows_t *, tile_t *, double *, double *, double *, double *);
    void (*digammas)(const double *, int64_t, double *, double *);
    double (*lda_document)(const double *const *, const double *, int64_t, const double *, int64_t, int64_t, int64_t, double,
                           double *, double *, double *, double *, double *, double *, const double **, int64_t *);
    double (*explain)(const double *, const double *const *, const double *, const int64_t *, int64_t, int64_t, int64_t, double,
                      double *, double *);
    double (*plsi_document)(const double *, const double *, const double *, const int64_t *, int64_t, int64_t, double, double *,
                            double *, double *);
    void (*fold_in_document)(const double *const *, const double *, int64_t, double, const double *, int64_t, int64_t, double,
                             double *, double *, double *, double *);
    double (*ratio_row)(const double *, const double *, const double *, const int64_t *, int64_t, int64_t, double *, double *,
                        double *);
    void (*product_row)(const float *, const float *, const int64_t *, int64_t, int64_t, float *);
    void (*factor_row)(const double *, const double *, const double *, const double *, int64_t, double *, double *, double *);
    double (*block_expectations)(const double *, int64_t, int64_t, double, double, double *, double *);
    double (*block_links)(const double *, const double *, const double *, const double *, const int64_t *, int64_t, int64_t,
                          int64_t, double *, double *, double *, double *, double *, double *);
    double (*block_others)(const double *, const double *, const double *, double, int64_t, int64_t, double *, double *);
    void (*block_near)(const double *, const double *, const double *, const int64_t *, int64_t, const double *, int64_t, int64_t,
                       double *, double *, double *);
    double (*affiliation_value)(const double *, const double *, const int64_t *, int64_t, int64_t, const double *, double,
                                double *);
    int (*affiliation_step)(double *, const double *, const int64_t *, int64_t, int64_t, const double *, double, double, double *,
                            double *, double *);
    void (*gumbel_tile)(const double *, int64_t, int64_t, int64_t, double, const uint64_t *, int64_t, double *, float *, double *);
    void (*gumbel_slope_tile)(const float *, const double *, const double *, int64_t, int64_t, int64_t, double, int64_t, double *);
    double (*leaf_distances)(const double *, int64_t, const double *, const double *, double, double *);
} steps_t;

/* PLAIN is a target without fused multiplication and addition: its results are the same for all widths. */
#define WIDTH narrow
#define TARGET
#define PLAIN
#if defined(__GNUC__)
#define BYTES 16
#else
#define BYTES sizeof(REAL) /* one lane: the compiler has no vector types */
#endif
#include "width.h"
#undef WIDTH
#undef TARGET
#undef PLAIN
#undef BYTES

#if HAS_WIDE
#define WIDTH wide
#define TARGET __attribute__((target("avx2,fma")))
#define PLAIN __attribute__((target("avx2")))
#define BYTES 32
#include "width.h"
#undef WIDTH
#undef TARGET
#undef PLAIN
#undef BYTES

#define WIDTH widest
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define PLAIN __attribute__((target("avx2")))
#define BYTES 64
#include "width.h"
#undef WIDTH
#undef TARGET
#undef PLAIN
#undef BYTES
#endif

static const steps_t *chosen = NULL;

/* Bytes of the vectors in use; `limit` (0: none) caps it, for tests of the other widths. Processors older than AVX512-VBMI2 have
   vectors of 64 bytes, too, but run slower while they use them. */
static int vector_bytes(int limit)
{
    limit = limit ? limit : 64;
#if HAS_WIDE
    __builtin_cpu_init();
    if (limit >= 64 && __builtin_cpu_supports("avx512vbmi2")) {
        chosen = &steps_widest;
        return 64;
    }
    if (limit >= 32 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        chosen = &steps_wide;
        return 32;
    }
#endif
    chosen = &steps_narrow;
#if defined(__GNUC__)
    return 16;
#else
    return 8;
#endif
}

static const steps_t *steps(void)
{
    if (chosen == NULL)
        vector_bytes(0);
    return chosen;
}

/* K topics or affiliations filled up to whole vectors. */
static int64_t filled_up(int64_t K)
{
    const int64_t lanes = steps()->lanes;
    return (K + lanes - 1) / lanes * lanes;
}

static int max_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* Scratch of one thread. `gauss` asks for the two (d, TILE) buffers of the Gaussian steps. */
static size_t tile_bytes(const rows_t *x, int64_t K, int gauss)
{
    const int64_t d = gauss || x->d < STRIP ? x->d : STRIP;
    const size_t gaps = x->gaps && gauss ? sizeof(double) * (size_t)(BATCH * (d + 3) * d + TILE * (d + 2 + K * d)) : 0;
    return sizeof(double) * TILE * (size_t)(d + (x->gaps ? d : 0) + 2 * K + (gauss ? 2 * d : 2 * K)) + gaps + 64;
}

static tile_t tile_in(void *memory, const rows_t *x, int64_t K, int gauss)
{
    const int64_t d = gauss || x->d < STRIP ? x->d : STRIP;
    double *p = (double *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    tile_t t;
    t.T = p;
    t.M = p + d * TILE;
    t.D = p + (x->gaps ? 2 : 1) * d * TILE;
    t.E = t.D + K * TILE;
    t.narrow = t.E + K * TILE;
    t.A = (double *)t.narrow + 2 * d * TILE; /* only if the rows have gaps */
    t.filled = t.A + BATCH * (d + 2) * d;
    t.at = (int64_t *)(t.filled + K * d * TILE);
    t.n_gaps = t.at + (TILE + BATCH) * d;
    t.incomplete = t.n_gaps + TILE;
    t.n_incomplete = 0;
    return t;
}

static int64_t chunk_edge(int64_t n, int64_t chunks, int64_t c)
{
    const int64_t tiles = (n + TILE - 1) / TILE, edge = tiles * c / chunks * TILE;
    return edge < n ? edge : n;
}

/* Run job->chunk over all chunks; returns 0, or -1 if memory ran out. */
static int run(const job_t *job, int64_t chunks, int threads)
{
    const int64_t columns = job->columns + (job->gauss && job->g->tails ? job->K : 0);
    const size_t bytes = tile_bytes(job->x, columns, job->gauss);
    int failed = 0;
    if (threads < 2) {
        void *memory = malloc(bytes);
        if (!memory)
            return -1;
        tile_t t = tile_in(memory, job->x, columns, job->gauss);
        for (int64_t c = 0; c < chunks; c++)
            job->chunk(job, &t, chunk_edge(job->x->n, chunks, c), chunk_edge(job->x->n, chunks, c + 1),
                       job->results + c * job->width);
        free(memory);
        return 0;
    }
    /* A thread adds up in memory of its own: the results of chunks share cache lines. */
    const size_t part = job->results ? sizeof(double) * (size_t)job->width : 0, before = (part + 191) & ~(size_t)63;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
        char *memory = malloc(before + bytes);
        double *own = (double *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
        int64_t c;
        if (!memory)
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (c = 0; c < chunks; c++)
            if (memory) {
                tile_t t = tile_in(memory + before, job->x, columns, job->gauss);
                memset(own, 0, part);
                job->chunk(job, &t, chunk_edge(job->x->n, chunks, c), chunk_edge(job->x->n, chunks, c + 1), own);
                if (part)
                    memcpy(job->results + c * job->width, own, part);
            }
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

/* t->D = the squared distances of a tile to prototypes, and behind them those to the noise if there is any */
static void distances(const rows_t *x, const prototypes_t *v, int64_t first, int64_t count, tile_t *t)
{
    steps()->distances[x->indptr != NULL][x->is_float](x, first, count, v, t);
    for (int r = 0; v->noise > 0 && r < TILE; r++)
        t->D[v->K * TILE + r] = v->noise;
}

/* t->D (prototype by row) into the (n, K) result, and the memberships in the noise into theirs */
static void store(const job_t *job, const tile_t *t, int64_t first, int64_t count)
{
    const int64_t K = job->K;
    if (job->columns > K)
        memcpy(job->mass_out + first, t->D + K * TILE, sizeof(double) * (size_t)count);
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

#include "centers.h"
#include "pairs.h"
#include "gauss.h"
#include "categories.h"
#include "topics.h"
#include "graphs.h"
#include "gumbel.h"
#include "dirichlet.h"
#include "hierarchy.h"
#include "speakers.h"
#include "louvain.h"
#include "egos.h"
#include "propagation.h"
#include "links.h"
