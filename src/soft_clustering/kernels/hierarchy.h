/* The hierarchy of mutual reachabilities: nearest neighbours, the minimum spanning tree, and the levels at which rows come into
   contact with clusters, all by trees of boxes.

   All distances come from one function, `leaf_distances`, which is compiled without fused multiplication and addition (PLAIN), so
   they are bitwise the same for both rows of a pair, for any tree and for any width of the vectors. The gap of a row or box to a
   box sums in the same order, and rounding is monotone: a gap is never above the distance of what is inside. */

#define LEAF 32 /* rows of a leaf */
#define STEP 8  /* features after which distances may be large enough */

#ifdef WIDTH /* steps, once per vector width */

/* The least of the numbers of the rows of a leaf. */
static INLINE PLAIN double NAME(leaf_least)(const double *x)
{
    double least[LEAF / 2];
    for (int r = 0; r < LEAF / 2; r++)
        least[r] = x[r] < x[r + LEAF / 2] ? x[r] : x[r + LEAF / 2];
    for (int r = 0; r < LEAF / 4; r++)
        least[r] = least[r] < least[r + LEAF / 4] ? least[r] : least[r + LEAF / 4];
    for (int r = 0; r < LEAF / 8; r++)
        least[r] = least[r] < least[r + LEAF / 8] ? least[r] : least[r + LEAF / 8];
    for (int r = 1; r < LEAF / 8; r++)
        least[0] = least[r] < least[0] ? least[r] : least[0];
    return least[0];
}

/* The squared distances D of the rows of a leaf, [feature][row], to a row of another one, z[j * LEAF], none below `floor`. Gives the
   least of them; if it is not below the limit, D need not be filled in. */
static PLAIN double NAME(leaf_distances)(const double *Z, int64_t d, const double *z, const double *floor, double limit, double *D)
{
    ALIGNED double sum[LEAF] = {0};
    for (int64_t begin = 0, end; begin < d; begin = end) {
        end = begin + STEP < d ? begin + STEP : d;
        for (int64_t j = begin; j < end; j++)
            for (int r = 0; r < LEAF; r++) {
                const double e = Z[j * LEAF + r] - z[j * LEAF];
                sum[r] += e * e;
            }
        if (end < d) {
            const double least = NAME(leaf_least)(sum);
            if (least >= limit)
                return least;
        }
    }
    for (int r = 0; r < LEAF; r++)
        D[r] = sum[r] > floor[r] ? sum[r] : floor[r];
    return NAME(leaf_least)(D);
}

#else /* trees and searches */

/* Rows in a tree of boxes. The rows at places [a * LEAF, b * LEAF) make the node of the leaves [a, b). Its left child follows it and
   has the leaves [a, middle(a, b)); the right child follows the left one's nodes. */
typedef struct {
    int64_t n, d, leaves;
    double *Z;      /* [leaf][feature][row]; INFINITY fills up the last leaf */
    double *box;    /* (nodes, 2, d): least and greatest values */
    double *floor;  /* the least distance of each place to anything */
    double *least;  /* the least floor in each node */
    int64_t *row;   /* the row at each place */
    int64_t *name;  /* the component of each place, -1: none */
    int64_t *group; /* the component of all places of a node, -1 if there are several or none */
} tree_t;

static int64_t middle(int64_t a, int64_t b)
{
    return (a + b + 1) / 2;
}

static void free_tree(tree_t *t)
{
    free(t->Z);
    free(t->box);
    free(t->floor);
    free(t->least);
    free(t->row);
    free(t->name);
    free(t->group);
}

