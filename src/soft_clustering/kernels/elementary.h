/* Logarithms and exponentials of a tile row. Included once per vector width. */

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

/* exp(x) = power (1 + rest) with a power of two and a small rest: exp(x) - 1 = power rest + (power - 1) is accurate. */
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

#undef LANES
