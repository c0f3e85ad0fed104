/* Runs a program on Tyto in its own process, so that its results can be written however it ends. */
#ifndef TYTO_CLI_SUPERVISE_H
#define TYTO_CLI_SUPERVISE_H

/* Runs the workload or program words[0] to its end; words ends with NULL. Passes signals that end a
 * process on to the program. Returns the program's exit status; if that is 0, a status that says
 * whether its results are complete. If a signal ended the program, the same signal ends this
 * process. */
int supervise_run(char **words);

#endif
