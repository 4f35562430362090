/* Label propagation on the links of a graph: walks of two and three steps between linked nodes, and sweeps over labels. */

#ifndef WIDTH /* nothing here has steps of a vector width */

static INLINE int64_t links_of(const links_t *links, int64_t u, int64_t *end)
{
    *end = csr_at(links->indptr, links->index64, u + 1);
    return csr_at(links->indptr, links->index64, u);
}

/* Weights of the walks between linked nodes of a symmetric graph. two: over one node between. three: over two, also the way forth
   and back over the same link; only at links whose first node has more links or, of as many, the higher number: at the others it
   is the same and would take longer. No walk is made over nodes whose `passable` is 0. A thread holds the walks from one node.
   Returns -1 if memory ran out. */
static int walks(const links_t *links, const double *weight, const double *passable, int64_t n, double *two, double *three,
                 int threads)
{
    int failed = 0;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
        double *from = calloc((size_t)n, sizeof(double));
        int64_t *reached = malloc(sizeof(int64_t) * (size_t)n), u;
        const int ready = from && reached;
        if (!ready)
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 256)
#endif
        for (u = 0; u < n; u++) {
            int64_t end, last, count = 0, p;
            const int64_t first = links_of(links, u, &end);
            if (!ready)
                continue;
            for (p = first; p < end; p++) {
                const int64_t i = csr_at(links->indices, links->index64, p);
                const double x = weight[p];
                if (passable[i] == 0)
                    continue;
                for (int64_t q = links_of(links, i, &last); q < last; q++) {
                    const int64_t j = csr_at(links->indices, links->index64, q);
                    if (from[j] == 0)
                        reached[count++] = j;
                    from[j] += x * weight[q];
                }
            }
            for (p = first; p < end; p++)
                two[p] = from[csr_at(links->indices, links->index64, p)];
            for (int64_t i = 0; i < count; i++)
                from[reached[i]] *= passable[reached[i]];
            for (p = first; p < end; p++) {
                const int64_t v = csr_at(links->indices, links->index64, p), start = links_of(links, v, &last);
                double sum = 0;
                if (last - start > end - first || (last - start == end - first && v > u))
                    continue;
                for (int64_t q = start; q < last; q++)
                    sum += from[csr_at(links->indices, links->index64, q)] * weight[q];
                three[p] = sum;
            }
            for (int64_t i = 0; i < count; i++)
                from[reached[i]] = 0;
        }
        free(from);
        free(reached);
    }
    return failed ? -1 : 0;
}

#define EQUAL (1 - 1e-9) /* sums that differ by less than this are equal but for rounding */

/* A sweep over some of the n nodes in the given order, in place. Node u has count[u] labels and their shares from the place of its first
   link on, the label of largest share first. It hears the first label of each linked node with its share times the influence of
   the link, keeps the labels that it hears at least as much as the mean one, and divides by their sum. Of equal labels the present
   first one is first, or the one heard first. Returns the number of nodes whose first label changed, -1 if memory ran out. */
static int64_t propagate(const links_t *links, const double *influence, const int64_t *order, int64_t turns, int64_t n,
                         int64_t *count, int64_t *label, double *share)
{
    double *sum = calloc((size_t)n, sizeof(double));
    int64_t *heard = malloc(sizeof(int64_t) * (size_t)n), changed = -1;
    if (sum && heard) {
        changed = 0;
        for (int64_t i = 0; i < turns; i++) {
            const int64_t u = order[i];
            int64_t end, last, found = 0, kept = 1, most;
            const int64_t first = links_of(links, u, &end);
            double total = 0, least;
            if (first == end)
                continue;
            for (int64_t p = first; p < end; p++) {
                const int64_t at = links_of(links, csr_at(links->indices, links->index64, p), &last), c = label[at];
                const double x = influence[p] * share[at];
                if (sum[c] == 0)
                    heard[found++] = c;
                sum[c] += x;
                total += x;
            }
            least = total / (double)found * EQUAL;
            most = sum[label[first]] > 0 ? label[first] : heard[0];
            for (int64_t h = 0; h < found; h++)
                most = sum[heard[h]] * EQUAL > sum[most] ? heard[h] : most;
            changed += most != label[first];
            label[first] = most;
            share[first] = total = sum[most];
            for (int64_t h = 0; h < found; h++)
                if (heard[h] != most && sum[heard[h]] >= least) {
                    label[first + kept] = heard[h];
                    share[first + kept++] = sum[heard[h]];
                    total += sum[heard[h]];
                }
            count[u] = kept;
            for (int64_t k = 0; k < kept; k++)
                share[first + k] /= total;
            for (int64_t h = 0; h < found; h++)
                sum[heard[h]] = 0;
        }
    }
    free(sum);
    free(heard);
    return changed;
}

#undef EQUAL

#endif
