/* The membership rules, on a tile of squared distances. Included once per vector width.

   A rule gets the squared distances t->D [prototype][row] and overwrites them with memberships (want == MEMBERSHIPS)
   or with the weights of the centre update (want == WEIGHTS); row[r] becomes the row's part of the objective. Scratch:
   t->E and t->narrow, as large as t->D. setup.py finds a rule by the line RULE(name); its twin is in reference.py. */

#define RULE(name) \
    static TARGET void NAME(rule_##name)(tile_t *t, int64_t K, const double *parameters, int want, double *row)

/* Log densities in t->D to posteriors; row[r] becomes the log likelihood of the row. */
static TARGET void NAME(posteriors)(tile_t *t, int64_t K, double *row)
{
    ALIGNED double top[TILE], sum[TILE];
    double *D = t->D;
    memcpy(top, D, sizeof top);
    memset(sum, 0, sizeof sum);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++)
            top[r] = D[k * TILE + r] > top[r] ? D[k * TILE + r] : top[r];
    for (int64_t k = 0; k < K; k++) {
        double *d = D + k * TILE;
        for (int r = 0; r < TILE; r++)
            d[r] -= top[r];
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++)
            sum[r] += d[r];
    }
    NAME(log_tile)(sum, row);
    for (int r = 0; r < TILE; r++) {
        row[r] += top[r];
        sum[r] = 1.0 / sum[r];
    }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] *= sum[r];
}

/* Fuzzy c-means, parameters {m}. With q = dmin / D, ratio = q^(1/(m-1)) and s = sum of the ratios:
   u = ratio / s, u^m = u q s^(1-m), row objective dmin s^(1-m). */
RULE(fcm)
{
    const double m = parameters[0], power = 1.0 / (m - 1.0);
    ALIGNED double low[TILE], sum[TILE], shrink[TILE];
    double *D = t->D, *Q = t->E;
    memcpy(low, D, sizeof low);
    memset(sum, 0, sizeof sum);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++)
            low[r] = D[k * TILE + r] < low[r] ? D[k * TILE + r] : low[r];
    if (m == 2.0) {
        for (int64_t k = 0; k < K; k++)
            for (int r = 0; r < TILE; r++) {
                const double q = D[k * TILE + r] > low[r] ? low[r] / D[k * TILE + r] : 1.0;
                D[k * TILE + r] = q;
                sum[r] += q;
            }
        for (int r = 0; r < TILE; r++) {
            sum[r] = 1.0 / sum[r];
            row[r] = low[r] * sum[r];
        }
        for (int64_t k = 0; k < K; k++)
            for (int r = 0; r < TILE; r++) {
                const double u = D[k * TILE + r] * sum[r];
                D[k * TILE + r] = want == MEMBERSHIPS ? u : u * u;
            }
        return;
    }
    for (int64_t k = 0; k < K; k++) {
        double *d = D + k * TILE, *q = Q + k * TILE;
        for (int r = 0; r < TILE; r++) {
            q[r] = d[r] > low[r] ? low[r] / d[r] : 1.0;
            d[r] = q[r] > 1e-300 ? q[r] : 1e-300;
        }
        NAME(log_tile)(d, d);
        for (int r = 0; r < TILE; r++)
            d[r] *= power;
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++) {
            d[r] = q[r] > 1e-300 ? d[r] : 0.0;
            sum[r] += d[r];
        }
    }
    NAME(log_tile)(sum, shrink);
    for (int r = 0; r < TILE; r++)
        shrink[r] *= 1.0 - m;
    NAME(exp_tile)(shrink, shrink);
    for (int r = 0; r < TILE; r++) {
        row[r] = low[r] * shrink[r];
        sum[r] = 1.0 / sum[r];
        shrink[r] *= sum[r];
    }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] *= want == MEMBERSHIPS ? sum[r] : Q[k * TILE + r] * shrink[r];
}

/* Fuzzy c-means with balls as prototypes, parameters {m, radius}: outside all balls with the distance to the ball in the
   place of the distance; inside some of them with the distances to their centres, no other ball, and objective 0. */
