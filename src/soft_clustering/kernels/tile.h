/* Work on one tile of TILE rows, the rows being the lanes of the vectors.

   Included once per (REAL, BYTES): the arithmetic type of the distances and the width of a vector. Needs
   REAL, IS_DOUBLE, BYTES, TARGET and NAME(x) to be defined. A tile buffer is laid out [feature or prototype][row]. */

#define LANES ((int)(BYTES / sizeof(REAL)))
#if defined(__GNUC__)
typedef REAL NAME(vec) __attribute__((vector_size(BYTES), aligned(BYTES), may_alias));
#define VEC NAME(vec)
#define SPLAT(x) ((x) - (VEC){0})
#else
#define VEC REAL
#define SPLAT(x) (x)
#endif
#define LOAD(p) (*(const VEC *)(p))
#define ZERO ((VEC)SPLAT((REAL)0))

/* Features j0 .. j0+jn of the rows first .. first+count, centred and scaled; the last row fills up the tile. If the rows have
   gaps, these become 0, and M says where they are. */
static TARGET void NAME(load)(const rows_t *x, int64_t first, int64_t count, int64_t j0, int64_t jn, REAL *T, REAL *M)
{
    const REAL *base = (const REAL *)x->values + first * x->d + j0;
    const REAL most = (REAL)(sizeof(REAL) == 4 ? 1e15 : 1e100);
    if (count == TILE) {
        for (int64_t r = 0; r < TILE; r += 4) {
            const REAL *a = base + r * x->d, *b = a + x->d, *c = b + x->d, *e = c + x->d;
            REAL *t = T + r;
            for (int64_t j = 0; j < jn; j++, t += TILE) {
                t[0] = a[j];
                t[1] = b[j];
                t[2] = c[j];
                t[3] = e[j];
            }
        }
    } else {
        for (int64_t r = 0; r < TILE; r++) {
            const REAL *row = base + (r < count ? r : count - 1) * x->d;
            for (int64_t j = 0; j < jn; j++)
                T[j * TILE + r] = row[j];
        }
    }
    if (x->factor) {
        ALIGNED REAL factor[TILE];
        for (int64_t r = 0; r < TILE; r++)
            factor[r] = (REAL)x->factor[first + (r < count ? r : count - 1)];
        for (int64_t j = 0; j < jn; j++)
            for (int r = 0; r < TILE; r++)
                T[j * TILE + r] *= factor[r];
    }
    for (int64_t j = 0; j < jn; j++) {
        const REAL shift = (REAL)x->shift[j0 + j], scale = (REAL)x->scale[j0 + j];
        REAL *t = T + j * TILE;
        if (x->gaps)
            for (int r = 0; r < TILE; r++)
                M[j * TILE + r] = t[r] == t[r] ? (REAL)1 : (REAL)0;
        for (int r = 0; r < TILE; r++) {
            REAL z = (t[r] - shift) * scale;
            z = z < most ? z : most;
            t[r] = z > -most ? z : -most;
        }
        if (x->gaps)
            for (int r = 0; r < TILE; r++)
                t[r] = M[j * TILE + r] > 0 ? t[r] : (REAL)0;
    }
}

/* Make t->T and t->M the features j0 .. j0+jn of a tile and their mask: where they are kept, or where they are loaded now. */
static INLINE TARGET void NAME(strip)(const rows_t *x, int64_t first, int64_t count, int64_t j0, int64_t jn, tile_t *t)
{
    if (!x->tiles) {
        NAME(load)(x, first, count, j0, jn, (REAL *)t->T, (REAL *)t->M);
        return;
    }
    t->T = (REAL *)x->tiles + first * x->d + j0 * TILE;
    if (x->gaps)
        t->M = (REAL *)x->masks + first * x->d + j0 * TILE;
}

/* All tiles of the rows and their masks, one after the other. */
static TARGET void NAME(load_all)(const rows_t *x, void *tiles, void *masks)
{
    for (int64_t first = 0; first < x->n; first += TILE)
        NAME(load)(x, first, x->n - first < TILE ? x->n - first : TILE, 0, x->d, (REAL *)tiles + first * x->d,
                   x->gaps ? (REAL *)masks + first * x->d : NULL);
}

