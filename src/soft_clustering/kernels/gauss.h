/* Gaussian components on a tile of doubles: log densities, the rules that make memberships of them, and moments about
   the current means. */

#ifdef WIDTH /* steps, once per vector width */

#define LANES ((int)(BYTES / sizeof(double)))
#if defined(__GNUC__)
#define VEC DNAME(vec)
#define SPLAT(x) ((x) - (VEC){0})
#else
#define VEC double
#define SPLAT(x) (x)
#endif
#define LOAD(p) (*(const VEC *)(p))

/* Make t->T the whole tile as doubles, whatever the input type. */
static TARGET void NAME(load_double)(const rows_t *x, int64_t first, int64_t count, tile_t *t)
{
    double *T = (double *)t->T;
    if (!x->is_float) {
        DNAME(strip)(x, first, count, 0, x->d, t);
        return;
    }
    for (int64_t r = 0; r < TILE; r++) {
        const int64_t at = first + (r < count ? r : count - 1);
        const float *row = (const float *)x->values + at * x->d;
        const double factor = x->factor ? x->factor[at] : 1;
        for (int64_t j = 0; j < x->d; j++) {
            const double z = ((double)row[j] * factor - x->shift[j]) * x->scale[j];
            T[j * TILE + r] = z < 1e100 ? (z > -1e100 ? z : -1e100) : 1e100;
        }
        if (x->gaps)
            for (int64_t j = 0; j < x->d; j++) {
                const int there = row[j] == row[j];
                ((double *)t->M)[j * TILE + r] = there ? 1.0 : 0.0;
                T[j * TILE + r] = there ? T[j * TILE + r] : 0.0;
            }
    }
}

static TARGET void NAME(centre)(const double *T, const double *mean, int64_t d, double *C)
{
    for (int64_t j = 0; j < d; j++)
        for (int r = 0; r < TILE; r++)
            C[j * TILE + r] = T[j * TILE + r] - mean[j];
}

/* C = the tile about a mean; 0 for a missing entry */
static TARGET void NAME(centre_seen)(const double *T, const double *M, const double *mean, int64_t d, double *C)
{
    for (int64_t j = 0; j < d; j++)
        for (int r = 0; r < TILE; r++)
            C[j * TILE + r] = T[j * TILE + r] - M[j * TILE + r] * mean[j];
}

/* G[i .. i + NI][r] = sum_j P[i][j] C[j][r]. */
static INLINE TARGET void NAME(product_block)(const double *C, const double *P, int64_t d, int64_t i, const int NI, double *G)
{
    for (int r = 0; r < TILE; r += 2 * LANES) {
        VEC a[4], b[4];
        for (int k = 0; k < NI; k++)
            a[k] = b[k] = SPLAT(0.0);
        for (int64_t j = 0; j < d; j++) {
            const VEC x = LOAD(C + j * TILE + r), y = LOAD(C + j * TILE + r + LANES);
            for (int k = 0; k < NI; k++) {
                const VEC p = SPLAT(P[(i + k) * d + j]);
                a[k] += p * x;
                b[k] += p * y;
            }
        }
        for (int k = 0; k < NI; k++) {
            *(VEC *)(G + (i + k) * TILE + r) = a[k];
            *(VEC *)(G + (i + k) * TILE + r + LANES) = b[k];
        }
    }
}

/* The gaps of each row of the tile, and the incomplete rows in the order of their number of gaps. */
static TARGET void NAME(find_gaps)(int64_t d, tile_t *t)
{
    const double *M = (const double *)t->M;
    int64_t most = 0;
    for (int r = 0; r < TILE; r++) {
        int64_t n = 0;
        for (int64_t j = 0; j < d; j++)
            if (M[j * TILE + r] == 0)
                t->at[r * d + n++] = j;
        t->n_gaps[r] = n;
        most = t->n_gaps[r] > most ? t->n_gaps[r] : most;
    }
    t->n_incomplete = 0;
    for (int64_t n = 1; n <= most; n++)
        for (int r = 0; r < TILE; r++)
            if (t->n_gaps[r] == n)
                t->incomplete[t->n_incomplete++] = r;
}

#define VECS (BATCH / LANES)
#define FOR_VECS for (int v = 0; v < VECS; v++)
#define AT(p) LOAD((p) + v * LANES)