RULE(ball)
{
    const double radius = parameters[1];
    ALIGNED double low[TILE];
    double *D = t->D, *B = t->E;
    for (int r = 0; r < TILE; r++)
        low[r] = INFINITY;
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++) {
            const double beyond = sqrt(D[k * TILE + r]) - radius;
            B[k * TILE + r] = beyond > 0 ? beyond : 0;
            low[r] = B[k * TILE + r] < low[r] ? B[k * TILE + r] : low[r];
        }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++) {
            const double beyond = B[k * TILE + r], inside = beyond > 0 ? INFINITY : D[k * TILE + r];
            D[k * TILE + r] = low[r] > 0 ? beyond * beyond : inside;
        }
    NAME(rule_fcm)(t, K, parameters, want, row);
    for (int r = 0; r < TILE; r++)
        row[r] = low[r] > 0 ? row[r] : 0;
}

/* Distances F that are not squared, parameters {gamma, least}: u >= 0 of sum 1 minimises sum_k u F + gamma u^2, which is
   the objective: the point of the simplex that is nearest to -F / (2 gamma). Weight u / (2 F), 0 if F <= least. */
RULE(sparse)
{
    const double gamma = parameters[0], least = parameters[1], unit = -0.5 / gamma;
    ALIGNED double low[TILE], level[TILE], sum[TILE], size[TILE];
    double *D = t->D, *F = t->E;
    for (int64_t i = 0; i < K * TILE; i++)
        F[i] = sqrt(D[i]);
    memcpy(low, F, sizeof low);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++)
            low[r] = F[k * TILE + r] < low[r] ? F[k * TILE + r] : low[r];
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++) {
            const double y = unit * (F[k * TILE + r] - low[r]);
            D[k * TILE + r] = y > -2.0 ? y : -2.0; /* a membership is 0 from -1 on */
        }
    for (int r = 0; r < TILE; r++)
        level[r] = -INFINITY;
    /* u = max(y - level, 0): drop what is below the level until nothing is */
    double moved = 1;
    for (int64_t i = 0; i < K && moved > 0; i++) {
        memset(sum, 0, sizeof sum);
        memset(size, 0, sizeof size);
        for (int64_t k = 0; k < K; k++)
            for (int r = 0; r < TILE; r++) {
                const double y = D[k * TILE + r];
                sum[r] += y > level[r] ? y : 0.0;
                size[r] += y > level[r] ? 1.0 : 0.0;
            }
        for (int r = 0; r < TILE; r++) {
            sum[r] = (sum[r] - 1.0) / size[r];
            size[r] = sum[r] > level[r] ? 1.0 : 0.0;
            level[r] = sum[r];
        }
        moved = tile_max(size);
    }
    memset(row, 0, sizeof(double) * TILE);
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++) {
            const double f = F[k * TILE + r], above = D[k * TILE + r] - level[r], u = above > 0 ? above : 0.0;
            row[r] += u * (f + gamma * u);
            D[k * TILE + r] = want == MEMBERSHIPS ? u : f > least ? 0.5 * u / f : 0.0;
        }
}

/* The weights of the rule above for each row, as memberships; -u if F <= least. */
RULE(pull)
{
    const double least = parameters[1];
    double *D = t->D, *F = t->E;
    (void)want;
    NAME(rule_sparse)(t, K, parameters, MEMBERSHIPS, row);
    for (int64_t i = 0; i < K * TILE; i++)
        D[i] = F[i] > least ? 0.5 * D[i] / F[i] : -D[i];
}

/* Typicality t = 1 / (1 + (d / bandwidth)^(1/(m-1))) and power = t^(m-1). With ratio the smaller of d / bandwidth and its
   inverse and q = ratio^(1/(m-1)), nothing overflows, and t^(m-1) is right even if t itself underflows. */
static INLINE TARGET void NAME(typicality)(const double *d, double bandwidth, double m, double *out, double *power)
{
    ALIGNED double ratio[TILE], q[TILE];
    for (int r = 0; r < TILE; r++)
        ratio[r] = d[r] < bandwidth ? d[r] / bandwidth : bandwidth / d[r];
    NAME(power_tile)(ratio, 1.0 / (m - 1.0), q);
    for (int r = 0; r < TILE; r++) {
        power[r] = 1.0 / (1.0 + q[r]);
        out[r] = (d[r] < bandwidth ? 1.0 : q[r]) * power[r];
    }
    NAME(power_tile)(power, m - 1.0, power);
    for (int r = 0; r < TILE; r++)
        power[r] *= d[r] < bandwidth ? 1.0 : ratio[r];
}

