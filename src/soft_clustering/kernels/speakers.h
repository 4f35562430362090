/* Rounds in which every node of a graph listens to its neighbours. */

/* A memory row: what node u has heard; `room` labels of it, of which the first `round` or `round` + 1 are there. */
typedef struct {
    const double *weight;
    int32_t *memory; /* (n, room) */
    int64_t n, room, round;
    const char *done;  /* (n,) whether a node has listened in this round already; NULL: all listen at once */
    uint32_t low, high; /* the key of the round */
} hearing_t;

/* A number that depends on the key of the round and on a place only. */
static INLINE uint32_t draw(const hearing_t *h, uint32_t place)
{
    return scramble(scramble(place ^ h->low) + h->high);
}

/* Node u listens: each neighbour says a label of its memory, a label drawn as often as it is there; the label of largest weight
   is written down, of equal ones any. Scratch: weights (n,) of the labels, all 0, and the labels heard. */
static void hear(const links_t *links, const hearing_t *h, int64_t u, double *of_label, int32_t *heard)
{
    const int64_t first = csr_at(links->indptr, links->index64, u), end = csr_at(links->indptr, links->index64, u + 1);
    const uint32_t key = draw(h, ~(uint32_t)u);
    int32_t best = (int32_t)u;
    double most = 0;
    for (int64_t p = first; p < end; p++) { /* apart from the counting: these reads go all over the memory */
        const int64_t v = csr_at(links->indices, links->index64, p), length = h->round + (h->done && h->done[v]);
        heard[p - first] = h->memory[v * h->room + (int64_t)(((uint64_t)draw(h, (uint32_t)p) * (uint64_t)length) >> 32)];
    }
    for (int64_t p = first; p < end; p++)
        of_label[heard[p - first]] += h->weight[p];
    for (int64_t p = first; p < end; p++) {
        const int32_t label = heard[p - first];
        const double sum = of_label[label];
        if (sum > most || (sum == most && scramble((uint32_t)label ^ key) > scramble((uint32_t)best ^ key))) {
            most = sum;
            best = label;
        }
    }
    for (int64_t p = first; p < end; p++)
        of_label[heard[p - first]] = 0;
    h->memory[u * h->room + h->round] = best;
}

/* The most links that a node has. */
static int64_t largest_degree(const links_t *links, int64_t n)
{
    int64_t most = 0;
    for (int64_t u = 0; u < n; u++) {
        const int64_t degree = csr_at(links->indptr, links->index64, u + 1) - csr_at(links->indptr, links->index64, u);
        most = degree > most ? degree : most;
    }
    return most;
}

/* A round: every node listens once. Without an order they all hear what was said before the round; with one they listen one after
   the other, and hear what those before them have just written down. Returns -1 if memory ran out. */
static int hear_all(const links_t *links, const double *weight, int64_t n, int32_t *memory, int64_t room, int64_t round,
                  const int64_t *order, uint64_t key, int64_t chunks, int threads)
{
    const int64_t longest = largest_degree(links, n);
    char *done = order ? calloc((size_t)n, 1) : NULL;
    const hearing_t h = {weight, memory, n, room, round, done, (uint32_t)key, (uint32_t)(key >> 32)};
    int failed = order && !done;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
        double *of_label = calloc((size_t)n, sizeof(double));
        int32_t *heard = malloc(sizeof(int32_t) * (size_t)(longest + 1));
        const int enough = of_label && heard;
        int64_t c;
        if (!enough)
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (c = 0; c < chunks; c++)
            for (int64_t i = c * n / chunks; i < (c + 1) * n / chunks && enough && (done || !order); i++) {
                const int64_t u = order ? order[i] : i;
                hear(links, &h, u, of_label, heard);
                if (order)
                    done[u] = 1;
            }
        free(of_label);
        free(heard);
    }
    free(done);
    return failed ? -1 : 0;
}