/* Rows with equally many gaps n, BATCH of them at once: A [a][b][row] = the Cholesky factors of P_gg, the inverses of their
   diagonals at A[n][a][row]; det and logarithm: log det = logarithm + log(det). */
static TARGET void NAME(gap_factors)(const double *P, int64_t d, const int64_t *at, int64_t n, double *A, double *det,
                                     double *logarithm)
{
    double *inverse = A + n * n * BATCH;
    for (int l = 0; l < BATCH; l++) {
        det[l] = 1;
        logarithm[l] = 0;
    }
    for (int64_t a = 0; a < n; a++) {
        double *row = A + a * n * BATCH;
        for (int64_t b = 0; b <= a; b++)
            for (int l = 0; l < BATCH; l++)
                row[b * BATCH + l] = P[at[a * BATCH + l] * d + at[b * BATCH + l]];
        for (int64_t b = 0; b <= a; b++) {
            double *x = row + b * BATCH;
            const double *other = A + b * n * BATCH;
            VEC s[VECS];
            FOR_VECS s[v] = AT(x);
            for (int64_t c = 0; c < b; c++)
                FOR_VECS s[v] -= AT(row + c * BATCH) * AT(other + c * BATCH);
            if (b < a)
                FOR_VECS s[v] *= AT(inverse + b * BATCH);
            FOR_VECS *(VEC *)(x + v * LANES) = s[v];
        }
        double *x = row + a * BATCH, extreme = 0;
        for (int l = 0; l < BATCH; l++) {
            const double least = DBL_EPSILON * DBL_EPSILON * P[at[a * BATCH + l] * (d + 1)];
            x[l] = x[l] > least ? x[l] : least; /* only rounding makes it smaller */
            det[l] *= x[l];
            extreme += det[l] > 1e150 || det[l] < 1e-150 ? 1.0 : 0.0;
            x[l] = sqrt(x[l]);
            inverse[a * BATCH + l] = 1 / x[l];
        }
        if (extreme > 0)
            for (int l = 0; l < BATCH; l++) {
                logarithm[l] += log(det[l]);
                det[l] = 1;
            }
    }
}

/* second += w times the inverse of the matrices that are factored in A, for each of the first m rows. */
static TARGET void NAME(add_inverses)(double *A, int64_t d, const int64_t *at, int64_t n, const double *w, int m,
                                      double *second)
{
    const double *inverse = A + n * n * BATCH;
    /* column b of the inverse factor, from the diagonal down, goes to row b of A, from the diagonal on */
    for (int64_t b = 0; b < n; b++)
        for (int64_t a = b; a < n; a++) {
            VEC s[VECS];
            FOR_VECS s[v] = SPLAT(a == b ? 1.0 : 0.0);
            for (int64_t c = b; c < a; c++)
                FOR_VECS s[v] -= AT(A + (a * n + c) * BATCH) * AT(A + (b * n + c) * BATCH);
            FOR_VECS *(VEC *)(A + (b * n + a) * BATCH + v * LANES) = s[v] * AT(inverse + a * BATCH);
        }
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b <= a; b++) {
            ALIGNED double s[BATCH];
            VEC sum[VECS];
            FOR_VECS sum[v] = SPLAT(0.0);
            for (int64_t c = a; c < n; c++)
                FOR_VECS sum[v] += AT(A + (a * n + c) * BATCH) * AT(A + (b * n + c) * BATCH);
            FOR_VECS *(VEC *)(s + v * LANES) = sum[v];
            for (int l = 0; l < m; l++)
                second[at[a * BATCH + l] * d + at[b * BATCH + l]] += w[l] * s[l];
        }
}

/* The next rows with equally many gaps, at most BATCH: which, how many, and [gap][row] where their gaps are, for all BATCH (the
   first row fills up). Gives the number of gaps, 0 if no row is left. With weights w, rows that are not above `least` are left out. */
static TARGET int64_t NAME(next_batch)(const tile_t *t, int64_t d, const double *w, double least, int64_t *next, int64_t *rows,
                                       int *m, int64_t *at)
{
    int64_t n = 0;
    for (*m = 0; *next < t->n_incomplete && *m < BATCH; ++*next) {
        const int64_t r = t->incomplete[*next];
        if (w && w[r] <= least)
            continue;
        if (*m && t->n_gaps[r] != n)
            break;
        n = t->n_gaps[r];
        rows[(*m)++] = r;
    }
    for (int l = *m; l < BATCH && *m; l++)
        rows[l] = rows[0];
    for (int64_t a = 0; a < n; a++)
        for (int l = 0; l < BATCH; l++)
            at[a * BATCH + l] = t->at[rows[l] * d + a];
    return n;
}

