/* Runs the host's linker, and does the additional work of nvcc's device linker. */
#ifndef TYTO_CLI_TOOLCHAIN_DEVICE_LINK_H
#define TYTO_CLI_TOOLCHAIN_DEVICE_LINK_H

/* Runs the linker with the words of a command line. Then links the PTX of all objects made for
 * -rdc=true: every name must have one definition, else it removes the file and reports why. Returns
 * the exit status. */
int device_link_run(int count, char **words);

#endif
