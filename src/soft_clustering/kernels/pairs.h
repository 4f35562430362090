/* All pairs of rows: sums of Gaussian bumps, the distances within a window, nearest neighbours, and the tree of the mutual
   reachabilities. */

#ifdef WIDTH /* steps, once per vector width */

/* Squared distances D [earlier row][row] to e = exp(-alpha D): row[r] += sum_k weight_k e, and, unless NULL,
   column[k] += sum_r own_r e. */
static TARGET void NAME(pair_bumps)(double *D, int64_t K, double alpha, const double *weight, const double *own, double *row,
                                    double *column)
{
    for (int64_t k = 0; k < K; k++) {
        double *e = D + k * TILE;
        for (int r = 0; r < TILE; r++)
            e[r] *= -alpha;
        NAME(exp_tile)(e, e);
        for (int r = 0; r < TILE; r++) {
            row[r] += weight[k] * e[r];
            e[r] *= own[r];
        }
        if (column)
            column[k] += tile_sum(e);
    }
}

/* For the numbers of a tile row: counts += {how many are 0, how many are below `low`, how many are in [low, high]}; the last
   ones are appended to `kept` up to its capacity. */
static TARGET void NAME(window)(const double *D, double low, double high, int64_t capacity, int64_t *counts, double *kept)
{
    int64_t zeros = 0, below = 0, inside = counts[2];
    ALIGNED int64_t in[TILE];
    for (int r = 0; r < TILE; r++) {
        zeros += D[r] == 0;
        below += D[r] < low;
        in[r] = (D[r] >= low) & (D[r] <= high);
    }
    for (int r = 0; r < TILE; r += 8) {
        int64_t any = 0;
        for (int l = 0; l < 8; l++)
            any |= in[r + l];
        for (int l = 0; any && l < 8; l++) {
            kept[inside < capacity ? inside : capacity] = D[r + l]; /* written always, counted if inside: no branch */
            inside += in[r + l];
        }
    }
    counts[0] += zeros;
    counts[1] += below;
    counts[2] = inside;
}

/* A step of Prim's algorithm: the squared distances of the point z (d,) to n others, the columns of Z (d, ld), where none is less
   than the squared reach of either point, shorten the edges `edge` from the tree to them; `from` is where an edge starts. Gives
   the place of the shortest edge. */
static TARGET int64_t NAME(prim_step)(const double *Z, int64_t ld, int64_t n, int64_t d, const double *z, double own,
                                      const double *reach, int64_t at, double *edge, int64_t *from)
{
    ALIGNED double D[TILE];
    double least = INFINITY;
    int64_t best = 0;
    for (int64_t first = 0; first < n; first += TILE) {
        for (int r = 0; r < TILE; r++)
            D[r] = own > reach[first + r] ? own : reach[first + r];
        ALIGNED double sum[TILE] = {0};
        for (int64_t j = 0; j < d; j++)
            for (int r = 0; r < TILE; r++) {
                const double e = Z[j * ld + first + r] - z[j];
                sum[r] += e * e;
            }
        for (int r = 0; r < TILE; r++) {
            const double m = sum[r] > D[r] ? sum[r] : D[r];
            from[first + r] = m < edge[first + r] ? at : from[first + r];
            edge[first + r] = m < edge[first + r] ? m : edge[first + r];
            D[r] = -edge[first + r];
        }
        const double low = -tile_max(D);
        if (low < least)
            for (int r = 0; r < TILE && first + r < n; r++)
                if (edge[first + r] < least) {
                    least = edge[first + r];
                    best = first + r;
                }
    }
    return best;
}

/* The squared distances D of a tile of rows to one point: rows to which it is nearer than their last neighbour, `last`, get it as
   a neighbour. `nearest` and `which` (TILE, k) are the neighbours of the rows, ascending. */
static TARGET void NAME(keep_nearest)(const double *D, int64_t point, int64_t k, double *last, double *nearest, int64_t *which)
{
    ALIGNED int64_t nearer[TILE];
    for (int r = 0; r < TILE; r++)
        nearer[r] = D[r] < last[r];
    for (int r = 0; r < TILE; r++) {
        if (!nearer[r])
            continue;
        double *near = nearest + r * k;
        int64_t *at = which + r * k, i = k - 1;
        for (; i > 0 && near[i - 1] > D[r]; i--) {
            near[i] = near[i - 1];
            at[i] = at[i - 1];
        }
        near[i] = D[r];
        at[i] = point;
        last[r] = near[k - 1];
    }
}

#else /* loops over chunks */

/* row_out (n, k): the squared distances of each row to the k nearest of the points v, ascending; out (n, k): which they are, the
   first ones among equals; parameters {k}. */