/* The gaps of component k filled with their conditional means given what is there, in C, the tile about the mean of k, and in
   t->filled: - P_gg^-1 (P C)_g with the precision P. `G` is scratch as large as C. `adjust` becomes what the log density gains
   because only the observed part counts: gaps / 2 log(2 pi) - log det(P_gg) / 2. */
static TARGET void NAME(complete)(const gauss_t *g, int64_t k, int64_t d, tile_t *t, double *C, double *G, double *adjust)
{
    const double *P = g->unseen + k * d * d;
    ALIGNED double dets[TILE];
    double det[BATCH], logarithm[BATCH], *y = t->A + (d + 1) * d * BATCH, *filled = t->filled + k * d * TILE;
    int64_t rows[BATCH], *at = t->at + TILE * d, i = 0, next = 0, n;
    int m;
    memset(adjust, 0, sizeof(double) * TILE);
    if (t->n_incomplete == 0)
        return;
    for (int r = 0; r < TILE; r++)
        dets[r] = 1;
    for (; i + 4 <= d; i += 4)
        NAME(product_block)(C, P, d, i, 4, G);
    for (; i < d; i++)
        NAME(product_block)(C, P, d, i, 1, G);
    while ((n = NAME(next_batch)(t, d, NULL, 0, &next, rows, &m, at)) > 0) {
        NAME(gap_factors)(P, d, at, n, t->A, det, logarithm);
        const double *A = t->A, *inverse = A + n * n * BATCH;
        for (int64_t a = 0; a < n; a++) {
            double *x = y + a * BATCH;
            VEC s[VECS];
            for (int l = 0; l < BATCH; l++)
                x[l] = -G[at[a * BATCH + l] * TILE + rows[l]];
            FOR_VECS s[v] = AT(x);
            for (int64_t c = 0; c < a; c++)
                FOR_VECS s[v] -= AT(A + (a * n + c) * BATCH) * AT(y + c * BATCH);
            FOR_VECS *(VEC *)(x + v * LANES) = s[v] * AT(inverse + a * BATCH);
        }
        for (int64_t a = n - 1; a >= 0; a--) {
            double *x = y + a * BATCH;
            VEC s[VECS];
            FOR_VECS s[v] = AT(x);
            for (int64_t c = a + 1; c < n; c++)
                FOR_VECS s[v] -= AT(A + (c * n + a) * BATCH) * AT(y + c * BATCH);
            FOR_VECS *(VEC *)(x + v * LANES) = s[v] * AT(inverse + a * BATCH);
            for (int l = 0; l < m; l++)
                C[at[a * BATCH + l] * TILE + rows[l]] = filled[a * TILE + rows[l]] = x[l];
        }
        for (int l = 0; l < m; l++) {
            dets[rows[l]] = det[l];
            adjust[rows[l]] = (double)n * 1.8378770664093453 - logarithm[l]; /* log(2 pi) */
        }
    }
    NAME(log_tile)(dets, dets);
    for (int r = 0; r < TILE; r++)
        adjust[r] = 0.5 * (adjust[r] - dets[r]);
}

/* The gaps of component k filled in C as NAME(complete) found them. If `second` is not NULL, it gains the conditional
   covariances P_gg^-1 with the weights w; a weight below NEGLIGIBLE times the largest would change no sum. */
static TARGET void NAME(fill)(const gauss_t *g, int64_t k, int64_t d, tile_t *t, double *C, const double *w, double *second)
{
    const double *P = g->unseen + k * d * d, *filled = t->filled + k * d * TILE, least = NEGLIGIBLE * tile_max(w);
    double det[BATCH], logarithm[BATCH], weight[BATCH];
    int64_t rows[BATCH], *at = t->at + TILE * d, next = 0, n;
    int m;
    for (int64_t i = 0; i < t->n_incomplete; i++) {
        const int64_t r = t->incomplete[i];
        for (int64_t a = 0; a < t->n_gaps[r]; a++)
            C[t->at[r * d + a] * TILE + r] = filled[a * TILE + r];
    }
    while (second && (n = NAME(next_batch)(t, d, w, least, &next, rows, &m, at)) > 0) {
        for (int l = 0; l < m; l++)
            weight[l] = w[rows[l]];
        NAME(gap_factors)(P, d, at, n, t->A, det, logarithm);
        NAME(add_inverses)(t->A, d, at, n, weight, m, second);
    }
}

