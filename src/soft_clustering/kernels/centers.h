/* Loops over chunks of rows for prototypes: statistics, memberships and distances, and the seeds of k-means++. */

/* Result: objective, worst row objective, its row, weight (K), total (K, d) [CSR: (d, K)]. */
static void center_statistics_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const rows_t *x = job->x;
    const steps_t *s = steps();
    const int64_t K = job->K;
    double *weight = result + 3, *total = weight + K;
    ALIGNED double row[TILE];
    result[1] = -1;
    FOR_TILES
    {
        distances(job->x, job->v, first, count, t);
        s->rules[job->rule](t, job->columns, job->parameters, WEIGHTS, row);
        /* the rows that fill up the tile repeat its last one: they do not change the maximum */
        if (tile_max(row) > result[1])
            for (int64_t r = 0; r < count; r++)
                if (row[r] > result[1]) {
                    result[1] = row[r];
                    result[2] = (double)(first + r);
                }
        weigh(row, 1, x, first, count);
        result[0] += tile_sum(row);
        weigh(t->D, K, x, first, count);
        for (int64_t k = 0; k < K; k++)
            weight[k] += tile_sum(t->D + k * TILE);
        s->totals[x->indptr != NULL][x->is_float](x, first, count, job->v, t, total);
    }
}

/* Result (2, K): summed weights, and summed weights times squared distances. */
static void center_scatter_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const int64_t K = job->K;
    double *D = (double *)t->narrow + job->columns * TILE;
    ALIGNED double row[TILE];
    FOR_TILES
    {
        distances(job->x, job->v, first, count, t);
        memcpy(D, t->D, sizeof(double) * TILE * (size_t)K);
        steps()->rules[job->rule](t, job->columns, job->parameters, WEIGHTS, row);
        weigh(t->D, K, job->x, first, count);
        for (int64_t k = 0; k < K; k++)
            for (int r = 0; r < TILE; r++) {
                result[k] += t->D[k * TILE + r];
                result[K + k] += t->D[k * TILE + r] * D[k * TILE + r];
            }
    }
}

/* row_out (n,) = the objective of each row under the rule. */
static void center_rows_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    ALIGNED double row[TILE];
    (void)result;
    FOR_TILES
    {
        distances(job->x, job->v, first, count, t);
        steps()->rules[job->rule](t, job->columns, job->parameters, WEIGHTS, row);
        memcpy(job->row_out + first, row, sizeof(double) * (size_t)count);
    }
}

static void center_memberships_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    ALIGNED double row[TILE];
    (void)result;
    FOR_TILES
    {
        distances(job->x, job->v, first, count, t);
        steps()->rules[job->rule](t, job->columns, job->parameters, MEMBERSHIPS, row);
        store(job, t, first, count);
    }
}

/* row_out (n, K) = the squared distances. */
static void center_distances_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const int64_t K = job->K;
    (void)result;
    FOR_TILES
    {
        distances(job->x, job->v, first, count, t);
        for (int64_t r = 0; r < count; r++)
            for (int64_t k = 0; k < K; k++)
                job->row_out[(first + r) * K + k] = t->D[k * TILE + r];
    }
}

/* Result (K,): the potential sum_i w_i min(closest_i, D_ik) that each candidate would leave. */
static void potentials_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    FOR_TILES
    {
        distances(job->x, job->v, first, count, t);
        for (int64_t k = 0; k < job->K; k++)
            for (int64_t r = 0; r < count; r++)
                t->D[k * TILE + r] =
                    t->D[k * TILE + r] < job->closest[first + r] ? t->D[k * TILE + r] : job->closest[first + r];
        weigh(t->D, job->K, job->x, first, count);
        for (int64_t k = 0; k < job->K; k++)
            result[k] += tile_sum(t->D + k * TILE);
    }
}

/* closest_i = min(closest_i, D_i) for one prototype. */
static void closest_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    (void)result;
    FOR_TILES
    {
        distances(job->x, job->v, first, count, t);
        for (int64_t r = 0; r < count; r++)
            if (t->D[r] < job->closest[first + r])
                job->closest[first + r] = t->D[r];
    }
}
