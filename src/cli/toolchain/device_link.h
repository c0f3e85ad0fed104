/* The host's linker, and the additional work of nvcc's device linker. */
#ifndef TYTO_CLI_TOOLCHAIN_DEVICE_LINK_H
#define TYTO_CLI_TOOLCHAIN_DEVICE_LINK_H

/* Runs the linker with the words of a command line, then holds the PTX of all objects that were
 * made for -rdc=true against each other: every name has one definition, else the file is removed
 * and messages say why. Returns the status to exit with. */
int device_link_run(int count, char **words);

#endif
