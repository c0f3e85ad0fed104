/* Host resources and their use: time, memory, processors. Simulation results must not depend on any
 * of these. */
#ifndef TYTO_BASE_HOST_H
#define TYTO_BASE_HOST_H

#include <stdint.h>

double host_wall_seconds(void);        /* since an arbitrary start */
double host_cpu_seconds(void);         /* processor time of this process, all threads together */
uint64_t host_peak_memory_bytes(void); /* peak resident memory since the program started */
uint64_t host_children_peak_memory_bytes(void); /* the same, of the largest child waited for */
uint32_t host_processors(void);                 /* that this process may run on, at least 1 */
int host_columns(int file); /* of the terminal that a file is; 0: none or unknown */

/* An environment variable that Tyto's command has set for the program: its current value, otherwise
 * its value when the program started, in case the program has emptied its environment (clearenv).
 * NULL if neither exists. Free it with free(). */
char *host_variable(const char *name);

#endif
