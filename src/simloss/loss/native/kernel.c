/* The loss of a batch and its gradient, by any number of threads. No torch, no Python. */
#include "call.h"

/* Up to so many classes L rows side by side are quicker than one after the other, whose entries, at so
 * many at once, stay in the nearest cache. */
#define FEW 24
#define FEW_SPARSE 128
#define NEAR (1 << 13)

typedef struct Work Work;
typedef struct {
    void *lanes; /* vectors to work in */
    double *logs;
    double *nodes; /* of the class graph, and as many slopes */
} Room;
typedef void Blocks(Work *, Room *, int64_t, int64_t, double *);

struct Work {
    const Call *call;
    Blocks *blocks;
    int width; /* bytes of a vector */
    const void *powers; /* of r, around the middle: a row of S is a piece of it */
    double scale;       /* of every gradient: 1, or 1 / divisor */
    int is_mixed;       /* a target counts more than one class */
    int at_once; /* so many rows one after the other; 0: L of them side by side */
    int64_t rows, step, units;
    double *sums;       /* one per unit, so that their order does not depend on the threads */
    _Atomic int64_t next, bad, failed;
};

/* The class of a row, -1 where it is ignored, and how much its loss counts. */
static void classify(Work *work, int64_t row, int64_t *y, double *weight) {
    const Call *call = work->call;
    *weight = call->example_weight ? call->example_weight[row] : 1;
    *y = 0;
    if (call->has_probabilities) return;
    *y = ((const int64_t *)call->target)[row];
    if (*y == call->ignore_index) {
        *y = -1;
    } else if (*y < 0 || *y >= call->classes) {
        work->bad = row + 1; /* S is never read outside; Python says what is wrong */
        *y = -1;
    } else if (call->weight && !work->is_mixed) {
        *weight *= call->weight[*y];
    }
}

static void one_class(Room *room, int64_t C, int64_t y) {
    memset(room->logs + C, 0, C * sizeof(double));
    room->logs[C + y] = 1;
}

/* A loss with the call's share of plain cross entropy. With all of it, its own may be infinite. */
static inline double blended(const Call *call, double loss, double plain) {
    double share = call->share;
    return share > 0 ? (share < 1 ? (1 - share) * loss : 0) + share * plain : loss;
}

#define PASTE_(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) PASTE_(a, b, c)
/* How two vectors are interleaved: LOW_bytes of a vector_bytes of an entry. */
#define LOW_32_8 0, 4, 1, 5
#define HIGH_32_8 2, 6, 3, 7
#define LOW_32_4 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_32_4 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_64_8 LOW_32_4
#define HIGH_64_8 HIGH_32_4
#define LOW_64_4 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_64_4 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31

/* The same code for two sets of instructions; which one runs is chosen when it runs. */
#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4")
#define WIDTH 64
#include "reals.h"
#undef WIDTH
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define WIDTH 32
#include "reals.h"
#undef WIDTH
#pragma GCC pop_options
#else
#define WIDTH 32
#include "reals.h"
#undef WIDTH
#endif

/* What one thread does: units of rows until there are none left. */
static void run(void *state) {
    Work *work = state;
    const Call *call = work->call;
    size_t vectors = (work->is_mixed ? 6 : 5) * call->classes + 3 * call->groups;
    size_t nodes = call->edges ? call->classes + call->groups : 0;
    if (work->at_once) vectors = (work->at_once + 1) * (call->classes / (work->width / 8) + 1);
    size_t doubles = 11 * call->classes + 2 * nodes;
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, vectors * work->width + doubles * sizeof(double))) {
        work->failed = 1;
        return;
    }
    double *logs = (double *)(memory + vectors * work->width);
    Room room = {memory, logs, logs + 11 * call->classes};
#ifdef __SSE2__
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040); /* numbers too small to be normal are 0, and quick */
#endif
    for (int64_t unit; (unit = work->next++) < work->units;) {
        int64_t from = unit * work->step, to = from + work->step;
        work->blocks(work, &room, from, to < work->rows ? to : work->rows, work->sums + unit);
    }
#ifdef __SSE2__
    __builtin_ia32_ldmxcsr(before);
#endif
    free(memory);
}

/* Bytes of this machine's vectors; 0 where it is too old for what was compiled, or where the caller's
 * `Call` is not of this version's size. */