/* Reorder rows [lo, hi) so that the values of feature j are split at a place: none before it is above any behind it. */
static void split(const double *X, int64_t d, int64_t j, int64_t *row, int64_t lo, int64_t hi, int64_t place)
{
    while (hi - lo > 1) {
        const double first = X[row[lo] * d + j], last = X[row[hi - 1] * d + j], mid = X[row[lo + (hi - lo) / 2] * d + j];
        const double least = first < last ? first : last, most = first < last ? last : first;
        const double pivot = mid < least ? least : mid > most ? most : mid;
        int64_t below = lo, above = hi - 1;
        while (below <= above) {
            while (X[row[below] * d + j] < pivot)
                below++;
            while (X[row[above] * d + j] > pivot)
                above--;
            if (below <= above) {
                const int64_t kept = row[below];
                row[below++] = row[above];
                row[above--] = kept;
            }
        }
        if (place <= above)
            hi = above + 1;
        else if (place >= below)
            lo = below;
        else
            return;
    }
}

static void build_node(tree_t *t, const double *X, int64_t node, int64_t a, int64_t b)
{
    const int64_t d = t->d, lo = a * LEAF, hi = b * LEAF < t->n ? b * LEAF : t->n;
    double *low = t->box + 2 * node * d, *high = low + d;
    for (int64_t j = 0; j < d; j++)
        low[j] = high[j] = X[t->row[lo] * d + j];
    for (int64_t i = lo + 1; i < hi; i++)
        for (int64_t j = 0; j < d; j++) {
            const double x = X[t->row[i] * d + j];
            low[j] = x < low[j] ? x : low[j];
            high[j] = x > high[j] ? x : high[j];
        }
    if (b - a == 1) {
        double *Z = t->Z + a * d * LEAF;
        for (int64_t j = 0; j < d; j++)
            for (int64_t r = 0; r < LEAF; r++)
                Z[j * LEAF + r] = lo + r < hi ? X[t->row[lo + r] * d + j] : INFINITY;
        return;
    }
    int64_t widest = 0;
    for (int64_t j = 1; j < d; j++)
        if (high[j] - low[j] > high[widest] - low[widest])
            widest = j;
    const int64_t mid = middle(a, b);
    split(X, d, widest, t->row, lo, hi, mid * LEAF);
    build_node(t, X, node + 1, a, mid);
    build_node(t, X, node + 2 * (mid - a), mid, b);
}

/* The tree of the rows of X; their floors are 0, they have no components. Returns -1 if memory ran out. */
static int build_tree(tree_t *t, const double *X, int64_t n, int64_t d)
{
    const int64_t leaves = (n + LEAF - 1) / LEAF, places = leaves * LEAF, nodes = 2 * leaves;
    t->n = n;
    t->d = d;
    t->leaves = leaves;
    t->Z = malloc(sizeof(double) * (size_t)(places * d));
    t->box = malloc(sizeof(double) * (size_t)(2 * nodes * d));
    t->floor = calloc((size_t)places, sizeof(double));
    t->least = calloc((size_t)nodes, sizeof(double));
    t->row = malloc(sizeof(int64_t) * (size_t)places);
    t->name = malloc(sizeof(int64_t) * (size_t)places);
    t->group = malloc(sizeof(int64_t) * (size_t)nodes);
    if (!t->Z || !t->box || !t->floor || !t->least || !t->row || !t->name || !t->group) {
        free_tree(t);
        return -1;
    }
    for (int64_t i = 0; i < n; i++) {
        t->row[i] = i;
        t->name[i] = -1;
    }
    for (int64_t node = 0; node < nodes; node++)
        t->group[node] = -1;
    build_node(t, X, 0, 0, leaves);
    return 0;
}

/* Fill in `least` and `group` of the nodes from `floor` and `name` of the places. */
static void summarise(tree_t *t, int64_t node, int64_t a, int64_t b)
{
    if (b - a == 1) {
        const int64_t hi = b * LEAF < t->n ? b * LEAF : t->n;
        t->least[node] = INFINITY;
        t->group[node] = t->name[a * LEAF];
        for (int64_t p = a * LEAF; p < hi; p++) {
            t->least[node] = t->floor[p] < t->least[node] ? t->floor[p] : t->least[node];
            t->group[node] = t->name[p] == t->group[node] ? t->group[node] : -1;
        }
        return;
    }
    const int64_t mid = middle(a, b), left = node + 1, right = node + 2 * (mid - a);
    summarise(t, left, a, mid);
    summarise(t, right, mid, b);
    t->least[node] = t->least[left] < t->least[right] ? t->least[left] : t->least[right];
    t->group[node] = t->group[left] == t->group[right] ? t->group[left] : -1;
}

