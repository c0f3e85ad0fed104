/* Starting programs on Tyto: workloads by name, and any program with Tyto's library in the place of
 * CUDA's driver. */
#ifndef TYTO_CLI_PROGRAM_H
#define TYTO_CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a workload, or of the program that a shell would find. False after a message: there
 * is none of that name. */
bool program_find(const char *name, char *path, size_t size, bool *is_workload);
/* Why there is no program of that name, NULL when there is one. The caller frees it. */
char *program_find_problem(const char *name);
/* The folder of the workloads; "" when it is not there. */
void program_find_workloads(char *folder, size_t size);
/* Whether a name is that of a workload. */
bool program_is_workload(const char *name);
/* The path of this command. False after a message. */
bool program_find_self(char *path, size_t size);
/* The path of the library that programs run on. False after a message. */
bool program_find_library(char *path, size_t size);
/* A file among the data that come with Tyto, in the folder that `variable` names, else where the
 * build and the installation have `folder`; name "." is the folder itself. False: it is not there.
 */
bool program_find_data(const char *variable, const char *folder, const char *name, char *path,
                       size_t size);
/* Adds options to TYTO_OPTIONS, after those that are there. */
void program_export_options(int count, const char *const *words);
/* Puts the folder of our libcuda.so.1 before all others. False after a message. */
bool program_export_library(void);
/* The folder of CUDA's libraries of ours. False after a message. */
bool program_find_libraries(char *folder, size_t size);
/* Whether execvp would find a program of this name. */
bool program_exists(const char *name);
/* Becomes the workload or program words[0]; words ends with NULL. Returns only after a message,
 * with the status to exit with. */
int program_exec(char **words);

#endif
