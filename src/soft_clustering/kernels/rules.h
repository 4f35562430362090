/* Membership rules and Gaussian densities on a tile of doubles. Included once per vector width.

   A rule gets the squared distances t->D [prototype][row] and overwrites them with memberships (want == MEMBERSHIPS)
   or with the weights of the centre update (want == WEIGHTS); row[r] becomes the row's part of the objective. */

#define LANES ((int)(BYTES / sizeof(double)))

#if defined(__GNUC__)
typedef double NAME(dvec) __attribute__((vector_size(BYTES), aligned(BYTES), may_alias));
typedef int64_t NAME(ivec) __attribute__((vector_size(BYTES), aligned(BYTES), may_alias));
typedef uint64_t NAME(uvec) __attribute__((vector_size(BYTES), aligned(BYTES), may_alias));
#define VEC NAME(dvec)
#define BITS NAME(ivec)
#define UBITS NAME(uvec)
#define SPLAT(x) ((x) - (VEC){0})
#define ISPLAT(x) ((x) - (BITS){0})
#define PICK(mask, a, b) ((VEC)(((mask) & (BITS)(a)) | (~(mask) & (BITS)(b))))

/* Polynomials from tools/fit_polynomials.py. Arguments: log of a normal positive number; exp of a number <= 0,
   0 below -708. */
static INLINE TARGET VEC NAME(log_vec)(VEC x)
{
    const BITS bits = (BITS)x;
    /* the exponent as a double without an integer conversion: 2^52 + e, less 2^52 */
    VEC e = (VEC)((BITS)((UBITS)bits >> 52) | ISPLAT((int64_t)0x4330000000000000)) - SPLAT(4503599627371519.0);
    VEC y = (VEC)((bits & ISPLAT((int64_t)0x000fffffffffffff)) | ISPLAT((int64_t)0x3ff0000000000000));
    const BITS big = y > SPLAT(1.4142135623730951);
    y = PICK(big, y * SPLAT(0.5), y);
    e = PICK(big, e + SPLAT(1.0), e);
    const VEC f = (y - SPLAT(1.0)) / (y + SPLAT(1.0)), s = f * f;
    VEC q = SPLAT(0x1.2f056439a3178p-3);
    q = q * s + SPLAT(0x1.39a1baa3e6145p-3);
    q = q * s + SPLAT(0x1.74663ee942b9fp-3);
    q = q * s + SPLAT(0x1.c71c52095884ap-3);
    q = q * s + SPLAT(0x1.24924941f12b8p-2);
    q = q * s + SPLAT(0x1.999999997fdb7p-2);
    q = q * s + SPLAT(0x1.5555555555592p-1);
    return e * SPLAT(0x1.62e42fefa0000p-1) + (f * SPLAT(2.0) + (f * s * q + e * SPLAT(0x1.cf79abc9e3b3ap-40)));
}

/* exp(x) = power (1 + rest) with a power of two and a small rest: exp(x) - 1 = power rest + (power - 1) keeps its digits. */
static INLINE TARGET VEC NAME(exp_parts)(VEC x, VEC *power)
{
    const VEC magic = SPLAT(6755399441055744.0); /* 1.5 * 2^52 rounds to the nearest integer */
    const VEC shifted = x * SPLAT(0x1.71547652b82fep+0) + magic;
    const VEC n = shifted - magic;
    const VEC r = (x - n * SPLAT(0x1.62e42fefa0000p-1)) - n * SPLAT(0x1.cf79abc9e3b3ap-40);
    VEC p = SPLAT(0x1.af631f402c5cfp-26);
    p = p * r + SPLAT(0x1.28917d34580fcp-22);
    p = p * r + SPLAT(0x1.71ddf6ba1128dp-19);
    p = p * r + SPLAT(0x1.a019b913f6417p-16);
    p = p * r + SPLAT(0x1.a01a01b00a041p-13);
    p = p * r + SPLAT(0x1.6c16c1788a205p-10);
    p = p * r + SPLAT(0x1.111111110f808p-7);
    p = p * r + SPLAT(0x1.5555555553d67p-5);
    p = p * r + SPLAT(0x1.5555555555558p-3);
    p = p * r + SPLAT(0x1.0000000000001p-1);
    *power = (VEC)(((BITS)shifted << 52) + ISPLAT((int64_t)0x3ff0000000000000));
    return r + r * r * p;
}

