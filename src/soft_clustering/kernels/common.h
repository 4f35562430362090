/* What all kernels share: the sizes, the types that Python fills in, and sums over a tile. */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#define TILE 64
#define STRIP 256 /* features of a dense tile that are loaded at once */
#define PAD 8     /* words and links are filled up to a multiple of it: no vector has more doubles */
#define BATCH 8   /* rows whose gaps are filled at once */
#define NEGLIGIBLE 1e-25
#define WEIGHTS 0
#define MEMBERSHIPS 1

#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#define INLINE inline __attribute__((always_inline))
#define OPAQUE(flag) __asm__("" : "+r"(flag)) /* keeps one loop for both values of a flag: two would round differently */
#elif defined(_MSC_VER)
#define ALIGNED __declspec(align(64))
#define INLINE __forceinline
#define OPAQUE(flag) (void)(flag)
#else
#define ALIGNED
#define INLINE inline
#define OPAQUE(flag) (void)(flag)
#endif
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define HAS_WIDE 1
#else
#define HAS_WIDE 0
#endif

/* setup.py finds the rules in rules.h and gauss.h and lists them as X(name) X(name) ... */
#define X(name) RULE_##name,
enum { RULE_LIST N_RULES };
#undef X
#define X(name) GAUSS_RULE_##name,
enum { GAUSS_RULE_LIST N_GAUSS_RULES };
#undef X
#define X(name) #name,
static const char *const rule_names[] = {RULE_LIST};
static const char *const gauss_rule_names[] = {GAUSS_RULE_LIST};
#undef X

typedef struct {
    int64_t n, d;
    int is_float, index64;
    int gaps;             /* whether entries of dense rows may be missing (NaN) */
    const void *values;   /* (n, d) row-major, or the data of a CSR matrix */
    const void *indices, *indptr; /* NULL for dense rows */
    const double *shift, *scale; /* (d,): z = (x - shift) * scale */
    const double *factor; /* (n,) what each row is multiplied with first, or NULL */
    const double *weight; /* NULL: all one */
    const void *tiles;    /* all tiles of dense rows as NAME(load) makes them, one after the other, or NULL */
    const void *masks;    /* their masks, if there are gaps */
} rows_t;

typedef struct {
    int64_t K;
    const void *V;      /* (K, d) in the type of the rows */
    const double *Vt;   /* (d, K), CSR rows only */
    const double *norm; /* (K,) squared norms, CSR rows only */
    double noise;       /* squared distance of every row to a cluster of noise, a further column of distances; 0: there is none */
} prototypes_t;

typedef struct {
    int64_t K;
    int full;               /* factor is (K, d, d) lower triangular, else (K, d) */
    const double *mean;     /* (K, d) */
    const double *factor;   /* NULL if memberships are given */
    const double *white;    /* (K, d) factor times mean if all components have the one factor (d, d), else NULL */
    const double *constant; /* (K,) log weight + log determinant of the factor - d/2 log(2 pi) */
    const double *linear;   /* (K, d) coefficients of a further linear term, or NULL */
    const double *unseen;   /* for rows with gaps: precisions (K, d, d), or log densities (K, d) of one feature at its mean */
    const double *noise;    /* NULL, or {log density of noise, what it gains for each missing feature (d)}: a further column */
    const double *tails;    /* NULL, or of Student components (K, 2 d + 4): nu; nu + the number of features; for 0 .. d gaps what
                               to add to the log density, and E log precision of a row at the mean */
} gauss_t;

/* Rows of p numbers and then codes of categories. */
typedef struct {
    int64_t p;
    const int64_t *edges; /* where the categories of each column begin among all, and at last their number */
    const double *table;  /* (categories, K) log probabilities; NULL without categories */
} categories_t;

typedef struct {
    int64_t wide, longest; /* topics filled up; most words of a document */
    int64_t max_iter;
    double tol, beta;
    const double *B;     /* (V, wide) */
    const double *prior; /* (K,): alpha, or log P(topic) */
    const double *start; /* (n, K), NULL: ones, or equal shares */
    int words;           /* whether statistics of the words are wanted */
} topics_t;

/* The links of the nodes of a graph: a CSR matrix without its values. */
typedef struct {
    int index64;
    const void *indptr, *indices;
} links_t;

/* A mixed-membership blockmodel: rows (n, wide), matrices (wide, wide); gamma is (n, K). */
typedef struct {
    int64_t wide;
    double alpha;
    const double *B, *no_link;
    const double *degree; /* (n,) */
    const double *gamma;
    const double *total;  /* (wide,), the sum of the phi */
    double *E, *a, *M, *phi, *near;
} blocks_t;

typedef struct {
    void *T;      /* the tile, [feature][row]; 0 for a missing entry */
    void *M;      /* its mask: 1 for an entry that is there, 0 for a missing one; only if the rows have gaps */
    double *D;    /* [prototype][row]: distances, then memberships or weights */
    double *E;    /* scratch, as D */
    void *narrow; /* scratch: D in float, or centred and weighted tiles */
    /* What follows is for Gaussian steps on rows with gaps. */
    double *A;    /* scratch for BATCH rows: (d + 1, d) and (d,) */
    double *filled; /* [component][gap of the row][row]: the conditional means of the gaps, about the mean */
    int64_t *at;  /* (TILE, d) the gaps of each row, then scratch (d, BATCH) */
    int64_t *n_gaps, *incomplete, n_incomplete; /* their numbers (TILE,), and the rows that have any */
} tile_t;

typedef struct job_s job_t;
typedef void (*chunk_t)(const job_t *, tile_t *, int64_t lo, int64_t hi, double *result);

struct job_s {
    const rows_t *x;
    int64_t K, columns; /* prototypes, and what a rule has memberships in: these and, if there is noise, the noise */
    int64_t width;      /* doubles in the result of one chunk */
    int gauss;
    double *results;  /* (chunks, width), zeroed; NULL if chunks have no result */
    chunk_t chunk;
    const prototypes_t *v;
    const gauss_t *g;
    const categories_t *categories;
    const topics_t *topics;
    const blocks_t *blocks;
    int rule;
    const double *parameters;
    const double *given;     /* (n, K) memberships to use in place of the densities */
    void *out;               /* (n, K) memberships in the type of the rows */
    double *row_out;         /* (n,) */
    double *mass_out;        /* (n,) memberships in the noise; with tails the mean precision of each row; NULL without either */
    double *closest;         /* (n,) */
};

/* Sum of a tile row in eight partial sums. They are written out because the compiler may not reorder a sum. */
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

static INLINE double scaled(double x, double scale)
{
    const double z = x * scale;
    return z < 1e100 ? (z > -1e100 ? z : -1e100) : 1e100;
}

/* MurmurHash3's 32-bit finaliser. */
static INLINE uint32_t scramble(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}
