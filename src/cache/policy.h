/* What a cache does with writes, and which line it gives up: the choices of a machine file. */
#ifndef TYTO_CACHE_POLICY_H
#define TYTO_CACHE_POLICY_H

typedef enum WritePolicy {
    WRITE_BACK,    /* a hit dirties the line; a miss allocates it */
    WRITE_THROUGH, /* a hit updates the line and passes on; a miss passes on */
    WRITE_EVICT,   /* a hit invalidates the line and passes on; a miss passes on */
    WRITE_POLICIES,
} WritePolicy;

/* What a write miss of a write-back cache brings in. */
typedef enum WriteAllocate {
    ALLOCATE_FETCH,    /* the line's other bytes are fetched at once */
    ALLOCATE_VALIDATE, /* nothing is fetched before a read wants bytes that were not written */
    ALLOCATE_NONE,     /* the write passes on */
    ALLOCATE_BESIDE,   /* the write passes on, and the line is fetched in parallel (L2) */
    WRITE_ALLOCATES,
} WriteAllocate;

typedef enum Replacement {
    REPLACE_LRU,  /* the line not used for longest */
    REPLACE_FIFO, /* the line allocated longest ago */
    REPLACEMENTS,
} Replacement;

/* How soon the line of an access shall go, as the access says. */
typedef enum CachePriority {
    PRIORITY_UNSAID,      /* brings a line in as NORMAL, and leaves that of a hit as it is */
    PRIORITY_NORMAL,      /* goes after all FIRST, by age */
    PRIORITY_FIRST,       /* goes before all others: streaming */
    PRIORITY_LAST,        /* stays while another can go, as far as such lines may: persisting */
    PRIORITY_UNCHANGED,   /* as UNSAID, but a hit is no use of the line */
    PRIORITY_NO_ALLOCATE, /* a miss takes no line */
    PRIORITIES,
} CachePriority;

/* Their names in machine files, in the order of the enumerations. */
extern const char *const write_policy_names[WRITE_POLICIES];
extern const char *const write_allocate_names[WRITE_ALLOCATES];
extern const char *const replacement_names[REPLACEMENTS];

#endif
