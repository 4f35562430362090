/* Passes over the links of a graph. Included once per vector width, after topics.h, whose `dot` and `add` it uses.

   Rows of factors are filled up with zeros to `wide`, a multiple of PAD. */

/* out = sum_j x_j / s_j Q_j with s_j = P . Q_j over the links of a node; gives sum_j x_j log s_j. */
static TARGET double NAME(ratio_row)(const double *P, const double *Q, const double *x, const int64_t *to, int64_t links,
                                     int64_t wide, double *out)
{
    double total = 0;
    memset(out, 0, sizeof(double) * (size_t)wide);
    for (int64_t p = 0; p < links; p++) {
        const double *q = Q + to[p] * wide, s = NAME(dot)(P, q, wide) + FLOOR;
        total += x[p] * log(s);
        NAME(add)(out, x[p] / s, q, wide);
    }
    return total;
}

/* What a node's row f contributes to the log likelihood of the Bernoulli-Poisson model: over its links
   log(1 - exp(-f . F_v - rate)) + f . F_v, less f . rest, rest the sum of the other rows. */
static TARGET double NAME(affiliation_value)(const double *f, const double *F, const int64_t *to, int64_t links, int64_t wide,
                                             const double *rest, double rate)
{
    double total = -NAME(dot)(f, rest, wide);
    for (int64_t p = 0; p < links; p++) {
        const double z = NAME(dot)(f, F + to[p] * wide, wide);
        total += log(-expm1(-z - rate)) + z;
    }
    return total;
}

/* One ascent step of the row f of a node, its links to rows of F: projected gradient with backtracking. Scratch: g, trial
   (wide each). Gives whether the row changed. */
static TARGET int NAME(affiliation_step)(double *f, const double *F, const int64_t *to, int64_t links, int64_t wide,
                                         const double *rest, double rate, double most, double *g, double *trial)
{
    double value = 0, size = 0, step = 1;
    for (int64_t k = 0; k < wide; k++)
        g[k] = -rest[k];
    for (int64_t p = 0; p < links; p++) {
        const double *v = F + to[p] * wide, z = NAME(dot)(f, v, wide);
        value += log(-expm1(-z - rate)) + z;
        NAME(add)(g, 1 / expm1(z + rate) + 1, v, wide);
    }
    value -= NAME(dot)(f, rest, wide);
    for (int64_t k = 0; k < wide; k++) {
        g[k] = f[k] <= 0 && g[k] < 0 ? 0 : g[k] > 10 ? 10 : g[k] < -10 ? -10 : g[k];
        size += g[k] * g[k];
    }
    if (size < 1e-8)
        return 0;
    for (int i = 0; i <= 10; i++, step *= 0.3) {
        double gain = 0;
        for (int64_t k = 0; k < wide; k++) {
            const double next = f[k] + step * g[k];
            trial[k] = next < 0 ? 0 : next > most ? most : next;
            gain += g[k] * (trial[k] - f[k]);
        }
        if (NAME(affiliation_value)(trial, F, to, links, wide, rest, rate) >= value + 0.05 * gain) {
            memcpy(f, trial, sizeof(double) * (size_t)wide);
            return 1;
        }
    }
    return 0;
}

/* Draws (draws, K, n) of softmax((W + g) / t) down the columns of W (K, n), g Gumbel numbers, and their mean (K, n): a tile of
   columns of them. The numbers are a hash of their place and the key of the draw, so that no order of the work changes them.
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
                const uint32_t x = scramble(scramble((place + (uint32_t)r) ^ (uint32_t)key) + (uint32_t)(key >> 32));
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