#undef VECS
#undef FOR_VECS
#undef AT

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

/* Student densities of component k in t->D, from squared distances; the expected precisions u of the rows in t->E, and
   log(1 + distance / nu) behind the K columns of t->D. */
static TARGET void NAME(heavy_tails)(const gauss_t *g, int64_t k, const rows_t *x, const double *quad, const double *adjust, tile_t *t)
{
    const double *own = g->tails + k * 2 * (x->d + 2), *constant = own + 2, inverse = 1.0 / own[0];
    double *D = t->D + k * TILE, *u = t->E + k * TILE, *log = t->D + (g->K + k) * TILE;
    ALIGNED double values[TILE], peak[TILE];
    for (int r = 0; r < TILE; r++) {
        const double ratio = 1.0 + quad[r] * inverse;
        values[r] = own[1];
        peak[r] = constant[0];
        log[r] = ratio < 1e300 ? ratio : 1e300;
    }
    for (int r = 0; x->gaps && r < TILE; r++) {
        values[r] = own[1] - (double)t->n_gaps[r];
        peak[r] = constant[t->n_gaps[r]];
    }
    for (int r = 0; r < TILE; r++)
        u[r] = values[r] * inverse / log[r];
    NAME(log_tile)(log, log);
    for (int r = 0; r < TILE; r++)
        D[r] = g->constant[k] + adjust[r] + peak[r] - 0.5 * values[r] * log[r];
}

/* quad[r] = sum over j of ((T[j][r] - mean[j]) scale[j])^2; `scale` NULL: 1. */
static INLINE TARGET void NAME(squares)(const double *T, const double *mean, const double *scale, int64_t d, double *quad)
{
    for (int r = 0; r < TILE; r += 4 * LANES) {
        VEC q[4];
        for (int v = 0; v < 4; v++)
            q[v] = SPLAT(0.0);
        for (int64_t j = 0; j < d; j++) {
            const VEC m = SPLAT(mean[j]), p = SPLAT(scale ? scale[j] : 1.0);
            for (int v = 0; v < 4; v++) {
                VEC y = LOAD(T + j * TILE + r + v * LANES) - m;
                if (scale)
                    y *= p;
                q[v] += y * y;
            }
        }
        for (int v = 0; v < 4; v++)
            *(VEC *)(quad + r + v * LANES) = q[v];
    }
}

/* t->D[k][r] = constant_k + linear_k . z_r - |precision factor_k (z_r - mean_k)|^2 / 2, or with g->tails what
   NAME(heavy_tails) makes of the distance. Leaves the tile in t->T. */