/* D[b][r] (+)= sum_j (T[j][r] - M[j][r] V[b][j])^2 for KB prototypes: 0 for a missing entry, which is 0 in T and in M. */
static INLINE TARGET void NAME(distance_block)(const REAL *T, const REAL *M, const int gaps, int64_t jn, const REAL *V,
                                               int64_t ld, const int KB, REAL *D, int more)
{
    for (int r = 0; r < TILE; r += 2 * LANES) {
        VEC a[4], b[4];
        for (int k = 0; k < KB; k++) {
            a[k] = b[k] = ZERO;
            if (more) {
                a[k] = LOAD(D + k * TILE + r);
                b[k] = LOAD(D + k * TILE + r + LANES);
            }
        }
        for (int64_t j = 0; j < jn; j++) {
            const VEC x = LOAD(T + j * TILE + r), y = LOAD(T + j * TILE + r + LANES);
            VEC there = ZERO, here = ZERO;
            if (gaps) {
                there = LOAD(M + j * TILE + r);
                here = LOAD(M + j * TILE + r + LANES);
            }
            for (int k = 0; k < KB; k++) {
                const VEC v = SPLAT(V[k * ld + j]), p = gaps ? x - there * v : x - v, q = gaps ? y - here * v : y - v;
                a[k] += p * p;
                b[k] += q * q;
            }
        }
        for (int k = 0; k < KB; k++) {
            *(VEC *)(D + k * TILE + r) = a[k];
            *(VEC *)(D + k * TILE + r + LANES) = b[k];
        }
    }
}

static INLINE TARGET void NAME(prototype_distances)(const REAL *T, const REAL *M, const int gaps, int64_t jn, const REAL *V,
                                                    int64_t ld, int64_t K, REAL *D, int more)
{
    int64_t k = 0;
    for (; k + 4 <= K; k += 4)
        NAME(distance_block)(T, M, gaps, jn, V + k * ld, ld, 4, D + k * TILE, more);
    if (K - k == 3)
        NAME(distance_block)(T, M, gaps, jn, V + k * ld, ld, 3, D + k * TILE, more);
    else if (K - k == 2)
        NAME(distance_block)(T, M, gaps, jn, V + k * ld, ld, 2, D + k * TILE, more);
    else if (K - k == 1)
        NAME(distance_block)(T, M, gaps, jn, V + k * ld, ld, 1, D + k * TILE, more);
}

static TARGET void NAME(strip_distances)(const REAL *T, int64_t jn, const REAL *V, int64_t ld, int64_t K, REAL *D,
                                         int more)
{
    NAME(prototype_distances)(T, NULL, 0, jn, V, ld, K, D, more);
}

static TARGET void NAME(partial_distances)(const REAL *T, const REAL *M, int64_t jn, const REAL *V, int64_t ld, int64_t K,
                                           REAL *D, int more)
{
    NAME(prototype_distances)(T, M, 1, jn, V, ld, K, D, more);
}

#if defined(__GNUC__) && !defined(__clang__) && IS_DOUBLE && BYTES >= 32
#define FOUR_SUMS
/* out[0, ld, 2 ld, 3 ld] += the sums of the lanes of four vectors: pairs of lanes are added while they are interleaved. */
static INLINE TARGET void NAME(add_four_sums)(VEC a, VEC b, VEC c, VEC e, double *out, int64_t ld)
{
    typedef int64_t mask_t __attribute__((vector_size(BYTES)));
#if BYTES == 64
    const mask_t even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
    const mask_t low = {0, 1, 8, 9, 4, 5, 12, 13}, high = {2, 3, 10, 11, 6, 7, 14, 15};
#else
    const mask_t even = {0, 4, 2, 6}, odd = {1, 5, 3, 7}, low = {0, 1, 4, 5}, high = {2, 3, 6, 7};
#endif
    const VEC p = __builtin_shuffle(a, b, even) + __builtin_shuffle(a, b, odd);
    const VEC q = __builtin_shuffle(c, e, even) + __builtin_shuffle(c, e, odd);
    const VEC sums = __builtin_shuffle(p, q, low) + __builtin_shuffle(p, q, high);
    for (int i = 0; i < 4; i++)
#if BYTES == 64
        out[i * ld] += sums[i] + sums[i + 4];
#else
        out[i * ld] += sums[i];
#endif
}
#endif

/* out[a * ld + b] += sum_r A[a][r] B[b][r] for NA x NB pairs of tile rows. */
static INLINE TARGET void NAME(dot_block)(const REAL *A, const int NA, const REAL *B, const int NB, double *out,
                                          int64_t ld)
{
    VEC s[4][3];
    for (int a = 0; a < NA; a++)
        for (int b = 0; b < NB; b++)
            s[a][b] = ZERO;
    for (int r = 0; r < TILE; r += LANES) {
        VEC y[3];
        for (int b = 0; b < NB; b++)
            y[b] = LOAD(B + b * TILE + r);
        for (int a = 0; a < NA; a++) {
            const VEC x = LOAD(A + a * TILE + r);
            for (int b = 0; b < NB; b++)
                s[a][b] += x * y[b];
        }
    }
#ifdef FOUR_SUMS
    if (NA == 4) {
        for (int b = 0; b < NB; b++)
            NAME(add_four_sums)(s[0][b], s[1][b], s[2][b], s[3][b], out + b, ld);
        return;
    }
#endif
    for (int a = 0; a < NA; a++)
        for (int b = 0; b < NB; b++) {
            REAL lane[BYTES / sizeof(REAL)];
            memcpy(lane, &s[a][b], BYTES);
            double total = 0;
            for (int l = 0; l < LANES; l++)
                total += (double)lane[l];
            out[a * ld + b] += total;
        }
}

