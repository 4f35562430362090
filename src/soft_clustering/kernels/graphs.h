/* Passes over the links of a graph. The steps use the vectors and `dot` of topics.h, the chunks its documents.

   Rows of factors are filled up with zeros to `wide`, whole vectors. */

#ifdef WIDTH /* steps, once per vector width */

#define FLOOR 1e-12   /* no rate of a link is smaller */
#define SMALL 0x1p-26 /* added to denominators */
#define CERTAIN 1e3   /* the affiliation in common from which on a link is certain */
#define LEAST 1e-300  /* no probability of a link is smaller */

/* 1 - exp(x) for x <= 0, with all its digits. */
static INLINE TARGET VEC NAME(complement)(VEC x)
{
#if defined(__GNUC__)
    NAME(dvec) unit;
    const VEC rest = (VEC)NAME(exp_parts)(PICK(x < SPLAT(-708.0), SPLAT(-708.0), x), &unit), power = (VEC)unit;
    return (SPLAT(1.0) - power) - power * rest;
#else
    return -expm1(x);
#endif
}

/* z_p = f . F_p over the rows F_p of the linked nodes; four rows and two vectors at a time, so that no sum waits for another. */
static INLINE TARGET void NAME(link_dots)(const double *f, const double *F, const int64_t *to, int64_t links, int64_t wide,
                                          double *z)
{
    int64_t p = 0;
    for (; p + 4 <= links; p += 4) {
        const double *row[4];
        VEC even[4], odd[4];
        int64_t k = 0;
        for (int i = 0; i < 4; i++) {
            row[i] = F + to[p + i] * wide;
            even[i] = odd[i] = ZERO;
        }
        for (; k + LANES < wide; k += 2 * LANES) {
            const VEC x = READ(f + k), y = READ(f + k + LANES);
            for (int i = 0; i < 4; i++) {
                even[i] += x * READ(row[i] + k);
                odd[i] += y * READ(row[i] + k + LANES);
            }
        }
        for (; k < wide; k += LANES)
            for (int i = 0; i < 4; i++)
                even[i] += READ(f + k) * READ(row[i] + k);
        for (int i = 0; i < 4; i++)
            z[p + i] = NAME(across)(even[i] + odd[i]);
    }
    for (; p < links; p++)
        z[p] = NAME(dot)(f, F + to[p] * wide, wide);
}

/* out += sum_p c_p F_p for NV vectors of the rows; the sums stay in registers, those of even and of odd links apart. */
static INLINE TARGET void NAME(sums_block)(const double *c, const double *F, const int64_t *to, int64_t links, int64_t wide,
                                           const int NV, double *out)
{
    VEC even[4], odd[4];
    int64_t p = 0;
    for (int v = 0; v < NV; v++)
        even[v] = odd[v] = ZERO;
    for (; p + 2 <= links; p += 2) {
        const double *x = F + to[p] * wide, *y = F + to[p + 1] * wide;
        const VEC a = SPLAT(c[p]), b = SPLAT(c[p + 1]);
        for (int v = 0; v < NV; v++) {
            even[v] += a * READ(x + v * LANES);
            odd[v] += b * READ(y + v * LANES);
        }
    }
    for (; p < links; p++)
        for (int v = 0; v < NV; v++)
            even[v] += SPLAT(c[p]) * READ(F + to[p] * wide + v * LANES);
    for (int v = 0; v < NV; v++)
        AT(out + v * LANES) += even[v] + odd[v];
}

/* out += sum_p c_p F_p */
static INLINE TARGET void NAME(link_sums)(const double *c, const double *F, const int64_t *to, int64_t links, int64_t wide,
                                          double *out)
{
    int64_t k = 0;
    for (; k + 4 * LANES <= wide; k += 4 * LANES)
        NAME(sums_block)(c, F + k, to, links, wide, 4, out + k);
    for (; k + 2 * LANES <= wide; k += 2 * LANES)
        NAME(sums_block)(c, F + k, to, links, wide, 2, out + k);
    for (; k < wide; k += LANES)
        NAME(sums_block)(c, F + k, to, links, wide, 1, out + k);
}

