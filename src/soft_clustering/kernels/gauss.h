/* Gaussian components on a tile of doubles: log densities, and moments about the current means.
   Included once per vector width, after tile.h for double and rules.h. */

#define LANES ((int)(BYTES / sizeof(double)))
#if defined(__GNUC__)
#define VEC DNAME(vec)
#define SPLAT(x) ((x) - (VEC){0})
#else
#define VEC double
#define SPLAT(x) (x)
#endif
#define LOAD(p) (*(const VEC *)(p))

/* The whole tile as doubles, whatever the input type. */
static TARGET void NAME(load_double)(const rows_t *x, int64_t first, int64_t count, double *T)
{
    if (!x->is_float) {
        DNAME(load)(x, first, count, 0, x->d, T);
        return;
    }
    for (int64_t r = 0; r < TILE; r++) {
        const float *row = (const float *)x->values + (first + (r < count ? r : count - 1)) * x->d;
        for (int64_t j = 0; j < x->d; j++) {
            const double z = ((double)row[j] - x->shift[j]) * x->scale[j];
            T[j * TILE + r] = z < 1e100 ? (z > -1e100 ? z : -1e100) : 1e100;
        }
    }
}

static TARGET void NAME(centre)(const double *T, const double *mean, int64_t d, double *C)
{
    for (int64_t j = 0; j < d; j++)
        for (int r = 0; r < TILE; r++)
            C[j * TILE + r] = T[j * TILE + r] - mean[j];
}

/* quad[r] += sum over NI rows i of (sum_{j <= i} L[i][j] C[j][r])^2; L is zero above its diagonal. */
static INLINE TARGET void NAME(whiten_block)(const double *C, const double *L, int64_t d, int64_t i, const int NI,
                                             double *quad)
{
    for (int r = 0; r < TILE; r += 2 * LANES) {
        VEC a[4], b[4];
        for (int k = 0; k < NI; k++)
            a[k] = b[k] = SPLAT(0.0);
        for (int64_t j = 0; j < i + NI; j++) {
            const VEC x = LOAD(C + j * TILE + r), y = LOAD(C + j * TILE + r + LANES);
            for (int k = 0; k < NI; k++) {
                const VEC l = SPLAT(L[(i + k) * d + j]);
                a[k] += l * x;
                b[k] += l * y;
            }
        }
        VEC p = LOAD(quad + r), q = LOAD(quad + r + LANES);
        for (int k = 0; k < NI; k++) {
            p += a[k] * a[k];
            q += b[k] * b[k];
        }
        *(VEC *)(quad + r) = p;
        *(VEC *)(quad + r + LANES) = q;
    }
}

/* t->D[k][r] = constant_k - |precision factor_k (z_r - mean_k)|^2 / 2. Leaves the tile in t->T. */
static TARGET void NAME(log_densities)(const rows_t *x, int64_t first, int64_t count, const gauss_t *g, tile_t *t)
{
    const int64_t d = x->d;
    double *T = (double *)t->T, *C = (double *)t->narrow;
    ALIGNED double quad[TILE];
    NAME(load_double)(x, first, count, T);
    for (int64_t k = 0; k < g->K; k++) {
        memset(quad, 0, sizeof quad);
        if (g->full) {
            const double *L = g->factor + k * d * d;
            int64_t i = 0;
            NAME(centre)(T, g->mean + k * d, d, C);
            for (; i + 4 <= d; i += 4)
                NAME(whiten_block)(C, L, d, i, 4, quad);
            if (d - i == 3)
                NAME(whiten_block)(C, L, d, i, 3, quad);
            else if (d - i == 2)
                NAME(whiten_block)(C, L, d, i, 2, quad);
            else if (d - i == 1)
                NAME(whiten_block)(C, L, d, i, 1, quad);
        } else {
            for (int64_t j = 0; j < d; j++) {
                const double mean = g->mean[k * d + j], p = g->factor[k * d + j];
                for (int r = 0; r < TILE; r++) {
                    const double y = (T[j * TILE + r] - mean) * p;
                    quad[r] += y * y;
                }
            }
        }
        /* a density too small for its logarithm to be a number still has to compare */
        for (int r = 0; r < TILE; r++) {
            const double value = g->constant[k] - 0.5 * quad[r];
            t->D[k * TILE + r] = value > -1e300 ? value : -1e300;
        }
    }
}

/* Add a tile to the moments about g->mean (second: NULL where not wanted), with the weights in t->D, the tile in t->T. */
static TARGET void NAME(moments)(const gauss_t *g, int64_t d, tile_t *t, double *weight, double *first, double *second)
{
    const double *T = (const double *)t->T;
    double *C = (double *)t->narrow, *S = C + d * TILE;
    for (int64_t k = 0; k < g->K; k++) {
        const double *w = t->D + k * TILE;
        if (tile_max(w) == 0)
            continue;
        weight[k] += tile_sum(w);
        NAME(centre)(T, g->mean + k * d, d, C);
        for (int64_t j = 0; j < d; j++)
            for (int r = 0; r < TILE; r++)
                S[j * TILE + r] = C[j * TILE + r] * w[r];
        DNAME(dots)(w, 1, C, d, first + k * d, d);
        if (!second)
            continue;
        if (g->full) {
            double *M = second + k * d * d;
            for (int64_t i = 0; i < d; i += 4) {
                const int64_t ni = d - i < 4 ? d - i : 4;
                DNAME(dots)(S + i * TILE, ni, C, i + ni, M + i * d, d);
            }
        } else {
            for (int64_t j = 0; j < d; j++)
                DNAME(dots)(S + j * TILE, 1, C + j * TILE, 1, second + k * d + j, 1);
        }
    }
}

#undef LANES
#undef VEC
#undef SPLAT
#undef LOAD
