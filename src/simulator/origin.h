/* The origin of a run: everything that determines its results, as texts of its record (RUN_ORIGIN
 * in stats/run.h). */
#ifndef TYTO_SIMULATOR_ORIGIN_H
#define TYTO_SIMULATOR_ORIGIN_H

#include "simulator/simulator.h"

/* Records that the process's own program runs (CUDA's interfaces), so the command line is that of
 * `tyto run`. */
void origin_take_process(TytoSimulator *simulator);
/* Fills in the record of a simulator whose program has this name. */
void origin_sign(TytoSimulator *simulator, const char *program);

/* A hash in the form that results use: a letter before its digits, so that no reader takes it for a
 * number. */
enum { ORIGIN_HASH_BYTES = 18 };
void origin_format_hash(uint64_t hash, char text[ORIGIN_HASH_BYTES]);
/* Continues `hash` over a file; returns `hash` unchanged if there is no such file. */
uint64_t origin_add_file(uint64_t hash, const char *path);

#endif