/* Possibilistic c-means of 1993, parameters {m, bandwidth (K)}: typicality t, weight t^m, objective sum_k D t^(m-1). */
RULE(rational)
{
    const double m = parameters[0];
    ALIGNED double typical[TILE], power[TILE];
    memset(row, 0, sizeof(double) * TILE);
    for (int64_t k = 0; k < K; k++) {
        double *d = t->D + k * TILE;
        NAME(typicality)(d, parameters[1 + k], m, typical, power);
        for (int r = 0; r < TILE; r++) {
            row[r] += d[r] * power[r];
            d[r] = want == MEMBERSHIPS ? typical[r] : typical[r] * power[r];
        }
    }
}

/* Possibilistic c-means of 1996, parameters {bandwidth (K)}: t = exp(-D / bandwidth), weight t,
   objective - sum_k bandwidth t. */
RULE(exponential)
{
    (void)want;
    memset(row, 0, sizeof(double) * TILE);
    for (int64_t k = 0; k < K; k++) {
        double *d = t->D + k * TILE;
        const double bandwidth = parameters[k];
        for (int r = 0; r < TILE; r++)
            d[r] = -d[r] / bandwidth;
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++)
            row[r] -= bandwidth * d[r];
    }
}

/* Possibilistic fuzzy c-means, parameters {m, a, b, exponent, bandwidth (K)}: u as in fuzzy c-means,
   t = 1 / (1 + (b D / bandwidth)^(1/(exponent-1))); weight a u^m + b t^exponent;
   objective a dmin s^(1-m) + sum_k b D t^(exponent-1). */
RULE(pfcm)
{
    const double a = parameters[1], b = parameters[2], exponent = parameters[3];
    double *D = t->D, *T = (double *)t->narrow;
    ALIGNED double typical[TILE], power[TILE], sum[TILE];
    if (want == MEMBERSHIPS || b == 0) {
        NAME(rule_fcm)(t, K, parameters, want, row);
        for (int r = 0; r < TILE; r++)
            row[r] *= a;
        if (want != MEMBERSHIPS)
            for (int64_t i = 0; i < K * TILE; i++)
                D[i] *= a;
        return;
    }
    memset(sum, 0, sizeof sum);
    for (int64_t k = 0; k < K; k++) {
        double *d = D + k * TILE;
        NAME(typicality)(d, parameters[4 + k] / b, exponent, typical, power);
        for (int r = 0; r < TILE; r++) {
            sum[r] += b * d[r] * power[r];
            T[k * TILE + r] = b * typical[r] * power[r];
        }
    }
    NAME(rule_fcm)(t, K, parameters, want, row);
    for (int r = 0; r < TILE; r++)
        row[r] = a * row[r] + sum[r];
    for (int64_t i = 0; i < K * TILE; i++)
        D[i] = a * D[i] + T[i];
}

/* Evidential c-means, parameters {beta, delta^2, penalty (K), rounding (K)}: fuzzy c-means on the costs penalty_k D, where a D
   that is rounding is as small as can be. The first prototype stands for the empty set, of cost delta^2. */
RULE(sets)
{
    const double *penalty = parameters + 2, *rounding = penalty + K;
    for (int r = 0; r < TILE; r++)
        t->D[r] = parameters[1];
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++)
            t->D[k * TILE + r] = penalty[k] * (t->D[k * TILE + r] > rounding[k] ? t->D[k * TILE + r] : DBL_MIN);
    NAME(rule_fcm)(t, K, parameters, want, row);
}

/* Entropy c-means, parameters {lambda, log share (K)}: u = softmax(log share - D / lambda), weight u,
   objective - lambda log sum_k share exp(-D / lambda). */
RULE(entropy)
{
    const double lambda = parameters[0];
    (void)want;
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            t->D[k * TILE + r] = parameters[1 + k] - t->D[k * TILE + r] / lambda;
    NAME(posteriors)(t, K, row);
    for (int r = 0; r < TILE; r++)
        row[r] *= -lambda;
}

