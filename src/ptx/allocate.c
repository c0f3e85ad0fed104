/* Register allocation by linear scan. Intervals are processed in the order of their starts, and
 * each gets the slot that was freed last. 64-bit registers take two rows, the first of them even,
 * so rows are allocated in pairs. A pair is used for 64-bit registers only or for 32-bit registers
 * only. The reason is divergence: two registers may share a slot while both are live, each in other
 * lanes, and lane i has another position in a wide row. Source of the method: Poletto and Sarkar,
 * TOPLAS 1999. There is no spilling, because the number of rows is not limited. */
#include "ptx/analysis.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1, FIRST_PREDICATE = 2 /* words 0 and 1 are constants (PtxFunction) */ };

/* Free slots of one size. */
typedef struct Pool {
    int32_t *free; /* used from the end */
    int32_t count;
} Pool;

typedef struct Allocator {
    PtxFunction *function;
    const PtxInterval *intervals;
    int32_t *starts, *ends; /* first register whose interval starts / ends at a position ... */
    int32_t *next_start, *next_end; /* ... and the next such register after a register */
    Pool pairs, singles, predicates;
    int32_t rows, preds; /* allocated so far */
} Allocator;

static int32_t *int_array(int64_t count, int byte) {
    int32_t *array = base_malloc(sizeof *array * (size_t)(count + 1));
    memset(array, byte, sizeof *array * (size_t)(count + 1));
    return array;
}

/* ---- Rows ---- */

static int32_t take(Pool *pool) { return pool->free[--pool->count]; }

static void give(Pool *pool, int32_t slot) { pool->free[pool->count++] = slot; }

static int32_t new_pair(Allocator *a) {
    a->rows += 2;
    return a->rows - 2;
}

static int32_t take_pair(Allocator *a) {
    return a->pairs.count > 0 ? take(&a->pairs) : new_pair(a);
}

static int32_t take_single(Allocator *a) {
    if (a->singles.count > 0) return take(&a->singles);
    int32_t row = new_pair(a);
    give(&a->singles, row + 1);
    return row;
}

/* ---- Registers ---- */

static bool is_wide(const PtxReg *reg) { return ptx_type_bits(reg->type) > 32; }

static void start_register(Allocator *a, PtxReg *reg) {
    if (reg->type == PTX_PRED) {
        reg->slot = a->predicates.count > 0 ? take(&a->predicates) : a->preds++;
    } else {
        reg->slot = is_wide(reg) ? take_pair(a) : take_single(a);
    }
}

static void end_register(Allocator *a, const PtxReg *reg) {
    if (reg->type == PTX_PRED) {
        give(&a->predicates, reg->slot);
    } else if (is_wide(reg)) {
        give(&a->pairs, reg->slot);
    } else {
        give(&a->singles, reg->slot);
    }
}

static void begin(Allocator *a, PtxFunction *function, const PtxInterval *intervals) {
    int64_t positions = (int64_t)function->inst_count * 2 + 2, regs = function->reg_count;
    *a = (Allocator){.function = function, .intervals = intervals, .preds = FIRST_PREDICATE};
    a->starts = int_array(positions, 0xFF);
    a->ends = int_array(positions, 0xFF);
    a->next_start = int_array(regs, 0xFF);
    a->next_end = int_array(regs, 0xFF);
    a->pairs.free = int_array(regs, 0);
    a->singles.free = int_array(regs * 2, 0);
    a->predicates.free = int_array(regs, 0);
    for (int32_t r = (int32_t)regs - 1; r >= 0; r--) {
        PtxInterval interval = intervals[r];
        function->regs[r].slot = -1;
        if (interval.start < 0) continue;
        a->next_start[r] = a->starts[interval.start];
        a->starts[interval.start] = r;
        a->next_end[r] = a->ends[interval.end];
        a->ends[interval.end] = r;
    }
}

static void end(Allocator *a) {
    void *blocks[] = {a->starts,     a->ends,         a->next_start,     a->next_end,
                      a->pairs.free, a->singles.free, a->predicates.free};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

void ptx_allocate(PtxFunction *function, const PtxInterval *intervals) {
    Allocator a;
    begin(&a, function, intervals);
    for (int32_t position = 0; position <= 2 * function->inst_count; position++) {
        for (int32_t r = a.starts[position]; r != NONE; r = a.next_start[r])
            start_register(&a, &function->regs[r]);
        for (int32_t r = a.ends[position]; r != NONE; r = a.next_end[r])
            end_register(&a, &function->regs[r]);
    }
    for (int32_t r = 0; r < function->reg_count; r++) {
        PtxReg *reg = &function->regs[r];
        reg->first = intervals[r].start < 0 ? -1 : intervals[r].start / 2;
        reg->last = intervals[r].end / 2;
    }
    function->row_count = a.rows;
    function->pred_count = a.preds;
    end(&a);
}