/* out = sum_j x_j / s_j Q_j with s_j = P . Q_j over the links of a node; gives sum_j x_j log s_j. Scratch: s, c (links each). */
static TARGET double NAME(ratio_row)(const double *P, const double *Q, const double *x, const int64_t *to, int64_t links,
                                     int64_t wide, double *s, double *c, double *out)
{
    NAME(link_dots)(P, Q, to, links, wide, s);
    for (int64_t p = 0; p < links; p++) {
        s[p] += FLOOR;
        c[p] = x[p] / s[p];
    }
    memset(out, 0, sizeof(double) * (size_t)wide);
    NAME(link_sums)(c, Q, to, links, wide, out);
    return NAME(log_sum)(x, s, links);
}

/* out = sum_p c_p X_p over rows of single precision, of which `width` entries count. */
static TARGET void NAME(product_row)(const float *c, const float *X, const int64_t *to, int64_t links, int64_t width, float *out)
{
    int64_t p = 0;
    memset(out, 0, sizeof(float) * (size_t)width);
    for (; p + 4 <= links; p += 4) {
        const float *x = X + to[p] * width, *y = X + to[p + 1] * width, *z = X + to[p + 2] * width, *w = X + to[p + 3] * width;
        const float a = c[p], b = c[p + 1], d = c[p + 2], e = c[p + 3];
        for (int64_t k = 0; k < width; k++)
            out[k] += (a * x[k] + b * y[k]) + (d * z[k] + e * w[k]);
    }
    for (; p < links; p++) {
        const float *x = X + to[p] * width, a = c[p];
        for (int64_t k = 0; k < width; k++)
            out[k] += a * x[k];
    }
}

/* A multiplicative step of a row p whose ratios (above) are given: p * ratios / (total + beta p). It is added to `sums`, its
   squares to `squares`. */
static TARGET void NAME(factor_row)(const double *p, const double *ratios, const double *total, const double *beta, int64_t wide,
                                    double *out, double *sums, double *squares)
{
    for (int64_t k = 0; k < wide; k += LANES) {
        const VEC old = READ(p + k), x = old * READ(ratios + k) / (READ(total + k) + READ(beta + k) * old + SPLAT(SMALL));
        AT(out + k) = x;
        AT(sums + k) += x;
        AT(squares + k) += x * x;
    }
}

/* The Dirichlet posterior gamma of a node of `degree` links: E = psi(gamma) - psi(sum gamma), a = exp(E - max E), entries that
   fill up E and a 0. Gives degree max E, less the divergence from a prior of parameters alpha without its constant. */
static TARGET double NAME(block_expectations)(const double *gamma, int64_t K, int64_t wide, double alpha, double degree,
                                              double *E, double *a)
{
    ALIGNED double sum[PAD] = {0, 1, 1, 1, 1, 1, 1, 1}, sum_psi[PAD], sum_log[PAD];
    double most = -INFINITY, total = 0;
    for (int64_t k = 0; k < wide; k++) {
        E[k] = k < K ? gamma[k] : 1;
        sum[0] += k < K ? gamma[k] : 0;
    }
    NAME(digammas)(sum, PAD, sum_psi, sum_log);
    NAME(digammas)(E, wide, E, a);
    for (int64_t k = 0; k < K; k++) {
        E[k] -= sum_psi[0];
        most = E[k] > most ? E[k] : most;
        total += a[k] + (alpha - gamma[k]) * E[k];
    }
    for (int64_t k = 0; k < wide; k += LANES)
        AT(a + k) = EXP(READ(E + k) - SPLAT(most));
    for (int64_t k = K; k < wide; k++)
        E[k] = a[k] = 0;
    return total - sum_log[0] + degree * most;
}