int simloss_vectors(int64_t size) {
    if (size != sizeof(Call)) return 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) return 64;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 0;
#else
    return 32;
#endif
}

static Blocks *which(int width, int64_t is_wide) {
    Blocks *narrow[] = {blocks_32_ff, blocks_32_fd, blocks_32_dd};
#if defined(__x86_64__)
    Blocks *broad[] = {blocks_64_ff, blocks_64_fd, blocks_64_dd};
    if (width == 64) return broad[is_wide];
#endif
    return narrow[is_wide + 0 * width];
}

/* r to the power of the distance, for distances C to 0 to C. */
static void *powers(const Call *call, int is_double) {
    int64_t C = call->classes;
    size_t size = is_double ? sizeof(double) : sizeof(float);
    char *table = malloc((2 * C + 1) * size);
    if (!table) return NULL;
    double power = 1;
    for (int64_t d = 0; d <= C; d++) {
        int64_t k = call->structure == CIRCULAR && C - d < d ? C - d : d;
        power = d % 16 && call->structure == ORDER ? power * call->r : pow(call->r, (double)k);
        double value = power < (is_double ? 1e-307 : 1e-37) ? 0 : power;
        for (int side = -1; side <= 1; side += 2) {
            if (is_double) ((double *)table)[C + side * d] = value;
            else ((float *)table)[C + side * d] = (float)value;
        }
    }
    return table;
}

static double divisor(Work *work) {
    const Call *call = work->call;
    double sum = 0, weight;
    if (call->has_probabilities && !call->example_weight) return (double)work->rows;
    for (int64_t row = 0, y; row < work->rows; row++) {
        classify(work, row, &y, &weight);
        if (work->is_mixed && call->weight && !call->has_probabilities && y >= 0) weight *= call->weight[y];
        if (y >= 0) sum += weight;
    }
    return sum;
}

/* 0, or 1 + the first row seen whose class does not exist, or -1 where memory is short. */
int64_t simloss_loss(const Call *call, int is_double, int width) {
    Work work = {.call = call, .width = width, .scale = 1, .rows = call->outer * call->inner};
    work.is_mixed = call->has_probabilities || call->smoothing > 0;
    int is_side_by_side = call->in.cls == 1 && (!call->gradient || call->out.cls == 1);
    int64_t lanes = work.width / (is_double ? 8 : 4), few = (1 << 13) / call->classes;
    int64_t fewest = call->structure == SPARSE ? FEW_SPARSE : FEW;
    if (!work.is_mixed && is_side_by_side && call->classes > fewest &&
        (call->loss != PROPER || call->structure == SPARSE)) {
        int64_t near = NEAR / call->classes;
        work.at_once = near < 1 ? 1 : near < lanes ? (int)near : (int)lanes;
    }
    work.step = (few + lanes) / lanes * lanes;
    work.units = (work.rows + work.step - 1) / work.step;
    double below = 1;
    if (call->reduction == MEAN) {
        below = divisor(&work);
        work.scale = 1 / below;
    }
    if (work.bad) return work.bad;
    double one_sum[64];
    work.sums = work.units <= 64 ? one_sum : malloc(work.units * sizeof(double));
    if (call->structure < DENSE) work.powers = powers(call, is_double);
    if (!work.sums || (call->structure < DENSE && !work.powers)) {
        work.failed = 1;
    } else {
        memset(work.sums, 0, work.units * sizeof(double));
        int is_wide = call->structure < DENSE ? is_double : (int)call->is_wide;
        work.blocks = which(work.width, is_double + is_wide);
        int64_t threads = call->threads < work.units ? call->threads : work.units;
        if (threads > 1 && call->parallel) call->parallel(run, &work, (unsigned)threads, 0);
        else run(&work);
        double sum = 0;
        for (int64_t unit = 0; unit < work.units; unit++) sum += work.sums[unit];
        if (call->reduction == MEAN) sum = below == 0 ? NAN : sum / below;
        if (call->result && is_double) *(double *)call->result = sum;
        else if (call->result) *(float *)call->result = (float)sum;
    }
    free((void *)work.powers);
    if (work.sums != one_sum) free(work.sums);
    return work.failed ? -1 : work.bad;
}