static INLINE TARGET VEC NAME(exp_vec)(VEC x)
{
    VEC power;
    const BITS low = x < SPLAT(-708.0);
    const VEC rest = NAME(exp_parts)(PICK(low, SPLAT(-708.0), x), &power);
    return PICK(low, SPLAT(0.0), (SPLAT(1.0) + rest) * power);
}

static TARGET void NAME(log_tile)(const double *x, double *out)
{
    for (int r = 0; r < TILE; r += LANES)
        *(VEC *)(out + r) = NAME(log_vec)(*(const VEC *)(x + r));
}

static TARGET void NAME(exp_tile)(const double *x, double *out)
{
    for (int r = 0; r < TILE; r += LANES)
        *(VEC *)(out + r) = NAME(exp_vec)(*(const VEC *)(x + r));
}

/* For x <= 0: 1 - exp(x) with all its digits (in place), and exp(x). */
static TARGET void NAME(complement_tile)(double *x, double *exponential)
{
    for (int r = 0; r < TILE; r += LANES) {
        VEC power, y = *(VEC *)(x + r);
        const BITS low = y < SPLAT(-708.0);
        const VEC rest = NAME(exp_parts)(PICK(low, SPLAT(-708.0), y), &power);
        *(VEC *)(x + r) = (SPLAT(1.0) - power) - power * rest;
        *(VEC *)(exponential + r) = PICK(low, SPLAT(0.0), (SPLAT(1.0) + rest) * power);
    }
}
#undef VEC
#undef BITS
#undef UBITS
#undef SPLAT
#undef ISPLAT
#undef PICK
#else
static void NAME(log_tile)(const double *x, double *out)
{
    for (int r = 0; r < TILE; r++)
        out[r] = log(x[r]);
}

static void NAME(exp_tile)(const double *x, double *out)
{
    for (int r = 0; r < TILE; r++)
        out[r] = x[r] < -708.0 ? 0.0 : exp(x[r]);
}

static void NAME(complement_tile)(double *x, double *exponential)
{
    for (int r = 0; r < TILE; r++) {
        exponential[r] = x[r] < -708.0 ? 0.0 : exp(x[r]);
        x[r] = -expm1(x[r]);
    }
}
#endif

/* Fuzzy c-means, parameters {m}. With q = dmin / D, ratio = q^(1/(m-1)) and s = sum of the ratios:
   u = ratio / s, u^m = u q s^(1-m), row objective dmin s^(1-m). */
static TARGET void NAME(rule_fcm)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    const double m = parameters[0], power = 1.0 / (m - 1.0);
    ALIGNED double low[TILE], sum[TILE], shrink[TILE];
    double *D = t->D, *Q = t->E;
    memcpy(low, D, sizeof low);
    memset(sum, 0, sizeof sum);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++)
            low[r] = D[k * TILE + r] < low[r] ? D[k * TILE + r] : low[r];
    if (m == 2.0) {
        for (int64_t k = 0; k < K; k++)
            for (int r = 0; r < TILE; r++) {
                const double q = D[k * TILE + r] > low[r] ? low[r] / D[k * TILE + r] : 1.0;
                D[k * TILE + r] = q;
                sum[r] += q;
            }
        for (int r = 0; r < TILE; r++) {
            sum[r] = 1.0 / sum[r];
            row[r] = low[r] * sum[r];
        }
        for (int64_t k = 0; k < K; k++)
            for (int r = 0; r < TILE; r++) {
                const double u = D[k * TILE + r] * sum[r];
                D[k * TILE + r] = want == MEMBERSHIPS ? u : u * u;
            }
        return;
    }
    for (int64_t k = 0; k < K; k++) {
        double *d = D + k * TILE, *q = Q + k * TILE;
        for (int r = 0; r < TILE; r++) {
            q[r] = d[r] > low[r] ? low[r] / d[r] : 1.0;
            d[r] = q[r] > 1e-300 ? q[r] : 1e-300;
        }
        NAME(log_tile)(d, d);
        for (int r = 0; r < TILE; r++)
            d[r] *= power;
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++) {
            d[r] = q[r] > 1e-300 ? d[r] : 0.0;
            sum[r] += d[r];
        }
    }
    NAME(log_tile)(sum, shrink);
    for (int r = 0; r < TILE; r++)
        shrink[r] *= 1.0 - m;
    NAME(exp_tile)(shrink, shrink);
    for (int r = 0; r < TILE; r++) {
        row[r] = low[r] * shrink[r];
        sum[r] = 1.0 / sum[r];
        shrink[r] *= sum[r];
    }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] *= want == MEMBERSHIPS ? sum[r] : Q[k * TILE + r] * shrink[r];
}