static INLINE TARGET void NAME(dot_rows)(const REAL *A, const int NA, const REAL *B, int64_t nb, double *out, int64_t ld)
{
    int64_t b = 0;
    for (; b + 3 <= nb; b += 3)
        NAME(dot_block)(A, NA, B + b * TILE, 3, out + b, ld);
    if (nb - b == 2)
        NAME(dot_block)(A, NA, B + b * TILE, 2, out + b, ld);
    else if (nb - b == 1)
        NAME(dot_block)(A, NA, B + b * TILE, 1, out + b, ld);
}

/* out[a * ld + b] += <A_a, B_b> for all pairs. */
static TARGET void NAME(dots)(const REAL *A, int64_t na, const REAL *B, int64_t nb, double *out, int64_t ld)
{
    int64_t a = 0;
    for (; a + 4 <= na; a += 4)
        NAME(dot_rows)(A + a * TILE, 4, B, nb, out + a * ld, ld);
    if (na - a == 3)
        NAME(dot_rows)(A + a * TILE, 3, B, nb, out + a * ld, ld);
    else if (na - a == 2)
        NAME(dot_rows)(A + a * TILE, 2, B, nb, out + a * ld, ld);
    else if (na - a == 1)
        NAME(dot_rows)(A + a * TILE, 1, B, nb, out + a * ld, ld);
}

/* Squared distances of a tile to K prototypes, as doubles. Leaves the (last strip of the) tile in t->T. */
static TARGET void NAME(dense_distances)(const rows_t *x, int64_t first, int64_t count, const prototypes_t *v,
                                         tile_t *t)
{
    REAL *D = sizeof(REAL) == sizeof(double) ? (REAL *)t->D : (REAL *)t->narrow;
    for (int64_t j0 = 0; j0 < x->d; j0 += STRIP) {
        const int64_t jn = x->d - j0 < STRIP ? x->d - j0 : STRIP;
        const REAL *V = (const REAL *)v->V + j0;
        NAME(strip)(x, first, count, j0, jn, t);
        if (x->gaps)
            NAME(partial_distances)((const REAL *)t->T, (const REAL *)t->M, jn, V, x->d, v->K, D, j0 > 0);
        else
            NAME(strip_distances)((const REAL *)t->T, jn, V, x->d, v->K, D, j0 > 0);
    }
    if (sizeof(REAL) != sizeof(double))
        for (int64_t i = 0; i < v->K * TILE; i++)
            t->D[i] = (double)D[i];
}

/* out[k][j0 + j] += sum_r W[k][r] A[j][r] for a strip A of a tile, the weights W taken from t->D. In float the weights of a
   prototype are measured in units of their largest: far away or with a large fuzzifier they may be too small for the type. */
static TARGET void NAME(strip_totals)(const REAL *A, int64_t j0, int64_t jn, int64_t K, int64_t d, tile_t *t, double *out)
{
    REAL *W = sizeof(REAL) == sizeof(double) ? (REAL *)t->D : (REAL *)t->narrow;
    if (sizeof(REAL) == sizeof(double)) {
        NAME(dots)(W, K, A, jn, out + j0, d);
        return;
    }
    for (int64_t k = 0; k < K; k += 4) {
        const int64_t kn = K - k < 4 ? K - k : 4;
        ALIGNED double part[4 * STRIP];
        double most[4];
        for (int64_t i = 0; i < kn; i++) {
            most[i] = tile_max(t->D + (k + i) * TILE);
            const double unit = most[i] > 0 ? 1 / most[i] : 0;
            for (int r = 0; r < TILE; r++)
                W[i * TILE + r] = (REAL)(t->D[(k + i) * TILE + r] * unit);
        }
        memset(part, 0, sizeof(double) * (size_t)(kn * jn));
        NAME(dots)(W, kn, A, jn, part, jn);
        for (int64_t i = 0; i < kn; i++)
            for (int64_t j = 0; j < jn; j++)
                out[(k + i) * d + j0 + j] += most[i] * part[i * jn + j];
    }
}

/* total[k][j] += sum_r W[k][r] z[r][j], the weights W taken from t->D; if the rows have gaps, then behind the totals the weight
   of the rows that have feature j. */
