/* Findings: the errors that the checks of a run found in the program under test. Each distinct
 * place is listed once, with its number of occurrences. Code that finds something first calls
 * findings_note, which knows whether the place is new, so that the text is only composed once. */
#ifndef TYTO_STATS_FINDINGS_H
#define TYTO_STATS_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef enum FindingKind {
    FINDING_MEMORY, /* a bad access of a kernel, which was dropped */
    FINDING_RACE,   /* two accesses without any ordering between them */
    FINDING_INIT,   /* a read of bytes that were never written; an unused allocation */
    FINDING_SYNC,   /* a misuse of barriers and of warp-wide instructions */
    FINDING_LEAK,   /* memory that was never freed */
    FINDING_KINDS
} FindingKind;
extern const char *const finding_kind_names[FINDING_KINDS]; /* "memory", ... */

/* The numbers that identify a place, chosen by the code that finds it. The first is the kind. */
enum { FINDING_KEY_WORDS = 6 };
typedef struct FindingKey {
    uint64_t word[FINDING_KEY_WORDS];
} FindingKey;

/* Owned texts are allocated with malloc. */
typedef struct Finding {
    FindingKind kind;
    const char *what;    /* a few words, static: "write after read" */
    char *text;          /* the whole message, several lines, no newline at its end; owned */
    char *kernel;        /* name of the kernel in the PTX; NULL: found in the host program; owned */
    char *file;          /* PTX file; NULL: none; owned */
    uint32_t line;       /* line in it */
    uint32_t other_line; /* race: line of the earlier access; 0: none */
    char *source;        /* source file; NULL: unknown; owned */
    uint32_t source_line; /* line in it */
    bool has_thread;      /* the next two fields are known */
    uint32_t cta[3];      /* CTA of the first occurrence */
    uint32_t thread[3];   /* warp of the first occurrence, in its CTA */
    uint64_t address;     /* address of the first occurrence; 0: none */
    uint64_t count;       /* number of occurrences, at least 1 */
} Finding;

typedef struct Findings Findings;

/* Creates a list of at most `most` distinct places; findings at further places are only counted.
 * `tell` (NULL: none) is called for each finding that is added. */
typedef void FindingTold(void *user, const Finding *finding);
Findings *findings_new(uint32_t most, FindingTold *tell, void *user);
void findings_free(Findings *findings);

/* Counts a finding at this place. Returns true if nothing else is to be done, because the place is
 * known or the list is full. Otherwise findings_add must follow. */
bool findings_note(Findings *findings, const FindingKey *key);
/* Adds the finding noted last; takes over its texts. */
void findings_add(Findings *findings, const Finding *finding);

/* Merges a finding of another process: a new one is appended; for a known one, the count is
 * replaced. Takes over its texts. */
void findings_put(Findings *findings, uint32_t index, const Finding *finding);

uint32_t findings_count(const Findings *findings); /* number of distinct places in the list */
const Finding *finding_at(const Findings *findings, uint32_t index);
/* Numbers of places and occurrences, including those not in the list; 0: nothing was found. */
uint64_t findings_total(const Findings *findings);
/* Adds the closing line: "3 errors at 2 places: race 1, init 1"; nothing if there are none. */
void findings_summarise(const Findings *findings, Text *out);
/* Adds an array with an object for each finding; NULL: none. */
void findings_write_json(const Findings *findings, Json *json);

#endif
