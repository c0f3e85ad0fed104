/* Starting points of policies, `@NAME@` where the name belongs; the files beside this one. */
#ifndef TYTO_CLI_NEW_TEMPLATES_H
#define TYTO_CLI_NEW_TEMPLATES_H

extern const char template_scheduler[];
extern const char template_cta_scheduler[];

#endif
