/* Documents as mixtures of topics: the E-step of latent Dirichlet allocation and the passes of probabilistic latent
   semantic analysis.

   Rows are documents, the values counts. B is (V, wide), word-major, wide the number of topics filled up with zeros to
   whole vectors. A single step of a document has topics in the lanes of the vectors. A document of many steps works on a
   copy of the probabilities of its words, one row per topic, with words in the lanes: their number is filled up with words
   of count 0. */

#ifdef WIDTH /* steps, once per vector width */

#define TINY 1e-200 /* no probability of a word is smaller */
#define FADED 1e-16  /* a topic that explains less of a document is set aside */
#define GROWTH 1e6   /* until it may explain this many times as much */
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

/* The digamma function of x > 0, and the logarithm of the gamma function: from the asymptotic series, at x + 6 if
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

/* s_w = sum_j A_j B_j,w + TINY for NV vectors of words; the rows of B are topics. */
static INLINE TARGET void NAME(chances_block)(const double *A, const double *const *B, int64_t topics, int64_t w, const int NV,
                                              double *s)
{
    VEC sum[4];
    for (int v = 0; v < NV; v++)
        sum[v] = SPLAT(TINY);
    for (int64_t j = 0; j < topics; j++) {
        const VEC a = SPLAT(A[j]);
        for (int v = 0; v < NV; v++)
            sum[v] += a * READ(B[j] + w + v * LANES);
    }
    for (int v = 0; v < NV; v++)
        AT(s + w + v * LANES) = sum[v];
}

/* s_w = sum_j A_j B_j,w + TINY, the probabilities of the words of a document (as many as fill vectors). */
static TARGET void NAME(chances)(const double *A, const double *const *B, int64_t topics, int64_t words, double *s)
{
    int64_t w = 0;
    for (; w + 3 * LANES < words; w += 4 * LANES)
        NAME(chances_block)(A, B, topics, w, 4, s);
    if (w + 2 * LANES < words)
        NAME(chances_block)(A, B, topics, w, 3, s);
    else if (w + LANES < words)
        NAME(chances_block)(A, B, topics, w, 2, s);
    else if (w < words)
        NAME(chances_block)(A, B, topics, w, 1, s);
}

/* acc_j = sum_w c_w B_j,w for NT topics. */
static INLINE TARGET void NAME(weigh_block)(const double *const *B, const double *c, int64_t words, const int NT, double *acc)
{
    VEC sum[4];
    for (int j = 0; j < NT; j++)
        sum[j] = ZERO;
    for (int64_t w = 0; w < words; w += LANES) {
        const VEC v = READ(c + w);
        for (int j = 0; j < NT; j++)
            sum[j] += v * READ(B[j] + w);
    }
    for (int j = 0; j < NT; j++)
        acc[j] = NAME(across)(sum[j]);
}

