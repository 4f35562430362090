# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Compiled twins of :mod:`soft_clustering.kernels.reference`; the loops are in ``kernels.h``."""

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cdef extern from "kernels.h" nogil:
    ctypedef struct rows_t:
        int64_t n, d
        int is_float, index64, gaps
        const void *values
        const void *indices
        const void *indptr
        const double *shift
        const double *scale
        const double *factor
        const double *weight
        const void *tiles
        const void *masks

    ctypedef struct prototypes_t:
        int64_t K
        const void *V
        const double *Vt
        const double *norm
        double noise

    ctypedef struct gauss_t:
        int64_t K
        int full
        const double *mean
        const double *factor
        const double *white
        const double *constant
        const double *linear
        const double *unseen
        const double *noise
        const double *tails

    ctypedef struct categories_t:
        int64_t p
        const int64_t *edges
        const double *table

    ctypedef struct topics_t:
        int64_t wide, longest, max_iter
        double tol, beta
        const double *B
        const double *prior
        const double *start
        int words

    ctypedef struct blocks_t:
        int64_t wide
        double alpha
        const double *B
        const double *no_link
        const double *degree
        const double *gamma
        const double *total
        double *E
        double *a
        double *M
        double *phi
        double *near

    ctypedef struct links_t:
        int index64
        const void *indptr
        const void *indices

    ctypedef struct sparse_rows_t:
        const int64_t *start
        const int32_t *column
        const double *value

    ctypedef struct tile_t:
        pass

    ctypedef struct job_t

    ctypedef void (*chunk_t)(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept

    ctypedef struct job_t:
        const rows_t *x
        int64_t K, columns, width
        int gauss
        double *results
        chunk_t chunk
        const prototypes_t *v
        const gauss_t *g
        const categories_t *categories
        const topics_t *topics
        const blocks_t *blocks
        int rule
        const double *parameters
        const double *given
        void *out
        double *row_out
        double *mass_out
        double *closest

    int N_RULES, N_GAUSS_RULES
    const char **rule_names
    const char **gauss_rule_names
    int64_t csr_at(const void *, int, int64_t)
    double scaled(double, double)
    int run(const job_t *, int64_t, int)
    int vector_bytes_c "vector_bytes" (int)
    int max_threads_c "max_threads" ()
    void center_statistics_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void center_memberships_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void center_scatter_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void center_distances_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void center_rows_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void potentials_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void closest_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void pair_bumps_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void nearest_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void pair_window_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void spanning_tree(
        double *, int64_t, int64_t, int64_t, double *, double *, double *, int64_t *, int64_t *, int64_t *, double *)
    int64_t TILE, PAD
    ctypedef struct steps_t:
        void (*load_all[2])(const rows_t *, void *, void *) noexcept
    const steps_t *steps()
    int64_t filled_up_c "filled_up" (int64_t)
    void gauss_statistics_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void gauss_memberships_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void category_statistics_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void category_memberships_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void lda_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void plsi_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void fold_in_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void ratio_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void factor_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void block_expectations_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void block_links_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void block_others_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    void block_near_chunk(const job_t *, tile_t *, int64_t, int64_t, double *) noexcept
    int affiliation_sweep_c "affiliation_sweep" (
        const links_t *, double *, double *, const int64_t *, int64_t, int64_t, int64_t, double, double)
    int affiliation_rows_c "affiliation_rows" (
        const links_t *, const double *, const double *, double *, int64_t, int64_t, double, double, int64_t)
    int affiliation_links_c "affiliation_links" (
        const links_t *, const double *, const double *, int64_t, int64_t, double, double *)
    int links_product_c "links_product" (const links_t *, const float *, const float *, int64_t, int64_t, float *)
    int closed_wedges_c "closed_wedges" (const links_t *, int64_t, double *)
    int listen_c "hear_all" (
        const links_t *, const double *, int64_t, int32_t *, int64_t, int64_t, const int64_t *, uint64_t, int64_t, int)
    int move_nodes_c "move_nodes" (
        const links_t *, const double *, const double *, const double *, const int64_t *, int64_t, int64_t *)
    int ego_links_c "ego_links" (
        const links_t *, const double *, int64_t, int64_t, int64_t, int64_t *, int64_t *, double *)
    int majority_labels_c "majority_labels" (const links_t *, const double *, int64_t, int64_t, int64_t *)
    int walks_c "walks" (const links_t *, const double *, const double *, int64_t, double *, double *, int)
    int link_rows_c "link_rows" (
        const links_t *, const double *, int64_t, const sparse_rows_t *, const sparse_rows_t *, int64_t, int64_t, double *, double *,
        int)
    int64_t propagate_c "propagate" (
        const links_t *, const double *, const int64_t *, int64_t, int64_t, int64_t *, int64_t *, double *)
    void dirichlet_maximum(double *, const double *, int64_t, double, double, int, int, double, double *)
    int gumbel_softmax_c "gumbel_softmax" (
        const double *, const uint64_t *, int64_t, int64_t, int64_t, int64_t, double, float *, double *, int)
    void gumbel_slope_c "gumbel_slope" (
        const float *, const double *, const double *, int64_t, int64_t, int64_t, int64_t, double, double *, int)
    ctypedef struct tree_t:
        int64_t n, d, leaves
        double *floor
        int64_t *row
    int build_tree(tree_t *, const double *, int64_t, int64_t)
    void summarise(tree_t *, int64_t, int64_t, int64_t)
    void free_tree(tree_t *)
    int tree_nearest(const tree_t *, const tree_t *, int64_t, double *, int64_t *, int)
    int tree_spanning(
        tree_t *, const double *, int64_t, const double *, const int64_t *, int64_t *, double *, int)
    int tree_contacts(
        const tree_t *, const tree_t *, int64_t, const double *, const int64_t *, double *, int)
    int64_t condense_c "condense" (
        int64_t, const int64_t *, const double *, const double *, const double *, double, int64_t *, double *, int64_t *, double *)

cdef extern from *:
    """
    #ifndef SOURCE_HASH
    #define SOURCE_HASH ""
    #endif
    """
    const char *SOURCE_HASH

source_hash = SOURCE_HASH.decode()

cdef int64_t KEPT_TILES = 2 << 20  # bytes of rows that are laid out once and not in every pass

# Place of each rule in the tables of the C code.
RULES = {rule_names[i].decode(): i for i in range(N_RULES)}
GAUSS_RULES = {gauss_rule_names[i].decode(): i for i in range(N_GAUSS_RULES)}


def vector_bytes(int limit=0):
    """Width of the vectors in use; ``limit`` caps it (0: what the processor has)."""
    return vector_bytes_c(limit)


def filled_up(int64_t K):
    """K columns filled up to whole vectors."""
    return filled_up_c(K)


def max_threads():
    """The number of threads that OpenMP would use (1 if the kernels were built without it)."""
    return max_threads_c()


cdef class Rows:
    """Rows as the kernels see them: dense or CSR, float or double, with shift, scale and weights."""

    cdef rows_t c
    cdef object keep
    cdef readonly object dtype
    cdef int passes

    def __cinit__(self, X, const double[::1] shift, const double[::1] scale, weight, indices=None, indptr=None, int64_t d=0, *,
                  bint gaps=False, factor=None):
        cdef const double[:, ::1] dense64
        cdef const float[:, ::1] dense32
        cdef const double[::1] data64, w, f
        cdef const float[::1] data32
        cdef const int32_t[::1] i32, p32
        cdef const int64_t[::1] i64, p64
        self.dtype = X.dtype
        self.keep = (X, shift, scale, weight, indices, indptr, factor)
        self.c.is_float = X.dtype == np.float32
        self.c.shift = &shift[0]
        self.c.scale = &scale[0]
        self.c.weight = self.c.factor = NULL
        self.c.indices = self.c.indptr = self.c.tiles = self.c.masks = NULL
        self.c.index64 = 0
        self.c.gaps = gaps
        if weight is not None:
            w = weight
            self.c.weight = &w[0]
        if factor is not None:
            f = factor
            self.c.factor = &f[0]
        if indptr is None:
            if self.c.is_float:
                dense32 = X
                self.c.values = &dense32[0, 0]
            else:
                dense64 = X
                self.c.values = &dense64[0, 0]
            self.c.n = X.shape[0]
            self.c.d = X.shape[1]
            return
        self.c.n = indptr.shape[0] - 1
        self.c.d = d
        if self.c.is_float:
            data32 = X
            self.c.values = &data32[0]
        else:
            data64 = X
            self.c.values = &data64[0]
        if indptr.dtype == np.int64:
            i64 = indices
            p64 = indptr
            self.c.index64 = 1
            self.c.indices = &i64[0]
            self.c.indptr = &p64[0]
        else:
            i32 = indices
            p32 = indptr
            self.c.indices = &i32[0]
            self.c.indptr = &p32[0]

    cdef begin_pass(self):
        """Count a pass. Before the second one, a small table is laid out as the steps read it, so that they need not do it."""
        self.passes += 1
        if self.passes == 2 and self.c.indptr == NULL and self.c.n * self.c.d * self.dtype.itemsize <= KEPT_TILES:
            self.keep_tiles()

    cdef keep_tiles(self):
        """Lay out all tiles, beginning at a cache line."""
        cdef size_t size = self.dtype.itemsize * ((self.c.n + TILE - 1) // TILE * TILE) * self.c.d  # whole cache lines
        memory = np.empty((2 if self.c.gaps else 1) * size + 64, dtype=np.uint8)
        cdef size_t address = <uintptr_t>memory.ctypes.data
        cdef void *tiles = <void *>((address + 63) & ~<size_t>63)
        cdef void *masks = <void *>(<char *>tiles + size) if self.c.gaps else NULL
        self.keep += (memory,)
        steps().load_all[self.c.is_float](&self.c, tiles, masks)
        self.c.tiles = tiles
        self.c.masks = masks

    cdef take(self, const int64_t[::1] indices):
        """Some rows (t, d) in the coordinates of the frame; a missing entry becomes 0, the mean."""
        cdef int64_t d = self.c.d, t, j, p, row
        cdef double x, factor
        cdef double[:, ::1] out = np.zeros((indices.shape[0], d))
        for t in range(indices.shape[0]):
            row = indices[t]
            factor = self.c.factor[row] if self.c.factor != NULL else 1
            if self.c.indptr == NULL:
                for j in range(d):
                    p = row * d + j
                    x = (<const float *>self.c.values)[p] if self.c.is_float else (<const double *>self.c.values)[p]
                    if x == x:
                        out[t, j] = scaled(x * factor - self.c.shift[j], self.c.scale[j])
            else:
                for p in range(csr_at(self.c.indptr, self.c.index64, row), csr_at(self.c.indptr, self.c.index64, row + 1)):
                    j = csr_at(self.c.indices, self.c.index64, p)
                    x = (<const float *>self.c.values)[p] if self.c.is_float else (<const double *>self.c.values)[p]
                    out[t, j] = scaled(x * factor, self.c.scale[j])
        return np.asarray(out)


cdef class Prototypes:
    """Prototypes in the layout that the rows ask for."""

    cdef prototypes_t c
    cdef object keep

    def __cinit__(self, Rows rows, V, double noise=0):
        cdef const double[:, ::1] v64, vt
        cdef const float[:, ::1] v32
        cdef const double[::1] norm
        self.c.K = V.shape[0]
        self.c.noise = noise
        if rows.c.indptr != NULL:
            transposed, norms = np.ascontiguousarray(V.T), (V * V).sum(axis=1)
            self.keep = (transposed, norms)
            vt = transposed
            norm = norms
            self.c.Vt = &vt[0, 0]
            self.c.norm = &norm[0]
        else:
            if rows.c.is_float:
                V = np.clip(V, -1e15, 1e15)  # as the rows
            self.keep = V = np.ascontiguousarray(V, dtype=rows.dtype)
            if rows.c.is_float:
                v32 = V
                self.c.V = &v32[0, 0]
            else:
                v64 = V
                self.c.V = &v64[0, 0]


cdef job_t job_on(Rows rows, int64_t K):
    """A job over rows; fields that are not set are 0 or NULL."""
    cdef job_t job
    rows.begin_pass()
    memset(&job, 0, sizeof(job))
    job.x = &rows.c
    job.K = job.columns = K
    return job


cdef job_t center_job(Rows rows, Prototypes prototypes):
    cdef job_t job = job_on(rows, prototypes.c.K)
    job.v = &prototypes.c
    job.columns += prototypes.c.noise > 0
    return job


cdef job_t rule_job(Rows rows, Prototypes prototypes, rule, const double[::1] parameters):
    cdef job_t job = center_job(rows, prototypes)
    job.rule = RULES[rule]
    job.parameters = &parameters[0]
    return job


cdef void *output(Rows rows, out):
    """Where the (n, K) result begins, in the type of the rows."""
    cdef double[:, ::1] out64
    cdef float[:, ::1] out32
    if rows.c.is_float:
        out32 = out
        return &out32[0, 0]
    out64 = out
    return &out64[0, 0]


cdef start(job_t *job, int64_t chunks, int threads):
    cdef int status
    with nogil:
        status = run(job, chunks, threads)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


cdef sum_of_chunks(double[:, ::1] parts):
    """Add the results of the chunks in index order, into the first one."""
    cdef int64_t c, i
    for c in range(1, parts.shape[0]):
        for i in range(parts.shape[1]):
            parts[0, i] += parts[c, i]


def center_statistics(Rows rows, V, rule, const double[::1] parameters, double noise, double empty, int64_t chunks, int threads):
    """(weight (K,), total (K, d), objective, worst row objective, its row or None if no weight is below ``empty``, weight (K, d)
    of the rows that have each feature or None). ``noise`` is the squared distance of a cluster of noise, 0 without one."""
    cdef Prototypes prototypes = Prototypes(rows, V, noise)
    cdef job_t job = rule_job(rows, prototypes, rule, parameters)
    cdef int64_t K = V.shape[0], d = rows.c.d, c, i
    cdef double worst = -1
    cdef int64_t at = 0
    job.width = 3 + K + (2 if rows.c.gaps else 1) * K * d
    job.chunk = &center_statistics_chunk
    results = np.zeros((chunks, job.width))
    cdef double[:, ::1] parts = results
    job.results = &parts[0, 0]
    start(&job, chunks, threads)
    for c in range(chunks):
        if parts[c, 1] > worst:
            worst = parts[c, 1]
            at = <int64_t>parts[c, 2]
    sum_of_chunks(parts)
    total = results[0, 3 + K:3 + K + K * d]
    seen = results[0, 3 + K + K * d:].reshape(K, d) if rows.c.gaps else None
    if rows.c.indptr != NULL:
        total = np.ascontiguousarray(total.reshape(d, K).T)
    else:
        total = total.reshape(K, d)
    for i in range(K):
        if parts[0, 3 + i] < empty:
            return results[0, 3:3 + K], total, parts[0, 0], worst, at, seen
    return results[0, 3:3 + K], total, parts[0, 0], worst, None, seen


def center_memberships(Rows rows, V, rule, const double[::1] parameters, double noise, int64_t chunks, int threads):
    """(memberships (n, K) in the type of the rows, those in the noise (n,): 0 if there is none)."""
    cdef Prototypes prototypes = Prototypes(rows, V, noise)
    cdef job_t job = rule_job(rows, prototypes, rule, parameters)
    cdef double[::1] masses = np.zeros(rows.c.n)
    out = np.empty((rows.c.n, V.shape[0]), dtype=rows.dtype)
    job.out = output(rows, out)
    if noise > 0:
        job.mass_out = &masses[0]
    job.chunk = &center_memberships_chunk
    start(&job, chunks, threads)
    return out, np.asarray(masses)


def center_scatter(Rows rows, V, rule, const double[::1] parameters, double noise, int64_t chunks, int threads):
    """(weight (K,), weight times squared distance (K,)), both summed over the rows."""
    cdef Prototypes prototypes = Prototypes(rows, V, noise)
    cdef job_t job = rule_job(rows, prototypes, rule, parameters)
    results = np.zeros((chunks, 2 * V.shape[0]))
    cdef double[:, ::1] parts = results
    job.width = 2 * job.K
    job.results = &parts[0, 0]
    job.chunk = &center_scatter_chunk
    start(&job, chunks, threads)
    sum_of_chunks(parts)
    return results[0, :V.shape[0]], results[0, V.shape[0]:]


def center_rows(Rows rows, V, rule, const double[::1] parameters, int64_t chunks, int threads):
    """The objective of each row, (n,)."""
    cdef Prototypes prototypes = Prototypes(rows, V)
    cdef job_t job = rule_job(rows, prototypes, rule, parameters)
    cdef double[::1] out = np.empty(rows.c.n)
    job.row_out = &out[0]
    job.chunk = &center_rows_chunk
    start(&job, chunks, threads)
    return np.asarray(out)


def center_distances(Rows rows, V, int64_t chunks, int threads):
    """Squared distances (n, K)."""
    cdef Prototypes prototypes = Prototypes(rows, V)
    cdef job_t job = center_job(rows, prototypes)
    cdef double[:, ::1] out = np.empty((rows.c.n, V.shape[0]))
    job.row_out = &out[0, 0]
    job.chunk = &center_distances_chunk
    start(&job, chunks, threads)
    return np.asarray(out)


cdef pairs(chunk_t chunk, const double[:, ::1] Z, const double[::1] parameters, int64_t width, int64_t chunks, int threads):
    """The results (chunks, width) of a job over all pairs of rows."""
    cdef Rows rows = Rows(np.asarray(Z), np.zeros(Z.shape[1]), np.ones(Z.shape[1]), None)
    rows.passes = 1  # each tile is read many times
    cdef job_t job = job_on(rows, TILE)
    results = np.zeros((chunks, width))
    cdef double[:, ::1] parts = results
    job.width = width
    job.results = &parts[0, 0]
    job.parameters = &parameters[0]
    job.chunk = chunk
    start(&job, chunks, threads)
    return results


def pair_bumps(const double[:, ::1] Z, const double[::1] parameters, int64_t chunks, int threads):
    """sum_j w_j exp(-alpha |z_i - z_j|^2) for each row (n,); parameters are (alpha, w (n,))."""
    results = pairs(&pair_bumps_chunk, Z, parameters, Z.shape[0], chunks, threads)
    sum_of_chunks(results)
    return results[0]


def pair_window(const double[:, ::1] Z, double low, double high, int64_t capacity, int64_t chunks, int threads):
    """How many pairs have squared distance 0, how many a smaller one than ``low``, and the squared distances in
    [low, high]; None for the last if a chunk has more than ``capacity`` of them."""
    results = pairs(&pair_window_chunk, Z, np.array([low, high, capacity], dtype=float), 4 + capacity, chunks, threads)
    inside = results[:, 2].astype(np.int64)
    values = None if inside.max() > capacity else np.concatenate([results[c, 3 : 3 + inside[c]] for c in range(chunks)])
    return int(results[:, 0].sum()), int(results[:, 1].sum()), values


def nearest(points, rows, int64_t k, int64_t chunks, int threads):
    """The squared distances (n, k) of rows to the nearest points, ascending, and which they are, the first among equals."""
    cdef int64_t d = rows.shape[1]
    cdef Rows own = Rows(rows, np.zeros(d), np.ones(d), None)
    cdef Prototypes others = Prototypes(own, points)
    own.passes = 1  # each tile is read many times
    cdef job_t job = job_on(own, TILE)
    cdef double[::1] parameters = np.array([k], dtype=float)
    cdef double[:, ::1] distances = np.empty((rows.shape[0], k))
    cdef int64_t[:, ::1] which = np.empty((rows.shape[0], k), dtype=np.int64)
    job.v = &others.c
    job.parameters = &parameters[0]
    job.row_out = &distances[0, 0]
    job.out = &which[0, 0]
    job.chunk = &nearest_chunk
    start(&job, chunks, threads)
    return np.asarray(distances), np.asarray(which)


def reachability_linkage(points, reach):
    """Single linkage by max(|z_i - z_j|, reach_i, reach_j) of n points: the nodes (n - 1, 2) that are merged, points being
    the first n nodes, and the levels (n - 1,)."""
    cdef int64_t n = points.shape[0], d = points.shape[1], wide = (n + TILE - 1) // TILE * TILE, step, end, root
    cdef double[:, ::1] Z = np.zeros((d, wide))
    cdef double[::1] least = np.zeros(wide), z = np.empty(d), edge = np.empty(wide)
    cdef int64_t[::1] start = np.zeros(wide, dtype=np.int64), name = np.empty(wide, dtype=np.int64)
    cdef int64_t[:, ::1] ends = np.empty((n - 1, 2), dtype=np.int64)
    cdef double[::1] squared = np.empty(n - 1)
    np.asarray(Z)[:, :n] = points.T
    np.asarray(least)[:n] = np.square(reach)
    with nogil:
        spanning_tree(
            &Z[0, 0], wide, n, d, &least[0], &z[0], &edge[0], &start[0], &name[0], &ends[0, 0], &squared[0])
    order = np.argsort(squared, kind="stable")
    nodes = np.asarray(ends)[order]
    cdef int64_t[:, ::1] merged = nodes
    cdef int64_t[::1] parent = np.arange(2 * n - 1)
    for step in range(n - 1):
        for end in range(2):
            root = merged[step, end]
            while parent[root] != root:
                parent[root] = parent[parent[root]]
                root = parent[root]
            merged[step, end] = root
            parent[root] = n + step
    return nodes, np.sqrt(np.asarray(squared)[order])


def seed(Rows rows, const int64_t[::1] order, const double[:, ::1] uniforms, double most, int64_t chunks, int threads):
    """Greedy k-means++: the rows drawn, (K, d). See ``reference.seed``."""
    cdef job_t job
    cdef Prototypes prototypes
    cdef int64_t K = uniforms.shape[0], trials = uniforms.shape[1], n = rows.c.n, k, t, i, best
    cdef int64_t[::1] drawn = np.empty(trials, dtype=np.int64)
    cdef double[::1] closest = np.ones(n), cumulated = np.empty(n)
    cdef double[:, ::1] parts = np.empty((chunks, trials))
    cdef bint covered
    chosen = np.empty((K, rows.c.d))
    for k in range(K):
        covered = True
        for i in range(n):
            covered = covered and closest[i] == 0
        draw(rows, order, closest, covered, uniforms[k, : trials if k else 1], cumulated, drawn)
        best = 0
        candidates = rows.take(drawn[: trials if k else 1])
        if k:
            prototypes = Prototypes(rows, candidates)
            parts[:, :] = 0
            job = center_job(rows, prototypes)
            job.width = trials
            job.results = &parts[0, 0]
            job.closest = &closest[0]
            job.chunk = &potentials_chunk
            start(&job, chunks, threads)
            sum_of_chunks(parts)
            for t in range(1, trials):
                if parts[0, t] < parts[0, best]:
                    best = t
        else:
            closest[:] = most
        chosen[k] = candidates[best]
        if k + 1 < K:
            prototypes = Prototypes(rows, chosen[k : k + 1])
            job = center_job(rows, prototypes)
            job.closest = &closest[0]
            job.chunk = &closest_chunk
            start(&job, chunks, threads)
    return chosen


cdef draw(Rows rows, const int64_t[::1] order, double[::1] mass, bint by_weight, const double[::1] uniforms,
          double[::1] cumulated, int64_t[::1] drawn):
    """Rows with probability proportional to weight (times mass), by inversion along the order."""
    cdef int64_t n = rows.c.n, i, t, low, high, middle
    cdef double total = 0, target
    for i in range(n):
        target = 1 if by_weight else mass[order[i]]
        total += target if rows.c.weight == NULL else target * rows.c.weight[order[i]]
        cumulated[i] = total
    for t in range(uniforms.shape[0]):
        target, low, high = uniforms[t] * total, 0, n - 1
        while low < high:
            middle = (low + high) // 2
            if cumulated[middle] <= target:
                low = middle + 1
            else:
                high = middle
        drawn[t] = order[low]


cdef gauss_t gauss(const double[:, ::1] mean, const double[::1] factor, const double[:, ::1] white, const double[::1] constant,
                   const double[:, ::1] linear, const double[::1] unseen, const double[::1] noise,
                   const double[:, ::1] tails, bint full):
    cdef gauss_t g
    g.K = mean.shape[0]
    g.full = full
    g.mean = &mean[0, 0]
    g.factor = g.white = g.constant = g.linear = g.unseen = g.noise = g.tails = NULL
    if factor is not None:
        g.factor = &factor[0]
    if white is not None:
        g.white = &white[0, 0]
    if constant is not None:
        g.constant = &constant[0]
    if linear is not None:
        g.linear = &linear[0, 0]
    if unseen is not None:
        g.unseen = &unseen[0]
    if noise is not None:
        g.noise = &noise[0]
    if tails is not None:
        g.tails = &tails[0, 0]
    return g


def gauss_statistics(Rows rows, const double[:, ::1] mean, factor, white, const double[::1] constant,
                     const double[:, ::1] linear, unseen, noise, tails, bint full, given, rule, const double[::1] parameters, int64_t chunks, int threads):
    """(weight (K,), first (K, d), second (K, d, d) or (K, d) moments about ``mean``, objective), and for the tempered
    rule also (mean weight (K,), mean first (K, d), share (K,)); with ``tails`` (size (K,), score (K,), the sizes (K, d) of the rows
    that have each feature, or None); at last the weight (K, d) of the rows that have each feature, or None. ``unseen`` is what rows with gaps need: precisions, or log densities of single features at their means;
    ``noise`` is the log density of noise, and what it gains for each missing feature."""
    cdef job_t job = job_on(rows, mean.shape[0])
    cdef gauss_t g = gauss(
        mean, None if factor is None else factor.reshape(-1), white, constant, linear, None if unseen is None else unseen.reshape(-1), noise, tails,
        full)
    job.columns += noise is not None
    cdef int64_t K = mean.shape[0], d = rows.c.d, wide = d * d if full else d
    cdef const double[:, ::1] responsibilities
    cdef int64_t n_more = 2 * K + K * d if rule == "tempered" or tails is not None else 0
    job.width = 1 + K + K * d + K * wide + n_more + (K * d if rows.c.gaps else 0)
    job.gauss = 1
    job.g = &g
    job.rule = GAUSS_RULES[rule]
    job.parameters = &parameters[0]
    if given is not None:
        responsibilities = given
        job.given = &responsibilities[0, 0]
    job.chunk = &gauss_statistics_chunk
    results = np.zeros((chunks, job.width))
    cdef double[:, ::1] parts = results
    job.results = &parts[0, 0]
    start(&job, chunks, threads)
    sum_of_chunks(parts)
    flat = results[0]
    weight, first = flat[1 : 1 + K], flat[1 + K : 1 + K + K * d].reshape(K, d)
    second = flat[1 + K + K * d : 1 + K + K * d + K * wide].reshape(K, d, wide // d)
    if full:
        mirror(second)
    else:
        second = second[:, :, 0]
    answer = weight, first, second, parts[0, 0]
    more = flat[1 + K + K * d + K * wide :]
    seen = more[n_more:].reshape(K, d) if rows.c.gaps else None
    if tails is not None:
        return *answer, more[:K], more[K : 2 * K], None if seen is None else more[2 * K : n_more].reshape(K, d), seen
    if rule != "tempered":
        return *answer, seen
    return *answer, more[:K], more[K : K + K * d].reshape(K, d), more[K + K * d : n_more], seen


def inverse_cholesky(const double[:, :, ::1] matrices, double least):
    """Inverses (K, d, d) of the lower Cholesky factors, and the first matrix with a pivot not above ``least``, or None."""
    cdef int64_t K = matrices.shape[0], d = matrices.shape[1], k, i, j, l
    cdef double total
    cdef double[:, ::1] L = np.empty((d, d))
    inverses = np.zeros((K, d, d))
    cdef double[:, :, ::1] out = inverses
    for k in range(K):
        for j in range(d):
            total = matrices[k, j, j]
            for l in range(j):
                total -= L[j, l] * L[j, l]
            total = sqrt(total) if total > 0 else 0
            if not total > least:
                return inverses, k
            L[j, j] = total
            for i in range(j + 1, d):
                total = matrices[k, i, j]
                for l in range(j):
                    total -= L[i, l] * L[j, l]
                L[i, j] = total / L[j, j]
        for j in range(d):
            out[k, j, j] = 1 / L[j, j]
            for i in range(j + 1, d):
                total = 0
                for l in range(j, i):
                    total -= L[i, l] * out[k, l, j]
                out[k, i, j] = total / L[i, i]
    return inverses, None


cdef mirror(double[:, :, ::1] matrices):
    """Copy the lower triangles to the upper ones."""
    cdef int64_t k, i, j
    for k in range(matrices.shape[0]):
        for i in range(matrices.shape[1]):
            for j in range(i):
                matrices[k, j, i] = matrices[k, i, j]


def gauss_memberships(Rows rows, const double[:, ::1] mean, factor, white, const double[::1] constant,
                      const double[:, ::1] linear, unseen, noise, tails, bint full, rule, const double[::1] parameters, int64_t chunks, int threads):
    """(memberships (n, K) in the type of the rows, log likelihood (metric: objective) of each row (n,), posteriors of the noise
    or with ``tails`` mean precisions of the rows (n,): 0 without either)."""
    cdef job_t job = job_on(rows, mean.shape[0])
    cdef gauss_t g = gauss(
        mean, None if factor is None else factor.reshape(-1), white, constant, linear, None if unseen is None else unseen.reshape(-1), noise, tails,
        full)
    job.columns += noise is not None
    cdef double[::1] objective = np.empty(rows.c.n), masses = np.zeros(rows.c.n)
    out = np.empty((rows.c.n, mean.shape[0]), dtype=rows.dtype)
    if noise is not None or tails is not None:
        job.mass_out = &masses[0]
    job.out = output(rows, out)
    job.row_out = &objective[0]
    job.gauss = 1
    job.g = &g
    job.rule = GAUSS_RULES[rule]
    job.parameters = &parameters[0]
    job.chunk = &gauss_memberships_chunk
    start(&job, chunks, threads)
    return out, np.asarray(objective), np.asarray(masses)


cdef categories_t categories(int64_t p, const int64_t[::1] edges, const double[:, ::1] table):
    cdef categories_t c
    c.p = p
    c.edges = &edges[0]
    c.table = NULL
    if table.shape[0]:
        c.table = &table[0, 0]
    return c


def category_statistics(Rows rows, const double[:, ::1] mean, factor, const double[::1] constant, unseen, int64_t p,
                        const int64_t[::1] edges, const double[:, ::1] table, given, int64_t chunks, int threads):
    """(weight (K,), counts (categories, K), first (K, p), second (K, p) moments about ``mean``, objective, weight (K, p) of
    the rows that have each number or None). ``mean``, ``factor`` and ``unseen`` (K, d) have zeros for the codes."""
    cdef job_t job = job_on(rows, mean.shape[0])
    cdef gauss_t g = gauss(
        mean, None if factor is None else factor.reshape(-1), None, constant, None, None if unseen is None else unseen.reshape(-1), None, None,
        False)
    cdef categories_t c = categories(p, edges, table)
    cdef int64_t K = mean.shape[0], d = rows.c.d, levels = edges[edges.shape[0] - 1], seen = K * d if rows.c.gaps else 0
    cdef const double[:, ::1] responsibilities
    job.width = 1 + K + levels * K + (2 * K * d + seen if p else 0)
    job.gauss = 1
    job.g = &g
    job.categories = &c
    if given is not None:
        responsibilities = given
        job.given = &responsibilities[0, 0]
    job.chunk = &category_statistics_chunk
    results = np.zeros((chunks, job.width))
    cdef double[:, ::1] parts = results
    job.results = &parts[0, 0]
    start(&job, chunks, threads)
    sum_of_chunks(parts)
    flat = results[0]
    counts = flat[1 + K : 1 + K + levels * K].reshape(levels, K)
    moments = flat[1 + K + levels * K :].reshape(-1, K, d)[:, :, :p] if p else np.zeros((3, K, 0))
    return flat[1 : 1 + K], counts, moments[0], moments[1], parts[0, 0], moments[2] if rows.c.gaps else None


def category_memberships(Rows rows, const double[:, ::1] mean, factor, const double[::1] constant, unseen, int64_t p,
                         const int64_t[::1] edges, const double[:, ::1] table, int64_t chunks, int threads):
    """(memberships (n, K) in the type of the rows, log likelihood of each row (n,))."""
    cdef job_t job = job_on(rows, mean.shape[0])
    cdef gauss_t g = gauss(
        mean, None if factor is None else factor.reshape(-1), None, constant, None, None if unseen is None else unseen.reshape(-1), None, None,
        False)
    cdef categories_t c = categories(p, edges, table)
    cdef double[::1] objective = np.empty(rows.c.n)
    out = np.empty((rows.c.n, mean.shape[0]), dtype=rows.dtype)
    job.out = output(rows, out)
    job.row_out = &objective[0]
    job.gauss = 1
    job.g = &g
    job.categories = &c
    job.chunk = &category_memberships_chunk
    start(&job, chunks, threads)
    return out, np.asarray(objective)


def dirichlet_maxima(double[:, ::1] shapes, const double[:, ::1] mean_logs, double least, double most, int steps,
                     int halvings, double small):
    """Move the shapes (r, p) of Dirichlet distributions to those of largest likelihood, in place."""
    cdef int64_t r, p = shapes.shape[1]
    cdef double[::1] work = np.empty(3 * p)
    for r in range(shapes.shape[0]):
        dirichlet_maximum(&shapes[r, 0], &mean_logs[r, 0], p, least, most, steps, halvings, small, &work[0])


cdef class Topics:
    """Topics (V, K) and what a pass over documents needs beside them."""

    cdef topics_t c
    cdef object keep

    def __cinit__(self, Rows rows, B, prior, start=None, int64_t max_iter=1, double tol=0, double beta=1, bint words=False):
        cdef const double[:, ::1] b, s
        cdef const double[::1] p
        cdef int64_t K = B.shape[1], row, most = 1
        padded = np.zeros((B.shape[0], filled_up(K)))
        padded[:, :K] = B
        b = padded
        p = prior
        self.c.wide = padded.shape[1]
        for row in range(rows.c.n):
            most = max(most, csr_at(rows.c.indptr, rows.c.index64, row + 1) - csr_at(rows.c.indptr, rows.c.index64, row))
        self.c.longest = (most + PAD - 1) // PAD * PAD | PAD  # an odd number of vectors spreads rows over the cache
        self.c.max_iter = max_iter
        self.c.tol = tol
        self.c.beta = beta
        self.c.B = &b[0, 0]
        self.c.prior = &p[0]
        self.c.start = NULL
        self.c.words = words
        if start is not None:
            s = start
            self.c.start = &s[0, 0]
        self.keep = (padded, prior, start)


cdef over_documents(job_t *job, Topics topics, int64_t width, int64_t chunks, int threads):
    """Run a job over documents and return the sum of its results (width,)."""
    results = np.zeros((chunks, width))
    cdef double[:, ::1] parts = results
    job.width = width
    job.results = &parts[0, 0]
    job.topics = &topics.c
    start(job, chunks, threads)
    sum_of_chunks(parts)
    if np.isnan(results[0, 0]):
        raise MemoryError("not enough memory for the scratch space of a kernel")
    return results[0]


def lda_statistics(Rows rows, B, prior, start, int64_t max_iter, double tol, int64_t chunks, int threads):
    """(bound of the documents, summed E[log theta] (K,), sum_d A_dk x_dw / s_dw (V, K))."""
    cdef job_t job = job_on(rows, B.shape[1])
    cdef Topics topics = Topics(rows, B, prior, start, max_iter, tol, 1, True)
    cdef int64_t K = B.shape[1], wide = topics.c.wide
    job.chunk = &lda_chunk
    results = over_documents(&job, topics, 1 + wide + wide * B.shape[0], chunks, threads)
    return results[0], results[1 : 1 + K].copy(), results[1 + wide :].reshape(-1, wide)[:, :K]


def lda_memberships(Rows rows, B, prior, int64_t max_iter, double tol, int64_t chunks, int threads):
    """(Memberships (n, K) in the type of the rows, bound of the documents)."""
    cdef job_t job = job_on(rows, B.shape[1])
    cdef Topics topics = Topics(rows, B, prior, None, max_iter, tol)
    out = np.empty((rows.c.n, B.shape[1]), dtype=rows.dtype)
    job.chunk = &lda_chunk
    job.out = output(rows, out)
    results = over_documents(&job, topics, 1 + topics.c.wide, chunks, threads)
    return out, results[0]


def plsi_step(Rows rows, const double[:, ::1] A, B, int64_t chunks, int threads):
    """(Log likelihood under A and B, shares (n, K) of the topics in the documents, sum_d A_dk x_dw / s_dw (V, K))."""
    cdef job_t job = job_on(rows, B.shape[1])
    cdef Topics topics = Topics(rows, B, np.zeros(1))
    cdef int64_t K = B.shape[1], wide = topics.c.wide
    cdef double[:, ::1] T = np.empty((rows.c.n, K))
    job.chunk = &plsi_chunk
    job.given = &A[0, 0]
    job.row_out = &T[0, 0]
    results = over_documents(&job, topics, 1 + wide * B.shape[0], chunks, threads)
    return results[0], np.asarray(T), results[1:].reshape(-1, wide)[:, :K]


def fold_in(Rows rows, B, log_prior, double beta, int64_t max_iter, double tol, int64_t chunks, int threads):
    """(Shares (n, K) of fixed topics in the type of the rows, all zero without a word, log likelihood)."""
    cdef job_t job = job_on(rows, B.shape[1])
    cdef Topics topics = Topics(rows, B, log_prior, None, max_iter, tol, beta)
    out = np.empty((rows.c.n, B.shape[1]), dtype=rows.dtype)
    job.chunk = &fold_in_chunk
    job.out = output(rows, out)
    results = over_documents(&job, topics, 1, chunks, threads)
    return out, results[0]


def ratio_rows(Rows rows, const double[:, ::1] P, Q, int64_t chunks, int threads):
    """(sum_j x_ij / s_ij Q_j (n, K) with s_ij = P_i . Q_j over the links, sum x_ij log s_ij)."""
    cdef job_t job = job_on(rows, Q.shape[1])
    cdef Topics topics = Topics(rows, Q, np.zeros(1))
    cdef int64_t K = Q.shape[1], wide = topics.c.wide
    cdef double[:, ::1] padded = np.zeros((P.shape[0], wide)), out = np.empty((P.shape[0], wide))
    padded[:, :K] = P
    job.chunk = &ratio_chunk
    job.given = &padded[0, 0]
    job.row_out = &out[0, 0]
    results = over_documents(&job, topics, 1, chunks, threads)
    return np.asarray(out)[:, :K], results[0]


def factor_rows(Rows rows, const double[:, ::1] P, const double[:, ::1] Q, const double[:, ::1] parameters, double[:, ::1] out,
                int64_t longest, int64_t chunks, int threads):
    """A multiplicative step of P (n, wide), written to ``out``; parameters: sums of the columns of Q, beta.

    (sum x_ij log s_ij before it with s_ij = P_i . Q_j, sums and sums of squares of the columns of ``out``)
    """
    cdef job_t job = job_on(rows, 1)
    cdef topics_t topics
    cdef int64_t wide = P.shape[1]
    results = np.zeros((chunks, 1 + 2 * wide))
    cdef double[:, ::1] parts = results
    memset(&topics, 0, sizeof(topics))
    topics.wide, topics.longest, topics.B = wide, longest, &Q[0, 0]
    job.topics = &topics
    job.parameters = &parameters[0, 0]
    job.given = &P[0, 0]
    job.row_out = &out[0, 0]
    job.chunk = &factor_chunk
    job.width = 1 + 2 * wide
    job.results = &parts[0, 0]
    start(&job, chunks, threads)
    sum_of_chunks(parts)
    if np.isnan(results[0, 0]):
        raise MemoryError("not enough memory for the scratch space of a kernel")
    return results[0, 0], results[0, 1 : 1 + wide], results[0, 1 + wide :]


cdef run_blocks(job_t *job, chunk_t chunk, int64_t width, int64_t chunks, int threads):
    """Run a part of a pass over blocks and return the sum of its results (width,)."""
    results = np.zeros((chunks, width))
    cdef double[:, ::1] parts = results
    job.chunk, job.width, job.results = chunk, width, &parts[0, 0]
    start(job, chunks, threads)
    sum_of_chunks(parts)
    if np.isnan(results[0, 0]):
        raise MemoryError("not enough memory for the scratch space of a kernel")
    return results[0]


def block_pass(Rows rows, const double[::1] degree, const double[:, ::1] gamma, room, B, no_link, double alpha, int64_t chunks,
               int threads):
    """(N1 / B, 2 N0 (K, K each), bound without the terms of N0 and of the prior).

    ``room`` (5, n, wide) begins with phi and near, which are changed, and ends with M; its other parts are scratch.
    """
    cdef int64_t K = gamma.shape[1], wide = room.shape[2]
    cdef job_t job = job_on(rows, K)
    cdef topics_t topics
    cdef blocks_t blocks
    matrices = np.zeros((2, wide, wide))
    matrices[0, :K, :K], matrices[1, :K, :K] = B, no_link
    sums = room[0].sum(axis=0)
    cdef double[:, :, ::1] r = room
    cdef double[:, :, ::1] m = matrices
    cdef double[::1] total = sums
    memset(&topics, 0, sizeof(topics))
    topics.wide, topics.longest = wide, max(int(np.max(degree)), 1)
    blocks.wide, blocks.alpha = wide, alpha
    blocks.B, blocks.no_link = &m[0, 0, 0], &m[1, 0, 0]
    blocks.degree, blocks.gamma, blocks.total = &degree[0], &gamma[0, 0], &total[0]
    blocks.phi, blocks.near, blocks.E, blocks.a, blocks.M = &r[0, 0, 0], &r[1, 0, 0], &r[2, 0, 0], &r[3, 0, 0], &r[4, 0, 0]
    job.topics = &topics
    job.blocks = &blocks
    bound = run_blocks(&job, &block_expectations_chunk, 1, chunks, threads)[0]
    links = run_blocks(&job, &block_links_chunk, 1 + wide * wide, chunks, threads)
    for _ in range(2):
        others = run_blocks(&job, &block_others_chunk, 1 + wide, chunks, threads)
        sums[:] = others[1:]
        pairs = run_blocks(&job, &block_near_chunk, 1 + wide * wide, chunks, threads)
    N1, N0 = (part[1:].reshape(wide, wide)[:K, :K] for part in (links, pairs))
    return N1, N0, bound + links[0] / 2 + others[0]


cdef links_t links(indptr, indices):
    """The links of a CSR matrix, whose two index arrays are both of 32 or both of 64 bits."""
    cdef const int32_t[::1] i32, p32
    cdef const int64_t[::1] i64, p64
    cdef links_t a
    a.index64 = indptr.dtype == np.int64
    if a.index64:
        i64, p64 = indices, indptr
        a.indices, a.indptr = &i64[0], &p64[0]
    else:
        i32, p32 = indices, indptr
        a.indices, a.indptr = &i32[0], &p32[0]
    return a


def affiliation_sweep(indptr, indices, double[:, ::1] F, double[::1] total, const int64_t[::1] order, double rate, double most):
    """Move each row of F (n, wide) once, in order, and keep ``total`` (wide,) the sum of the rows; in place."""
    cdef int status
    assert F.shape[1] == filled_up_c(F.shape[1])
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = affiliation_sweep_c(
            &a, &F[0, 0], &total[0], &order[0], order.shape[0], F.shape[0], F.shape[1], rate, most)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def affiliation_rows(indptr, indices, const double[:, ::1] F, const double[::1] total, double[:, ::1] f, double rate, double most,
                     int64_t steps):
    """Move the rows f (m, wide) of new nodes, linked to rows of F; in place."""
    cdef int status
    assert F.shape[1] == filled_up_c(F.shape[1])
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = affiliation_rows_c(&a, &F[0, 0], &total[0], &f[0, 0], f.shape[0], F.shape[1], rate, most, steps)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def affiliation_links(indptr, indices, const double[:, ::1] F, double rate):
    """The links' part of the log likelihood."""
    cdef double[::1] zero = np.zeros(F.shape[1])
    assert F.shape[1] == filled_up_c(F.shape[1])
    cdef links_t a = links(indptr, indices)
    cdef double total
    cdef int status
    with nogil:
        status = affiliation_links_c(&a, &F[0, 0], &zero[0], F.shape[0], F.shape[1], rate, &total)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")
    return total


def links_product(indptr, indices, const float[::1] values, const float[:, ::1] X, float[:, ::1] out):
    """The product of a CSR matrix and X in single precision, written to ``out``."""
    cdef int status
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = links_product_c(&a, &values[0], &X[0, 0], out.shape[0], out.shape[1], &out[0, 0])
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def closed_wedges(indptr, indices, double[::1] closed):
    """For each node, the number of links among the nodes that it is linked to, in both directions."""
    cdef int status
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = closed_wedges_c(&a, closed.shape[0], &closed[0])
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def listen(indptr, indices, const double[::1] weights, int32_t[:, ::1] memory, int64_t round, const int64_t[::1] order,
           uint64_t key, int64_t chunks, int threads):
    """A round of listening: the labels heard are written to the column ``round`` of the memory."""
    cdef int status
    cdef links_t a = links(indptr, indices)
    cdef const int64_t *one_by_one = NULL
    if order is not None:
        one_by_one = &order[0]
    with nogil:
        status = listen_c(&a, &weights[0], memory.shape[0], &memory[0, 0], memory.shape[1], round, one_by_one, key, chunks,
                          threads)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def walks(indptr, indices, const double[::1] weight, const double[::1] passable, double[::1] two, double[::1] three, int threads):
    """Weights of the walks of two and of three steps between linked nodes; of three only for one direction of each link."""
    cdef int status
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = walks_c(&a, &weight[0], &passable[0], passable.shape[0], &two[0], &three[0], threads)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def move_nodes(indptr, indices, const double[::1] weights, const double[::1] strengths, const double[::1] pull,
               const int64_t[::1] order, int64_t[::1] labels):
    """Move nodes between communities while the modularity rises; ``labels`` in place."""
    cdef int status
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = move_nodes_c(&a, &weights[0], &strengths[0], &pull[0], &order[0], labels.shape[0], &labels[0])
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def ego_links(indptr, indices, const double[::1] weights, int64_t lo, int64_t hi, int64_t[::1] ptr, int64_t[::1] to,
              double[::1] weights_to):
    """The ego networks of some nodes, side by side, as the three arrays of a CSR matrix."""
    cdef int status
    cdef int64_t n = len(indptr) - 1
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = ego_links_c(&a, &weights[0], n, lo, hi, &ptr[0], &to[0], &weights_to[0])
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def majority_labels(indptr, indices, const double[::1] weights, int64_t sweeps, int64_t[::1] labels):
    """Let labels spread to where most weight of the links leads to them; in place."""
    cdef int status
    cdef links_t a = links(indptr, indices)
    with nogil:
        status = majority_labels_c(&a, &weights[0], labels.shape[0], sweeps, &labels[0])
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def propagate(indptr, indices, const double[::1] influence, const int64_t[::1] order, int64_t[::1] count, int64_t[::1] label,
              double[::1] share):
    """A sweep of label propagation, in place; gives the number of nodes whose first label changed."""
    cdef int64_t changed
    cdef links_t a = links(indptr, indices)
    with nogil:
        changed = propagate_c(
            &a, &influence[0], &order[0], order.shape[0], count.shape[0], &count[0], &label[0], &share[0])
    if changed < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")
    return changed


cdef sparse_rows_t sparse_rows(const int64_t[::1] start, const int32_t[::1] column, const double[::1] value):
    cdef sparse_rows_t rows
    rows.start, rows.column, rows.value = &start[0], &column[0], &value[0]
    return rows


def link_rows(indptr, indices, const double[::1] weight, P_start, P_column, P_value, Q_start, Q_column, Q_value, int64_t K,
              int64_t longest, double[::1] k, double[::1] logs, int threads):
    """P_iz sum_j x_ij / s_ij Q_jz and sum_j x_ij log s_ij over the links, s_ij = P_i . Q_j, written to ``k`` and ``logs``."""
    cdef int status
    cdef links_t a = links(indptr, indices)
    cdef sparse_rows_t P = sparse_rows(P_start, P_column, P_value), Q = sparse_rows(Q_start, Q_column, Q_value)
    with nogil:
        status = link_rows_c(&a, &weight[0], logs.shape[0], &P, &Q, K, longest, &k[0], &logs[0], threads)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def gumbel_softmax(
        const double[:, :, ::1] W, const uint64_t[:, ::1] keys, double t, float[:, :, :, ::1] out, double[:, :, ::1] mean,
        int threads):
    """Draws (starts, draws, K, n) of softmax((W + g) / t) over the K of W (starts, K, n), and their means."""
    cdef int status
    with nogil:
        status = gumbel_softmax_c(
            &W[0, 0, 0], &keys[0, 0], keys.shape[0], keys.shape[1], W.shape[1], W.shape[2], t, &out[0, 0, 0, 0],
            &mean[0, 0, 0], threads)
    if status < 0:
        raise MemoryError("not enough memory for the scratch space of a kernel")


def gumbel_slope(
        const float[:, :, :, ::1] draws, const double[:, :, ::1] mean, const double[:, :, ::1] slope, double t,
        double[:, :, ::1] out, int threads):
    """The gradient in W, from the gradient in the mean of the draws."""
    with nogil:
        gumbel_slope_c(
            &draws[0, 0, 0, 0], &mean[0, 0, 0], &slope[0, 0, 0], draws.shape[0], draws.shape[1], draws.shape[2],
            draws.shape[3], t, &out[0, 0, 0], threads)


cdef class Tree:
    """Rows of features in a tree of boxes; see ``kernels.hierarchy``."""

    cdef tree_t c

    def __cinit__(self, const double[:, ::1] rows):
        cdef int status
        with nogil:
            status = build_tree(&self.c, &rows[0, 0], rows.shape[0], rows.shape[1])
        if status < 0:
            memset(&self.c, 0, sizeof(self.c))
            raise MemoryError("not enough memory for a tree of the rows")

    def __dealloc__(self):
        free_tree(&self.c)

    def nearest(self, Tree others, int64_t k, int threads):
        """The squared distances (n, k) of the rows to the nearest of others, ascending, and which they are."""
        cdef double[:, ::1] squared = np.empty((self.c.n, k))
        cdef int64_t[:, ::1] which = np.empty((self.c.n, k), dtype=np.int64)
        cdef int status
        with nogil:
            status = tree_nearest(&self.c, &others.c, k, &squared[0, 0], &which[0, 0], threads)
        if status < 0:
            raise MemoryError("not enough memory for the search of neighbours")
        return np.asarray(squared), np.asarray(which)

    def spanning_tree(self, const double[::1] core, const double[:, ::1] near, const int64_t[:, ::1] which, int threads):
        """The edges (n - 1, 2) of a minimum spanning tree by mutual reachability, and their squared lengths."""
        cdef int64_t[:, ::1] ends = np.empty((max(self.c.n - 1, 1), 2), dtype=np.int64)
        cdef double[::1] squared = np.empty(max(self.c.n - 1, 1))
        cdef int status
        with nogil:
            status = tree_spanning(
                &self.c, &core[0], near.shape[1], &near[0, 0], &which[0, 0], &ends[0, 0], &squared[0], threads)
        if status < 0:
            raise MemoryError("not enough memory for the spanning tree")
        return np.asarray(ends)[:self.c.n - 1], np.asarray(squared)[:self.c.n - 1]

    def contacts(self, const double[:, ::1] rows, const int64_t[::1] starts, const double[::1] floor, const double[::1] core,
                 const int64_t[::1] member, int threads):
        """The squared contacts (n, K) with the clusters, the rows between the ``starts`` (K + 1,), with their floors."""
        cdef int64_t K = starts.shape[0] - 1, k, p, status = 0
        cdef double[:, ::1] out = np.empty((self.c.n, K))
        cdef tree_t *trees = <tree_t *>calloc(K, sizeof(tree_t))
        if trees == NULL:
            raise MemoryError("not enough memory for the trees of the clusters")
        with nogil:
            for k in range(K):
                status = build_tree(trees + k, &rows[starts[k], 0], starts[k + 1] - starts[k], rows.shape[1])
                if status < 0:
                    memset(trees + k, 0, sizeof(tree_t))
                    break
                for p in range(trees[k].n):
                    trees[k].floor[p] = floor[starts[k] + trees[k].row[p]]
                summarise(trees + k, 0, 0, trees[k].leaves)
            if status == 0:
                status = tree_contacts(&self.c, trees, K, &core[0], &member[0], &out[0, 0], threads)
            for k in range(K):
                free_tree(trees + k)
            free(trees)
        if status < 0:
            raise MemoryError("not enough memory for the trees of the clusters")
        return np.asarray(out)


def condense(const int64_t[:, ::1] ends, const double[::1] levels, const double[::1] core, const double[::1] weight,
             double least):
    """Parents and births of the clusters of a hierarchy, the last cluster and the exit of each row."""
    cdef int64_t n = weight.shape[0], C
    cdef int64_t[::1] parent = np.empty(2 * n, dtype=np.int64), last = np.empty(n, dtype=np.int64)
    cdef double[::1] birth = np.empty(2 * n), exits = np.empty(n)
    with nogil:
        C = condense_c(
            n, &ends[0, 0] if n > 1 else NULL, &levels[0] if n > 1 else NULL, &core[0], &weight[0], least, &parent[0],
            &birth[0], &last[0], &exits[0])
    if C < 0:
        raise MemoryError("not enough memory for the hierarchy")
    return np.array(parent[:C]), np.array(birth[:C]), np.asarray(last), np.asarray(exits)


def overlaps(const int64_t[::1] columns, const int64_t[::1] starts, const int64_t[::1] rows, const int64_t[::1] ends,
             double least):
    """The pairs a < b of columns of a sparse matrix with |a and b| / min(|a|, |b|) >= least, and |a and b|.

    The rows of each column (``rows``, ``ends``: CSC) and the sorted columns of each row (``columns``, ``starts``: CSR).
    """
    cdef int64_t K = ends.shape[0] - 1, a, b, p, q, row, filled = 0, met
    cdef int64_t[::1] after = np.array(starts), common = np.zeros(K, np.int64), touched = np.empty(K, np.int64)
    cdef int64_t[:, ::1] found = np.empty((1024, 3), np.int64)
    for a in range(K):
        met = 0
        for p in range(ends[a], ends[a + 1]):
            row = rows[p]
            after[row] += 1  # column a of this row
            for q in range(after[row], starts[row + 1]):
                b = columns[q]
                if common[b] == 0:
                    touched[met] = b
                    met += 1
                common[b] += 1
        if filled + met > found.shape[0]:
            found = np.resize(found, (2 * (filled + met), 3))
        for p in range(met):
            b = touched[p]
            if common[b] >= least * min(ends[a + 1] - ends[a], ends[b + 1] - ends[b]):
                found[filled, 0], found[filled, 1], found[filled, 2] = a, b, common[b]
                filled += 1
            common[b] = 0
    return np.asarray(found)[:filled].T


cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void *PyUnicode_DATA(object)
    Py_UCS4 PyUnicode_READ(int, void *, Py_ssize_t)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    str PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    bint Py_UNICODE_ISALNUM(Py_UCS4)

ctypedef struct entry_t:
    uint64_t hash
    int64_t word, row  # number of the word and of the last document with it, from 1 on; 0 if the entry is free
    int64_t place      # where that document counts it


cdef bint is_slice(str word, int kind, void *data, Py_ssize_t begin, Py_ssize_t length):
    """Whether a word is the part of a text that begins here and has this length."""
    cdef Py_ssize_t i
    cdef int own = PyUnicode_KIND(word)
    cdef void *letters = PyUnicode_DATA(word)
    if PyUnicode_GET_LENGTH(word) != length:
        return False
    for i in range(length):
        if PyUnicode_READ(own, letters, i) != PyUnicode_READ(kind, data, begin + i):
            return False
    return True


def count_tokens(documents):
    r"""Count the words of texts: runs of at least two letters, digits and underscores, in lower case (``\b\w\w+\b``).

    Returns the words in the order in which they occur first, and the counts as the arrays of a CSR matrix.
    """
    cdef bint[128] ascii
    cdef int kind
    cdef void *data
    cdef Py_ssize_t i, begin, length
    cdef uint64_t letter, code, mask = (1 << 14) - 1
    cdef int64_t slot, row = 0, filled = 0
    cdef entry_t[::1] table = np.zeros(mask + 1, ENTRY), larger
    cdef entry_t *entry
    cdef int32_t[::1] indices = np.empty(1024, np.int32), counts = np.empty(1024, np.int32)
    cdef list words = []
    indptr = [0]
    for i in range(128):
        ascii[i] = Py_UNICODE_ISALNUM(<Py_UCS4>i) or i == c"_"
    for document in documents:
        text = document.lower()
        kind, data, length = PyUnicode_KIND(text), PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)
        row += 1
        if filled + length // 3 + 1 > indices.shape[0]:
            indices = np.resize(indices, 2 * (filled + length))
            counts = np.resize(counts, 2 * (filled + length))
        begin, code = 0, 0
        for i in range(length + 1):
            letter = <uint64_t>PyUnicode_READ(kind, data, i) if i < length else 32
            if ascii[letter] if letter < 128 else Py_UNICODE_ISALNUM(<Py_UCS4>letter):
                code = (code ^ letter) * 0x9E3779B97F4A7C15ULL
                code ^= code >> 29
                continue
            if i - begin > 1:
                slot = code & mask
                while True:
                    entry = &table[slot]
                    if entry.word == 0:
                        words.append(PyUnicode_Substring(text, begin, i))
                        entry.hash, entry.word = code, len(words)
                        break
                    if entry.hash == code and is_slice(words[entry.word - 1], kind, data, begin, i - begin):
                        break
                    slot = (slot + 1) & mask
                if entry.row != row:
                    entry.row, entry.place = row, filled
                    indices[filled], counts[filled] = entry.word - 1, 0
                    filled += 1
                counts[entry.place] += 1
                if 2 * len(words) > table.shape[0]:
                    larger = np.zeros(2 * (mask + 1), ENTRY)
                    mask = 2 * mask + 1
                    for slot in range(table.shape[0]):
                        if table[slot].word:
                            code = table[slot].hash
                            while larger[code & mask].word:
                                code += 1
                            larger[code & mask] = table[slot]
                    table = larger
            begin, code = i + 1, 0
        indptr.append(filled)
    starts = np.array(indptr, np.int32 if filled < 1 << 31 else np.int64)
    return words, np.asarray(counts)[:filled], np.asarray(indices)[:filled], starts


ENTRY = np.dtype([("hash", np.uint64), ("word", np.int64), ("row", np.int64), ("place", np.int64)])
