/* Templates of policies, from the files of this folder; `@NAME@` is replaced by the policy's
 * name. */
#ifndef TYTO_CLI_NEW_TEMPLATES_H
#define TYTO_CLI_NEW_TEMPLATES_H

extern const char template_scheduler[];
extern const char template_cta_scheduler[];

#endif