static TARGET void NAME(log_densities)(const rows_t *x, int64_t first, int64_t count, const gauss_t *g, tile_t *t)
{
    const int64_t d = x->d;
    double *C = (double *)t->narrow;
    ALIGNED double quad[TILE], adjust[TILE];
    NAME(load_double)(x, first, count, t);
    memset(adjust, 0, sizeof adjust);
    if (x->gaps && (g->full || g->tails))
        NAME(find_gaps)(d, t);
    const double *T = (const double *)t->T;
    for (int64_t i = 0; g->white && i < d; i += d - i < 4 ? 1 : 4)
        if (d - i < 4)
            NAME(product_block)(T, g->factor, d, i, 1, C);
        else
            NAME(product_block)(T, g->factor, d, i, 4, C);
    for (int64_t k = 0; k < g->K; k++) {
        memset(quad, 0, sizeof quad);
        if (!g->factor) {
            /* the linear term is all */
        } else if (g->white) {
            NAME(squares)(C, g->white + k * d, NULL, d, quad);
        } else if (g->full) {
            const double *L = g->factor + k * d * d;
            int64_t i = 0;
            if (x->gaps) {
                NAME(centre_seen)(T, (const double *)t->M, g->mean + k * d, d, C);
                NAME(complete)(g, k, d, t, C, C + d * TILE, adjust);
            } else {
                NAME(centre)(T, g->mean + k * d, d, C);
            }
            for (; i + 4 <= d; i += 4)
                NAME(whiten_block)(C, L, d, i, 4, quad);
            if (d - i == 3)
                NAME(whiten_block)(C, L, d, i, 3, quad);
            else if (d - i == 2)
                NAME(whiten_block)(C, L, d, i, 2, quad);
            else if (d - i == 1)
                NAME(whiten_block)(C, L, d, i, 1, quad);
        } else if (x->gaps) {
            const double *M = (const double *)t->M;
            memset(adjust, 0, sizeof adjust);
            for (int64_t j = 0; j < d; j++) {
                const double mean = g->mean[k * d + j], p = g->factor[k * d + j], one = g->unseen[k * d + j];
                for (int r = 0; r < TILE; r++) {
                    const double y = (T[j * TILE + r] - M[j * TILE + r] * mean) * p;
                    quad[r] += y * y;
                    adjust[r] -= (1.0 - M[j * TILE + r]) * one;
                }
            }
        } else {
            NAME(squares)(T, g->mean + k * d, g->factor + k * d, d, quad);
        }
        if (g->linear)
            for (int64_t j = 0; j < d; j++) {
                const double c = -2.0 * g->linear[k * d + j];
                for (int r = 0; r < TILE; r++)
                    quad[r] += c * T[j * TILE + r];
            }
        if (g->tails) {
            NAME(heavy_tails)(g, k, x, quad, adjust, t);
            continue;
        }
        /* log densities that overflow become -1e300, so that they can still be compared */
        for (int r = 0; r < TILE; r++) {
            const double value = g->constant[k] - 0.5 * quad[r] + adjust[r];
            t->D[k * TILE + r] = value > -1e300 ? value : -1e300;
        }
    }
    if (g->noise) {
        double *D = t->D + g->K * TILE;
        for (int r = 0; r < TILE; r++)
            D[r] = g->noise[0];
        for (int64_t j = 0; x->gaps && j < d; j++)
            for (int r = 0; r < TILE; r++)
                D[r] += (1.0 - ((const double *)t->M)[j * TILE + r]) * g->noise[1 + j];
    }
}

/* From weights r in t->D and precisions u in t->E to weights r u in t->D, and r in t->E. size[k] += sum r;
   score[k] += sum r (E log precision - u); seen as in NAME(moments), under r. */
static TARGET void NAME(tail_sums)(const gauss_t *g, const rows_t *x, tile_t *t, double *size, double *score, double *seen)
{
    ALIGNED double term[TILE];
    for (int64_t k = 0; k < g->K; k++) {
        const double *mean = g->tails + k * 2 * (x->d + 2) + x->d + 3, *log = t->D + (g->K + k) * TILE;
        double *w = t->D + k * TILE, *u = t->E + k * TILE;
        if (x->gaps)
            DNAME(dots)(w, 1, (const double *)t->M, x->d, seen + k * x->d, x->d);
        for (int r = 0; r < TILE; r++)
            term[r] = mean[0];
        for (int r = 0; x->gaps && r < TILE; r++)
            term[r] = mean[t->n_gaps[r]];
        for (int r = 0; r < TILE; r++) {
            const double share = w[r];
            term[r] = share * (term[r] - log[r] - u[r]);
            w[r] = share * u[r];
            u[r] = share;
        }
        size[k] += tile_sum(u);
        score[k] += tile_sum(term);
    }
}

/* Add NJ columns of a tile to the moments of diagonal components. */
static INLINE TARGET void NAME(diagonal_block)(const double *T, const double *w, const double *mean, const int NJ, double *first,
                                               double *second)
{
    VEC f[4], s[4];
    for (int q = 0; q < NJ; q++)
        f[q] = s[q] = SPLAT(0.0);
    for (int r = 0; r < TILE; r += LANES) {
        const VEC W = LOAD(w + r);
        for (int q = 0; q < NJ; q++) {
            const VEC c = LOAD(T + q * TILE + r) - SPLAT(mean[q]), wc = W * c;
            f[q] += wc;
            s[q] += wc * c;
        }
    }
    for (int q = 0; q < NJ; q++) {
        double a[BYTES / sizeof(double)], b[BYTES / sizeof(double)];
        memcpy(a, &f[q], BYTES);
        memcpy(b, &s[q], BYTES);
        double x = 0, y = 0;
        for (int l = 0; l < LANES; l++) {
            x += a[l];
            y += b[l];
        }
        first[q] += x;
        second[q] += y;
    }
}