static TARGET void NAME(dense_totals)(const rows_t *x, int64_t first, int64_t count, const prototypes_t *v, tile_t *t,
                                      double *total)
{
    const int64_t d = x->d;
    for (int64_t j0 = 0; j0 < d; j0 += STRIP) {
        const int64_t jn = d - j0 < STRIP ? d - j0 : STRIP;
        if (d > STRIP)
            NAME(strip)(x, first, count, j0, jn, t);
        NAME(strip_totals)((const REAL *)t->T, j0, jn, v->K, d, t, total);
        if (x->gaps)
            NAME(strip_totals)((const REAL *)t->M, j0, jn, v->K, d, t, total + v->K * d);
    }
}

/* dot_k = z . v_k of a CSR row for NK prototypes, in registers; gives the squared norm of the row. */
static INLINE TARGET double NAME(sparse_dots)(const rows_t *x, int64_t begin, int64_t end, double factor,
                                              const double *Vt, int64_t K, const int NK, double *dot)
{
    const REAL *values = (const REAL *)x->values;
    double sum[8] = {0}, norm = 0;
    int index64 = x->index64;
    for (int64_t p = begin; p < end; p++) {
        OPAQUE(index64);
        const int64_t j = csr_at(x->indices, index64, p);
        const double z = scaled((double)values[p] * factor, x->scale[j]);
        norm += z * z;
        for (int k = 0; k < NK; k++)
            sum[k] += z * Vt[j * K + k];
    }
    memcpy(dot, sum, sizeof(double) * (size_t)NK);
    return norm;
}

/* Distances and totals of CSR rows: |z|^2 - 2 z.v + |v|^2, recomputed by direct difference if small. v->Vt is (d, K). */
static TARGET void NAME(sparse_distances)(const rows_t *x, int64_t first, int64_t count, const prototypes_t *v,
                                          tile_t *t)
{
    const REAL *values = (const REAL *)x->values;
    const int64_t K = v->K;
    double *dot = (double *)t->E;
    for (int64_t r = 0; r < TILE; r++) {
        const int64_t row = first + (r < count ? r : count - 1);
        const int64_t begin = csr_at(x->indptr, x->index64, row), end = csr_at(x->indptr, x->index64, row + 1);
        const double factor = x->factor ? x->factor[row] : 1;
        double norm = 0;
        for (int64_t k = 0; k < K; k += 8)
            switch (K - k) {
#define DOTS(n) norm = NAME(sparse_dots)(x, begin, end, factor, v->Vt + k, K, n, dot + k); break
            case 1: DOTS(1);
            case 2: DOTS(2);
            case 3: DOTS(3);
            case 4: DOTS(4);
            case 5: DOTS(5);
            case 6: DOTS(6);
            case 7: DOTS(7);
            default: DOTS(8);
#undef DOTS
            }
        for (int64_t k = 0; k < K; k++) {
            double D = norm - 2 * dot[k] + v->norm[k];
            if (D < 1e3 * DBL_EPSILON * (norm + v->norm[k])) {
                int64_t j = 0;
                D = 0;
                for (int64_t p = begin; p < end; p++) {
                    const int64_t at = csr_at(x->indices, x->index64, p);
                    for (; j < at; j++)
                        D += v->Vt[j * K + k] * v->Vt[j * K + k];
                    const double e = scaled((double)values[p] * factor, x->scale[at]) - v->Vt[at * K + k];
                    D += e * e;
                    j = at + 1;
                }
                for (; j < x->d; j++)
                    D += v->Vt[j * K + k] * v->Vt[j * K + k];
            }
            t->D[k * TILE + r] = D;
        }
    }
}

static TARGET void NAME(sparse_totals)(const rows_t *x, int64_t first, int64_t count, const prototypes_t *v, tile_t *t,
                                       double *total)
{
    const REAL *values = (const REAL *)x->values;
    const int64_t K = v->K;
    double *w = (double *)t->E;
    for (int64_t r = 0; r < count; r++) {
        const int64_t begin = csr_at(x->indptr, x->index64, first + r);
        const int64_t end = csr_at(x->indptr, x->index64, first + r + 1);
        const double factor = x->factor ? x->factor[first + r] : 1;
        for (int64_t k = 0; k < K; k++)
            w[k] = t->D[k * TILE + r];
        for (int64_t p = begin; p < end; p++) {
            const int64_t j = csr_at(x->indices, x->index64, p);
            const double z = scaled((double)values[p] * factor, x->scale[j]);
            double *to = total + j * K;
            for (int64_t k = 0; k < K; k++)
                to[k] += z * w[k];
        }
    }
}

#undef FOUR_SUMS
#undef LANES
#undef VEC
#undef SPLAT
#undef LOAD
#undef ZERO
