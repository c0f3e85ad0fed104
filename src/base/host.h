/* What a run costs the host, and what it finds there: time, memory, processors. No result of a
 * simulation may depend on any. */
#ifndef TYTO_BASE_HOST_H
#define TYTO_BASE_HOST_H

#include <stdint.h>

double host_wall_seconds(void); /* since an arbitrary start */
double host_cpu_seconds(void);  /* that this process has had the processor, all threads together */
uint64_t
host_peak_memory_bytes(void); /* most that was resident at once since the program started */
uint64_t host_children_peak_memory_bytes(void); /* likewise of the largest process waited for */
uint32_t host_processors(void);                 /* that this process may run on, at least 1 */
int host_columns(int file); /* of the terminal that a file is; 0: it is none, or does not say */

/* A variable of the environment that Tyto's command has set for the program: as it is now, else as
 * it was when the program started, which may have emptied its environment since (clearenv). NULL:
 * neither. Freed by free(). */
char *host_variable(const char *name);

#endif
