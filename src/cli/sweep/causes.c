/* Computes the causes of a league (see the header). */
#include "cli/sweep/causes.h"

#include <math.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/sweep/output.h"

const CauseRow cause_rows[CAUSES] = {
    [CAUSE_OWN_HITS] = {"own hits", "l1d_intra_warp_hits", "l1d_accesses"},
    [CAUSE_OTHER_HITS] = {"others' hits", "l1d_inter_warp_hits", "l1d_accesses"},
    [CAUSE_THROTTLED] = {"throttled", "throttled", "scheduler_cycles"},
    [CAUSE_IDLE] = {"idle", "idle_share", NULL},
    [CAUSE_WARPS] = {"warps", "resident_warps", NULL},
    [CAUSE_ROW_HITS] = {"row hits", "RBL", NULL},
    [CAUSE_PREFETCHES] = {"prefetches used", "prefetch_accuracy", NULL}};

/* The values of a quantity in the complete rows, by row, then column; NAN: a run does not have it.
 */
typedef struct Values {
    const League *league;
    double *values;
} Values;

static double value_at(const Values *values, int row, int column) {
    return values->values[row * values->league->columns + column];
}

static bool read_value(const Sweep *sweep, Store *store, const int *choice, const CauseRow *cause,
                       double *value) {
    const Point *point = sweep_find(sweep, choice);
    double of = 1;
    *value = NAN;
    if (!point) return true;
    if (!sweep_number(sweep, store, point, cause->metric, value)) return false;
    if (cause->of && !sweep_number(sweep, store, point, cause->of, &of)) return false;
    *value = of > 0 ? *value / of : NAN;
    return true;
}

static bool read_values(const Sweep *sweep, Store *store, const CauseRow *cause, Values *to) {
    const League *league = to->league;
    const int across = sweep_across(sweep);
    bool is_read = true;
    for (int row = 0; row < league->rows; row++) {
        int *choice = league->choices[row];
        for (int column = 0; column < league->columns && is_read; column++) {
            double *value = &to->values[row * league->columns + column];
            choice[across] = column;
            *value = NAN;
            if (league_is_complete(league, row))
                is_read = read_value(sweep, store, choice, cause, value);
        }
        choice[across] = 0;
    }
    return is_read;
}

static double mean_of(const Values *values, int column) {
    double sum = 0, count = 0;
    for (int row = 0; row < values->league->rows; row++) {
        const double value = value_at(values, row, column);
        if (isnan(value)) continue;
        sum += value;
        count++;
    }
    return sum / count; /* 0 / 0, NAN, without rows */
}

/* ---- Rank correlation ---- */

/* The rank of each of `count` numbers, from 0; equal numbers get the mean of their ranks. */
static void rank(const double *numbers, int count, double *ranks) {
    for (int i = 0; i < count; i++) {
        double below = 0, equal = 0;
        for (int j = 0; j < count; j++) {
            below += numbers[j] < numbers[i];
            equal += numbers[j] == numbers[i];
        }
        ranks[i] = below + (equal - 1) / 2;
    }
}

/* Pearson's correlation of ranks; different ranks differ by at least a half. NAN if one of the two
 * is constant. */
static double correlate(const double *x, const double *y, int count) {
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        mean_x += x[i] / count;
        mean_y += y[i] / count;
    }
    for (int i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return xx > 0.1 && yy > 0.1 ? xy / sqrt(xx * yy) : NAN;
}

static double agreement_of(const Values *values, int baseline, int column) {
    const League *league = values->league;
    const size_t rows = (size_t)league->rows;
    double *numbers = allocate(4 * rows, sizeof *numbers), result = NAN;
    double *gains = numbers, *changes = numbers + rows;
    int count = 0;
    for (int row = 0; row < league->rows; row++) {
        const double before = value_at(values, row, baseline), now = value_at(values, row, column);
        if (isnan(before) || isnan(now)) continue;
        gains[count] = league_at(league, row, column);
        changes[count++] = now - before;
    }
    if (count >= CAUSES_LEAST_ROWS) {
        rank(gains, count, numbers + 2 * rows);
        rank(changes, count, numbers + 3 * rows);
        result = correlate(numbers + 2 * rows, numbers + 3 * rows, count);
    }
    free(numbers);
    return result;
}

/* ---- Causes ---- */

Causes *causes_new(const Sweep *sweep, Store *store, const League *league) {
    Causes *causes = allocate(1, sizeof *causes);
    Values values = {league, NULL};
    const size_t columns = (size_t)league->columns;
    bool is_read = true;
    causes->columns = league->columns;
    values.values = allocate((size_t)league->rows * columns + 1, sizeof *values.values);
    for (int cause = 0; cause < CAUSES; cause++) {
        causes->means[cause] = allocate(columns, sizeof *causes->means[cause]);
        causes->agreement[cause] = allocate(columns, sizeof *causes->agreement[cause]);
        is_read = is_read && read_values(sweep, store, &cause_rows[cause], &values);
        for (int column = 0; column < league->columns && is_read; column++) {
            causes->means[cause][column] = mean_of(&values, column);
            causes->agreement[cause][column] = agreement_of(&values, sweep->baseline, column);
        }
    }
    free(values.values);
    if (is_read) return causes;
    causes_free(causes);
    return NULL;
}

void causes_free(Causes *causes) {
    if (!causes) return;
    for (int cause = 0; cause < CAUSES; cause++) {
        free(causes->means[cause]);
        free(causes->agreement[cause]);
    }
    free(causes);
}