/* Softmax, parameters {rate (K), log share (K)}: u = softmax(log share - rate D), weight u,
   objective - log sum_k share exp(-rate D). */
RULE(softmax)
{
    (void)want;
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            t->D[k * TILE + r] = parameters[K + k] - t->D[k * TILE + r] * parameters[k];
    NAME(posteriors)(t, K, row);
    for (int r = 0; r < TILE; r++)
        row[r] = -row[r];
}

/* Kernel fuzzy c-means, parameters {m, gamma}: fuzzy c-means on 1 - e with e = exp(-gamma D); weight u^m e. */
RULE(kernel)
{
    double *D = t->D, *E = (double *)t->narrow;
    for (int64_t k = 0; k < K; k++) {
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] *= -parameters[1];
        NAME(complement_tile)(D + k * TILE, E + k * TILE);
    }
    NAME(rule_fcm)(t, K, parameters, want, row);
    if (want != MEMBERSHIPS)
        for (int64_t i = 0; i < K * TILE; i++)
            D[i] *= E[i];
}

/* Nearest prototype, no parameters: u = 1 there, the first of several; objective its distance. */
RULE(nearest)
{
    ALIGNED double at[TILE];
    double *D = t->D;
    (void)parameters, (void)want;
    memcpy(row, D, sizeof at);
    memset(at, 0, sizeof at);
    for (int64_t k = 1; k < K; k++)
        for (int r = 0; r < TILE; r++) {
            at[r] = D[k * TILE + r] < row[r] ? (double)k : at[r];
            row[r] = D[k * TILE + r] < row[r] ? D[k * TILE + r] : row[r];
        }
    for (int64_t k = 0; k < K; k++)
        for (int r = 0; r < TILE; r++)
            D[k * TILE + r] = at[r] == (double)k;
}

/* Rough k-means, parameters {factor, addend, part, uniform}. A cluster is possible if its distance times `part` is at most
   factor times the least distance, plus addend. Objective: the least squared distance. Memberships: equal ones, or proportional
   to 1 / D, of the possible clusters. Weights, for each centre twice: 1 in the first half for a row with one possible cluster,
   and in the second half for all possible clusters of the other rows. */
RULE(rough)
{
    ALIGNED double limit[TILE], sum[TILE];
    const int64_t n = want == MEMBERSHIPS ? K : K / 2;
    double *D = t->D, *second = D + n * TILE;
    memcpy(row, D, sizeof limit);
    memset(sum, 0, sizeof sum);
    for (int64_t k = 1; k < n; k++)
        for (int r = 0; r < TILE; r++)
            row[r] = D[k * TILE + r] < row[r] ? D[k * TILE + r] : row[r];
    for (int r = 0; r < TILE; r++)
        limit[r] = parameters[0] * sqrt(row[r]) + parameters[1];
    for (int64_t k = 0; k < n; k++)
        for (int r = 0; r < TILE; r++) {
            const double d = D[k * TILE + r], share = parameters[3] == 0 && d > row[r] ? row[r] / d : 1;
            D[k * TILE + r] = sqrt(d) * parameters[2] <= limit[r] ? (want == MEMBERSHIPS ? share : 1) : 0;
            sum[r] += D[k * TILE + r];
        }
    if (want == MEMBERSHIPS) {
        for (int64_t k = 0; k < n; k++)
            for (int r = 0; r < TILE; r++)
                D[k * TILE + r] /= sum[r];
        return;
    }
    for (int64_t k = 0; k < n; k++)
        for (int r = 0; r < TILE; r++) {
            second[k * TILE + r] = sum[r] == 1 ? 0 : D[k * TILE + r];
            D[k * TILE + r] -= second[k * TILE + r];
        }
}

/* Gaussian bumps, parameters {alpha, weight (K)}: weight_k exp(-alpha D); the row's objective is their sum. */
RULE(bumps)
{
    (void)want;
    memset(row, 0, sizeof(double) * TILE);
    for (int64_t k = 0; k < K; k++) {
        double *d = t->D + k * TILE;
        for (int r = 0; r < TILE; r++)
            d[r] *= -parameters[0];
        NAME(exp_tile)(d, d);
        for (int r = 0; r < TILE; r++) {
            d[r] *= parameters[1 + k];
            row[r] += d[r];
        }
    }
}

#undef RULE
