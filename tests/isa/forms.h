/* The instruction forms of forms.txt, one by one. */
#ifndef TYTO_TESTS_ISA_FORMS_H
#define TYTO_TESTS_ISA_FORMS_H

enum { FORM_LENGTH = 256 };

/* Calls `visit` with every form; returns how many there were, -1 when the file cannot be read. */
typedef void FormVisit(const char *line, void *user);
int forms_walk(const char *path, FormVisit *visit, void *user);

#endif
