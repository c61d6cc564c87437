/* What Python hands over, and what every part of the kernel reads. All fields are 8 bytes wide. */
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIM, PROPER, SOFT };                /* losses */
enum { ORDER, CIRCULAR, DENSE, SPARSE };   /* structures of S */
enum { NONE, MEAN, SUM };                  /* reductions */

typedef struct {
    int64_t outer, cls, inner; /* distances in memory, in entries */
} Strides;

typedef struct {
    const void *input;  /* logits (outer, classes, inner) */
    void *gradient;     /* of the same shape, or NULL */
    void *losses;       /* one per row, for reduction NONE, or NULL */
    int64_t outer, classes, inner;
    Strides in, out;
    const void *target; /* class indices (outer, inner), or probabilities like the input */
    int64_t has_probabilities;
    Strides of_target;
    const double *weight, *example_weight; /* (classes), (rows), or NULL */
    int64_t ignore_index;
    int64_t loss, structure;
    int64_t is_wide;                       /* S is stored in double, as for double logits always */
    const void *values;                    /* S (C, C), or the entries of its sparse rows */
    const int64_t *crow, *column;          /* sparse rows */
    const int64_t *ccol, *row, *entry;     /* sparse columns: row and entry of each */
    const double *row_sums;                /* what the rows of a power similarity are divided by */
    int64_t edges, groups;                 /* of the class graph along which logits are smooth */
    const int64_t *first, *second;         /* the ends of each edge; NULL: class e and the next */
    const double *stiffness;               /* the weight of each edge */
    const int64_t *begin, *member;         /* the classes of each group, which is node C + g */
    int64_t reduction, threads;
    void (*parallel)(void (*)(void *), void *, unsigned, unsigned); /* GOMP_parallel, or NULL */
    double r, smoothing, share;
    void *result;                          /* the reduced loss, or NULL */
} Call;

/* A row in double precision and log space: for the rows that linear space cannot hold. */
typedef struct {
    double *x, *t, *gradient, *room; /* z - max z, target, gradient (C each), 8 C more */
} LogRow;

double simloss_log_row(const Call *call, const LogRow *row);

/* sum_e w_e (x_i - x_j)^2 of nodes (C + groups), of which the classes are given; its slope by each class. */
double simloss_smooth(const Call *call, double *node, double *slope);
