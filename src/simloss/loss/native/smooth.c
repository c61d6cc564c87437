/* Smoothness over the class graph of one row in double precision: any graph, any logits. */
#include "call.h"

double simloss_smooth(const Call *call, double *node, double *slope) {
    int64_t C = call->classes, nodes = C + call->groups;
    double sum = 0;
    for (int64_t g = C; g < nodes; g++) { /* the mean of the classes that are possible */
        double total = 0, count = 0;
        for (int64_t k = call->begin[g - C]; k < call->begin[g - C + 1]; k++)
            if (node[call->member[k]] > -INFINITY) total += node[call->member[k]], count++;
        node[g] = count ? total / count : -INFINITY;
    }
    memset(slope, 0, nodes * sizeof(double));
    for (int64_t e = 0; e < call->edges; e++) {
        int64_t i = call->first ? call->first[e] : e, j = call->second ? call->second[e] : (e + 1) % C;
        double step = node[i] - node[j];
        if (!(fabs(step) < INFINITY)) continue; /* one of them is impossible */
        double pull = call->stiffness[e] * step;
        sum += pull * step;
        slope[i] += 2 * pull;
        slope[j] -= 2 * pull;
    }
    for (int64_t g = C; g < nodes; g++) {
        int64_t from = call->begin[g - C], to = call->begin[g - C + 1], count = 0;
        for (int64_t k = from; k < to; k++) count += node[call->member[k]] > -INFINITY;
        for (int64_t k = from; k < to; k++)
            if (node[call->member[k]] > -INFINITY) slope[call->member[k]] += slope[g] / count;
    }
    return sum;
}
