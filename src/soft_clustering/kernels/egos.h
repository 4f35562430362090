/* Ego networks, and labels that spread in them. */

/* The ego networks of nodes lo to hi, side by side: a node for each link (u, v) of such a u, in the order of the links, and a link
   from (u, v) to (u, w) if v and w are linked. `ptr` has an entry for each link and one more. Returns -1 if memory ran out. */
static int ego_links(const links_t *links, const double *weight, int64_t n, int64_t lo, int64_t hi, int64_t *ptr, int64_t *to,
                     double *weight_to)
{
    const int64_t begin = csr_at(links->indptr, links->index64, lo);
    int64_t *number = calloc((size_t)n, sizeof(int64_t)), filled = 0; /* of a node in the present ego network, from 1 */
    if (!number)
        return -1;
    ptr[0] = 0;
    for (int64_t u = lo; u < hi; u++) {
        const int64_t first = csr_at(links->indptr, links->index64, u), end = csr_at(links->indptr, links->index64, u + 1);
        for (int64_t p = first; p < end; p++)
            number[csr_at(links->indices, links->index64, p)] = p - begin + 1;
        for (int64_t p = first; p < end; p++) {
            const int64_t v = csr_at(links->indices, links->index64, p), from = csr_at(links->indptr, links->index64, v);
            const int64_t last = csr_at(links->indptr, links->index64, v + 1);
            const int is_hub = last - from > HUB * (end - first);
            for (int64_t q = is_hub ? first : from; q < (is_hub ? end : last); q++) {
                const int64_t w = csr_at(links->indices, links->index64, q), at = is_hub ? link_at(links, v, w) : q;
                if (at >= 0 && number[w]) {
                    to[filled] = number[w] - 1;
                    weight_to[filled++] = weight[at];
                }
            }
            ptr[p - begin + 1] = filled;
        }
        for (int64_t p = first; p < end; p++)
            number[csr_at(links->indices, links->index64, p)] = 0;
    }
    free(number);
    return 0;
}

/* Every node takes the label that most weight of its links leads to, in order of the nodes; it keeps its own, if that is among
   them. At most `sweeps` times. Returns -1 if memory ran out. */
static int majority_labels(const links_t *links, const double *weight, int64_t n, int64_t sweeps, int64_t *label)
{
    double *of_label = calloc((size_t)n, sizeof(double));
    int64_t moved = 1;
    if (!of_label)
        return -1;
    for (int64_t sweep = 0; sweep < sweeps && moved; sweep++) {
        moved = 0;
        for (int64_t u = 0; u < n; u++) {
            const int64_t first = csr_at(links->indptr, links->index64, u), end = csr_at(links->indptr, links->index64, u + 1);
            int64_t best = label[u];
            for (int64_t p = first; p < end; p++)
                of_label[label[csr_at(links->indices, links->index64, p)]] += weight[p];
            for (int64_t p = first; p < end; p++) {
                const int64_t c = label[csr_at(links->indices, links->index64, p)];
                best = of_label[c] > of_label[best] ? c : best;
            }
            for (int64_t p = first; p < end; p++)
                of_label[label[csr_at(links->indices, links->index64, p)]] = 0;
            moved += best != label[u];
            label[u] = best;
        }
    }
    free(of_label);
    return 0;
}
