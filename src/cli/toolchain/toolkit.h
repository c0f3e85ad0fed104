/* The programs that clang starts, two of a CUDA toolkit and the linker: `tyto cc` has this command
 * stand in for them, under their names. */
#ifndef TYTO_CLI_TOOLCHAIN_TOOLKIT_H
#define TYTO_CLI_TOOLCHAIN_TOOLKIT_H

/* The tool of that name, NULL when it is none of them. Takes the words after the name and returns
 * the exit status. */
typedef int ToolkitTool(int count, char **words);
ToolkitTool *toolkit_find(const char *name);

#endif
