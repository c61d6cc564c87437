/* Loss and gradient of rows of logits in linear space; included once for each pair of REAL (of the
 * logits) and STORED (of S).
 *
 * With x = z - max z, e = exp x, s = sum e, A = S e, every loss has the gradient  e / s - R,  where R
 * says where probability should go:
 *   SIM     log s - log A_y                     R_c = S_yc e_c / A_y
 *   SOFT    log s - sum_c T_c x_c               R_c = T_c,  T = S_y / sum S_y
 *   PROPER  log s - log A_y + 1 - sum_i q_i     R_c = q_c - e_c (S^T h)_c,
 *           q_i = e_i S_iy / A_i                h_i = q_i / A_i - [i = y] / A_y
 * What needs one row of S goes row by row (`NAME(by_rows)`). What needs all of S e has L rows side by side,
 * one in each lane of a vector (`NAME(by_lanes)`); a target there may count many classes.
 */
#define L ((int)(WIDTH / sizeof(REAL)))
typedef REAL NAME(V) __attribute__((vector_size(WIDTH)));
typedef REAL NAME(U) __attribute__((vector_size(WIDTH), aligned(sizeof(REAL)), may_alias));
typedef WHOLE NAME(I) __attribute__((vector_size(WIDTH)));
typedef NATURAL NAME(N) __attribute__((vector_size(WIDTH)));
#define V NAME(V)
#define U NAME(U)
#define I NAME(I)
#define N NAME(N)
#define LANE(array, c, l) (((REAL *)(array))[(c) * L + (l)])
#define CHOOSE(mask, a, b) ((V)(((I)(a) & (mask)) | ((I)(b) & ~(mask))))
#define INLINE static inline __attribute__((always_inline))

INLINE V NAME(all)(REAL value) { return (V){0} + value; }

INLINE I NAME(not_finite)(V x) { return ~((x > NAME(all)(-INFINITY)) & (x < NAME(all)(INFINITY))); }

/* e^x for x <= 0; 0 where that is not a normal number. Below, what is computed is not used. */
INLINE V NAME(exp)(V x) {
    const V magic = NAME(all)(EXP_MAGIC); /* a sum with it ends in the nearest whole number */
    V shifted = x * NAME(all)((REAL)1.44269504088896340736) + magic;
    V n = shifted - magic;
    V rest = x - n * NAME(all)(LN2_HIGH) - n * NAME(all)(LN2_LOW);
    static const REAL factor[] = {EXP_FACTORS};
    V y = NAME(all)(factor[0]);
    for (size_t k = 1; k < sizeof factor / sizeof *factor; k++) y = y * rest + NAME(all)(factor[k]);
    N bits = (N)y + ((N)shifted << MANTISSA);
    return (V)((I)bits & (x >= NAME(all)(EXP_LOWEST)));
}

/* log x for normal x > 0: exponent and mantissa m in [sqrt .5, sqrt 2), 2 artanh((m - 1) / (m + 1)). */
INLINE V NAME(log)(V x) {
    const I half = (I)NAME(all)((REAL)0.70710678118654752440);
    I n = ((I)x - half) >> MANTISSA;
    V m = (V)((I)x - (n << MANTISSA));
    V f = (m - 1) / (m + 1), square = f * f, y = NAME(all)((REAL)1 / (2 * LOG_TERMS + 1));
    for (int k = LOG_TERMS - 1; k >= 0; k--) y = y * square + NAME(all)((REAL)1 / (2 * k + 1));
    V count = __builtin_convertvector(n, V);
    return count * NAME(all)(LN2_HIGH) + (count * NAME(all)(LN2_LOW) + 2 * f * y);
}

/* L vectors of L entries, rows made columns. */
INLINE void NAME(transpose)(V *x) {
    for (int round = 1; round < L; round *= 2) {
        V y[L];
        for (int k = 0; k < L / 2; k++) {
            y[2 * k] = __builtin_shufflevector(x[k], x[k + L / 2], LOW_HALVES);
            y[2 * k + 1] = __builtin_shufflevector(x[k], x[k + L / 2], HIGH_HALVES);
        }
        for (int k = 0; k < L; k++) x[k] = y[k];
    }
}

/* Where the rows of a block begin, and how far apart their classes are. */
typedef struct {
    REAL *at[L];
    int64_t step;
    int side_by_side; /* lane l is l entries after lane 0 */
} NAME(Places);

/* At most L classes from c on, a vector for each. */
INLINE void NAME(load_tile)(const NAME(Places) *rows, int64_t c, int64_t C, V *out) {
    int64_t step = rows->step;
    int count = C - c < L ? (int)(C - c) : L;
    if (rows->side_by_side) {
        for (int k = 0; k < count; k++) {
            const REAL *at = rows->at[0] + (c + k) * step;
            out[k] = *(const U *)at;
            __builtin_prefetch(at + 4 * L);
        }
    } else if (step == 1 && count == L) {
        for (int l = 0; l < L; l++) out[l] = *(const U *)(rows->at[l] + c);
        NAME(transpose)(out);
    } else {
        for (int k = 0; k < count; k++)
            for (int l = 0; l < L; l++) LANE(out, k, l) = rows->at[l][(c + k) * step];
    }
}