/* acc_j = sum_w x_w / s_w B_j,w with s_w = sum_j A_j B_j,w. Scratch: s (words). */
static TARGET void NAME(shares)(const double *A, const double *const *B, const double *x, int64_t topics, int64_t words, double *s,
                                double *acc)
{
    int64_t j = 0;
    NAME(chances)(A, B, topics, words, s);
    for (int64_t w = 0; w < words; w += LANES)
        AT(s + w) = READ(x + w) / READ(s + w);
    for (; j + 4 <= topics; j += 4)
        NAME(weigh_block)(B + j, s, words, 4, acc + j);
    if (j + 2 < topics)
        NAME(weigh_block)(B + j, s, words, 3, acc + j);
    else if (j + 1 < topics)
        NAME(weigh_block)(B + j, s, words, 2, acc + j);
    else if (j < topics)
        NAME(weigh_block)(B + j, s, words, 1, acc + j);
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

/* The logarithms of the words' probabilities s_w = A . B_w, weighted by their counts and summed; if `to` is given,
   weight x_w / s_w A is added to the statistics of each word. Scratch: s (words). */
static TARGET double NAME(explain)(const double *A, const double *const *B, const double *x, const int64_t *word, int64_t words,
                                   int64_t K, int64_t wide, double weight, double *s, double *to)
{
    NAME(chances)(A, B, K, words, s);
    for (int64_t w = 0; to && w < words; w++)
        NAME(add)(to + word[w] * wide, weight * (x[w] / s[w]), A, wide);
    return NAME(log_sum)(x, s, words);
}

/* A = exp(psi(gamma)) in units of its largest entry, whose logarithm is returned: the unit cancels in all but the bound.
   The entries that fill up the topics become 0. */
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

/* One step of expectation maximisation for a document, for NV vectors of topics, which stay in registers. */
static INLINE TARGET void NAME(plsi_block)(const double *A, const double *B, const double *x, const int64_t *word, int64_t words,
                                           const int NV, double weight, double *s, double *T, double *to)
{
    const int64_t wide = NV * LANES;
    VEC a[4], sum[4];
    for (int v = 0; v < NV; v++) {
        a[v] = READ(A + v * LANES);
        sum[v] = ZERO;
    }
    for (int64_t w = 0; w < words; w++) {
        const double *from = B + word[w] * wide;
        double *mine = to + word[w] * wide;
        VEC b[4], dot = ZERO;
        for (int v = 0; v < NV; v++) {
            b[v] = READ(from + v * LANES);
            dot += a[v] * b[v];
        }
        s[w] = NAME(across)(dot) + TINY;
        const double c = x[w] / s[w];
        const VEC in = SPLAT(c), out = SPLAT(weight * c);
        for (int v = 0; v < NV; v++) {
            sum[v] += in * b[v];
            AT(mine + v * LANES) += out * a[v];
        }
    }
    for (int v = 0; v < NV; v++)
        AT(T + v * LANES) = sum[v];
}

/* One step of expectation maximisation for a document: T ~ A sum_w x_w B_w / s_w with s_w = A . B_w, and weight x_w / s_w A
   added to the statistics of each word. Gives sum_w x_w log s_w. Scratch: s (words). */
static TARGET double NAME(plsi_document)(const double *A, const double *B, const double *x, const int64_t *word, int64_t words,
                                         int64_t wide, double weight, double *s, double *T, double *to)
{
    double sum = 0;
    if (wide == LANES)
        NAME(plsi_block)(A, B, x, word, words, 1, weight, s, T, to);
    else if (wide == 2 * LANES)
        NAME(plsi_block)(A, B, x, word, words, 2, weight, s, T, to);
    else if (wide == 3 * LANES)
        NAME(plsi_block)(A, B, x, word, words, 3, weight, s, T, to);
    else if (wide == 4 * LANES)
        NAME(plsi_block)(A, B, x, word, words, 4, weight, s, T, to);
    else {
        memset(T, 0, sizeof(double) * (size_t)wide);
        for (int64_t w = 0; w < words; w++) {
            const double *b = B + word[w] * wide;
            s[w] = NAME(dot)(A, b, wide) + TINY;
            const double c = x[w] / s[w];
            NAME(add)(T, c, b, wide);
            NAME(add)(to + word[w] * wide, weight * c, A, wide);
        }
    }
    for (int64_t k = 0; k < wide; k++)
        sum += T[k] *= A[k];
    for (int64_t k = 0; k < wide && sum > 0; k++)
        T[k] /= sum;
    return NAME(log_sum)(x, s, words);
}

/* gamma of one document, to a mean change of `tol`, from the gamma given; gives the unit of A, exp(psi(gamma)).

   A topic that explains less than FADED of the document is set aside, and its gamma stays. It explains
   sum_w c_w A B_w with c_w = x_w / s_w: as long as no c_w is more than GROWTH times its least value at a time when topics were set
   aside, those explain less than GROWTH FADED each. Then all take part again.
   Scratch: psi (wide), c and least (words), and for the topics in play three vectors, their rows and numbers. */
static TARGET double NAME(lda_document)(const double *const *B, const double *x, int64_t words, const double *alpha, int64_t K,
                                        int64_t wide, int64_t max_iter, double tol, double *gamma, double *psi, double *A,
                                        double *c, double *least, double *scratch, const double **rows, int64_t *topic)
{
    double *g = scratch, *a = g + wide, *acc = a + wide, total = 0;
    int64_t m = 0;
    for (int64_t w = 0; w < words; w++)
        total += x[w];
    for (int64_t i = 0; i < max_iter; i++) {
        double change = 0;
        int64_t kept = 0;
        if (m == 0) {
            for (; m < K; m++) {
                topic[m] = m;
                rows[m] = B[m];
            }
            memcpy(g, gamma, sizeof(double) * (size_t)wide);
            for (int64_t w = 0; w < words; w++)
                least[w] = INFINITY;
        }
        const double unit = exp(-NAME(expectations)(g, m, (m + LANES - 1) / LANES * LANES, psi, a));
        NAME(shares)(a, rows, x, m, words, c, acc);
        for (int64_t j = 0; j < m; j++) {
            const double given = a[j] * acc[j], next = alpha[topic[j]] + given;
            change += fabs(next - g[j]);
            gamma[topic[j]] = next;
            if (given >= FADED * total) {
                g[kept] = next;
                rows[kept] = rows[j];
                topic[kept++] = topic[j];
            }
        }
        if (change < tol * (double)K)
            break;
        if (kept < m)
            for (int64_t w = 0; w < words; w++)
                least[w] = unit * c[w] < least[w] ? unit * c[w] : least[w];
        m = kept;
        for (int64_t w = 0; w < words && m < K; w++)
            m = unit * c[w] > GROWTH * least[w] ? 0 : m;
        for (int64_t j = m; j < (m + LANES - 1) / LANES * LANES; j++)
            g[j] = 1;
    }
    return NAME(expectations)(gamma, K, wide, psi, A);
}

/* T of one document under fixed topics, to a change of at most `tol` per topic: the fixed point of
   T ~ T^beta pi^(1-beta) sum_w x_w B_w / s_w. Scratch: s (words), A, acc (K each). */
static TARGET void NAME(fold_in_document)(const double *const *B, const double *x, int64_t words, double beta, const double *log_pi,
                                          int64_t K, int64_t max_iter, double tol, double *T, double *s, double *A, double *acc)
{
    for (int64_t i = 0; i < max_iter; i++) {
        double total = 0, change = 0;
        for (int64_t k = 0; k < K; k++)
            A[k] = beta == 1.0 ? T[k] : T[k] > 0 ? exp(beta * log(T[k]) + (1 - beta) * log_pi[k]) : 0;
        NAME(shares)(A, B, x, K, words, s, acc);
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

#else /* loops over chunks */

/* The words that occur in a document, with their counts; if `rows` is given, also their probabilities, one row per topic.
   Words of count 0 fill up the vectors. */
static int64_t document(const job_t *job, int64_t row, int64_t *word, double *x, double *const *rows)
{
    const rows_t *r = job->x;
    const int64_t end = csr_at(r->indptr, r->index64, row + 1), K = job->K, wide = job->topics->wide;
    int64_t words = 0;
    for (int64_t p = csr_at(r->indptr, r->index64, row); p < end; p++) {
        x[words] = r->is_float ? (double)((const float *)r->values)[p] : ((const double *)r->values)[p];
        word[words] = csr_at(r->indices, r->index64, p);
        words += x[words] > 0;
    }
    if (rows) {
        for (int64_t w = 0; w < words; w++)
            for (int64_t k = 0; k < K; k++)
                rows[k][w] = job->topics->B[word[w] * wide + k];
        for (int64_t w = words; w % PAD; w++) {
            x[w] = 0;
            for (int64_t k = 0; k < K; k++)
                rows[k][w] = 0;
        }
    }
    return words;
}

/* Memory of one document: its words, counts, probabilities and topic rows, and vectors. If it cannot be had, the result is
   NaN. */
#define DOCUMENT(topics, result)                                                                                       \
    const int64_t wide = (topics)->wide, longest = (topics)->longest;                                                  \
    double *x = malloc(8 * (size_t)(longest * (4 + wide) + 10 * wide) + 64), *chance = x + longest;                    \
    double *one = chance + longest * (1 + wide), *psi = one + wide, *A = psi + wide, *log_gamma = A + wide;            \
    double *acc = log_gamma + wide, **B = (double **)(acc + 3 * wide);                                                 \
    const double **rows = (const double **)B + wide;                                                                   \
    int64_t *topic = (int64_t *)(B + 2 * wide), *word = topic + wide;                                                  \
    double *least = (double *)(word + longest);                                                                        \
    if (!x) {                                                                                                          \
        *(result) = NAN;                                                                                               \
        return;                                                                                                        \
    }                                                                                                                  \
    for (int64_t k = 0; k < wide; k++)                                                                                 \
        B[k] = chance + (k + 1) * longest;                                                                             \
    (void)rows;                                                                                                        \
    (void)topic;                                                                                                       \
    (void)least;

/* A row of the result: values / total. */
static void put(const job_t *job, int64_t row, const double *values, double total)
{
    const int64_t K = job->K;
    for (int64_t k = 0; k < K; k++)
        if (job->x->is_float)
            ((float *)job->out)[row * K + k] = (float)(values[k] / total);
        else
            ((double *)job->out)[row * K + k] = values[k] / total;
}

/* The E-step of latent Dirichlet allocation. Result: the documents' part of the bound, summed E[log theta] (wide), and
   if wanted sum_d A_dk x_dw / s_dw (V, wide); out: the memberships. */
static void lda_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const topics_t *topics = job->topics;
    const steps_t *s = steps();
    const int64_t K = job->K;
    DOCUMENT(topics, result)
    double *logs = result + 1, *to = topics->words ? logs + wide : NULL, alphas = 0, prior = 0;
    (void)t;
    for (int64_t k = 0; k < wide; k++)
        one[k] = k < K ? topics->prior[k] : 1;
    s->digammas(one, wide, psi, log_gamma);
    for (int64_t k = 0; k < K; k++) {
        alphas += one[k];
        prior -= log_gamma[k];
    }
    for (int64_t row = lo; row < hi; row++) {
        const int64_t words = document(job, row, word, x, B);
        const double weight = job->x->weight ? job->x->weight[row] : 1;
        ALIGNED double sums[PAD] = {1, 1, 1, 1, 1, 1, 1, 1}, sum_psi[PAD], sum_log[PAD];
        double count = 0, gammas = 0, bound, unit;
        for (int64_t k = 0; k < wide; k++)
            one[k] = k >= K ? 1 : !words ? topics->prior[k] : topics->start ? topics->start[row * K + k] : 1;
        unit = s->lda_document((const double *const *)B, x, words, topics->prior, K, wide, words ? topics->max_iter : 0,
                               topics->tol, one, psi, A, chance, least, acc, rows, topic);
        for (int64_t k = 0; k < K; k++)
            gammas += one[k];
        if (job->out)
            put(job, row, one, gammas);
        sums[0] = gammas;
        sums[1] = alphas;
        s->digammas(sums, PAD, sum_psi, sum_log);
        s->digammas(one, wide, psi, log_gamma);
        for (int64_t w = 0; w < words; w++)
            count += x[w];
        bound = s->explain(A, (const double *const *)B, x, word, words, K, wide, weight, chance, to);
        bound += count * (unit - sum_psi[0]);
        bound += prior + sum_log[1] - sum_log[0];
        for (int64_t k = 0; k < K; k++) {
            bound += (topics->prior[k] - one[k]) * (psi[k] - sum_psi[0]) + log_gamma[k];
            logs[k] += weight * (psi[k] - sum_psi[0]);
        }
        *result += weight * bound;
    }
    free(x);
}

/* A step of probabilistic latent semantic analysis, from A (n, K) in job->given to T (n, K) in job->row_out. Result: the log
   likelihood under A and B, and sum_d A_dk x_dw / s_dw (V, wide). */
static void plsi_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const int64_t K = job->K;
    DOCUMENT(job->topics, result)
    (void)t;
    (void)acc;
    memset(A, 0, sizeof(double) * (size_t)wide);
    for (int64_t row = lo; row < hi; row++) {
        const int64_t words = document(job, row, word, x, NULL);
        const double weight = job->x->weight ? job->x->weight[row] : 1;
        memcpy(A, job->given + row * K, sizeof(double) * (size_t)K);
        *result += weight * steps()->plsi_document(A, job->topics->B, x, word, words, wide, weight, chance, one, result + 1);
        memcpy(job->row_out + row * K, one, sizeof(double) * (size_t)K);
    }
    free(x);
}

/* Shares of the topics in documents, the topics fixed. Result: the log likelihood; out: the shares, all zero without a word. */
static void fold_in_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const topics_t *topics = job->topics;
    const steps_t *s = steps();
    const int64_t K = job->K;
    DOCUMENT(topics, result)
    (void)t;
    for (int64_t row = lo; row < hi; row++) {
        const int64_t words = document(job, row, word, x, B);
        for (int64_t k = 0; k < wide; k++)
            one[k] = k < K && words ? 1.0 / (double)K : 0;
        s->fold_in_document((const double *const *)B, x, words, topics->beta, topics->prior, K, topics->max_iter, topics->tol, one,
                            chance, A, acc);
        put(job, row, one, 1);
        *result += (job->x->weight ? job->x->weight[row] : 1) *
                   s->explain(one, (const double *const *)B, x, word, words, K, wide, 1, chance, NULL);
    }
    free(x);
}

#endif
