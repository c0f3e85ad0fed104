/* Prevents a plug-in from ending the process silently. `_exit` runs no handlers: no message could
 * name the policy that ended the run, and its status would be taken for the program's. */
#ifndef TYTO_SCHED_PLUGIN_EXIT_H
#define TYTO_SCHED_PLUGIN_EXIT_H

/* Turns calls of _exit, _Exit and quick_exit in the loaded object (a handle of dlopen) into calls
 * of exit. */
void plugin_exit_redirect(void *library);

#endif
