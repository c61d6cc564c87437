/* One row in double precision and log space: exact where linear space would under- or overflow.
 *
 * Slow and rarely needed, so it knows one kind of target only: how much each class counts, t.
 * With x = z - max z, A_i = sum_c S_ic e^x_c and b = S t:
 *   SIM     sum_i t_i (log s - log A_i)
 *   PROPER  that + sum t - sum_i q_i,  q_i = e^x_i b_i / A_i
 */
#include "call.h"

static double log_add(double a, double b) {
    double high = a > b ? a : b, low = a > b ? b : a;
    return low == -INFINITY ? high : high + log1p(exp(low - high));
}

static double stored(const Call *call, int64_t at) {
    return call->is_wide ? ((const double *)call->values)[at] : ((const float *)call->values)[at];
}

static double log_similarity(const Call *call, int64_t i, int64_t c) {
    if (call->structure == DENSE) return log(stored(call, i * call->classes + c));
    int64_t distance = i < c ? c - i : i - c; /* CIRCULAR */
    if (distance > call->classes - distance) distance = call->classes - distance;
    return distance ? distance * log(call->r) : 0;
}

/* out_i = log sum_c S_ic e^x_c for an order: two running sums. */
static void order_times(const Call *call, const double *x, double *out) {
    double log_r = log(call->r), running = -INFINITY;
    for (int64_t c = 0; c < call->classes; c++)
        out[c] = running = log_add(running + log_r, x[c]);
    running = -INFINITY;
    for (int64_t c = call->classes - 1; c >= 0; c--) {
        out[c] = log_add(out[c], running);
        running = log_add(running, x[c]) + log_r;
    }
}

static void put(double value, double *high, double *sum) {
    if (value == -INFINITY) return;
    if (value > *high) {
        *sum = *sum * exp(*high - value) + 1;
        *high = value;
    } else {
        *sum += exp(value - *high);
    }
}

/* out = log(S e^x), or of S transposed; only for the rows of S where `wanted` is not 0. */
static void times(const Call *call, const double *x, double *out, double *sums, int transposed,
                  const double *wanted) {
    int64_t C = call->classes;
    if (call->structure == ORDER && call->r > 0) {
        order_times(call, x, out);
        return;
    }
    for (int64_t c = 0; c < C; c++) out[c] = -INFINITY, sums[c] = 0;
    for (int64_t i = 0; i < C; i++) {
        if (transposed ? x[i] == -INFINITY : (wanted && wanted[i] == 0)) continue;
        if (call->structure == SPARSE) {
            for (int64_t k = call->crow[i]; k < call->crow[i + 1]; k++) {
                int64_t c = call->column[k], from = transposed ? i : c, to = transposed ? c : i;
                put(log(stored(call, k)) + x[from], out + to, sums + to);
            }
        } else if (call->structure == ORDER) { /* r = 0: the identity */
            put(x[i], out + i, sums + i);
        } else {
            for (int64_t c = 0; c < C; c++) {
                int64_t from = transposed ? i : c, to = transposed ? c : i;
                if (x[from] > -INFINITY) put(log_similarity(call, i, c) + x[from], out + to, sums + to);
            }
        }
    }
    for (int64_t c = 0; c < C; c++)
        if (sums[c] > 0) out[c] += log(sums[c]);
}

static double of_positive(const Call *call, const LogRow *row) {
    int64_t C = call->classes;
    const double *x = row->x, *t = row->t;
    double *log_a = row->room, *log_b = log_a + C, *log_q = log_b + C, *u = log_q + C;
    double *v = u + C, *sums = v + C, *gradient = row->gradient;
    double s = 0, total = 0, loss = 0, plain = 0, share = call->share;
    for (int64_t c = 0; c < C; c++) s += exp(x[c]), total += t[c];
    double log_s = log(s);
    times(call, x, log_a, sums, 0, call->loss == SIM ? t : NULL);
    for (int64_t i = 0; i < C; i++) {
        u[i] = -INFINITY;
        if (t[i] == 0) continue;
        /* A class that is impossible with all that is like it: cross entropy's loss and gradient. */
        if (log_a[i] > -INFINITY) u[i] = log(t[i]) - log_a[i];
        loss += t[i] * (log_s - log_a[i]);
        plain += t[i] * (log_s - x[i]);
    }
    times(call, u, v, sums, 1, NULL);
    for (int64_t c = 0; c < C; c++) {
        int dead = t[c] != 0 && log_a[c] == -INFINITY;
        gradient[c] = total * exp(x[c] - log_s) - exp(x[c] + v[c]) - (dead ? t[c] : 0);
    }
    if (call->loss == PROPER) {
        for (int64_t c = 0; c < C; c++) u[c] = log(t[c]);
        times(call, u, log_b, sums, 0, NULL);
        double expected = 0;
        for (int64_t i = 0; i < C; i++) {
            int possible = x[i] > -INFINITY && log_b[i] > -INFINITY;
            log_q[i] = possible ? x[i] + log_b[i] - log_a[i] : -INFINITY;
            u[i] = possible ? log_q[i] - log_a[i] : -INFINITY;
            expected += exp(log_q[i]);
        }
        times(call, u, v, sums, 1, NULL);
        for (int64_t c = 0; c < C; c++) gradient[c] += exp(x[c] + v[c]) - exp(log_q[c]);
        loss += total - expected;
    }
    if (call->row_sums)
        for (int64_t c = 0; c < C; c++)
            if (t[c] != 0) loss += t[c] * log(call->row_sums[c]);
    if (share > 0) {
        for (int64_t c = 0; c < C; c++)
            gradient[c] = (1 - share) * gradient[c] + share * (total * exp(x[c] - log_s) - t[c]);
        loss = share < 1 ? (1 - share) * loss + share * plain : plain;
    }
    return loss;
}

/* Loss and gradient are linear in t, so what counts below 0 is done by itself. */
double simloss_log_row(const Call *call, const LogRow *row) {
    int64_t C = call->classes;
    int has_negative = 0;
    for (int64_t c = 0; c < C; c++) has_negative |= row->t[c] < 0;
    if (!has_negative) return of_positive(call, row);
    double *t = row->room + 6 * C, *gradient = t + C;
    for (int64_t c = 0; c < C; c++) {
        t[c] = row->t[c] < 0 ? -row->t[c] : 0;
        if (row->t[c] < 0) row->t[c] = 0;
    }
    double loss = of_positive(call, row);
    loss -= of_positive(call, &(LogRow){row->x, t, gradient, row->room});
    for (int64_t c = 0; c < C; c++) row->gradient[c] -= gradient[c];
    return loss;
}
