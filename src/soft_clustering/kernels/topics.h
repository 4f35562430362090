/* Documents as mixtures of topics: the E-step of latent Dirichlet allocation and the passes of probabilistic latent
   semantic analysis. Included once per vector width, after rules.h.

   Rows are documents, the values counts. The topics are the lanes of the vectors: B is (V, wide), word-major, wide the
   number of topics filled up with zeros to a multiple of PAD. A document works on a copy of the rows of its words. */

#define LANES ((int)(BYTES / sizeof(double)))
#if defined(__GNUC__)
typedef double NAME(tvec) __attribute__((vector_size(BYTES), aligned(8), may_alias));
#define VEC NAME(tvec)
#define SPLAT(x) ((x) - (VEC){0})
#define AT(p) (*(VEC *)(p))
#define READ(p) (*(const VEC *)(p))
#define LOG(x) ((VEC)NAME(log_vec)(x))
#define EXP(x) ((VEC)NAME(exp_vec)(x))
#define PICK(mask, a, b) ((VEC)(((mask) & (NAME(ivec))(a)) | (~(mask) & (NAME(ivec))(b))))
#else
#define VEC double
#define SPLAT(x) (x)
#define AT(p) (*(p))
#define READ(p) (*(p))
#define LOG(x) log(x)
#define EXP(x) ((x) < -708.0 ? 0.0 : exp(x))
#define PICK(mask, a, b) ((mask) ? (a) : (b))
#endif
#define ZERO SPLAT(0.0)

static INLINE TARGET double NAME(across)(VEC x)
{
    double lane[BYTES / sizeof(double)], total = 0;
    memcpy(lane, &x, BYTES);
    for (int l = 0; l < LANES; l++)
        total += lane[l];
    return total;
}

/* The digamma function of x > 0, and the logarithm of the gamma function: from the asymptotic series at x + 6 where
   x < 6. With q = x (x + 5), x (x + 1) ... (x + 5) = q (q + 4) (q + 6), and the six fractions are one. */
static INLINE TARGET VEC NAME(digamma)(VEC x, VEC *log_gamma)
{
    const VEC q = x * (x + SPLAT(5.0)), rising = q * (q + SPLAT(4.0)) * (q + SPLAT(6.0));
    const VEC fractions = (x + x + SPLAT(5.0)) * ((SPLAT(3.0) * q + SPLAT(20.0)) * q + SPLAT(24.0)) / rising;
    const VEC y = PICK(x < SPLAT(6.0), x + SPLAT(6.0), x), i = SPLAT(1.0) / y, s = i * i, logarithm = LOG(y);
    VEC p = SPLAT(-1.0 / 12);
    p = p * s + SPLAT(691.0 / 32760);
    p = p * s + SPLAT(-1.0 / 132);
    p = p * s + SPLAT(1.0 / 240);
    p = p * s + SPLAT(-1.0 / 252);
    p = p * s + SPLAT(1.0 / 120);
    p = p * s + SPLAT(-1.0 / 12);
    const VEC psi = logarithm - SPLAT(0.5) * i + p * s;
    if (log_gamma) {
        p = SPLAT(1.0 / 156);
        p = p * s + SPLAT(-691.0 / 360360);
        p = p * s + SPLAT(1.0 / 1188);
        p = p * s + SPLAT(-1.0 / 1680);
        p = p * s + SPLAT(1.0 / 1260);
        p = p * s + SPLAT(-1.0 / 360);
        p = p * s + SPLAT(1.0 / 12);
        const VEC far = (y - SPLAT(0.5)) * logarithm - y + SPLAT(0.91893853320467274178) + p * i;
        *log_gamma = PICK(x < SPLAT(6.0), far - LOG(PICK(x < SPLAT(6.0), rising, SPLAT(1.0))), far);
    }
    return PICK(x < SPLAT(6.0), psi - fractions, psi);
}

