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

/* t->D[k][r] = constant_k + linear_k . z_r - |precision factor_k (z_r - mean_k)|^2 / 2. Leaves the tile in t->T. */
static TARGET void NAME(log_densities)(const rows_t *x, int64_t first, int64_t count, const gauss_t *g, tile_t *t)
{
    const int64_t d = x->d;
    double *C = (double *)t->narrow;
    ALIGNED double quad[TILE];
    NAME(load_double)(x, first, count, t);
    const double *T = (const double *)t->T;
    for (int64_t k = 0; k < g->K; k++) {
        memset(quad, 0, sizeof quad);
        if (!g->factor) {
            /* the linear term is all */
        } else if (g->full) {
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
        if (g->linear)
            for (int64_t j = 0; j < d; j++) {
                const double c = -2.0 * g->linear[k * d + j];
                for (int r = 0; r < TILE; r++)
                    quad[r] += c * T[j * TILE + r];
            }
        /* log densities that overflow become -1e300, so that they can still be compared */
        for (int r = 0; r < TILE; r++) {
            const double value = g->constant[k] - 0.5 * quad[r];
            t->D[k * TILE + r] = value > -1e300 ? value : -1e300;
        }
    }
}

/* Add a tile to the moments about g->mean (second: NULL if not wanted), with the weights in t->D, the tile in t->T. */
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
   also the weight (K) and first moments (K, d) under u^m, and the shares (K). */
static void gauss_statistics_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const rows_t *x = job->x;
    const steps_t *s = steps();
    const int64_t K = job->K;
    const int64_t d = x->d, wide = job->g->full ? d * d : d;
    const int tempered = job->rule == GAUSS_RULE_tempered && !job->given;
    double *weight = result + 1, *moment = weight + K, *more = moment + K * d + K * wide;
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
            s->gauss_rules[job->rule](t, K, job->parameters, WEIGHTS, w, tempered ? more + K + K * d : NULL, row);
            weigh(row, 1, x, first, count);
            result[0] += tile_sum(row);
        }
        weigh(t->D, K, x, first, count);
        /* linear densities alone have no use for second moments */
        s->moments(job->g, d, t, weight, moment, job->given || job->g->factor ? moment + K * d : NULL);
        if (tempered) {
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
        steps()->gauss_rules[job->rule](t, job->K, job->parameters, MEMBERSHIPS, NULL, NULL, row);
        memcpy(job->row_out + first, row, sizeof(double) * (size_t)count);
        store(job, t, first, count);
    }
}

#endif
