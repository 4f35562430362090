/* Draws of softmax((W + g) / t) with Gumbel numbers g, and their gradient. */

#ifdef WIDTH /* steps, once per vector width */

/* MurmurHash3's 32-bit finaliser. */
static INLINE TARGET uint32_t NAME(scramble)(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

/* For a tile of columns: draws (draws, K, n) of softmax((W + g) / t) down the columns of W (K, n), g Gumbel numbers, and their
   mean (K, n). Each number is a hash of its place and the key of the draw, so it does not depend on the order of the work.
   Scratch: scores (K, TILE). */
static TARGET void NAME(gumbel_tile)(const double *W, int64_t K, int64_t n, int64_t first, double t, const uint64_t *keys,
                                     int64_t draws, double *scores, float *out, double *mean)
{
    ALIGNED double most[TILE], sum[TILE];
    const int64_t count = n - first < TILE ? n - first : TILE;
    for (int64_t k = 0; k < K; k++)
        memset(mean + k * n + first, 0, sizeof(double) * (size_t)count);
    for (int64_t d = 0; d < draws; d++, out += K * n) {
        const uint64_t key = keys[d];
        for (int r = 0; r < TILE; r++) {
            most[r] = -DBL_MAX;
            sum[r] = 0;
        }
        for (int64_t k = 0; k < K; k++) {
            double *s = scores + k * TILE;
            const double *w = W + k * n + first;
            const uint32_t place = (uint32_t)(k * n + first);
            for (int r = 0; r < TILE; r++) {
                const uint32_t x = NAME(scramble)(NAME(scramble)((place + (uint32_t)r) ^ (uint32_t)key) + (uint32_t)(key >> 32));
                s[r] = ((double)(int32_t)(x ^ 0x80000000u) + 2147483648.5) * 0x1p-32; /* (x + 1/2) / 2^32 */
            }
            NAME(log_tile)(s, s);
            for (int r = 0; r < TILE; r++)
                s[r] = -s[r];
            NAME(log_tile)(s, s);
            for (int64_t r = 0; r < count; r++)
                s[r] = (w[r] - s[r]) / t;
            for (int r = 0; r < TILE; r++)
                most[r] = s[r] > most[r] ? s[r] : most[r];
        }
        for (int64_t k = 0; k < K; k++) {
            double *s = scores + k * TILE;
            for (int r = 0; r < TILE; r++)
                s[r] -= most[r];
            NAME(exp_tile)(s, s);
            for (int r = 0; r < TILE; r++)
                sum[r] += s[r];
        }
        for (int r = 0; r < TILE; r++)
            sum[r] = 1 / sum[r];
        for (int64_t k = 0; k < K; k++) {
            const double *s = scores + k * TILE;
            float *x = out + k * n + first;
            double *m = mean + k * n + first;
            for (int64_t r = 0; r < count; r++) {
                x[r] = (float)(s[r] * sum[r]);
                m[r] += x[r] / (double)draws;
            }
        }
    }
}

/* The gradient (K, n) in W of a function of the mean of these draws, from its gradient in that mean: a tile of columns. */
static TARGET void NAME(gumbel_slope_tile)(const float *in, const double *mean, const double *slope, int64_t K, int64_t n,
                                           int64_t first, double t, int64_t draws, double *out)
{
    ALIGNED double along[TILE];
    const int64_t count = n - first < TILE ? n - first : TILE;
    for (int64_t k = 0; k < K; k++)
        for (int64_t i = k * n + first; i < k * n + first + count; i++)
            out[i] = mean[i] * slope[i] / t;
    for (int64_t d = 0; d < draws; d++, in += K * n) {
        for (int r = 0; r < TILE; r++)
            along[r] = 0;
        for (int64_t k = 0; k < K; k++) {
            const float *x = in + k * n + first;
            const double *g = slope + k * n + first;
            for (int64_t r = 0; r < count; r++)
                along[r] += x[r] * g[r];
        }
        for (int r = 0; r < TILE; r++)
            along[r] /= t * (double)draws;
        for (int64_t k = 0; k < K; k++) {
            const float *x = in + k * n + first;
            double *o = out + k * n + first;
            for (int64_t r = 0; r < count; r++)
                o[r] -= x[r] * along[r];
        }
    }
}

#else /* loops over chunks */

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

/* The gradients (starts, K, n) in W, from the gradients in the means. */
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

#endif
