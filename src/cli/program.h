/* Starts programs on Tyto: workloads by name, and any program with Tyto's library instead of CUDA's
 * driver. */
#ifndef TYTO_CLI_PROGRAM_H
#define TYTO_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a workload, or of the program that a shell would find. False after a message if
 * neither has this name. */
bool program_find(const char *name, char *path, size_t size, bool *is_workload);
/* Why there is no program of this name, NULL if there is one. The caller frees it. */
char *program_find_problem(const char *name);
/* The folder of the workloads; "" if it does not exist. */
void program_find_workloads(char *folder, size_t size);
/* Whether there is a workload of this name. */
bool program_is_workload(const char *name);
/* The path of this command. False after a message. */
bool program_find_self(char *path, size_t size);
/* The path of the library that programs run on. False after a message. */
bool program_find_library(char *path, size_t size);
/* Finds a data file of Tyto in the folder that the environment variable `variable` names, by
 * default in `folder` of the build or the installation. The name "." is the folder itself. False:
 * it does not exist. */
bool program_find_data(const char *variable, const char *folder, const char *name, char *path,
                       size_t size);
/* Appends options to TYTO_OPTIONS. */
void program_export_options(int count, const char *const *words);
/* Puts the folder of Tyto's libcuda.so.1 first in LD_LIBRARY_PATH. False after a message. */
bool program_export_library(void);
/* The folder of Tyto's CUDA libraries. False after a message. */
bool program_find_libraries(char *folder, size_t size);
/* Whether execvp would find a program of this name. */
bool program_exists(const char *name);
/* Executes the workload or program words[0] in this process; words ends with NULL. Returns only on
 * failure, with the exit status, after a message. */
int program_exec(char **words);

#endif
