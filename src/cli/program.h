/* Starting programs on Tyto: workloads by name, and any program with Tyto's library in the place of
 * CUDA's driver. */
#ifndef TYTO_CLI_PROGRAM_H
#define TYTO_CLI_PROGRAM_H

#include <stdbool.h>

/* Adds options to TYTO_OPTIONS, after those that are there. */
void program_export_options(int count, const char *const *words);
/* Puts the folder of our libcuda.so.1 before all others. False after a message. */
bool program_export_library(void);
/* Becomes the workload or program words[0]; words ends with NULL. Returns only after a message,
 * with the status to exit with. */
int program_exec(char **words);

#endif