static void nearest_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const int64_t k = (int64_t)job->parameters[0];
    ALIGNED double last[TILE];
    (void)result;
    FOR_TILES
    {
        double *nearest = job->row_out + first * k;
        for (int64_t i = 0; i < count * k; i++)
            nearest[i] = INFINITY;
        for (int64_t r = 0; r < TILE; r++)
            last[r] = r < count ? INFINITY : -1;
        for (int64_t from = 0; from < job->v->K; from += TILE) {
            const int64_t points = job->v->K - from < TILE ? job->v->K - from : TILE;
            const prototypes_t v = {points, (const double *)job->v->V + from * job->x->d, NULL, NULL, 0};
            distances(job->x, &v, first, count, t);
            for (int64_t i = 0; i < points; i++)
                steps()->keep_nearest(t->D + i * TILE, from + i, k, last, nearest, (int64_t *)job->out + first * k);
        }
    }
}

/* The minimum spanning tree of points by their mutual reachabilities, squared. Z (d, ld) holds the points in columns, ld being a
   multiple of TILE; the columns and `reach` (ld,) are overwritten. An edge joins ends[2 i] and ends[2 i + 1]. */
static void spanning_tree(double *Z, int64_t ld, int64_t n, int64_t d, double *reach, double *z, double *edge, int64_t *from,
                          int64_t *name, int64_t *ends, double *length)
{
    for (int64_t i = 0; i < ld; i++) {
        edge[i] = INFINITY;
        name[i] = i;
    }
    int64_t best = 0;
    for (int64_t left = n - 1; left >= 0; left--) { /* the point at `best` joins the tree, the last one takes its place */
        const int64_t at = name[best];
        const double own = reach[best];
        if (left < n - 1) {
            ends[2 * (n - 2 - left)] = from[best];
            ends[2 * (n - 2 - left) + 1] = at;
            length[n - 2 - left] = edge[best];
        }
        for (int64_t j = 0; j < d; j++) {
            z[j] = Z[j * ld + best];
            Z[j * ld + best] = Z[j * ld + left];
        }
        reach[best] = reach[left];
        edge[best] = edge[left];
        from[best] = from[left];
        name[best] = name[left];
        best = steps()->prim_step(Z, ld, left, d, z, own, reach, at, edge, from);
    }
}

/* Squared distances t->D of the rows of a tile to the rows of the tile at `from`; all are in the frame, in double. */
static void pair_distances(const job_t *job, tile_t *t, int64_t first, int64_t count, int64_t from)
{
    const prototypes_t v = {from == first ? count : TILE, (const double *)job->x->values + from * job->x->d, NULL, NULL, 0};
    distances(job->x, &v, first, count, t);
}

/* Result (n,): sum_j w_j exp(-alpha D_ij), parameters {alpha, w (n)}: each distance serves both of its rows. */
static void pair_bumps_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const double *weight = job->parameters + 1;
    ALIGNED double row[TILE], own[TILE];
    FOR_TILES
    {
        memset(row, 0, sizeof row);
        for (int r = 0; r < TILE; r++)
            own[r] = r < count ? weight[first + r] : 0;
        for (int64_t from = 0; from <= first; from += TILE) {
            pair_distances(job, t, first, count, from);
            steps()->pair_bumps(t->D, from == first ? count : TILE, job->parameters[0], weight + from, own, row,
                                from == first ? NULL : result + from);
        }
        for (int64_t r = 0; r < count; r++)
            result[first + r] += row[r];
    }
}

/* Result: how many pairs of rows have distance 0, how many a distance below `low`, how many a distance in [low, high], and the
   first `capacity` of these; parameters {low, high, capacity}. */
static void pair_window_chunk(const job_t *job, tile_t *t, int64_t lo, int64_t hi, double *result)
{
    const double low = job->parameters[0], high = job->parameters[1];
    const int64_t capacity = (int64_t)job->parameters[2];
    int64_t counts[3] = {0, 0, 0};
    FOR_TILES
    {
        for (int64_t from = 0; from <= first; from += TILE) {
            const int64_t K = from == first ? count : TILE;
            pair_distances(job, t, first, count, from);
            for (int64_t k = 0; k < K; k++) {
                double *D = t->D + k * TILE;
                /* leave out the row with itself, pairs that occur in the other order, and rows that fill up the tile */
                for (int64_t r = 0; from == first && r <= k; r++)
                    D[r] = INFINITY;
                for (int64_t r = count; r < TILE; r++)
                    D[r] = INFINITY;
                steps()->window(D, low, high, capacity, counts, result + 3);
            }
        }
    }
    for (int i = 0; i < 3; i++)
        result[i] = (double)counts[i];
}

#endif
