/* Runs a program on Tyto in a process of its own, so that its results can be written however it
 * ends.
 */
#ifndef TYTO_CLI_SUPERVISE_H
#define TYTO_CLI_SUPERVISE_H

/* Runs the workload or program words[0] to its end; words ends with NULL. Signals that end a
 * process are passed on to it. Returns the status to exit with: the program's own; if that is 0,
 * whether its results are complete. Ends this process by the signal by which the program has ended.
 */
int supervise_run(char **words);

#endif