/* The same back, for n rows; `in` is used up. */
INLINE void NAME(store_tile)(const NAME(Places) *rows, int n, int64_t c, int64_t C, V *in) {
    int64_t step = rows->step;
    int count = C - c < L ? (int)(C - c) : L;
    if (rows->side_by_side && n == L) {
        for (int k = 0; k < count; k++) *(U *)(rows->at[0] + (c + k) * step) = in[k];
    } else if (step == 1 && count == L) {
        NAME(transpose)(in);
        for (int l = 0; l < n; l++) *(U *)(rows->at[l] + c) = in[l];
    } else {
        for (int k = 0; k < count; k++)
            for (int l = 0; l < n; l++) rows->at[l][(c + k) * step] = LANE(in, k, l);
    }
}

INLINE void NAME(load)(const NAME(Places) *rows, int64_t C, V *out) {
    for (int64_t c = 0; c < C; c += L) NAME(load_tile)(rows, c, C, out + c);
}

INLINE void NAME(store)(const NAME(Places) *rows, int n, int64_t C, V *in) {
    for (int64_t c = 0; c < C; c += L) NAME(store_tile)(rows, n, c, C, in + c);
}

/* The row of S for class y, as the tables and the stored matrix have it. */
#define POWER_ROW(work, y) ((const REAL *)(work)->powers + (work)->call->classes - (y))
#define STORED_ROW(call, y) ((const STORED *)(call)->values + (y) * (call)->classes)

/* out = S x, or of S transposed. */
INLINE void NAME(times)(const Work *work, const V *x, V *out, int transposed) {
    const Call *call = work->call;
    int64_t C = call->classes;
    if (call->structure == ORDER) {
        V r = NAME(all)((REAL)call->r), running = {0};
        for (int64_t c = 0; c < C; c++) out[c] = running = running * r + x[c];
        running = NAME(all)(0);
        for (int64_t c = C - 1; c >= 0; c--) {
            out[c] += running;
            running = running * r + x[c] * r;
        }
    } else if (call->structure == SPARSE) {
        const STORED *value = call->values;
        memset(out, 0, C * sizeof(V));
        for (int64_t i = 0; i < C; i++)
            for (int64_t k = call->crow[i]; k < call->crow[i + 1]; k++) {
                int64_t c = call->column[k], from = transposed ? i : c, to = transposed ? c : i;
                out[to] += x[from] * NAME(all)((REAL)value[k]);
            }
    } else { /* four entries of the result at a time, so that x is read less often */
        for (int64_t i = 0; i < C; i += 4) {
            V sum[4] = {{0}};
            int64_t at[4];
            for (int k = 0; k < 4; k++) at[k] = i + k < C ? i + k : C - 1;
            for (int64_t c = 0; c < C; c++)
                for (int k = 0; k < 4; k++) {
                    int64_t row = transposed ? c : at[k], column = transposed ? at[k] : c;
                    REAL s = call->structure == DENSE ? (REAL)STORED_ROW(call, row)[column]
                                                      : POWER_ROW(work, row)[column];
                    sum[k] += x[c] * NAME(all)(s);
                }
            for (int k = 0; k < 4; k++) out[at[k]] = sum[k];
        }
    }
}

/* The rows of S for the true classes, or its columns. */
INLINE void NAME(rows_of)(const Work *work, const int64_t *y, int columns, V *out) {
    const Call *call = work->call;
    int64_t C = call->classes;
    NAME(Places) rows = {.step = 1};
    if (call->structure == SPARSE) {
        const int64_t *begin = columns ? call->ccol : call->crow, *at = columns ? call->row : call->column;
        memset(out, 0, C * sizeof(V));
        for (int l = 0; l < L; l++)
            for (int64_t k = begin[y[l]]; k < begin[y[l] + 1]; k++)
                LANE(out, at[k], l) = (REAL)((const STORED *)call->values)[columns ? call->entry[k] : k];
        return;
    }
    if (call->structure != DENSE) { /* symmetric */
        for (int l = 0; l < L; l++) rows.at[l] = (REAL *)POWER_ROW(work, y[l]);
    } else if (sizeof(STORED) == sizeof(REAL)) {
        for (int l = 0; l < L; l++)
            rows.at[l] = (REAL *)call->values + (columns ? y[l] : y[l] * C);
        rows.step = columns ? C : 1;
    } else {
        for (int64_t c = 0; c < C; c++)
            for (int l = 0; l < L; l++)
                LANE(out, c, l) = (REAL)(columns ? STORED_ROW(call, c)[y[l]] : STORED_ROW(call, y[l])[c]);
        return;
    }
    NAME(load)(&rows, C, out);
}

typedef STORED NAME(T) __attribute__((vector_size(WIDTH / sizeof(REAL) * sizeof(STORED)),
                                      aligned(sizeof(STORED)), may_alias));

/* L entries from c on; past the end of the row, `rest`. */
INLINE V NAME(part)(const REAL *row, int64_t c, int64_t C, REAL rest) {
    if (c + L <= C) return *(const U *)(row + c);
    V x = NAME(all)(rest);
    for (int64_t l = 0; c + l < C; l++) x[l] = row[c + l];
    return x;
}

INLINE V NAME(stored_part)(const STORED *row, int64_t c, int64_t C) {
    if (c + L <= C) return __builtin_convertvector(*(const NAME(T) *)(row + c), V);
    V x = {0};
    for (int64_t l = 0; c + l < C; l++) x[l] = (REAL)row[c + l];
    return x;
}

INLINE void NAME(put)(REAL *row, int64_t c, int64_t C, V x) {
    if (c + L <= C) *(U *)(row + c) = x;
    else for (int64_t l = 0; c + l < C; l++) row[c + l] = x[l];
}