/* Add a tile to the moments about g->mean (second: NULL if not wanted), with the weights in t->D, the tile in t->T. Gaps are
   filled as NAME(complete) found if g->unseen has precisions, else they are left out; seen[k][j], unless it is NULL, gains the weight
   of the rows that have feature j. The covariances of gaps have the weights in t->D; with g->tails those in t->E. */
static TARGET void NAME(moments)(const gauss_t *g, const rows_t *x, tile_t *t, double *weight, double *first, double *second,
                                 double *seen)
{
    const int64_t d = x->d;
    const double *T = (const double *)t->T;
    double *C = (double *)t->narrow, *S = C + d * TILE;
    for (int64_t k = 0; k < g->K; k++) {
        const double *w = t->D + k * TILE;
        if (tile_max(w) == 0)
            continue;
        weight[k] += tile_sum(w);
        if (second && !g->full && !x->gaps) {
            int64_t j = 0;
            for (; j + 4 <= d; j += 4)
                NAME(diagonal_block)(T + j * TILE, w, g->mean + k * d + j, 4, first + k * d + j, second + k * d + j);
            for (; j < d; j++)
                NAME(diagonal_block)(T + j * TILE, w, g->mean + k * d + j, 1, first + k * d + j, second + k * d + j);
            continue;
        }
        if (x->gaps) {
            NAME(centre_seen)(T, (const double *)t->M, g->mean + k * d, d, C);
            if (g->full && g->unseen)
                NAME(fill)(g, k, d, t, C, g->tails ? t->E + k * TILE : w, second ? second + k * d * d : NULL);
            if (seen)
                DNAME(dots)(w, 1, (const double *)t->M, d, seen + k * d, d);
        } else {
            NAME(centre)(T, g->mean + k * d, d, C);
        }
        DNAME(dots)(w, 1, C, d, first + k * d, d);
        if (!second)
            continue;
        for (int64_t j = 0; j < d; j++)
            for (int r = 0; r < TILE; r++)
                S[j * TILE + r] = C[j * TILE + r] * w[r];
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

/* Log densities in t->D to memberships softmax(D / (m-1)); row[r] becomes the log likelihood of the row. */
static TARGET void NAME(temper)(tile_t *t, int64_t K, double m, double *row)
{
    ALIGNED double top[TILE];
    double *D = t->D, *E = t->E;
    if (m == 2.0) {
        NAME(posteriors)(t, K, row);
        return;
    }
    memcpy(E, D, sizeof(double) * TILE * (size_t)K);
    NAME(posteriors)(t, K, row);
    memcpy(top, E, sizeof top);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++)
            top[r] = E[k * TILE + r] > top[r] ? E[k * TILE + r] : top[r];
    /* the largest is 0 before the division, so that nothing overflows for m near 1 */
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] = (E[k * TILE + r] - top[r]) / (m - 1.0);
    NAME(posteriors)(t, K, top);
}

/* A rule gets log densities in t->D and overwrites them with memberships (want == MEMBERSHIPS) or with the weights of the
   moments (want == WEIGHTS); row[r] becomes the row's part of the objective. w are the weights of the rows, `more` is for
   sums of its own. setup.py finds a rule by the line GAUSS_RULE(name); its twin is in reference.py. */
#define GAUSS_RULE(name)                                                                                               \
    static TARGET void NAME(gauss_rule_##name)(tile_t *t, int64_t K, const double *parameters, int want,              \
                                               const double *w, double *more, double *row)

/* Posteriors, no parameters; the objective is the log likelihood. */
GAUSS_RULE(posterior)
{
    (void)parameters, (void)want, (void)w, (void)more;
    NAME(posteriors)(t, K, row);
}

/* The last column is noise: the memberships are conditional on a row that is not noise, the weights are the posteriors. The
   objective is the log likelihood with the noise. */
GAUSS_RULE(background)
{
    double *noise = t->D + (K - 1) * TILE;
    ALIGNED double ratio[TILE], sum[TILE], log[TILE];
    (void)parameters, (void)w, (void)more;
    NAME(posteriors)(t, K - 1, row);
    /* the smaller of the two terms over the larger one */
    for (int r = 0; r < TILE; r++)
        ratio[r] = row[r] > noise[r] ? noise[r] - row[r] : row[r] - noise[r];
    NAME(exp_tile)(ratio, ratio);
    for (int r = 0; r < TILE; r++)
        sum[r] = 1.0 + ratio[r];
    NAME(log_tile)(sum, log);
    for (int r = 0; r < TILE; r++) {
        const double large = 1.0 / sum[r], small = ratio[r] * large;
        const int clustered = row[r] > noise[r];
        row[r] = (clustered ? row[r] : noise[r]) + log[r];
        noise[r] = clustered ? small : large;
        sum[r] = clustered ? large : small;
    }
    if (want == WEIGHTS)
        for (int64_t k = 0; k < K - 1; k++)
            for (int r = 0; r < TILE; r++)
                t->D[k * TILE + r] *= sum[r];
}

