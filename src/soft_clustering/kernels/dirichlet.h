/* Maximum likelihood of Dirichlet distributions by Newton's method; its twin is in mixture/dirichlet.py. */

typedef struct {
    double value, rounding;
} likelihood_t;

/* log Gamma(sum_j a_j) - sum_j log Gamma(a_j) + sum_j a_j s_j, and its rounding error. */
static likelihood_t dirichlet_likelihood(const double *a, const double *s, int64_t p)
{
    double total = 0, normaliser = 0, product = 0;
    for (int64_t j = 0; j < p; j++) {
        total += a[j];
        normaliser -= lgamma(a[j]);
        product += a[j] * s[j];
    }
    const double largest = lgamma(total);
    normaliser += largest;
    return (likelihood_t){normaliser + product, 1e-15 * (1 + fabs(largest) + fabs(product))};
}

/* The first two derivatives of log Gamma: recurrences up to 10, from there on their asymptotic series. */
static double digamma_of(double x, double *trigamma)
{
    double psi = 0, tri = 0;
    for (; x < 10; x += 1) {
        psi -= 1 / x;
        tri += 1 / (x * x);
    }
    const double y = 1 / x, z = y * y;
    *trigamma = tri + y + z / 2 +
                y * z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * (691.0 / 2730 - z * 7 / 6))))));
    return psi + log(x) - y / 2 -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
}

/* Hessian^-1 gradient, for the Hessian diag(q) + z 1 1^T. Scratch: q (p). */
static void dirichlet_step(const double *a, const double *s, int64_t p, double *q, double *step)
{
    double total = 0, curvature, above = 0, below = 0;
    for (int64_t j = 0; j < p; j++)
        total += a[j];
    const double psi = digamma_of(total, &curvature);
    for (int64_t j = 0; j < p; j++) {
        step[j] = psi - digamma_of(a[j], q + j) + s[j];
        q[j] = -q[j];
        above += step[j] / q[j];
        below += 1 / q[j];
    }
    for (int64_t j = 0; j < p; j++)
        step[j] = (step[j] - above / (1 / curvature + below)) / q[j];
}

/* Shapes within the bounds. Too large ones shrink all together, which keeps their mean. */
static void dirichlet_bound(double *a, int64_t p, double least, double most)
{
    double largest = 0;
    for (int64_t j = 0; j < p; j++)
        largest = a[j] > largest ? a[j] : largest;
    for (int64_t j = 0; j < p; j++) {
        a[j] *= largest > most ? most / largest : 1;
        a[j] = a[j] > least ? (a[j] < most ? a[j] : most) : least;
    }
}

/* The shapes a (p) of largest likelihood from the ones given. A step is halved until the shapes are positive and the
   likelihood does not fall. Scratch: work (3 p). */
static void dirichlet_maximum(double *a, const double *s, int64_t p, double least, double most, int steps, int halvings,
                              double small, double *work)
{
    double *step = work, *q = work + p, *proposed = work + 2 * p;
    for (int n = 0; n < steps; n++) {
        const likelihood_t here = dirichlet_likelihood(a, s, p);
        double length = 1, change = 0;
        dirichlet_step(a, s, p, q, step);
        for (int h = 0; h < halvings; h++, length /= 2) {
            int positive = 1;
            for (int64_t j = 0; j < p; j++) {
                proposed[j] = a[j] - length * step[j];
                positive = positive && proposed[j] > 0;
            }
            if (!positive)
                continue;
            dirichlet_bound(proposed, p, least, most);
            if (dirichlet_likelihood(proposed, s, p).value >= here.value - here.rounding) {
                for (int64_t j = 0; j < p; j++) {
                    change = fabs(proposed[j] / a[j] - 1) > change ? fabs(proposed[j] / a[j] - 1) : change;
                    a[j] = proposed[j];
                }
                break;
            }
        }
        if (!(change > small))
            return;
    }
}
