/* The machines, policies and DRAM request schedulers that are registered, for tests that walk all
 * of them: such a test also covers newly registered ones without naming them. */
#ifndef TYTO_TESTS_EVERY_H
#define TYTO_TESTS_EVERY_H

enum { EVERY_MOST = 256, EVERY_BYTES = 512 };

/* Names in the order of the registry. The struct is large, so tests make it static. */
typedef struct Every {
    char names[EVERY_MOST][EVERY_BYTES]; /* `count` names */
    int count;
} Every;

/* Each of these appends to the list. */
void every_add(Every *list, const char *name);

/* The shipped machines. */
void every_machine(Every *list);

/* The warp schedulers, or the CTA schedulers, with their default values. */
void every_scheduler(Every *list);
void every_cta_scheduler(Every *list);

/* The same with each of their choices (TYTO_CHOICE) at each of its values. Numbers are left alone,
 * as some depend on others. */
void every_scheduler_choice(Every *list);
void every_cta_scheduler_choice(Every *list);

/* `dram.scheduler=NAME` for each DRAM request scheduler. */
void every_dram_scheduler(Every *list);

/* Keeps only every Nth name, N being thin_step (thin.h). Tests that walk a list call it. */
void every_thin(Every *list);

/* The name at position i modulo the count, so tests can walk lists of different lengths
 * together. */
const char *every_at(const Every *list, int i);

#endif
