/* Passes over the links of a graph. The steps use `dot` and `add` of topics.h, the chunks its documents.

   Rows of factors are filled up with zeros to `wide`, a multiple of PAD. */

#ifdef WIDTH /* steps, once per vector width */

#define FLOOR 1e-12 /* no rate of a link is smaller */

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

/* What the row f of node u contributes to the log likelihood of the Bernoulli-Poisson model: over its links
   log(1 - exp(-f . F_v - rate)) + f . F_v, less f . rest, rest the sum of the other rows. */
static TARGET double NAME(affiliation_value)(const double *f, const double *F, const links_t *links, int64_t u, int64_t wide,
                                             const double *rest, double rate)
{
    const int64_t end = csr_at(links->indptr, links->index64, u + 1);
    double total = -NAME(dot)(f, rest, wide);
    for (int64_t p = csr_at(links->indptr, links->index64, u); p < end; p++) {
        const double z = NAME(dot)(f, F + csr_at(links->indices, links->index64, p) * wide, wide);
        total += log(-expm1(-z - rate)) + z;
    }
    return total;
}

/* One ascent step of the row f of node u, its links to rows of F: projected gradient with backtracking. Scratch: g, trial
   (wide each). Gives whether the row changed. */
static TARGET int NAME(affiliation_step)(double *f, const double *F, const links_t *links, int64_t u, int64_t wide,
                                         const double *rest, double rate, double most, double *g, double *trial)
{
    const int64_t end = csr_at(links->indptr, links->index64, u + 1);
    double value = 0, size = 0, step = 1;
    for (int64_t k = 0; k < wide; k++)
        g[k] = -rest[k];
    for (int64_t p = csr_at(links->indptr, links->index64, u); p < end; p++) {
        const double *v = F + csr_at(links->indices, links->index64, p) * wide, z = NAME(dot)(f, v, wide);
        const double chance = -expm1(-z - rate); /* of the link; 1 / chance = 1 / expm1(z + rate) + 1 */
        value += log(chance) + z;
        NAME(add)(g, 1 / chance, v, wide);
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
        if (NAME(affiliation_value)(trial, F, links, u, wide, rest, rate) >= value + 0.05 * gain) {
            memcpy(f, trial, sizeof(double) * (size_t)wide);
            return 1;
        }
    }
    return 0;
}

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
        *result += steps()->ratio_row(job->given + row * wide, job->topics->B, x, word, links, wide, job->row_out + row * wide);
    }
    free(x);
}

/* Ascent of affiliations, node after node in the given order; `sum` is kept equal to the sum of the rows of F. Returns -1 if
   memory ran out. */
static int affiliation_sweep(const links_t *links, double *F, double *sum, const int64_t *order, int64_t n, int64_t wide,
                             double rate, double most)
{
    double *rest = malloc(sizeof(double) * (size_t)(3 * wide)), *g = rest + wide, *trial = g + wide;
    if (!rest)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t u = order[i];
        double *f = F + u * wide;
        for (int64_t k = 0; k < wide; k++)
            rest[k] = sum[k] - f[k];
        if (steps()->affiliation_step(f, F, links, u, wide, rest, rate, most, g, trial))
            for (int64_t k = 0; k < wide; k++)
                sum[k] = rest[k] + f[k];
    }
    free(rest);
    return 0;
}

/* Rows f (m, wide) of nodes whose links lead to rows of F, each by at most `most_steps` steps of its own. */
static int affiliation_rows(const links_t *links, const double *F, const double *sum, double *f, int64_t m, int64_t wide,
                            double rate, double most, int64_t most_steps)
{
    double *g = malloc(sizeof(double) * (size_t)(2 * wide));
    if (!g)
        return -1;
    for (int64_t u = 0; u < m; u++)
        for (int64_t i = 0; i < most_steps; i++)
            if (!steps()->affiliation_step(f + u * wide, F, links, u, wide, sum, rate, most, g, g + wide))
                break;
    free(g);
    return 0;
}

/* Sum over the links of log(1 - exp(-F_u . F_v - rate)) + F_u . F_v: half of the sum over both directions of a link. */
static double affiliation_links(const links_t *links, const double *F, const double *zero, int64_t n, int64_t wide, double rate)
{
    double total = 0;
    for (int64_t u = 0; u < n; u++)
        total += steps()->affiliation_value(F + u * wide, F, links, u, wide, zero, rate);
    return total / 2;
}

#endif