/* out = sum_k x_k B_k over the K rows of B */
static INLINE TARGET void NAME(block_product)(const double *x, const double *B, int64_t K, int64_t wide, double *out)
{
    for (int64_t v = 0; v < wide; v += LANES) {
        VEC sum = ZERO;
        for (int64_t k = 0; k < K; k++)
            sum += SPLAT(x[k]) * READ(B + k * wide + v);
        AT(out + v) = sum;
    }
}

/* How often a node acts as each block towards its links: M = a * (B r), r_k = sum_q a_qk / (a B a_q); a r^T is added to N1.
   Gives sum_q log(a B a_q). Scratch: row, r (wide each), s, c (links each). */
static TARGET double NAME(block_links)(const double *mine, const double *a, const double *B, const double *x, const int64_t *to,
                                       int64_t links, int64_t K, int64_t wide, double *row, double *r, double *s, double *c,
                                       double *M, double *N1)
{
    NAME(block_product)(mine, B, K, wide, row);
    const double logs = NAME(ratio_row)(row, a, x, to, links, wide, s, c, r);
    NAME(block_product)(r, B, K, wide, M);
    for (int64_t k = 0; k < K; k++) {
        M[k] *= mine[k];
        NAME(add)(N1 + k * wide, mine[k], r, wide);
    }
    return logs;
}

/* phi = softmax(E + no_link T / rest) of a node that is not linked to `rest` others, T the sum of their phi. It is added to
   `sums`. Gives rest times the sum of phi (E - log phi). */
static TARGET double NAME(block_others)(const double *E, const double *T, const double *no_link, double rest, int64_t K,
                                        int64_t wide, double *phi, double *sums)
{
    double most = -INFINITY;
    VEC sums_of = ZERO, scores = ZERO;
    NAME(block_product)(T, no_link, K, wide, phi);
    for (int64_t k = 0; k < K; k++) {
        phi[k] = phi[k] / (rest > 1 ? rest : 1) + E[k];
        most = phi[k] > most ? phi[k] : most;
    }
    for (int64_t k = K; k < wide; k++)
        phi[k] = most - 1e3; /* whose exponential is 0 */
    for (int64_t k = 0; k < wide; k += LANES) {
        const VEC x = READ(phi + k) - SPLAT(most), e = EXP(x);
        scores += e * (READ(E + k) - x);
        sums_of += e;
        AT(phi + k) = e;
    }
    const double sum = NAME(across)(sums_of);
    for (int64_t k = 0; k < K; k++) {
        phi[k] /= sum;
        sums[k] += phi[k];
    }
    return rest * (NAME(across)(scores) / sum + log(sum));
}

/* near = the sum of the phi of the linked nodes; phi T^T is added to N0, where T = total - phi - near. Scratch: T. */
static TARGET void NAME(block_near)(const double *mine, const double *phi, const double *x, const int64_t *to, int64_t links,
                                    const double *total, int64_t K, int64_t wide, double *T, double *near, double *N0)
{
    memset(near, 0, sizeof(double) * (size_t)wide);
    NAME(link_sums)(x, phi, to, links, wide, near);
    for (int64_t k = 0; k < wide; k++)
        T[k] = total[k] - mine[k] - near[k];
    for (int64_t k = 0; k < K; k++)
        NAME(add)(N0 + k * wide, mine[k], T, wide);
}

/* What the row f of a node contributes to the log likelihood of the Bernoulli-Poisson model: over its links
   log(1 - exp(-f . F_v - rate)) + f . F_v, less f . rest, rest the sum of the other rows. The chances 1 - exp(-f . F_v - rate)
   are left in `chance` (links filled up to a multiple of PAD). */