/* PROPER with sparse rows: only the classes like y matter, and of them only what they are like.
 * Leaves the mixtures A_i in `mixtures`; gives 0 where linear space cannot hold one of them. */
INLINE int NAME(neighbours)(const Call *call, int64_t y, const REAL *e, REAL *mixtures, double *expected) {
    const STORED *value = call->values;
    const int64_t *column = call->column;
    for (int64_t k = call->ccol[y]; k < call->ccol[y + 1]; k++) {
        int64_t i = call->row[k], end = call->crow[i + 1];
        REAL a = 0, w = (REAL)value[call->entry[k]];
#pragma omp simd reduction(+ : a)
        for (int64_t j = call->crow[i]; j < end; j++) a += (REAL)value[j] * e[column[j]];
        if (!(a >= call->classes * TINY) && w > 0) return 0;
        *expected += w > 0 ? e[i] * w / a : 0;
        *mixtures++ = a;
    }
    return 1;
}

INLINE void NAME(pull)(const Call *call, int64_t y, const REAL *e, const REAL *mixtures, REAL factor,
                       REAL *gradient) {
    const STORED *value = call->values;
    const int64_t *column = call->column;
    for (int64_t k = call->ccol[y]; k < call->ccol[y + 1]; k++) {
        int64_t i = call->row[k], end = call->crow[i + 1];
        REAL a = *mixtures++, w = (REAL)value[call->entry[k]];
        if (!(w > 0)) continue;
        REAL q = e[i] * w / a, h = factor * (q - (i == y)) / a;
        for (int64_t j = call->crow[i]; j < end; j++)
            gradient[column[j]] += e[column[j]] * ((REAL)value[j] * h);
        gradient[i] -= factor * q;
    }
}

/* The highest of a row, lane by lane, NaN in a lane that has one. Unless `e` is NULL it gets a copy of the
 * row, -infinity past its end. Four at a time, because each must wait for the one before it. */
INLINE V NAME(highest)(const REAL *z, REAL *e, int64_t C) {
    V high[4];
    I wrong = {0};
    int64_t c = 0;
    for (int k = 0; k < 4; k++) high[k] = NAME(all)(-INFINITY);
    for (; c + 4 * L <= C; c += 4 * L)
        for (int k = 0; k < 4; k++) {
            V x = *(const U *)(z + c + k * L);
            wrong |= x != x;
            high[k] = CHOOSE(x > high[k], x, high[k]);
            if (e) *(U *)(e + c + k * L) = x;
        }
    for (; c < C; c += L) {
        V x = NAME(part)(z, c, C, -INFINITY);
        if (e) *(U *)(e + c) = x;
        wrong |= x != x;
        high[0] = CHOOSE(x > high[0], x, high[0]);
    }
    for (int k = 1; k < 4; k++) high[0] = CHOOSE(high[k] > high[0], high[k], high[0]);
    return CHOOSE(wrong, NAME(all)(NAN), high[0]);
}

/* Of L vectors, a row in each: the highest of each row, and where it is no finite number. They are used up. */
INLINE V NAME(tops)(V *x, I *wrong) {
    V high = NAME(all)(-INFINITY);
    NAME(transpose)(x);
    for (int l = 0; l < L; l++) {
        *wrong |= x[l] != x[l];
        high = CHOOSE(x[l] > high, x[l], high);
    }
    *wrong |= NAME(not_finite)(high);
    return high;
}

/* Of L vectors, a row in each: the sum of each row. They are used up. */
INLINE V NAME(sums)(V *x) {
    V sum = {0};
    NAME(transpose)(x);
    for (int l = 0; l < L; l++) sum += x[l];
    return sum;
}

/* A row of S where it is not sparse, for L classes from c on in `now`. The last few are looked at apart,
 * so that the loop makes no call and constants stay in registers. */