/* The search of the rows of one leaf together. A row looks for distances below its `limit`; rows that need none have -1. */
typedef struct search_s {
    const tree_t *own, *others;
    int64_t leaf, count;           /* the leaf of `own`, and its rows */
    const double *box;             /* its box */
    int64_t group;                 /* the component of all rows that search, -1 if there are several */
    double most;                   /* the largest limit */
    double limit[LEAF];
    void (*take)(struct search_s *, int64_t r, int64_t place, const double *D); /* distances D to the places of a leaf */
    int64_t k;                     /* neighbours */
    double *near;                  /* (LEAF, k) distances that were found, ascending */
    int64_t *which;                /* (LEAF, k) and the places */
    double *best;                  /* per component: the shortest edge that the thread knows */
} search_t;

/* The squared gap of two boxes. */
static double box_gap(const double *a, const double *b, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        const double above = b[j] - a[d + j], below = a[j] - b[d + j], more = above > below ? above : below;
        const double e = more > 0 ? more : 0;
        sum += e * e;
    }
    return sum;
}

/* The squared gap of a row, z[j * LEAF], to a box. */
static double row_gap(const double *z, const double *box, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        const double x = z[j * LEAF], above = box[j] - x, below = x - box[d + j], more = above > below ? above : below;
        const double e = more > 0 ? more : 0;
        sum += e * e;
    }
    return sum;
}

/* The squared distance of the middles of two boxes, to decide which is visited first. */
static double between_middles(const double *a, const double *b, int64_t d)
{
    double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        const double e = (a[j] + a[d + j]) - (b[j] + b[d + j]);
        sum += e * e;
    }
    return sum;
}

static void visit(search_t *s, int64_t node, int64_t leaf)
{
    const tree_t *t = s->others;
    const int64_t d = t->d, at = leaf * LEAF;
    const double *z = s->own->Z + s->leaf * d * LEAF, *box = t->box + 2 * node * d;
    ALIGNED double D[LEAF];
    s->most = -1;
    for (int64_t r = 0; r < s->count; r++, z++) {
        const int64_t own = s->own->name[s->leaf * LEAF + r];
        if (s->best && s->best[own] < s->limit[r])
            s->limit[r] = s->best[own];
        if (t->least[node] < s->limit[r] && (t->group[node] < 0 || t->group[node] != own) && (d > STEP || row_gap(z, box, d) < s->limit[r]) &&
            steps()->leaf_distances(t->Z + at * d, d, z, t->floor + at, s->limit[r], D) < s->limit[r])
            s->take(s, r, at, D);
        s->most = s->limit[r] > s->most ? s->limit[r] : s->most;
    }
}

static void descend(search_t *s, int64_t node, int64_t a, int64_t b, double gap)
{
    const tree_t *t = s->others;
    if (gap >= s->most || t->least[node] >= s->most || (t->group[node] >= 0 && t->group[node] == s->group))
        return;
    if (b - a == 1) {
        visit(s, node, a);
        return;
    }
    const int64_t mid = middle(a, b), left = node + 1, right = node + 2 * (mid - a), d = t->d;
    const double *one = t->box + 2 * left * d, *other = t->box + 2 * right * d;
    const double to_left = box_gap(s->box, one, d), to_right = box_gap(s->box, other, d);
    int right_first = to_right < to_left;
    if (to_left == to_right)
        right_first = between_middles(s->box, other, d) < between_middles(s->box, one, d);
    if (right_first)
        descend(s, right, mid, b, to_right);
    descend(s, left, a, mid, to_left);
    if (!right_first)
        descend(s, right, mid, b, to_right);
}

/* Start a search for the rows of a leaf; the caller sets the limits. */
static search_t new_search(const tree_t *own, const tree_t *others, int64_t leaf, const double *box)
{
    search_t s;
    memset(&s, 0, sizeof s);
    s.own = own;
    s.others = others;
    s.leaf = leaf;
    s.count = own->n - leaf * LEAF < LEAF ? own->n - leaf * LEAF : LEAF;
    s.box = box;
    s.group = -1;
    return s;
}