static TARGET double NAME(affiliation_value)(const double *f, const double *F, const int64_t *to, int64_t links, int64_t wide,
                                             const double *rest, double rate, double *chance)
{
    double total = -NAME(dot)(f, rest, wide);
    VEC logs = ZERO;
    NAME(link_dots)(f, F, to, links, wide, chance);
    for (int64_t p = 0; p < links; p++)
        total += chance[p];
    for (int64_t p = links; p % PAD; p++)
        chance[p] = CERTAIN;
    for (int64_t p = 0; p < links; p += LANES) {
        const VEC x = NAME(complement)(-READ(chance + p) - SPLAT(rate));
        AT(chance + p) = PICK(x < SPLAT(LEAST), SPLAT(LEAST), x);
        logs += LOG(READ(chance + p));
    }
    return total + NAME(across)(logs);
}

/* One ascent step of the row f of a node, its links to rows of F: projected gradient with backtracking. Scratch: g, trial
   (wide each), chance. Gives whether the row changed. */
static TARGET int NAME(affiliation_step)(double *f, const double *F, const int64_t *to, int64_t links, int64_t wide,
                                         const double *rest, double rate, double most, double *g, double *trial, double *chance)
{
    double value = NAME(affiliation_value)(f, F, to, links, wide, rest, rate, chance), size = 0, step = 1;
    for (int64_t k = 0; k < wide; k++)
        g[k] = -rest[k];
    for (int64_t p = 0; p < links; p++)
        chance[p] = 1 / chance[p]; /* 1 / expm1(z + rate) + 1 */
    NAME(link_sums)(chance, F, to, links, wide, g);
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
        if (NAME(affiliation_value)(trial, F, to, links, wide, rest, rate, chance) >= value + 0.05 * gain) {
            memcpy(f, trial, sizeof(double) * (size_t)wide);
            return 1;
        }
    }
    return 0;
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

#else /* loops over chunks */

/* For each node i, with s_ij = P_i . Q_j: out_i = sum_j x_ij / s_ij Q_j over its links (row_out, (n, wide)). Result:
   sum x_ij log s_ij. P is job->given, Q job->topics->B. */
static void ratio_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    DOCUMENT(job->topics, result)
    (void)t;
    (void)psi;
    (void)acc;
    (void)one;
    (void)A;
    for (int64_t row = lo; row < hi; row++) {
        const int64_t links = document(job, row, word, x, NULL);
        *result += steps()->ratio_row(job->given + row * wide, job->topics->B, x, word, links, wide, chance, B[0],
                                      job->row_out + row * wide);
    }
    free(x);
}

/* A multiplicative step of the rows P (job->given) to job->row_out, with Q in job->topics->B; parameters: the sums of the
   columns of Q, and beta. Result: sum x_ij log s_ij before the step, sums and sums of squares of the new rows (wide each). */
static void factor_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    DOCUMENT(job->topics, result)
    const steps_t *s = steps();
    const double *total = job->parameters, *beta = total + wide, *Q = job->topics->B;
    (void)t;
    (void)psi;
    (void)A;
    (void)acc;
    for (int64_t row = lo; row < hi; row++) {
        const double *p = job->given + row * wide;
        const int64_t links = document(job, row, word, x, NULL);
        *result += s->ratio_row(p, Q, x, word, links, wide, chance, B[0], one);
        s->factor_row(p, one, total, beta, wide, job->row_out + row * wide, result + 1, result + 1 + wide);
    }
    free(x);
}

/* E and a, see the steps. Result: the sum of what `block_expectations` gives. */
static void block_expectations_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const blocks_t *b = job->blocks;
    const int64_t wide = b->wide;
    (void)t;
    for (int64_t row = lo; row < hi; row++)
        *result += steps()->block_expectations(b->gamma + row * job->K, job->K, wide, b->alpha, b->degree[row], b->E + row * wide,
                                               b->a + row * wide);
}

/* M. Result: sum_pq log(a_p B a_q) over the links, N1 / B (wide, wide). */
static void block_links_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const blocks_t *b = job->blocks;
    DOCUMENT(job->topics, result)
    (void)t;
    (void)psi;
    (void)A;
    for (int64_t row = lo; row < hi; row++) {
        const int64_t links = document(job, row, word, x, NULL);
        *result += steps()->block_links(b->a + row * wide, b->a, b->B, x, word, links, job->K, wide, one, acc, chance, B[0],
                                        b->M + row * wide, result + 1);
    }
    free(x);
}