#define OVER_S(...)                                                                                \
    const REAL *power = call->structure < DENSE ? POWER_ROW(work, y) : NULL;                       \
    const STORED *stored = call->structure == DENSE ? STORED_ROW(call, y) : NULL;                  \
    int64_t c = 0, last = C / L * L;                                                               \
    if (power) {                                                                                   \
        for (; c < last; c += L) {                                                                 \
            V now = *(const U *)(power + c);                                                       \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    } else {                                                                                       \
        for (; c < last; c += L) {                                                                 \
            V now = __builtin_convertvector(*(const NAME(T) *)(stored + c), V);                    \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }                                                                                              \
    if (c < C) {                                                                                   \
        V now = power ? NAME(part)(power, c, C, 0) : NAME(stored_part)(stored, c, C);              \
        __VA_ARGS__                                                                                \
    }

/* Of one row: sums, lane by lane, of exp x, of what S weighs, and for SOFT of the weights. */
typedef struct {
    V e, weighed, weights;
} NAME(Row);

/* Makes exp x out of x = z - top in `e`. Fetches `next`, which will be z after this, from far memory. */
INLINE NAME(Row) NAME(weighed)(const Work *work, REAL *e, const REAL *next, REAL top, int64_t y) {
    const Call *call = work->call;
    int64_t C = call->classes;
    V m = NAME(all)(top), s = {0}, a = {0}, w = {0};
    if (call->structure == SPARSE) {
        const STORED *value = call->values;
        int64_t begin = call->crow[y], end = call->crow[y + 1];
        double mixture = 0, sum = 0;
        for (int64_t k = begin; k < end && call->loss == SOFT; k++) {
            double v = value[k];
            sum += v;
            mixture += v > 0 ? v * (double)(e[call->column[k]] - top) : 0;
        }
        for (int64_t c = 0; c < C; c += L) {
            s += *(U *)(e + c) = NAME(exp)(*(U *)(e + c) - m);
            __builtin_prefetch(next + c);
        }
        for (int64_t k = begin; k < end && call->loss != SOFT; k++)
            mixture += (double)value[k] * e[call->column[k]];
        a[0] = (REAL)mixture, w[0] = (REAL)sum;
    } else if (call->loss == SOFT) {
        OVER_S(V x = *(U *)(e + c) - m; w += now;
               a += CHOOSE(now > 0, now * x, now); /* 0 times -inf is 0 here */
               s += *(U *)(e + c) = NAME(exp)(x); __builtin_prefetch(next + c);)
    } else {
        OVER_S(V x = NAME(exp)(*(U *)(e + c) - m); s += *(U *)(e + c) = x; a += x * now;
               __builtin_prefetch(next + c);)
    }
    return (NAME(Row)){s, a, w};
}

/* The gradient  e of_e - R of_s. */
INLINE void NAME(put_gradient)(const Work *work, const REAL *e, REAL of_e, REAL of_s, int64_t y,
                               REAL *gradient) {
    const Call *call = work->call;
    int64_t C = call->classes;
    V by_e = NAME(all)(of_e), by_s = NAME(all)(of_s);
    if (call->structure == SPARSE) {
        const STORED *value = call->values;
        for (int64_t c = 0; c < C; c += L) NAME(put)(gradient, c, C, *(U *)(e + c) * by_e);
        for (int64_t k = call->crow[y]; k < call->crow[y + 1] && call->loss != PROPER; k++) {
            int64_t c = call->column[k];
            gradient[c] -= of_s * (REAL)value[k] * (call->loss == SOFT ? 1 : e[c]);
        }
    } else if (call->loss == SOFT) {
        OVER_S(NAME(put)(gradient, c, C, *(U *)(e + c) * by_e - now * by_s);)
    } else {
        OVER_S(NAME(put)(gradient, c, C, *(U *)(e + c) * (by_e - now * by_s));)
    }
}

/* L rows in the lanes of vectors. */
typedef struct {
    V *x, *e, *a, *w, *h; /* C each: x, exp x, S e, what becomes the gradient, room */
    V s;                  /* sum of e */
    int is_unsound[L];
    double loss[L];
} NAME(Lanes);

/* SIM and SOFT for true classes y. Leaves R in `w`. */
INLINE void NAME(one_row_of_s)(const Work *work, NAME(Lanes) *b, const int64_t *y) {
    int64_t C = work->call->classes;
    int is_soft = work->call->loss == SOFT;
    V mixture = {0}, mass = {0};
    NAME(rows_of)(work, y, 0, b->w);
    if (is_soft) {
        for (int64_t c = 0; c < C; c++) {
            V w = b->w[c];
            mass += w;
            mixture += CHOOSE(w > 0, w * b->x[c], w); /* 0 times -inf is 0 here */
        }
        mixture /= mass;
    } else {
        for (int64_t c = 0; c < C; c++) mixture += b->w[c] *= b->e[c];
        mass = mixture;
    }
    for (int l = 0; l < L; l++) b->is_unsound[l] = !is_soft && !(mixture[l] >= C * TINY);
    V loss = NAME(log)(b->s) - (is_soft ? mixture : NAME(log)(mixture));
    for (int l = 0; l < L; l++) b->loss[l] = loss[l];
    mass = 1 / mass;
    for (int64_t c = 0; c < C; c++) b->w[c] *= mass;
}

/* PROPER for true classes y. Leaves R in `w`. */
INLINE void NAME(proper)(const Work *work, NAME(Lanes) *b, const int64_t *y) {
    int64_t C = work->call->classes;
    V expected = {0}, missed = {0}, tiny = NAME(all)((REAL)(C * TINY));
    NAME(times)(work, b->e, b->a, 0);
    NAME(rows_of)(work, y, 1, b->w);
    for (int64_t c = 0; c < C; c++) {
        I sound = b->a[c] >= tiny;
        V inverse = (V)((I)(1 / b->a[c]) & sound), w = b->w[c];
        missed += (V)((I)w & ~sound);
        V q = b->e[c] * w * inverse;
        expected += q;
        b->w[c] = q;
        b->h[c] = q * inverse;
    }
    for (int l = 0; l < L; l++) {
        REAL own = LANE(b->a, y[l], l);
        b->loss[l] = log((double)b->s[l]) - log((double)own) + 1 - (double)expected[l];
        b->is_unsound[l] = !(missed[l] <= MISSED);
        LANE(b->h, y[l], l) -= 1 / own;
    }
    NAME(times)(work, b->h, b->a, 1);
    for (int64_t c = 0; c < C; c++) b->w[c] -= b->e[c] * b->a[c];
}

/* Any loss for a target t that counts many classes, in `t`, which is used up. Leaves R in `w`. */
INLINE void NAME(mixed)(const Work *work, NAME(Lanes) *b, V *t, V total) {
    const Call *call = work->call;
    int64_t C = call->classes;
    V loss = {0}, tiny = NAME(all)((REAL)(C * TINY));
    I unsound = {0};
    V log_s = NAME(log)(b->s);
    if (call->loss == SOFT) {
        for (int64_t c = 0; c < C; c++) b->h[c] = NAME(all)(1);
        NAME(times)(work, b->h, b->a, 0); /* sums of the rows */
        for (int64_t c = 0; c < C; c++) b->h[c] = t[c] / b->a[c];
        NAME(times)(work, b->h, b->w, 1);
        for (int64_t c = 0; c < C; c++) loss -= CHOOSE(b->w[c] != 0, b->w[c] * b->x[c], b->w[c]);
        loss += total * log_s;
    } else {
        V missed = {0};
        NAME(times)(work, b->e, b->a, 0);
        if (call->loss == PROPER) NAME(times)(work, t, b->w, 0);
        for (int64_t c = 0; c < C; c++) {
            I sound = b->a[c] >= tiny;
            V a = CHOOSE(sound, b->a[c], NAME(all)(1)), inverse = (V)((I)(1 / a) & sound), q = {0};
            unsound |= ~sound & (t[c] != 0);
            loss += CHOOSE(t[c] != 0, t[c] * (log_s - NAME(log)(a)), t[c]);
            if (call->loss == PROPER) {
                V w = b->w[c];
                missed += (V)((I)CHOOSE(w < 0, -w, w) & ~sound);
                q = b->e[c] * w * inverse;
                loss += t[c] - q;
                b->w[c] = q;
            }
            b->h[c] = (q - t[c]) * inverse;
        }
        unsound |= missed > NAME(all)(MISSED);
        NAME(times)(work, b->h, b->a, 1);
        for (int64_t c = 0; c < C; c++)
            b->w[c] = (call->loss == PROPER ? b->w[c] : NAME(all)(0)) - b->e[c] * b->a[c];
    }
    for (int l = 0; l < L; l++) b->loss[l] = loss[l], b->is_unsound[l] = unsound[l] != 0;
}

INLINE NAME(Places) NAME(places)(const Call *call, const void *base, Strides strides, int64_t first, int n) {
    NAME(Places) places = {.step = strides.cls};
    for (int l = 0; l < L; l++) {
        int64_t row = first + (l < n ? l : 0);
        int64_t outer = call->inner == 1 ? row : row / call->inner, inner = row - outer * call->inner;
        places.at[l] = (REAL *)base + outer * strides.outer + inner * strides.inner;
    }
    places.side_by_side = n == L && places.at[L - 1] == places.at[0] + L - 1 && strides.inner == 1;
    return places;
}

/* The row in double precision: NaN where it holds one, else in log space. Adds nothing to the sums. */
static __attribute__((noinline)) double NAME(again)(Work *work, Room *room, const REAL *z, int64_t z_step,
                                                    REAL *gradient, int64_t step, double scale) {
    const Call *call = work->call;
    int64_t C = call->classes;
    double *x = room->logs, *slope = x + 2 * C, top = -INFINITY, loss = NAN, total = 0;
    int is_wrong = 0;
    for (int64_t c = 0; c < C; c++) {
        x[c] = z[c * z_step];
        if (x[c] > top) top = x[c];
        is_wrong |= x[c] != x[c];
    }
    if (is_wrong || !(top > -INFINITY && top < INFINITY)) {
        for (int64_t c = 0; c < C; c++) slope[c] = NAN;
    } else {
        for (int64_t c = 0; c < C; c++) x[c] -= top, total += x[C + c];
        loss = simloss_log_row(call, &(LogRow){x, x + C, slope, x + 3 * C});
        if (call->edges) {
            double *smooth = room->nodes + C + call->groups;
            memcpy(room->nodes, x, C * sizeof(double));
            loss += total * simloss_smooth(call, room->nodes, smooth);
            for (int64_t c = 0; c < C; c++) slope[c] += total * smooth[c];
        }
    }
    if (gradient)
        for (int64_t c = 0; c < C; c++) gradient[c * step] = (REAL)(slope[c] * scale);
    return loss;
}

/* Smoothness of one row, before the gradient takes the place of z. Along a path it leaves the pull of
 * the edge that ends at each class, and C + 1 of them; else the slopes of the nodes. */
INLINE double NAME(smooth_row)(const Call *call, const REAL *z, double *nodes) {
    int64_t C = call->classes;
    if (call->first) {
        for (int64_t c = 0; c < C; c++) nodes[c] = z[c];
        return simloss_smooth(call, nodes, nodes + C + call->groups);
    }
    const double *stiffness = call->stiffness;
    REAL *pull = (REAL *)nodes, sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t e = 0; e < C - 1; e++) {
        REAL step = z[e + 1] - z[e];
        step = step - step == 0 ? step : 0; /* not where one of them is impossible */
        REAL now = (REAL)stiffness[e] * step;
        sum += now * step;
        pull[e + 1] = now;
    }
    REAL step = call->edges == C ? z[0] - z[C - 1] : 0;
    step = step - step == 0 ? step : 0;
    pull[0] = pull[C] = call->edges == C ? (REAL)stiffness[C - 1] * step : 0;
    return (double)sum + pull[0] * step;
}

INLINE void NAME(add_smooth)(const Call *call, const double *nodes, REAL factor, REAL *gradient) {
    int64_t C = call->classes;
    const REAL *pull = (const REAL *)nodes;
    const double *slope = nodes + C + call->groups;
    if (call->first)
        for (int64_t c = 0; c < C; c++) gradient[c] += factor * (REAL)slope[c];
    else
#pragma omp simd
        for (int64_t c = 0; c < C; c++) gradient[c] += 2 * factor * (pull[c] - pull[c + 1]);
}

/* Smoothness of L rows: adds to the losses, and to the gradient in `w` times `factor`. */
INLINE V NAME(smooth_lanes)(const Call *call, const V *x, V *w, V *group, V factor) {
    int64_t C = call->classes, G = call->groups;
    V *mean = group, *slope = group + G, *count = group + 2 * G, sum = {0};
    for (int64_t g = 0; g < G; g++) {
        V total = {0};
        count[g] = slope[g] = NAME(all)(0);
        for (int64_t k = call->begin[g]; k < call->begin[g + 1]; k++) {
            V one = x[call->member[k]];
            I possible = one > NAME(all)(-INFINITY);
            total += (V)((I)one & possible);
            count[g] += (V)((I)NAME(all)(1) & possible);
        }
        mean[g] = CHOOSE(count[g] > 0, total / count[g], NAME(all)(-INFINITY));
    }
    for (int64_t e = 0; e < call->edges; e++) {
        int64_t i = call->first ? call->first[e] : e;
        int64_t j = call->first ? call->second[e] : e + 1 < C ? e + 1 : 0;
        V step = (i < C ? x[i] : mean[i - C]) - (j < C ? x[j] : mean[j - C]);
        step = (V)((I)step & (step - step == NAME(all)(0))); /* not where one of them is impossible */
        V pull = step * NAME(all)((REAL)call->stiffness[e]);
        sum += pull * step;
        pull *= 2 * factor;
        *(i < C ? w + i : slope + i - C) += pull;
        *(j < C ? w + j : slope + j - C) -= pull;
    }
    for (int64_t g = 0; g < G; g++)
        for (int64_t k = call->begin[g]; k < call->begin[g + 1]; k++) {
            I possible = x[call->member[k]] > NAME(all)(-INFINITY);
            w[call->member[k]] += (V)((I)(slope[g] / count[g]) & possible);
        }
    return sum;
}

/* Up to L rows whose classes lie side by side: SIM and SOFT, and PROPER with sparse rows. What is needed of
 * each class is done row by row, what is needed once per row in the lanes of vectors. */
INLINE void NAME(by_rows)(Work *work, Room *room, REAL *const *in, REAL *const *out, int n, const int64_t *y,
                          const double *weight, double *loss) {
    const Call *call = work->call;
    int64_t C = call->classes, wide = (C + L - 1) / L * L;
    int is_soft = call->loss == SOFT;
    REAL *e = room->lanes, *mixtures = e + n * wide;
    V top[L] = {{0}}, s[L] = {{0}}, a[L] = {{0}}, mass[L] = {{0}};
    I unsound = {0};
    for (int l = 0; l < n; l++)
        if (y[l] >= 0) top[l] = NAME(highest)(in[l], e + l * wide, C);
    V high = NAME(tops)(top, &unsound);
    for (int l = 0; l < n; l++) {
        if (y[l] < 0 || unsound[l]) continue;
        NAME(Row) row = NAME(weighed)(work, e + l * wide, in[l] + n * call->in.outer, high[l], y[l]);
        s[l] = row.e, a[l] = row.weighed, mass[l] = row.weights;
    }
    V total = NAME(sums)(s), mixture = NAME(sums)(a), log_s = NAME(log)(total), divisor = mixture;
    if (is_soft) {
        divisor = NAME(sums)(mass);
        mixture /= divisor;
    } else {
        unsound |= ~(mixture >= NAME(all)((REAL)(C * TINY)));
        mixture = NAME(log)(mixture);
    }
    double share = call->share;
    for (int l = 0; l < n; l++) {
        REAL *gradient = call->gradient ? out[l] : NULL, *own_e = e + l * wide;
        double scale = weight[l] * work->scale, smooth = 0, expected = 1;
        if (y[l] < 0) {
            if (gradient) memset(gradient, 0, C * sizeof(REAL));
            continue;
        }
        /* The gradient may lie where z does, so whether all is sound must be known first. */
        int is_sound = !unsound[l];
        if (is_sound && call->loss == PROPER) {
            expected = 0;
            is_sound = NAME(neighbours)(call, y[l], own_e, mixtures, &expected);
        }
        if (!is_sound) {
            one_class(room, C, y[l]);
            loss[l] = NAME(again)(work, room, in[l], 1, gradient, 1, scale);
            continue;
        }
        if (call->edges) smooth = NAME(smooth_row)(call, in[l], room->nodes);
        double plain = (double)log_s[l] - (double)(in[l][y[l]] - high[l]);
        loss[l] = (double)(log_s[l] - mixture[l]) + 1 - expected;
        if (call->row_sums && !is_soft) loss[l] += log(call->row_sums[y[l]]);
        loss[l] = blended(call, loss[l], plain);
        loss[l] += smooth;
        if (!gradient) continue;
        REAL of_e = (REAL)(scale / total[l]), of_s = (REAL)(scale * (1 - share) / divisor[l]);
        NAME(put_gradient)(work, own_e, of_e, of_s, y[l], gradient);
        if (call->loss == PROPER)
            NAME(pull)(call, y[l], own_e, mixtures, (REAL)(scale * (1 - share)), gradient);
        gradient[y[l]] -= (REAL)(scale * share);
        if (call->edges) NAME(add_smooth)(call, room->nodes, (REAL)scale, gradient);
    }
}

/* PROPER for an order, L rows in the lanes of vectors. S e, the column S_.y and S h are running sums, from
 * the left and from the right, so each is half made in one pass and finished in the next. Gives 0, before
 * it writes anything, if a row is not finite or linear space cannot hold it. */
INLINE int NAME(proper_order)(const Work *work, Room *room, const NAME(Places) *in, const NAME(Places) *out,
                              int n, const int64_t *y, const double *weight, double *loss) {
    const Call *call = work->call;
    int64_t C = call->classes;
    V *e = room->lanes, *a = e + C, *w = e + 2 * C, *h = e + 3 * C, *pull = e + 4 * C, tile[L];
    V r = NAME(all)((REAL)call->r), one = NAME(all)(1), tiny = NAME(all)((REAL)(C * TINY));
    V s = {0}, of_e = {0}, of_y = {0}, of_h = {0}, expected = {0}, missed = {0}, own = {0}, smooth = {0};
    V high = NAME(all)(-INFINITY), before = {0}, by_e, by_r, by_y, by_pull;
    I place, wrong = {0};
    for (int l = 0; l < L; l++) place[l] = l < n && y[l] >= 0 ? (WHOLE)y[l] : 0;
    if (in->step == 1 && !in->side_by_side) {
        for (int l = 0; l < L; l++) tile[l] = NAME(highest)(in->at[l], NULL, C);
        high = NAME(tops)(tile, &wrong);
    } else {
        for (int64_t c = 0; c < C; c += L) {
            NAME(load_tile)(in, c, C, tile);
            for (int k = 0; k < L && c + k < C; k++) {
                wrong |= tile[k] != tile[k];
                high = CHOOSE(tile[k] > high, tile[k], high);
            }
        }
        wrong |= NAME(not_finite)(high);
    }
    for (int64_t first = 0; first < C; first += L) {
        NAME(load_tile)(in, first, C, tile);
        for (int64_t c = first; c < first + L && c < C; c++) {
            V x = tile[c - first] - high;
            s += e[c] = NAME(exp)(x);
            a[c] = of_e = of_e * r + e[c];
            w[c] = of_y = of_y * r + (V)((I)one & (place == (WHOLE)c));
            if (call->edges) { /* of the edge that ends at this class */
                V step = c ? x - before : NAME(all)(0);
                step = (V)((I)step & (step - step == NAME(all)(0))); /* not if one is impossible */
                pull[c] = step * NAME(all)(c ? (REAL)call->stiffness[c - 1] : 0);
                smooth += pull[c] * step;
                before = x;
            }
        }
    }
    of_e = of_y = NAME(all)(0);
    for (int64_t c = C - 1; c >= 0; c--) {
        I here = place == (WHOLE)c;
        V all = a[c] + of_e, column = w[c] + of_y;
        I sound = all >= tiny;
        V inverse = (V)((I)(1 / all) & sound), q = e[c] * column * inverse;
        missed += (V)((I)column & ~sound);
        expected += q;
        own = CHOOSE(here, all, own);
        w[c] = q;
        a[c] = of_h;
        h[c] = q * inverse - (V)((I)inverse & here);
        of_e = of_e * r + e[c] * r; /* a product that need not wait for the sum */
        of_y = of_y * r + (V)((I)r & here);
        of_h = of_h * r + h[c] * r;
    }
    double share = call->share;
    V log_s = NAME(log)(s), value = log_s - NAME(log)(own) + (1 - expected);
    for (int l = 0; l < L; l++) {
        int is_counted = l < n && y[l] >= 0;
        if (is_counted && (wrong[l] || !(missed[l] <= MISSED))) return 0;
        double scale = is_counted ? weight[l] * work->scale : 0;
        by_e[l] = (REAL)(scale / s[l]), by_r[l] = (REAL)(scale * (1 - share));
        by_y[l] = (REAL)(scale * share), by_pull[l] = (REAL)(2 * scale);
        if (!is_counted) continue;
        double plain = (double)log_s[l] - (double)(in->at[l][y[l] * in->step] - high[l]);
        loss[l] = value[l];
        if (call->row_sums) loss[l] += log(call->row_sums[y[l]]);
        loss[l] = blended(call, loss[l], plain);
        loss[l] += smooth[l];
    }
    of_h = NAME(all)(0);
    for (int64_t first = 0; first < C && call->gradient; first += L) {
        for (int64_t c = first; c < first + L && c < C; c++) {
            of_h = of_h * r + h[c];
            V g = e[c] * by_e - (w[c] - e[c] * (of_h + a[c])) * by_r;
            g -= (V)((I)by_y & (place == (WHOLE)c));
            if (call->edges) g += (pull[c] - (c + 1 < C ? pull[c + 1] : NAME(all)(0))) * by_pull;
            tile[c - first] = g;
        }
        NAME(store_tile)(out, n, first, C, tile);
    }
    return 1;
}

/* What row sums of S add to the loss of a lane. */
static double NAME(sum_of_logs)(const Call *call, const V *t, int l) {
    double sum = 0;
    for (int64_t c = 0; c < call->classes; c++) sum += LANE(t, c, l) * log(call->row_sums[c]);
    return sum;
}

/* L rows at once, in the lanes of vectors. */
INLINE void NAME(by_lanes)(Work *work, Room *room, const NAME(Places) *in, const NAME(Places) *out, int n,
                           const int64_t *y, const double *weight, int64_t first, double *loss) {
    const Call *call = work->call;
    int64_t C = call->classes;
    V *x = room->lanes, *t = x + 5 * C;
    NAME(Lanes) b = {.x = x, .e = x + C, .a = x + 2 * C, .w = x + 3 * C, .h = x + 4 * C};
    V high = NAME(all)(-INFINITY), total = NAME(all)(1), plain = {0};
    I wrong = {0};
    int is_mixed = work->is_mixed;
    int64_t own[L];
    for (int l = 0; l < L; l++) own[l] = l < n && y[l] >= 0 ? y[l] : 0;
    NAME(load)(in, C, x);
    for (int64_t c = 0; c < C; c++) {
        wrong |= x[c] != x[c];
        high = CHOOSE(x[c] > high, x[c], high);
    }
    wrong |= NAME(not_finite)(high);
    for (int64_t c = 0; c < C; c++) {
        x[c] -= high;
        b.s += b.e[c] = NAME(exp)(x[c]);
    }
    if (is_mixed) {
        total = NAME(all)(0);
        if (call->has_probabilities) {
            NAME(Places) target = NAME(places)(call, call->target, call->of_target, first, n);
            NAME(load)(&target, C, t);
        }
        for (int64_t c = 0; c < C; c++) {
            V hard = call->has_probabilities ? t[c] : NAME(all)(0);
            if (!call->has_probabilities)
                for (int l = 0; l < L; l++) hard[l] = c == own[l];
            REAL of_class = call->weight ? (REAL)call->weight[c] : 1;
            t[c] = (hard * (REAL)(1 - call->smoothing) + (REAL)(call->smoothing / C)) * of_class;
            total += t[c];
            plain -= CHOOSE(t[c] != 0, t[c] * x[c], t[c]);
        }
        NAME(mixed)(work, &b, t, total);
    } else {
        if (call->loss == PROPER) NAME(proper)(work, &b, own);
        else NAME(one_row_of_s)(work, &b, own);
        for (int l = 0; l < L; l++) plain[l] = -LANE(x, own[l], l);
    }
    V of_e, of_r, of_t;
    double share = call->share;
    for (int l = 0; l < L; l++) {
        double scale = l < n ? weight[l] * work->scale : 0, log_s = log((double)b.s[l]);
        of_e[l] = (REAL)(scale * total[l] / b.s[l]);
        of_r[l] = (REAL)(scale * (1 - share));
        of_t[l] = (REAL)(scale * share);
        if (l >= n) continue;
        loss[l] = b.loss[l];
        if (call->row_sums && call->loss != SOFT)
            loss[l] += is_mixed ? NAME(sum_of_logs)(call, t, l) : log(call->row_sums[own[l]]);
        loss[l] = blended(call, loss[l], total[l] * log_s + plain[l]);
    }
    if (call->gradient) {
        for (int64_t c = 0; c < C; c++) b.w[c] = b.e[c] * of_e - b.w[c] * of_r;
        if (is_mixed && share > 0)
            for (int64_t c = 0; c < C; c++) b.w[c] -= t[c] * of_t;
        for (int l = 0; l < n && !is_mixed; l++) LANE(b.w, own[l], l) -= of_t[l];
    }
    if (call->edges) {
        V smooth = total * NAME(smooth_lanes)(call, x, b.w, x + (is_mixed ? 6 : 5) * C, of_e * b.s);
        for (int l = 0; l < n; l++) loss[l] += smooth[l];
    }
    for (int l = 0; l < n; l++) {
        if (y[l] < 0) {
            for (int64_t c = 0; c < C && call->gradient; c++) LANE(b.w, c, l) = 0;
        } else if (b.is_unsound[l] || wrong[l]) {
            one_class(room, C, own[l]);
            for (int64_t c = 0; c < C && is_mixed; c++) room->logs[C + c] = LANE(t, c, l);
            REAL *lane = call->gradient ? &LANE(b.w, 0, l) : NULL;
            loss[l] = NAME(again)(work, room, in->at[l], in->step, lane, L, weight[l] * work->scale);
        }
    }
    if (call->gradient) NAME(store)(out, n, C, b.w);
}

static void NAME(blocks)(Work *work, Room *room, int64_t from, int64_t to, double *sum) {
    const Call *call = work->call;
    int is_order = call->loss == PROPER && call->structure == ORDER && !work->is_mixed &&
                   (!call->edges || (!call->first && call->edges < call->classes)); /* not a ring */
    for (int64_t first = from; first < to; first += L) {
        int n = to - first < L ? (int)(to - first) : L;
        int64_t y[L];
        double weight[L], loss[L];
        for (int l = 0; l < n; l++) classify(work, first + l, y + l, weight + l);
        NAME(Places) in = NAME(places)(call, call->input, call->in, first, n), out = in;
        if (call->gradient) out = NAME(places)(call, call->gradient, call->out, first, n);
        for (int l = 0; l < n && work->at_once; l += work->at_once) {
            int some = n - l < work->at_once ? n - l : work->at_once;
            NAME(by_rows)(work, room, in.at + l, out.at + l, some, y + l, weight + l, loss + l);
        }
        if (!work->at_once && !(is_order && NAME(proper_order)(work, room, &in, &out, n, y, weight, loss)))
            NAME(by_lanes)(work, room, &in, &out, n, y, weight, first, loss);
        for (int l = 0; l < n; l++) {
            double value = y[l] < 0 ? 0 : loss[l] * weight[l];
            *sum += value;
            if (call->losses) ((REAL *)call->losses)[first + l] = (REAL)value;
        }
    }
}
#undef L
#undef V
#undef U
#undef I
#undef N
#undef OVER_S
