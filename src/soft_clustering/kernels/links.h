/* A mixture over the links of a graph whose factors have few entries in a row. */

#ifndef WIDTH /* nothing here has steps of a vector width */

/* A matrix of positive entries by rows. */
typedef struct {
    const int64_t *start; /* (rows + 1,) */
    const int32_t *column;
    const double *value;
} sparse_rows_t;

/* For the links (i, j) of m nodes with weights x_ij and s_ij = P_i . Q_j: k_iz = P_iz sum_j x_ij / s_ij Q_jz at the entries of P, and
   sum_j x_ij log s_ij for each node. P has K columns and at most `longest` entries in a row. A link with s_ij = 0 counts nowhere but
   as the log of the least number. Returns -1 if memory ran out. */
static int link_rows(const links_t *links, const double *weight, int64_t m, const sparse_rows_t *P, const sparse_rows_t *Q, int64_t K,
                     int64_t longest, double *k, double *logs, int threads)
{
    int failed = 0;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
        int32_t *place = calloc((size_t)K, sizeof(int32_t)); /* of a column in the row of the node, from 1 on; 0: not there */
        double *mine = calloc(2 * (size_t)(longest + 1), sizeof(double)), *sum = mine + longest + 1;
        const int ready = place && mine;
        int64_t i;
        if (!ready)
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 256)
#endif
        for (i = 0; i < m; i++) {
            const int64_t first = P->start[i], count = P->start[i + 1] - first;
            int64_t end, p = 0;
            double total = 0;
            if (!ready)
                continue;
            for (int64_t e = 0; e < count; e++) {
                place[P->column[first + e]] = (int32_t)(e + 1);
                mine[e + 1] = P->value[first + e];
                sum[e + 1] = 0;
            }
            for (p = links_of(links, i, &end); p < end; p++) {
                const int64_t j = csr_at(links->indices, links->index64, p), last = Q->start[j + 1];
                double s = 0;
                for (int64_t e = Q->start[j]; e < last; e++)
                    s += mine[place[Q->column[e]]] * Q->value[e];
                if (s < DBL_MIN) {
                    total += weight[p] * log(DBL_MIN);
                    continue;
                }
                total += weight[p] * log(s);
                s = weight[p] / s;
                for (int64_t e = Q->start[j]; e < last; e++)
                    sum[place[Q->column[e]]] += s * Q->value[e];
            }
            logs[i] = total;
            for (int64_t e = 0; e < count; e++) {
                k[first + e] = mine[e + 1] * sum[e + 1];
                place[P->column[first + e]] = 0;
            }
        }
        free(place);
        free(mine);
    }
    return failed ? -1 : 0;
}

#endif
