/* Write policies and replacement policies of a cache, as machine files select them. */
#ifndef TYTO_CACHE_POLICY_H
#define TYTO_CACHE_POLICY_H

typedef enum WritePolicy {
    WRITE_BACK,    /* a hit makes the line dirty; a miss allocates the line */
    WRITE_THROUGH, /* a hit updates the line; all stores are passed on */
    WRITE_EVICT,   /* a hit invalidates the line; all stores are passed on */
    WRITE_POLICIES,
} WritePolicy;

/* What a write miss of a write-back cache brings in. */
typedef enum WriteAllocate {
    ALLOCATE_FETCH,    /* fetch-on-write: the line's other bytes are read at once */
    ALLOCATE_VALIDATE, /* nothing is read until a read needs bytes that were not written */
    ALLOCATE_NONE,     /* the store is passed on */
    ALLOCATE_BESIDE,   /* the store is passed on, and the line is read in parallel (L2) */
    WRITE_ALLOCATES,
} WriteAllocate;

typedef enum Replacement {
    REPLACE_LRU,  /* the least recently used line */
    REPLACE_FIFO, /* the oldest line */
    REPLACEMENTS,
} Replacement;

/* How soon the line of an access should be replaced, according to the access. */
typedef enum CachePriority {
    PRIORITY_UNSAID,      /* brings in a line as NORMAL; a hit does not change the line's
                             priority */
    PRIORITY_NORMAL,      /* replaced after all FIRST lines, by age */
    PRIORITY_FIRST,       /* replaced before all others: streaming */
    PRIORITY_LAST,        /* kept while another line can be replaced, within the limit for such
                             lines: persisting */
    PRIORITY_UNCHANGED,   /* as UNSAID, but a hit does not count as a use */
    PRIORITY_NO_ALLOCATE, /* a miss allocates no line */
    PRIORITIES,
} CachePriority;

/* Their names in machine files, in the order of the enumerations. */
extern const char *const write_policy_names[WRITE_POLICIES];
extern const char *const write_allocate_names[WRITE_ALLOCATES];
extern const char *const replacement_names[REPLACEMENTS];

#endif
