/* Templates of policies, from the files of this folder; the policy's name replaces `@NAME@`. */
#ifndef TYTO_CLI_NEW_TEMPLATES_H
#define TYTO_CLI_NEW_TEMPLATES_H

extern const char template_scheduler[];
extern const char template_cta_scheduler[];

#endif
