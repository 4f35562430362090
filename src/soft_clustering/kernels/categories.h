/* Mixtures of categorical features, beside numeric ones that are independent given the component. The columns of a row are p
   numbers, then codes of categories; a missing entry is NaN. The numbers are Gaussian components without off-diagonal terms
   (gauss.h), whose parameters are 0 for the codes. */

#ifndef WIDTH /* loops over chunks: categories are looked up, which no vector does faster */

/* t->E[row][k] = sum over the codes that the row has of the log probabilities of its categories, added to t->D. */
static void add_log_probabilities(const categories_t *c, const rows_t *x, int64_t K, tile_t *t)
{
    const double *T = (const double *)t->T, *M = (const double *)t->M;
    memset(t->E, 0, sizeof(double) * TILE * (size_t)K);
    for (int64_t j = c->p; j < x->d; j++) {
        const double *table = c->table + c->edges[j - c->p] * K;
        for (int r = 0; r < TILE; r++) {
            if (x->gaps && M[j * TILE + r] == 0)
                continue;
            const double *probability = table + (int64_t)T[j * TILE + r] * K;
            double *sum = t->E + r * K;
            for (int64_t k = 0; k < K; k++)
                sum[k] += probability[k];
        }
    }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            t->D[k * TILE + r] += t->E[r * K + k];
}

/* counts[category][k] += the weights in t->D of the rows that have the category; t->E is scratch. */
static void count_categories(const categories_t *c, const rows_t *x, int64_t K, int64_t rows, tile_t *t, double *counts)
{
    const double *T = (const double *)t->T, *M = (const double *)t->M;
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            t->E[r * K + k] = t->D[k * TILE + r];
    for (int64_t j = c->p; j < x->d; j++) {
        double *own = counts + c->edges[j - c->p] * K;
        for (int64_t r = 0; r < rows; r++) {
            if (x->gaps && M[j * TILE + r] == 0)
                continue;
            double *sum = own + (int64_t)T[j * TILE + r] * K;
            const double *weight = t->E + r * K;
            for (int64_t k = 0; k < K; k++)
                sum[k] += weight[k];
        }
    }
}

/* Result: objective, weight (K), counts (categories, K), first and second moments (K, d) about the means; if the rows have gaps,
   at last the weight (K, d) of the rows that have each column. Without numbers there are no moments. */
static void category_statistics_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const rows_t *x = job->x;
    const categories_t *c = job->categories;
    const steps_t *s = steps();
    const int64_t K = job->K, d = x->d;
    double *weight = result + 1, *counts = weight + K, *moment = counts + c->edges[d - c->p] * K;
    ALIGNED double row[TILE];
    FOR_TILES
    {
        if (job->given) {
            s->load_double(x, first, count, t);
            for (int64_t k = 0; k < K; k++)
                for (int64_t r = 0; r < count; r++)
                    t->D[k * TILE + r] = job->given[(first + r) * K + k];
        } else {
            s->log_densities(x, first, count, job->g, t);
            add_log_probabilities(c, x, K, t);
            s->gauss_rules[GAUSS_RULE_posterior](t, K, NULL, WEIGHTS, NULL, NULL, row);
            weigh(row, 1, x, first, count);
            result[0] += tile_sum(row);
        }
        weigh(t->D, K, x, first, count);
        count_categories(c, x, K, count, t, counts);
        if (c->p)
            s->moments(job->g, x, t, weight, moment, moment + K * d, x->gaps ? moment + 2 * K * d : NULL);
        else
            for (int64_t k = 0; k < K; k++)
                weight[k] += tile_sum(t->D + k * TILE);
    }
}

static void category_memberships_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    ALIGNED double row[TILE];
    (void)result;
    FOR_TILES
    {
        steps()->log_densities(job->x, first, count, job->g, t);
        add_log_probabilities(job->categories, job->x, job->K, t);
        steps()->gauss_rules[GAUSS_RULE_posterior](t, job->K, NULL, MEMBERSHIPS, NULL, NULL, row);
        memcpy(job->row_out + first, row, sizeof(double) * (size_t)count);
        store(job, t, first, count);
    }
}

#endif