static void run_search(search_t *s)
{
    s->most = -1;
    for (int64_t r = 0; r < s->count; r++)
        s->most = s->limit[r] > s->most ? s->limit[r] : s->most;
    descend(s, 0, 0, s->others->leaves, 0);
}

/* The boxes of the leaves of a tree, in the order of the leaves. */
static void leaf_boxes(const tree_t *t, int64_t node, int64_t a, int64_t b, const double **boxes)
{
    if (b - a == 1) {
        boxes[a] = t->box + 2 * node * t->d;
        return;
    }
    const int64_t mid = middle(a, b);
    leaf_boxes(t, node + 1, a, mid, boxes);
    leaf_boxes(t, node + 2 * (mid - a), mid, b, boxes);
}

/* Nearest neighbours ---------------------------------------------------------------------------------------------------------- */

static void take_nearest(search_t *s, int64_t r, int64_t place, const double *D)
{
    double *near = s->near + r * s->k;
    int64_t *which = s->which + r * s->k;
    for (int64_t l = 0; l < LEAF; l++) {
        if (!(D[l] < near[s->k - 1]))
            continue;
        int64_t i = s->k - 1;
        for (; i > 0 && near[i - 1] > D[l]; i--) {
            near[i] = near[i - 1];
            which[i] = which[i - 1];
        }
        near[i] = D[l];
        which[i] = place + l;
    }
    s->limit[r] = near[s->k - 1];
}

/* The squared distances (n, k), ascending, of the rows of `own` to the nearest k <= others->n rows of `others`, and which rows. */
static int tree_nearest(const tree_t *own, const tree_t *others, int64_t k, double *squared, int64_t *which,
                        int threads)
{
    int failed = 0;
    const double **boxes = malloc(sizeof(double *) * (size_t)own->leaves);
    if (!boxes)
        return -1;
    leaf_boxes(own, 0, 0, own->leaves, boxes);
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
        double *near = malloc(sizeof(double) * (size_t)(LEAF * k));
        int64_t *places = malloc(sizeof(int64_t) * (size_t)(LEAF * k)), leaf;
        if (!near || !places)
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 4)
#endif
        for (leaf = 0; leaf < own->leaves; leaf++) {
            if (!near || !places)
                continue;
            search_t s = new_search(own, others, leaf, boxes[leaf]);
            s.take = take_nearest;
            s.k = k;
            s.near = near;
            s.which = places;
            for (int64_t i = 0; i < LEAF * k; i++)
                near[i] = INFINITY;
            for (int64_t r = 0; r < s.count; r++)
                s.limit[r] = INFINITY;
            run_search(&s);
            for (int64_t r = 0; r < s.count; r++) {
                const int64_t row = own->row[leaf * LEAF + r];
                memcpy(squared + row * k, near + r * k, sizeof(double) * (size_t)k);
                for (int64_t i = 0; i < k; i++)
                    which[row * k + i] = others->row[places[r * k + i]];
            }
        }
        free(near);
        free(places);
    }
    free(boxes);
    return failed ? -1 : 0;
}

/* The spanning tree ------------------------------------------------------------------------------------------------------------- */