/* phi, from phi and near before. Result: the sum of what `block_others` gives, the sum of the phi (wide). */
static void block_others_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const blocks_t *b = job->blocks;
    DOCUMENT(job->topics, result)
    (void)t;
    (void)chance;
    (void)B;
    (void)psi;
    (void)A;
    (void)acc;
    (void)word;
    for (int64_t row = lo; row < hi; row++) {
        double *phi = b->phi + row * wide, *near = b->near + row * wide;
        for (int64_t k = 0; k < wide; k++)
            one[k] = b->total[k] - phi[k] - near[k];
        *result += steps()->block_others(b->E + row * wide, one, b->no_link, (double)(job->x->n - 1) - b->degree[row], job->K,
                                         wide, phi, result + 1);
    }
    free(x);
}

/* near, from phi. Result: nothing, then N0 (wide, wide). */
static void block_near_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const blocks_t *b = job->blocks;
    DOCUMENT(job->topics, result)
    (void)t;
    (void)chance;
    (void)B;
    (void)psi;
    (void)A;
    (void)acc;
    for (int64_t row = lo; row < hi; row++) {
        const int64_t links = document(job, row, word, x, NULL);
        steps()->block_near(b->phi + row * wide, b->phi, x, word, links, b->total, job->K, wide, one, b->near + row * wide,
                            result + 1);
    }
    free(x);
}

/* The scratch of a node: the nodes that it is linked to, the chances of these links, and three vectors. */
typedef struct {
    void *memory;
    int64_t *to;
    double *chance, *rest, *g, *trial;
} node_t;

static node_t node_scratch(const links_t *links, int64_t n, int64_t wide)
{
    int64_t longest = 0;
    node_t s;
    for (int64_t u = 0; u < n; u++) {
        const int64_t degree = csr_at(links->indptr, links->index64, u + 1) - csr_at(links->indptr, links->index64, u);
        longest = degree > longest ? degree : longest;
    }
    s.memory = malloc(sizeof(double) * (size_t)(2 * (longest + PAD) + 3 * wide));
    s.rest = s.memory;
    s.g = s.rest + wide;
    s.trial = s.g + wide;
    s.chance = s.trial + wide;
    s.to = (int64_t *)(s.chance + longest + PAD);
    return s;
}

/* The nodes that node u is linked to, and their number. */
static int64_t linked(const links_t *links, int64_t u, int64_t *to)
{
    const int64_t first = csr_at(links->indptr, links->index64, u), count = csr_at(links->indptr, links->index64, u + 1) - first;
    for (int64_t p = 0; p < count; p++)
        to[p] = csr_at(links->indices, links->index64, first + p);
    return count;
}

/* Ascent of affiliations (n, wide), of `count` nodes one after the other in the given order; `sum` is kept equal to the sum of
   the rows of F. Returns -1 if memory ran out. */
static int affiliation_sweep(const links_t *links, double *F, double *sum, const int64_t *order, int64_t count, int64_t n,
                             int64_t wide, double rate, double most)
{
    const node_t s = node_scratch(links, n, wide);
    if (!s.memory)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t u = order[i], degree = linked(links, u, s.to);
        double *f = F + u * wide;
        for (int64_t k = 0; k < wide; k++)
            s.rest[k] = sum[k] - f[k];
        if (steps()->affiliation_step(f, F, s.to, degree, wide, s.rest, rate, most, s.g, s.trial, s.chance))
            for (int64_t k = 0; k < wide; k++)
                sum[k] = s.rest[k] + f[k];
    }
    free(s.memory);
    return 0;
}

