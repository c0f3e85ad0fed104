/* Where a run comes from: all that decides what it comes to, as texts of its record (RUN_ORIGIN in
 * stats/run.h). */
#ifndef TYTO_SIMULATOR_ORIGIN_H
#define TYTO_SIMULATOR_ORIGIN_H

#include "simulator/simulator.h"

/* The process's program is what runs (CUDA's interfaces): its command line is that of `tyto run`.
 */
void origin_take_process(TytoSimulator *simulator);
/* Fills the record of a simulator whose program has that name. */
void origin_sign(TytoSimulator *simulator, const char *program);

/* A hash as results have it: a letter before its digits, so that no reader takes it for a number.
 */
enum { ORIGIN_HASH_BYTES = 18 };
void origin_format_hash(uint64_t hash, char text[ORIGIN_HASH_BYTES]);
/* The hash of what `hash` is of and a file; of that alone when there is no such file. */
uint64_t origin_add_file(uint64_t hash, const char *path);

#endif