/* Parameters {m, exponent}: memberships u = softmax(D / (m-1)), the moments under u^exponent, the means under u^m, which
   goes to t->E; more[k] += sum_r u w; row[r] the log likelihood. */
GAUSS_RULE(tempered)
{
    const double m = parameters[0], exponent = parameters[1];
    NAME(temper)(t, K, m, row);
    if (want == MEMBERSHIPS)
        return;
    for (int64_t k = 0; k < K; k++) {
        double *u = t->D + k * TILE, sum = 0;
        for (int r = 0; r < TILE; r++)
            sum += u[r] * w[r];
        more[k] += sum;
        NAME(power_tile)(u, m, t->E + k * TILE);
        NAME(power_tile)(u, exponent, u);
    }
}

/* Fuzzy c-means in the metric of each component, parameters {m, volume (K)}: from log densities whose constants are 0. */
GAUSS_RULE(metric)
{
    (void)w, (void)more;
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            t->D[k * TILE + r] *= -2.0 * parameters[1 + k];
    NAME(rule_fcm)(t, K, parameters, want, row);
}

#undef GAUSS_RULE

#undef LANES
#undef VEC
#undef SPLAT
#undef LOAD

#else /* loops over chunks */

/* Result: objective, weight (K), first (K, d), second (K, d, d) or (K, d) moments about the means; for the tempered rule
   also the weight (K) and first moments (K, d) under u^m, and the shares (K); with tails the sizes and scores (K) of
   NAME(tail_sums), and its (K, d), which is 0 without gaps; if the rows have gaps, at last the weight (K, d) of the rows that
   have each feature. */
static void gauss_statistics_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const rows_t *x = job->x;
    const steps_t *s = steps();
    const int64_t K = job->K;
    const int64_t d = x->d, wide = job->g->full ? d * d : d;
    const int tempered = job->rule == GAUSS_RULE_tempered && !job->given, tails = job->g->tails != NULL;
    double *weight = result + 1, *moment = weight + K, *more = moment + K * d + K * wide;
    double *seen = x->gaps ? more + (tempered || tails ? 2 * K + K * d : 0) : NULL;
    ALIGNED double row[TILE], w[TILE];
    FOR_TILES
    {
        if (job->given) {
            s->load_double(x, first, count, t);
            for (int64_t k = 0; k < K; k++)
                for (int64_t r = 0; r < count; r++)
                    t->D[k * TILE + r] = job->given[(first + r) * K + k];
        } else {
            for (int r = 0; r < TILE; r++)
                w[r] = 1;
            weigh(w, 1, x, first, count);
            s->log_densities(x, first, count, job->g, t);
            s->gauss_rules[job->rule](t, job->columns, job->parameters, WEIGHTS, w, tempered ? more + K + K * d : NULL, row);
            weigh(row, 1, x, first, count);
            result[0] += tile_sum(row);
        }
        weigh(t->D, K, x, first, count);
        if (tails)
            s->tail_sums(job->g, x, t, more, more + K, more + 2 * K);
        /* linear densities alone have no use for second moments */
        s->moments(job->g, x, t, weight, moment, job->given || job->g->factor ? moment + K * d : NULL, seen);
        if (tempered) {
            double *D = t->D;
            weigh(t->E, K, x, first, count);
            t->D = t->E;
            s->moments(job->g, x, t, more, more + K, NULL, NULL);
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
        steps()->gauss_rules[job->rule](t, job->columns, job->parameters, MEMBERSHIPS, NULL, NULL, row);
        memcpy(job->row_out + first, row, sizeof(double) * (size_t)count);
        for (int64_t k = 0; job->g->tails && k < job->K; k++)
            for (int64_t r = 0; r < count; r++)
                job->mass_out[first + r] += t->D[k * TILE + r] * t->E[k * TILE + r];
        store(job, t, first, count);
    }
}

#endif