static TARGET void NAME(digammas)(const double *x, int64_t wide, double *psi, double *log_gamma)
{
    for (int64_t k = 0; k < wide; k += LANES) {
        VEC v;
        AT(psi + k) = NAME(digamma)(READ(x + k), &v);
        if (log_gamma)
            AT(log_gamma + k) = v;
    }
}

static INLINE TARGET double NAME(dot)(const double *a, const double *b, int64_t wide)
{
    VEC s = ZERO;
    for (int64_t k = 0; k < wide; k += LANES)
        s += READ(a + k) * READ(b + k);
    return NAME(across)(s);
}

/* to += c from */
static INLINE TARGET void NAME(add)(double *to, double c, const double *from, int64_t wide)
{
    const VEC v = SPLAT(c);
    for (int64_t k = 0; k < wide; k += LANES)
        AT(to + k) += v * READ(from + k);
}

/* acc = sum_w x_w / (A . B_w) B_w over the words of a document; NV vectors of topics, which stay in registers. */
static INLINE TARGET void NAME(shares_block)(const double *A, const double *B, const double *x, int64_t words, const int NV,
                                             double *acc)
{
    VEC a[4], sum[4];
    for (int v = 0; v < NV; v++) {
        a[v] = READ(A + v * LANES);
        sum[v] = ZERO;
    }
    for (int64_t w = 0; w < words; w++, B += NV * LANES) {
        VEC b[4], s = ZERO;
        for (int v = 0; v < NV; v++) {
            b[v] = READ(B + v * LANES);
            s += a[v] * b[v];
        }
        const VEC c = SPLAT(x[w] / (NAME(across)(s) + TINY));
        for (int v = 0; v < NV; v++)
            sum[v] += c * b[v];
    }
    for (int v = 0; v < NV; v++)
        AT(acc + v * LANES) = sum[v];
}

static TARGET void NAME(shares)(const double *A, const double *B, const double *x, int64_t words, int64_t wide, double *acc)
{
    if (wide == LANES)
        NAME(shares_block)(A, B, x, words, 1, acc);
    else if (wide == 2 * LANES)
        NAME(shares_block)(A, B, x, words, 2, acc);
    else if (wide == 3 * LANES)
        NAME(shares_block)(A, B, x, words, 3, acc);
    else if (wide == 4 * LANES)
        NAME(shares_block)(A, B, x, words, 4, acc);
    else {
        memset(acc, 0, sizeof(double) * (size_t)wide);
        for (int64_t w = 0; w < words; w++, B += wide)
            NAME(add)(acc, x[w] / (NAME(dot)(A, B, wide) + TINY), B, wide);
    }
}

/* sum_w x_w log s_w */
static TARGET double NAME(log_sum)(const double *x, const double *s, int64_t words)
{
    VEC sum = ZERO;
    double total = 0;
    int64_t w = 0;
    for (; w + LANES <= words; w += LANES)
        sum += READ(x + w) * LOG(READ(s + w));
    for (; w < words; w++)
        total += x[w] * log(s[w]);
    return total + NAME(across)(sum);
}

/* The logarithms of the words' probabilities A . B_w in units exp(shift), weighted by their counts and summed; where
   `to` is given, weight x_w / (A . B_w) A is added to the statistics of each word. Scratch: s (words). */
static TARGET double NAME(explain)(const double *A, const double *B, const double *x, const int64_t *word, int64_t words,
                                   int64_t wide, double weight, double *s, double *to)
{
    for (int64_t w = 0; w < words; w++, B += wide) {
        s[w] = NAME(dot)(A, B, wide) + TINY;
        if (to)
            NAME(add)(to + word[w] * wide, weight * (x[w] / s[w]), A, wide);
    }
    return NAME(log_sum)(x, s, words);
}

/* A = exp(psi(gamma)) in units of its largest entry, whose logarithm is returned: the unit cancels in all but the bound.
   What fills up the topics becomes 0. */