static int64_t root_of(int64_t *parent, int64_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Edges to other components, no shorter than the core distance of the row. */
static void take_edge(search_t *s, int64_t r, int64_t place, const double *D)
{
    const tree_t *t = s->others;
    const int64_t at = s->leaf * LEAF + r, own = t->name[at];
    for (int64_t l = 0; l < LEAF && place + l < t->n; l++) {
        const double length = D[l] > t->floor[at] ? D[l] : t->floor[at];
        if (length < s->limit[r] && t->name[place + l] != own) {
            s->limit[r] = s->near[r] = length;
            s->which[r] = place + l;
        }
    }
    if (s->limit[r] < s->best[own])
        s->best[own] = s->limit[r];
}

/* What is known in the rounds of Boruvka's algorithm, by places of the tree. */
typedef struct {
    int64_t *parent;       /* of the components */
    double *best;          /* per component: its shortest known edge */
    int64_t *from, *to;    /* and its ends */
    double *bound;         /* per place: no edge to another component is shorter */
    double *length;        /* per place: the edge that its last search found */
    int64_t *end;          /* and where it goes, -1: nowhere */
} boruvka_t;

static void offer(boruvka_t *b, int64_t component, int64_t from, int64_t to, double length)
{
    if (length < b->best[component]) {
        b->best[component] = length;
        b->from[component] = from;
        b->to[component] = to;
    }
}

/* Search an edge for all places that may have a shorter one than is known for their component. */
static int search_edges(tree_t *t, boruvka_t *b, const double **boxes, int threads)
{
    int failed = 0;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
#endif
    {
        double *best = malloc(sizeof(double) * (size_t)t->n); /* of its own: no thread waits for another */
        double near[LEAF];
        int64_t leaf, which[LEAF];
        if (best)
            memcpy(best, b->best, sizeof(double) * (size_t)t->n);
        else
            failed = 1;
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 4)
#endif
        for (leaf = 0; leaf < t->leaves; leaf++) {
            if (!best)
                continue;
            search_t s = new_search(t, t, leaf, boxes[leaf]);
            int64_t searching = 0;
            s.take = take_edge;
            s.near = near;
            s.which = which;
            s.best = best;
            for (int64_t r = 0; r < s.count; r++) {
                const int64_t p = leaf * LEAF + r, own = t->name[p];
                which[r] = -1;
                s.limit[r] = b->bound[p] < best[own] ? best[own] : -1;
                if (s.limit[r] >= 0)
                    s.group = searching++ == 0 || s.group == own ? own : -1;
            }
            if (!searching)
                continue;
            run_search(&s);
            for (int64_t r = 0; r < s.count; r++) {
                const int64_t p = leaf * LEAF + r;
                if (s.limit[r] < 0)
                    continue;
                b->bound[p] = s.limit[r];
                if (which[r] >= 0) {
                    b->end[p] = which[r];
                    b->length[p] = near[r];
                }
            }
        }
        free(best);
    }
    return failed ? -1 : 0;
}

/* The n - 1 edges of a minimum spanning tree by the mutual reachabilities, and their squared lengths. `core` are the squared core
   distances of the rows, `which` (n, k) and `near` (n, k) some neighbours of each row and their squared distances. */
