/* The programs that clang starts, two of a CUDA toolkit and the linker: `tyto cc` makes this
 * command replace them, under their names. */
#ifndef TYTO_CLI_TOOLCHAIN_TOOLKIT_H
#define TYTO_CLI_TOOLCHAIN_TOOLKIT_H

/* The tool of this name, NULL: none of them. A tool takes the words after its name and returns the
 * exit status. */
typedef int ToolkitTool(int count, char **words);
ToolkitTool *toolkit_find(const char *name);

#endif