/* out = x^power for x in [0, 1] (in place allowed); 0 stays 0 */
static TARGET void NAME(power_tile)(const double *x, double power, double *out)
{
    ALIGNED double y[TILE];
    if (power == 1.0) {
        memmove(out, x, sizeof y);
        return;
    }
    if (power == 2.0) {
        for (int r = 0; r < TILE; r++)
            out[r] = x[r] * x[r];
        return;
    }
    for (int r = 0; r < TILE; r++)
        y[r] = x[r] > 1e-300 ? x[r] : 1e-300;
    NAME(log_tile)(y, y);
    for (int r = 0; r < TILE; r++)
        y[r] *= power;
    NAME(exp_tile)(y, y);
    for (int r = 0; r < TILE; r++)
        out[r] = x[r] > 1e-300 ? y[r] : 0.0;
}

/* Typicality t = 1 / (1 + (d / bandwidth)^(1/(m-1))) and power = t^(m-1). With ratio the smaller of d / bandwidth and its
   inverse and q = ratio^(1/(m-1)), nothing overflows, and t^(m-1) is right where t itself underflows. */
static INLINE TARGET void NAME(typicality)(const double *d, double bandwidth, double m, double *out, double *power)
{
    ALIGNED double ratio[TILE], q[TILE];
    for (int r = 0; r < TILE; r++)
        ratio[r] = d[r] < bandwidth ? d[r] / bandwidth : bandwidth / d[r];
    NAME(power_tile)(ratio, 1.0 / (m - 1.0), q);
    for (int r = 0; r < TILE; r++) {
        power[r] = 1.0 / (1.0 + q[r]);
        out[r] = (d[r] < bandwidth ? 1.0 : q[r]) * power[r];
    }
    NAME(power_tile)(power, m - 1.0, power);
    for (int r = 0; r < TILE; r++)
        power[r] *= d[r] < bandwidth ? 1.0 : ratio[r];
}

/* Possibilistic c-means of 1993, parameters {m, bandwidth (K)}: typicality t, weight t^m, objective sum_k D t^(m-1). */
static TARGET void NAME(rule_rational)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    const double m = parameters[0];
    ALIGNED double typical[TILE], power[TILE];
    memset(row, 0, sizeof(double) * TILE);
    for (int64_t k = 0; k < K; k++) {
        double *d = t->D + k * TILE;
        NAME(typicality)(d, parameters[1 + k], m, typical, power);
        for (int r = 0; r < TILE; r++) {
            row[r] += d[r] * power[r];
            d[r] = want == MEMBERSHIPS ? typical[r] : typical[r] * power[r];
        }
    }
}

/* Possibilistic c-means of 1996, parameters {bandwidth (K)}: t = exp(-D / bandwidth), weight t,
   objective - sum_k bandwidth t. */
