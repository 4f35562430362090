/* Draws of softmax((W + g) / t) with Gumbel numbers g, and their gradient. */

#ifdef WIDTH /* steps, once per vector width */

/* log(x) = e log 2 + f for positive normal numbers, |f| <= log(2) / 2. Polynomials from tools/fit_polynomials.py. */
static INLINE TARGET void NAME(log_parts)(const float *x, float *e, float *f)
{
    for (int r = 0; r < TILE; r++) {
        int32_t bits, mantissa;
        float y, q = -0x1.407c16p-4f;
        memcpy(&bits, x + r, sizeof bits);
        bits -= 0x3f3504f3; /* sqrt(1/2) */
        mantissa = (bits & 0x007fffff) + 0x3f3504f3;
        memcpy(&y, &mantissa, sizeof y);
        y -= 1;
        q = q * y + 0x1.0a523ep-3f;
        q = q * y - 0x1.0e7fa2p-3f;
        q = q * y + 0x1.2211f4p-3f;
        q = q * y - 0x1.5432f4p-3f;
        q = q * y + 0x1.99a964p-3f;
        q = q * y - 0x1.0003f8p-2f;
        q = q * y + 0x1.555544p-2f;
        q = q * y - 0x1.fffff8p-2f;
        e[r] = (float)(bits >> 23);
        f[r] = y + y * y * q;
    }
}

/* exp(x) for x <= 0 (in place), 0 below -87. */
static INLINE TARGET void NAME(exp_floats)(float *x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23 rounds to the nearest integer */
    for (int r = 0; r < TILE; r++) {
        const float y = x[r] < -87.0f ? -87.0f : x[r], shifted = y * 0x1.715476p+0f + magic, n = shifted - magic;
        const float rest = (y - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
        float power, p = 0x1.6d753ap-10f;
        int32_t bits;
        p = p * rest + 0x1.120b66p-7f;
        p = p * rest + 0x1.5554b8p-5f;
        p = p * rest + 0x1.5554dcp-3f;
        p = p * rest + 0.5f;
        memcpy(&bits, &shifted, sizeof bits);
        bits = (int32_t)((uint32_t)bits << 23) + 0x3f800000;
        memcpy(&power, &bits, sizeof power);
        x[r] = x[r] < -87.0f ? 0.0f : power + power * (rest + rest * rest * p);
    }
}

/* For a tile of columns: draws (draws, K, n) of softmax((W + g) / t) down the columns of W (K, n), g Gumbel numbers, and their
   mean (K, n). Each number is a hash of its place and the key of the draw, so it does not depend on the order of the work.
   Its logarithms are in single precision, the scores W + g in double. Scratch: scores (K, TILE). */
static TARGET void NAME(gumbel_tile)(const double *W, int64_t K, int64_t n, int64_t first, double t, const uint64_t *keys,
                                     int64_t draws, double *scores, float *out, double *mean)
{
    ALIGNED double most[TILE];
    ALIGNED float u[TILE], e[TILE], f[TILE], sum[TILE];
    const int64_t count = n - first < TILE ? n - first : TILE;
    const double inverse = 1 / t;
    for (int64_t k = 0; k < K; k++)
        memset(mean + k * n + first, 0, sizeof(double) * (size_t)count);
    for (int64_t d = 0; d < draws; d++, out += K * n) {
        const uint32_t low = (uint32_t)keys[d], high = (uint32_t)(keys[d] >> 32);
        for (int r = 0; r < TILE; r++) {
            most[r] = -DBL_MAX;
            sum[r] = 0;
        }
        for (int64_t k = 0; k < K; k++) {
            double *s = scores + k * TILE;
            const double *w = W + k * n + first;
            const uint32_t place = (uint32_t)(k * n + first);
            for (int r = 0; r < TILE; r++) {
                const uint32_t x = scramble(scramble((place + (uint32_t)r) ^ low) + high);
                u[r] = ((float)(int32_t)(x >> 9) + 0.5f) * 0x1p-23f;
            }
            NAME(log_parts)(u, e, f);
            for (int r = 0; r < TILE; r++)
                u[r] = -(e[r] * 0x1.62e430p-1f + f[r]);
            NAME(log_parts)(u, e, f);
            for (int64_t r = 0; r < count; r++)
                s[r] = w[r] - (e[r] * 0x1.62e42fefa39efp-1 + f[r]);
            for (int r = 0; r < TILE; r++)
                most[r] = s[r] > most[r] ? s[r] : most[r];
        }
        for (int64_t k = 0; k < K; k++) {
            double *s = scores + k * TILE;
            float *x = (float *)s; /* the first half of the row */
            for (int r = 0; r < TILE; r++)
                u[r] = (float)((s[r] - most[r]) * inverse);
            NAME(exp_floats)(u);
            for (int r = 0; r < TILE; r++)
                sum[r] += u[r];
            memcpy(x, u, sizeof u);
        }
        for (int r = 0; r < TILE; r++)
            sum[r] = 1 / sum[r];
        for (int64_t k = 0; k < K; k++) {
            const float *s = (const float *)(scores + k * TILE);
            float *x = out + k * n + first;
            double *m = mean + k * n + first;
            for (int64_t r = 0; r < count; r++) {
                x[r] = s[r] * sum[r];
                m[r] += x[r];
            }
        }
    }
    for (int64_t k = 0; k < K; k++)
        for (int64_t i = k * n + first; i < k * n + first + count; i++)
            mean[i] /= (double)draws;
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
