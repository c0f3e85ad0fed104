/* Findings: what the checks of a run found wrong with the program under test, each distinct place
 * once, with its number of occurrences. Code that finds something first calls findings_note, which
 * knows whether the place has been seen. So the words are put together only once. */
#ifndef TYTO_STATS_FINDINGS_H
#define TYTO_STATS_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

typedef enum FindingKind {
    FINDING_MEMORY, /* a bad access of a kernel, dropped */
    FINDING_RACE,   /* two accesses that nothing orders */
    FINDING_INIT,   /* a read of bytes without a writer; an unused allocation */
    FINDING_SYNC,   /* a misuse of barriers and of instructions of a warp */
    FINDING_LEAK,   /* memory that was never freed */
    FINDING_KINDS
} FindingKind;
extern const char *const finding_kind_names[FINDING_KINDS]; /* "memory", ... */

/* What makes a place distinct: its finder's own numbers. The first is the kind. */
enum { FINDING_KEY_WORDS = 6 };
typedef struct FindingKey {
    uint64_t word[FINDING_KEY_WORDS];
} FindingKey;

/* Owned texts are made by malloc. */
typedef struct Finding {
    FindingKind kind;
    const char *what;     /* a few words, static: "write after read" */
    char *text;           /* the whole message, several lines, no newline at its end; owned */
    char *kernel;         /* its name in the PTX; NULL: the host's doing; owned */
    char *file;           /* PTX file, NULL: none; owned */
    uint32_t line;        /* in it */
    uint32_t other_line;  /* race: of the earlier access; 0: none */
    char *source;         /* file of the source, NULL: unknown; owned */
    uint32_t source_line; /* in it */
    bool has_thread;      /* the two fields below are known */
    uint32_t cta[3];      /* of the first time */
    uint32_t thread[3];   /* in its CTA */
    uint64_t address;     /* of the first time, 0: none */
    uint64_t count;       /* times, at least 1 */
} Finding;

typedef struct Findings Findings;

/* At most `most` distinct places are kept; further ones are only counted. `tell` (NULL: no
 * listener) is called for each as it is added. */
typedef void FindingTold(void *user, const Finding *finding);
Findings *findings_new(uint32_t most, FindingTold *tell, void *user);
void findings_free(Findings *findings);

/* Counts a finding at this place; true when that is all there is to do: the place is known, or
 * there is no room for another. Else findings_add is to follow. */
bool findings_note(Findings *findings, const FindingKey *key);
/* Adds what was noted last; its texts are taken over. */
void findings_add(Findings *findings, const Finding *finding);

/* Puts a finding of another process in its place: a new one is the next, of a known one the count
 * is taken. Its texts are taken over. */
void findings_put(Findings *findings, uint32_t index, const Finding *finding);

uint32_t findings_count(const Findings *findings); /* distinct places kept */
const Finding *finding_at(const Findings *findings, uint32_t index);
/* Places and times, kept or not; 0: nothing was found. */
uint64_t findings_total(const Findings *findings);
/* The closing line: "3 errors at 2 places: race 1, init 1"; nothing when there are none. */
void findings_summarise(const Findings *findings, Text *out);
/* An array with an object for each; NULL: none. */
void findings_write_json(const Findings *findings, Json *json);

#endif
