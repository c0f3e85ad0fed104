/* Reuse distances: how many other lines a CTA reads between two reads of a line (R. Mattson et al.,
 * "Evaluation techniques for storage hierarchies", 1970), and what a cache with sets and ways loses
 * of these reads when several CTAs share it. */
#ifndef TYTO_SCHED_REUSE_H
#define TYTO_SCHED_REUSE_H

#include <stdint.h>

enum {
    REUSE_LINE_BITS = 15,                    /* log2 of the places for lines */
    REUSE_LINES = 3 << (REUSE_LINE_BITS - 2) /* most lines counted: 1.6 times 15 x 128 KB of
                                                lines */
};

/* All bits zero: nothing read yet. Size: 670 KB. */
typedef struct Reuse {
    uint32_t lines;                       /* different lines read */
    uint32_t again;                       /* of those, lines read again */
    uint32_t newest;                      /* number of marks used */
    uint32_t distances[REUSE_LINES];      /* repeated reads by their distance, 0 to REUSE_LINES -
                                             1 */
    uint64_t line[1 << REUSE_LINE_BITS];  /* a hash set: (address + 1) * 2 + (1 if read again); 0:
                                             free */
    uint16_t mark[1 << REUSE_LINE_BITS];  /* mark of the line's last read; marks increase with
                                             time */
    uint16_t owner[2 << REUSE_LINE_BITS]; /* by mark: place of the line that got it */
    uint16_t standing[2 << REUSE_LINE_BITS]; /* a Fenwick tree over live marks */
} Reuse;

/* Counts a read of a line. Counting stops before the first line beyond REUSE_LINES. */
void reuse_read(Reuse *reuse, uint64_t line);

/* Number of repeated reads that a cache loses if `ctas` times as many other lines are read in
 * between, as by `ctas` CTAs like this one (a whole number, if they share no line). Each of these
 * lines is in one of `sets` sets at random, and `ways` of them in the read line's set replace it
 * (A. Smith, "A comparative study of set associative memory mapping algorithms", 1978). The result
 * is not a whole number; it is the same on every host. */
double reuse_lost(const uint32_t *distances, uint32_t count, double ctas, uint32_t sets,
                  uint32_t ways);

#endif
