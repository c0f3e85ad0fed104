/* What a run costs the host: time and memory. Only reports look at these; no simulation may. */
#ifndef TYTO_BASE_HOST_H
#define TYTO_BASE_HOST_H

#include <stdint.h>

double host_wall_seconds(void); /* since an arbitrary start */
double host_cpu_seconds(void);  /* that this process has had the processor, all threads together */
uint64_t
host_peak_memory_bytes(void); /* most that was resident at once since the program started */

#endif