static TARGET void NAME(rule_exponential)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    (void)want;
    memset(row, 0, sizeof(double) * TILE);
    for (int64_t k = 0; k < K; k++) {
        double *d = t->D + k * TILE;
        const double bandwidth = parameters[k];
        for (int r = 0; r < TILE; r++)
            d[r] = -d[r] / bandwidth;
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++)
            row[r] -= bandwidth * d[r];
    }
}

/* Possibilistic fuzzy c-means, parameters {m, a, b, exponent, bandwidth (K)}: u as in fuzzy c-means,
   t = 1 / (1 + (b D / bandwidth)^(1/(exponent-1))); weight a u^m + b t^exponent;
   objective a dmin s^(1-m) + sum_k b D t^(exponent-1). */
static TARGET void NAME(rule_pfcm)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    const double a = parameters[1], b = parameters[2], exponent = parameters[3];
    double *D = t->D, *T = (double *)t->narrow;
    ALIGNED double typical[TILE], power[TILE], sum[TILE];
    if (want == MEMBERSHIPS || b == 0) {
        NAME(rule_fcm)(t, K, parameters, want, row);
        for (int r = 0; r < TILE; r++)
            row[r] *= a;
        if (want != MEMBERSHIPS)
            for (int64_t i = 0; i < K * TILE; i++)
                D[i] *= a;
        return;
    }
    memset(sum, 0, sizeof sum);
    for (int64_t k = 0; k < K; k++) {
        double *d = D + k * TILE;
        NAME(typicality)(d, parameters[4 + k] / b, exponent, typical, power);
        for (int r = 0; r < TILE; r++) {
            sum[r] += b * d[r] * power[r];
            T[k * TILE + r] = b * typical[r] * power[r];
        }
    }
    NAME(rule_fcm)(t, K, parameters, want, row);
    for (int r = 0; r < TILE; r++)
        row[r] = a * row[r] + sum[r];
    for (int64_t i = 0; i < K * TILE; i++)
        D[i] = a * D[i] + T[i];
}

static TARGET void NAME(posteriors)(tile_t *t, int64_t K, double *row);

/* Entropy c-means, parameters {lambda, log share (K)}: u = softmax(log share - D / lambda), weight u,
   objective - lambda log sum_k share exp(-D / lambda). */
static TARGET void NAME(rule_entropy)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    const double lambda = parameters[0];
    (void)want;
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            t->D[k * TILE + r] = parameters[1 + k] - t->D[k * TILE + r] / lambda;
    NAME(posteriors)(t, K, row);
    for (int r = 0; r < TILE; r++)
        row[r] *= -lambda;
}

/* Kernel fuzzy c-means, parameters {m, gamma}: fuzzy c-means on 1 - e with e = exp(-gamma D); weight u^m e. */
static TARGET void NAME(rule_kernel)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    double *D = t->D, *E = (double *)t->narrow;
    for (int64_t k = 0; k < K; k++) {
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] *= -parameters[1];
        NAME(complement_tile)(D + k * TILE, E + k * TILE);
    }
    NAME(rule_fcm)(t, K, parameters, want, row);
    if (want != MEMBERSHIPS)
        for (int64_t i = 0; i < K * TILE; i++)
            D[i] *= E[i];
}

/* Nearest prototype, no parameters: u = 1 there, the first of several; objective its distance. */
static TARGET void NAME(rule_nearest)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    ALIGNED double at[TILE];
    double *D = t->D;
    (void)parameters, (void)want;
    memcpy(row, D, sizeof at);
    memset(at, 0, sizeof at);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++) {
            at[r] = D[k * TILE + r] < row[r] ? (double)k : at[r];
            row[r] = D[k * TILE + r] < row[r] ? D[k * TILE + r] : row[r];
        }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] = at[r] == (double)k;
}

