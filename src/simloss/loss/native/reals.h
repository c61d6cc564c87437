/* rows.h for vectors of WIDTH bytes: logits in double, then in float, S as it is stored. */
#define REAL double
#define WHOLE int64_t
#define NATURAL uint64_t
#define MANTISSA 52
#define EXP_MAGIC 6755399441055744.0
#define EXP_LOWEST -708.0
#define LN2_HIGH 6.93145751953125E-1
#define LN2_LOW 1.42860682030941723212E-6
#define EXP_FACTORS                                                                                \
    1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0,   \
        1 / 5040.0, 1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5, 1, 1
#define LOG_TERMS 11
#define LOW_HALVES PASTE(LOW, WIDTH, 8)
#define HIGH_HALVES PASTE(HIGH, WIDTH, 8)
/* Below this, times C, what has been flushed to 0 could be more than a rounding. */
#define TINY 1e-290
/* How much of S may meet a mixture that small before it is more than a rounding. */
#define MISSED 1e-17
#define STORED double
#define NAME(name) PASTE(name, WIDTH, dd)
#include "rows.h"
#undef NAME
#undef STORED
#undef REAL
#undef WHOLE
#undef NATURAL
#undef MANTISSA
#undef EXP_MAGIC
#undef EXP_LOWEST
#undef LN2_HIGH
#undef LN2_LOW
#undef EXP_FACTORS
#undef LOG_TERMS
#undef LOW_HALVES
#undef HIGH_HALVES
#undef TINY
#undef MISSED

#define REAL float
#define WHOLE int32_t
#define NATURAL uint32_t
#define MANTISSA 23
#define EXP_MAGIC 12582912.0f
#define EXP_LOWEST -87.0f
#define LN2_HIGH 0.693359375f
#define LN2_LOW -2.12194440e-4f
#define EXP_FACTORS                                                                                \
    1.3814540579915047e-3f, 8.3687454462051392e-3f, 4.1668388992547989e-2f,                        \
        1.6666521131992340e-1f, 4.9999994039535522e-1f, 1, 1
#define LOG_TERMS 5
#define LOW_HALVES PASTE(LOW, WIDTH, 4)
#define HIGH_HALVES PASTE(HIGH, WIDTH, 4)
#define TINY 1e-30f
#define MISSED 1e-9f
#define STORED double
#define NAME(name) PASTE(name, WIDTH, fd)
#include "rows.h"
#undef NAME
#undef STORED
#define STORED float
#define NAME(name) PASTE(name, WIDTH, ff)
#include "rows.h"
#undef NAME
#undef STORED
#undef REAL
#undef WHOLE
#undef NATURAL
#undef MANTISSA
#undef EXP_MAGIC
#undef EXP_LOWEST
#undef LN2_HIGH
#undef LN2_LOW
#undef EXP_FACTORS
#undef LOG_TERMS
#undef LOW_HALVES
#undef HIGH_HALVES
#undef TINY
#undef MISSED
