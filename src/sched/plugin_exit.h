/* How a plug-in may end the process. `_exit` runs no handlers: no message could name the policy
 * that ended the run, and its status would be taken for the program's. */
#ifndef TYTO_SCHED_PLUGIN_EXIT_H
#define TYTO_SCHED_PLUGIN_EXIT_H

/* Makes calls of _exit, _Exit and quick_exit in the loaded object (of dlopen) calls of exit. */
void plugin_exit_redirect(void *library);

#endif