/* Gaussian bumps, parameters {alpha, weight (K)}: weight_k exp(-alpha D); the row's objective is their sum. */
static TARGET void NAME(rule_bumps)(tile_t *t, int64_t K, const double *parameters, int want, double *row)
{
    (void)want;
    memset(row, 0, sizeof(double) * TILE);
    for (int64_t k = 0; k < K; k++) {
        double *d = t->D + k * TILE;
        for (int r = 0; r < TILE; r++)
            d[r] *= -parameters[0];
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++) {
            d[r] *= parameters[1 + k];
            row[r] += d[r];
        }
    }
}

/* Squared distances D [earlier row][row] to e = exp(-alpha D): row[r] += sum_k weight_k e, and, unless NULL,
   column[k] += sum_r own_r e. */
static TARGET void NAME(pair_bumps)(double *D, int64_t K, double alpha, const double *weight, const double *own, double *row,
                                    double *column)
{
    for (int64_t k = 0; k < K; k++) {
        double *e = D + k * TILE;
        for (int r = 0; r < TILE; r++)
            e[r] *= -alpha;
        NAME(exp_tile)(e, e);
        for (int r = 0; r < TILE; r++) {
            row[r] += weight[k] * e[r];
            e[r] *= own[r];
        }
        if (column)
            column[k] += tile_sum(e);
    }
}

/* Numbers of a tile row: counts += {those 0, those below `low`, those in [low, high]}; the last ones are appended to `kept`
   up to its capacity. */
static TARGET void NAME(window)(const double *D, double low, double high, int64_t capacity, int64_t *counts, double *kept)
{
    int64_t zeros = 0, below = 0, inside = counts[2];
    ALIGNED int64_t in[TILE];
    for (int r = 0; r < TILE; r++) {
        zeros += D[r] == 0;
        below += D[r] < low;
        in[r] = (D[r] >= low) & (D[r] <= high);
    }
    for (int r = 0; r < TILE; r += 8) {
        int64_t any = 0;
        for (int l = 0; l < 8; l++)
            any |= in[r + l];
        for (int l = 0; any && l < 8; l++) {
            kept[inside < capacity ? inside : capacity] = D[r + l]; /* counted where it belongs: no branch to guess */
            inside += in[r + l];
        }
    }
    counts[0] += zeros;
    counts[1] += below;
    counts[2] = inside;
}

/* Log densities in t->D to posteriors; row[r] becomes the log likelihood of the row. */
static TARGET void NAME(posteriors)(tile_t *t, int64_t K, double *row)
{
    ALIGNED double top[TILE], sum[TILE];
    double *D = t->D;
    memcpy(top, D, sizeof top);
    memset(sum, 0, sizeof sum);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++)
            top[r] = D[k * TILE + r] > top[r] ? D[k * TILE + r] : top[r];
    for (int64_t k = 0; k < K; k++) {
        double *d = D + k * TILE;
        for (int r = 0; r < TILE; r++)
            d[r] -= top[r];
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++)
            sum[r] += d[r];
    }
    NAME(log_tile)(sum, row);
    for (int r = 0; r < TILE; r++) {
        row[r] += top[r];
        sum[r] = 1.0 / sum[r];
    }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] *= sum[r];
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
    /* the largest is 0 before the division: no overflow for m near 1 */
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] = (E[k * TILE + r] - top[r]) / (m - 1.0);
    NAME(posteriors)(t, K, top);
}

/* Log densities in t->D, parameters {m, exponent}: memberships u = softmax(D / (m-1)); t->D becomes u^exponent and t->E
   u^m; shares[k] += sum_r u w; row[r] the log likelihood. */
static TARGET void NAME(tempered)(tile_t *t, int64_t K, const double *parameters, const double *w, double *shares,
                                  double *row)
{
    const double m = parameters[0], exponent = parameters[1];
    NAME(temper)(t, K, m, row);
    for (int64_t k = 0; k < K; k++) {
        double *u = t->D + k * TILE, sum = 0;
        for (int r = 0; r < TILE; r++)
            sum += u[r] * w[r];
        shares[k] += sum;
        NAME(power_tile)(u, m, t->E + k * TILE);
        NAME(power_tile)(u, exponent, u);
    }
}

#undef LANES