static int tree_spanning(tree_t *t, const double *core, int64_t k, const double *near, const int64_t *which, int64_t *ends,
                         double *squared, int threads)
{
    const int64_t n = t->n;
    int64_t *whole = malloc(sizeof(int64_t) * (size_t)(5 * n)), *place = whole + 4 * n, edges = 0;
    double *reals = malloc(sizeof(double) * (size_t)(3 * n));
    const double **boxes = malloc(sizeof(double *) * (size_t)t->leaves);
    boruvka_t b = {whole, reals, whole + n, whole + 2 * n, reals + n, reals + 2 * n, whole + 3 * n};
    int failed = !whole || !reals || !boxes;
    if (!failed)
        leaf_boxes(t, 0, 0, t->leaves, boxes);
    for (int64_t p = 0; !failed && p < n; p++) {
        place[t->row[p]] = p;
        b.parent[p] = p;
        b.end[p] = -1;
        b.bound[p] = t->floor[p] = core[t->row[p]];
    }
    /* No edge of a row is shorter than its core distance: a neighbour that needs no more is the end of a shortest one. */
    for (int64_t i = 0; !failed && i < n; i++)
        for (int64_t j = 0; j < k; j++) {
            const int64_t other = which[i * k + j];
            if (core[other] > core[i] || near[i * k + j] > core[i])
                continue;
            const int64_t one = root_of(b.parent, place[i]), two = root_of(b.parent, place[other]);
            if (one == two)
                continue;
            b.parent[one] = two;
            ends[2 * edges] = i;
            ends[2 * edges + 1] = other;
            squared[edges++] = core[i];
            break;
        }
    while (!failed && edges < n - 1) {
        for (int64_t p = 0; p < n; p++) {
            t->name[p] = root_of(b.parent, p);
            b.best[p] = INFINITY;
        }
        summarise(t, 0, 0, t->leaves);
        for (int64_t p = 0; p < n; p++) {
            const int64_t i = t->row[p];
            for (int64_t j = 0; j < k; j++) {
                const int64_t other = place[which[i * k + j]];
                double length = near[i * k + j] > t->floor[p] ? near[i * k + j] : t->floor[p];
                length = length > t->floor[other] ? length : t->floor[other];
                if (t->name[other] != t->name[p]) {
                    offer(&b, t->name[p], p, other, length);
                    offer(&b, t->name[other], other, p, length);
                }
            }
            if (b.end[p] >= 0 && t->name[b.end[p]] != t->name[p])
                offer(&b, t->name[p], p, b.end[p], b.length[p]);
        }
        failed = search_edges(t, &b, boxes, threads);
        for (int64_t p = 0; !failed && p < n; p++)
            if (b.end[p] >= 0 && t->name[b.end[p]] != t->name[p])
                offer(&b, t->name[p], p, b.end[p], b.length[p]);
        const int64_t before = edges;
        for (int64_t p = 0; !failed && p < n; p++) {
            if (t->name[p] != p || b.best[p] == INFINITY)
                continue;
            const int64_t one = root_of(b.parent, b.from[p]), two = root_of(b.parent, b.to[p]);
            if (one == two)
                continue;
            b.parent[one] = two;
            ends[2 * edges] = t->row[b.from[p]];
            ends[2 * edges + 1] = t->row[b.to[p]];
            squared[edges++] = b.best[p];
        }
        failed |= edges == before; /* never, unless distances are not finite */
    }
    for (int64_t p = 0; !failed && p < n; p++) { /* as it was */
        t->floor[p] = 0;
        t->name[p] = -1;
    }
    if (!failed)
        summarise(t, 0, 0, t->leaves);
    free(whole);
    free(reals);
    free(boxes);
    return failed ? -1 : 0;
}

/* Contact with clusters --------------------------------------------------------------------------------------------------------- */

/* The least distance; a row needs no more than its core distance. */
static void take_least(search_t *s, int64_t r, int64_t place, const double *D)
{
    (void)place;
    for (int64_t l = 0; l < LEAF; l++)
        s->limit[r] = D[l] < s->limit[r] ? D[l] : s->limit[r];
    if (s->limit[r] <= s->near[r])
        s->limit[r] = -1;
}

/* out (n, K) = max(core_i, min_j max(|z_i - z_j|^2, floor_j)), j over the rows of the tree of each cluster. `core` (n,) is squared.
   Rows that are members of a cluster, member (n,), are left out there. */
static int tree_contacts(const tree_t *own, const tree_t *clusters, int64_t K, const double *core,
                         const int64_t *member, double *out, int threads)
{
    int64_t leaf;
    const double **boxes = malloc(sizeof(double *) * (size_t)own->leaves);
    if (!boxes)
        return -1;
    leaf_boxes(own, 0, 0, own->leaves, boxes);
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads) if (threads > 1)
#endif
    for (leaf = 0; leaf < own->leaves; leaf++) {
        double least[LEAF];
        for (int64_t k = 0; k < K; k++) {
            search_t s = new_search(own, clusters + k, leaf, boxes[leaf]);
            s.take = take_least;
            s.near = least;
            for (int64_t r = 0; r < s.count; r++) {
                const int64_t row = own->row[leaf * LEAF + r];
                least[r] = core[row];
                s.limit[r] = member[row] == k ? -1 : INFINITY;
            }
            run_search(&s);
            for (int64_t r = 0; r < s.count; r++)
                out[own->row[leaf * LEAF + r] * K + k] = s.limit[r] > least[r] ? s.limit[r] : least[r];
        }
    }
    free(boxes);
    return 0;
}

