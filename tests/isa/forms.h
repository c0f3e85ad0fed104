/* Visits the instruction forms of forms.txt. */
#ifndef TYTO_TESTS_ISA_FORMS_H
#define TYTO_TESTS_ISA_FORMS_H

enum { FORM_LENGTH = 256 };

/* Calls `visit` with every form. Returns their number, or -1 if the file cannot be read. */
typedef void FormVisit(const char *line, void *user);
int forms_walk(const char *path, FormVisit *visit, void *user);

#endif