static TARGET double NAME(expectations)(const double *gamma, int64_t K, int64_t wide, double *psi, double *A)
{
    double most = -INFINITY;
    NAME(digammas)(gamma, wide, psi, NULL);
    for (int64_t k = 0; k < K; k++)
        most = psi[k] > most ? psi[k] : most;
    for (int64_t k = 0; k < wide; k += LANES)
        AT(A + k) = EXP(READ(psi + k) - SPLAT(most));
    for (int64_t k = K; k < wide; k++)
        A[k] = 0;
    return most;
}

/* One step of expectation maximisation for a document: T ~ A sum_w x_w B_w / s_w with s_w = A . B_w, and weight x_w / s_w A
   added to the statistics of each word. Gives sum_w x_w log s_w. Scratch: s (words). */
static TARGET double NAME(plsi_document)(const double *A, const double *B, const double *x, const int64_t *word, int64_t words,
                                         int64_t wide, double weight, double *s, double *T, double *to)
{
    double sum = 0;
    memset(T, 0, sizeof(double) * (size_t)wide);
    for (int64_t w = 0; w < words; w++) {
        const double *b = B + word[w] * wide;
        s[w] = NAME(dot)(A, b, wide) + TINY;
        const double c = x[w] / s[w];
        NAME(add)(T, c, b, wide);
        NAME(add)(to + word[w] * wide, weight * c, A, wide);
    }
    for (int64_t k = 0; k < wide; k++)
        sum += T[k] *= A[k];
    for (int64_t k = 0; k < wide && sum > 0; k++)
        T[k] /= sum;
    return NAME(log_sum)(x, s, words);
}

/* gamma of one document, to a mean change of `tol`, from the gamma given. Scratch: psi, A, acc (wide each). */
static TARGET double NAME(lda_document)(const double *B, const double *x, int64_t words, const double *alpha, int64_t K,
                                        int64_t wide, int64_t max_iter, double tol, double *gamma, double *psi, double *A,
                                        double *acc)
{
    double unit = NAME(expectations)(gamma, K, wide, psi, A);
    for (int64_t i = 0; i < max_iter; i++) {
        double change = 0;
        NAME(shares)(A, B, x, words, wide, acc);
        for (int64_t k = 0; k < K; k++) {
            const double next = alpha[k] + A[k] * acc[k];
            change += fabs(next - gamma[k]);
            gamma[k] = next;
        }
        unit = NAME(expectations)(gamma, K, wide, psi, A);
        if (change < tol * (double)K)
            break;
    }
    return unit;
}

/* T of one document under fixed topics, to a change of at most `tol` per topic: the fixed point of
   T ~ T^beta pi^(1-beta) sum_w x_w B_w / s_w. Scratch: A, acc (wide each). */
static TARGET void NAME(fold_in_document)(const double *B, const double *x, int64_t words, double beta, const double *log_pi,
                                          int64_t K, int64_t wide, int64_t max_iter, double tol, double *T, double *A,
                                          double *acc)
{
    memset(A, 0, sizeof(double) * (size_t)wide);
    for (int64_t i = 0; i < max_iter; i++) {
        double total = 0, change = 0;
        for (int64_t k = 0; k < K; k++)
            A[k] = beta == 1.0 ? T[k] : T[k] > 0 ? exp(beta * log(T[k]) + (1 - beta) * log_pi[k]) : 0;
        NAME(shares)(A, B, x, words, wide, acc);
        for (int64_t k = 0; k < K; k++)
            total += A[k] * acc[k];
        if (!(total > 0))
            return;
        for (int64_t k = 0; k < K; k++) {
            const double next = A[k] * acc[k] / total;
            change = fabs(next - T[k]) > change ? fabs(next - T[k]) : change;
            T[k] = next;
        }
        if (change <= tol)
            return;
    }
}

#undef LANES
#undef VEC
#undef SPLAT
#undef AT
#undef READ
#undef LOG
#undef EXP
#undef PICK
#undef ZERO