/* The condensed tree --------------------------------------------------------------------------------------------------------- */

/* A part of the rows that edges have joined, by its root. */
typedef struct {
    int64_t root, cluster;       /* -1: it is not heavy enough to be a cluster */
    double mass;
    int64_t first, last;         /* its rows that have not fallen out of a cluster, a list by `next`; -1: none */
    int64_t group;               /* the group of edges that joined it last */
    int64_t parts, child, youngest; /* how many clusters these joined, a list by `sibling` */
} part_t;

static int64_t part_of(part_t *parts, int64_t i)
{
    while (parts[i].root != i) {
        parts[i].root = parts[parts[i].root].root;
        i = parts[i].root;
    }
    return i;
}

/* See `_condense` of density/hierarchy.py, its twin: clusters are numbered from below, and fewer than 2 n. Gives their number, or -1
   if memory ran out. */
static int64_t condense(int64_t n, const int64_t *ends, const double *levels, const double *core, const double *weight, double least,
                        int64_t *parent, double *birth, int64_t *last, double *exits)
{
    part_t *parts = malloc(sizeof(part_t) * (size_t)n);
    int64_t *next = malloc(sizeof(int64_t) * (size_t)n), *sibling = malloc(sizeof(int64_t) * (size_t)(2 * n)), C = 0;
    if (!parts || !next || !sibling) {
        free(parts);
        free(next);
        free(sibling);
        return -1;
    }
    for (int64_t i = 0; i < n; i++) {
        const part_t one = {i, -1, weight[i], i, i, -1, 0, -1, -1};
        parts[i] = one;
        next[i] = -1;
    }
    for (int64_t begin = 0, end; begin < n - 1; begin = end) {
        const double level = levels[begin];
        for (end = begin; end < n - 1 && levels[end] == level; end++) {
            int64_t at[2];
            for (int side = 0; side < 2; side++) {
                part_t *p = parts + (at[side] = part_of(parts, ends[2 * end + side]));
                if (p->group == begin)
                    continue;
                p->group = begin;
                if (p->cluster < 0 && p->mass >= least && core[at[side]] < level) { /* a row that counts as many */
                    p->cluster = last[at[side]] = C;
                    exits[at[side]] = core[at[side]];
                    p->first = p->last = -1;
                    parent[C] = -1;
                    birth[C++] = INFINITY;
                }
                p->parts = p->cluster >= 0;
                p->child = p->youngest = p->cluster;
                if (p->cluster >= 0)
                    sibling[p->cluster] = -1;
            }
            part_t *one = parts + at[0], *other = parts + at[1];
            one->root = at[1];
            other->mass += one->mass;
            other->parts += one->parts;
            if (one->first >= 0) {
                next[one->last] = other->first;
                other->last = other->first < 0 ? one->last : other->last;
                other->first = one->first;
            }
            if (one->child >= 0) {
                sibling[one->youngest] = other->child;
                other->youngest = other->child < 0 ? one->youngest : other->youngest;
                other->child = one->child;
            }
        }
        for (int64_t e = begin; e < end; e++) {
            part_t *p = parts + part_of(parts, ends[2 * e]);
            if (p->group != begin)
                continue;
            p->group = -1; /* done */
            if (p->parts == 0 && p->mass < least && end < n - 1)
                continue;
            p->cluster = p->child;
            if (p->parts != 1) {
                p->cluster = C;
                for (int64_t c = p->child; c >= 0; c = sibling[c]) {
                    parent[c] = C;
                    birth[c] = level;
                }
                parent[C] = -1;
                birth[C++] = INFINITY;
            }
            for (int64_t i = p->first; i >= 0; i = next[i]) {
                last[i] = p->cluster;
                exits[i] = level;
            }
            p->first = p->last = -1;
        }
    }
    if (n == 1) {
        parent[C] = -1;
        birth[C++] = INFINITY;
        last[0] = 0;
        exits[0] = core[0];
    }
    free(parts);
    free(next);
    free(sibling);
    return C;
}

#endif