/* Rows f (m, wide) of nodes whose links lead to rows of F, each by at most `most_steps` steps of its own. */
static int affiliation_rows(const links_t *links, const double *F, const double *sum, double *f, int64_t m, int64_t wide,
                            double rate, double most, int64_t most_steps)
{
    const node_t s = node_scratch(links, m, wide);
    if (!s.memory)
        return -1;
    for (int64_t u = 0; u < m; u++) {
        const int64_t degree = linked(links, u, s.to);
        for (int64_t i = 0; i < most_steps; i++)
            if (!steps()->affiliation_step(f + u * wide, F, s.to, degree, wide, sum, rate, most, s.g, s.trial, s.chance))
                break;
    }
    free(s.memory);
    return 0;
}

/* Sum over the links of log(1 - exp(-F_u . F_v - rate)) + F_u . F_v: half of the sum over both directions of a link. Returns
   -1 if memory ran out. */
static int affiliation_links(const links_t *links, const double *F, const double *zero, int64_t n, int64_t wide, double rate,
                             double *total)
{
    const node_t s = node_scratch(links, n, wide);
    if (!s.memory)
        return -1;
    *total = 0;
    for (int64_t u = 0; u < n; u++) {
        const int64_t degree = linked(links, u, s.to);
        *total += steps()->affiliation_value(F + u * wide, F, s.to, degree, wide, zero, rate, s.chance) / 2;
    }
    free(s.memory);
    return 0;
}

/* The product (n, width) of a CSR matrix and X in single precision; entries of 0 cost nothing. Returns -1 if memory ran out. */
static int links_product(const links_t *links, const float *values, const float *X, int64_t n, int64_t width, float *out)
{
    const node_t s = node_scratch(links, n, 0);
    float *c = (float *)s.chance;
    if (!s.memory)
        return -1;
    for (int64_t u = 0; u < n; u++) {
        const int64_t end = csr_at(links->indptr, links->index64, u + 1);
        int64_t count = 0;
        for (int64_t p = csr_at(links->indptr, links->index64, u); p < end; p++) {
            s.to[count] = csr_at(links->indices, links->index64, p);
            c[count] = values[p];
            count += values[p] != 0;
        }
        steps()->product_row(c, X, s.to, count, width, out + u * width);
    }
    free(s.memory);
    return 0;
}

#define HUB 32 /* where a row has so many times the links of another, a search for each of these is faster than a pass over it */

/* Where the entry of column w is in row v of a CSR matrix with sorted columns, or -1. */
static int64_t link_at(const links_t *links, int64_t v, int64_t w)
{
    const int64_t end = csr_at(links->indptr, links->index64, v + 1);
    int64_t lo = csr_at(links->indptr, links->index64, v), hi = end;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (csr_at(links->indices, links->index64, mid) < w)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < end && csr_at(links->indices, links->index64, lo) == w ? lo : -1;
}

/* For each node, the number of links among the nodes that it is linked to, in both directions. Returns -1 if memory ran out. */
static int closed_wedges(const links_t *links, int64_t n, double *closed)
{
    int64_t *seen = malloc(sizeof(int64_t) * (size_t)n);
    if (!seen)
        return -1;
    for (int64_t u = 0; u < n; u++)
        seen[u] = -1;
    for (int64_t u = 0; u < n; u++) {
        const int64_t first = csr_at(links->indptr, links->index64, u), end = csr_at(links->indptr, links->index64, u + 1);
        int64_t count = 0;
        for (int64_t p = first; p < end; p++)
            seen[csr_at(links->indices, links->index64, p)] = u;
        for (int64_t p = first; p < end; p++) {
            const int64_t v = csr_at(links->indices, links->index64, p), last = csr_at(links->indptr, links->index64, v + 1);
            const int64_t begin = csr_at(links->indptr, links->index64, v);
            if (last - begin > HUB * (end - first)) {
                for (int64_t q = first; q < end; q++)
                    count += link_at(links, v, csr_at(links->indices, links->index64, q)) >= 0;
                continue;
            }
            for (int64_t q = begin; q < last; q++)
                count += seen[csr_at(links->indices, links->index64, q)] == u;
        }
        closed[u] = (double)count;
    }
    free(seen);
    return 0;
}

#endif
