/* Moves of nodes between communities that raise the modularity. */

#define LEAST_GAIN 1e-10 /* a move must gain this part of the strength of a node: rounding alone moves nothing */

/* Nodes move one by one to the community next to them that gains most modularity. In the beginning each has its turn, in the
   given order; later those next to one that has moved, until none moves. `pull` is the resolution over the sum of the
   strengths. Returns -1 if memory ran out. */
static int move_nodes(const links_t *links, const double *weight, const double *strength, const double *pull,
                      const int64_t *order, int64_t n, int64_t *label)
{
    double *near = calloc((size_t)n, sizeof(double)), *total = calloc((size_t)n, sizeof(double));
    int64_t *queue = malloc(sizeof(int64_t) * (size_t)n), head = 0, waiting = n;
    char *queued = malloc((size_t)n);
    if (!near || !total || !queue || !queued) {
        free(near);
        free(total);
        free(queue);
        free(queued);
        return -1;
    }
    memset(queued, 1, (size_t)n);
    memcpy(queue, order, sizeof(int64_t) * (size_t)n);
    for (int64_t u = 0; u < n; u++)
        total[label[u]] += strength[u];
    while (waiting) {
        const int64_t u = queue[head], own = label[u];
        const int64_t first = csr_at(links->indptr, links->index64, u), end = csr_at(links->indptr, links->index64, u + 1);
        const double cost = pull[u] * strength[u];
        int64_t best = own;
        double most;
        head = head + 1 < n ? head + 1 : 0;
        waiting--;
        queued[u] = 0;
        for (int64_t p = first; p < end; p++) {
            const int64_t v = csr_at(links->indices, links->index64, p);
            if (v != u)
                near[label[v]] += weight[p];
        }
        total[own] -= strength[u];
        most = near[own] - cost * total[own] + LEAST_GAIN * strength[u];
        for (int64_t p = first; p < end; p++) {
            const int64_t c = label[csr_at(links->indices, links->index64, p)];
            const double gain = near[c] - cost * total[c];
            if (c != own && gain > most) {
                most = gain;
                best = c;
            }
        }
        for (int64_t p = first; p < end; p++)
            near[label[csr_at(links->indices, links->index64, p)]] = 0;
        total[best] += strength[u];
        if (best == own)
            continue;
        label[u] = best;
        for (int64_t p = first; p < end; p++) {
            const int64_t v = csr_at(links->indices, links->index64, p);
            if (label[v] != best && !queued[v]) {
                const int64_t end_of_queue = head + waiting;
                queue[end_of_queue < n ? end_of_queue : end_of_queue - n] = v;
                queued[v] = 1;
                waiting++;
            }
        }
    }
    free(near);
    free(total);
    free(queue);
    free(queued);
    return 0;
}
