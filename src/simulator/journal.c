/* Writes the journal of a run (see the header). */
#include "simulator/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/output_file.h"
#include "stats/run_bytes.h"

enum {
    FIRST_BYTES = 64 << 10, /* first bytes of a mapping, which doubles */
    MOST_ENVIRON = 1 << 24, /* bytes of /proc/PID/environ */
    STAT_BYTES = 4096,      /* bytes of /proc/PID/stat, which is shorter */
    START_FIELD = 20        /* index after the name of the start time (proc(5): field 22) */
};

struct Journal {
    Text path;
    unsigned number;     /* descriptor of the file */
    JournalHead *head;   /* the mapping; NULL: there is no room even for the head */
    uint64_t bytes;      /* bytes mapped */
    uint64_t code;       /* hash of the code for which the last origin was recorded */
    bool has_origin;     /* an origin was recorded */
    uint64_t *counts;    /* count of each finding, as last recorded; owned */
    uint32_t counted;    /* findings that have been recorded */
    uint32_t count_room; /* capacity of `counts` */
    Text record;         /* the record that is being assembled */
};

/* ---- The file ---- */

uint64_t journal_process_start(int64_t process) {
    char path[64], text[STAT_BYTES];
    unsigned long long start = 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    text[length] = '\0';
    const char *at = strrchr(text, ')'); /* a name may contain any characters */
    if (at && strchr("ZX", at[2]))
        at = NULL; /* a zombie: it has ended, but its parent did not wait for it yet */
    for (int field = 0; at && field < START_FIELD; field++)
        at = strchr(at + 1, ' ');
    if (at) sscanf(at, "%llu", &start);
    return start;
}

/* Creates the file with the first unused number; -1 if that is not possible. */
static int make_file(Journal *journal, const char *folder) {
    int descriptor = -1;
    for (unsigned i = 0; descriptor < 0 && i < JOURNAL_MOST; i++) {
        text_clear(&journal->path);
        text_printf(&journal->path, "%s/" JOURNAL_NAME, folder, i);
        descriptor = open(journal->path.bytes, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        journal->number = i;
        if (descriptor < 0 && errno != EEXIST) break;
    }
    return descriptor;
}

static void *map_file(int descriptor, uint64_t bytes) {
    void *map = MAP_FAILED;
    if (output_file_reserve(descriptor, bytes))
        map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Makes room for the head, and for more if the disk has it. */
static void map_first(Journal *journal, int descriptor) {
    static const uint64_t sizes[] = {FIRST_BYTES, sizeof(JournalHead)};
    for (int i = 0; i < 2 && !journal->head; i++) {
        journal->head = map_file(descriptor, sizes[i]);
        journal->bytes = journal->head ? sizes[i] : 0;
    }
}

/* Extends the mapping to at least this length. */
static bool grow(Journal *journal, uint64_t bytes) {
    uint64_t longer = 2 * journal->bytes > bytes ? 2 * journal->bytes : bytes;
    if (bytes <= journal->bytes) return true;
    int descriptor = open(journal->path.bytes, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    JournalHead *head = descriptor < 0 ? NULL : map_file(descriptor, longer);
    if (descriptor >= 0) close(descriptor);
    if (!head) return false;
    munmap(journal->head, journal->bytes);
    journal->head = head;
    journal->bytes = longer;
    return true;
}

/* ---- Records ---- */

/* Adds the record that `record` holds. After a record did not fit, none is added. */
static void add(Journal *journal, JournalKind kind) {
    if (!journal->head || journal->head->is_full) return;
    const JournalRecord record = {kind, journal->record.length};
    const uint64_t at = journal->head->length;
    const uint64_t end = at + sizeof record + journal_pad(record.bytes);
    if (!grow(journal, end)) {
        journal->head->is_full = true;
        return;
    }
    char *to = (char *)journal->head + at;
    memcpy(to, &record, sizeof record);
    if (record.bytes) memcpy(to + sizeof record, journal->record.bytes, record.bytes);
    __atomic_store_n(&journal->head->length, end, __ATOMIC_RELEASE);
}

static void add_word(Text *text, const char *word) { text_add_bytes(text, word, strlen(word) + 1); }

static void add_options(Journal *journal, const Options *options) {
    text_clear(&journal->record);
    options_write_words(options, &journal->record);
    add(journal, JOURNAL_OPTIONS);
}

/* ---- Findings ---- */

static void add_finding(Journal *journal, uint32_t index, const Finding *finding) {
    const char *const texts[] = {finding->what, finding->text, finding->kernel, finding->file,
                                 finding->source};
    text_clear(&journal->record);
    text_add_bytes(&journal->record, &index, sizeof index);
    text_add_bytes(&journal->record, finding, sizeof *finding);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        add_word(&journal->record, texts[i] ? texts[i] : "");
    add(journal, JOURNAL_FINDING);
}

/* Adds findings that are new, and those that were found again. */
static void add_findings(Journal *journal, const Findings *findings) {
    const uint32_t count = findings ? findings_count(findings) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const Finding *finding = finding_at(findings, i);
        if (i < journal->counted && journal->counts[i] == finding->count) continue;
        if (i == journal->counted) {
            journal->counts = base_grow(journal->counts, journal->counted, &journal->count_room,
                                        sizeof *journal->counts);
            journal->counted++;
        }
        journal->counts[i] = finding->count;
        add_finding(journal, i, finding);
    }
}

/* ---- The interface ---- */

Journal *journal_new(const char *folder, const RunStats *run, const Options *options) {
    Journal *journal = base_calloc(1, sizeof *journal);
    int descriptor = make_file(journal, folder);
    if (descriptor < 0) return journal;
    map_first(journal, descriptor);
    close(descriptor);
    if (!journal->head) return journal;
    JournalHead *head = journal->head;
    *head = (JournalHead){.version = TYTO_VERSION,
                          .process = getpid(),
                          .process_start = journal_process_start(getpid()),
                          .shape = run->shape,
                          .peaks = run->peaks};
    snprintf(head->program, sizeof head->program, "%s", program_invocation_short_name);
    head->length = journal_pad(sizeof *head);
    add_options(journal, options);
    return journal;
}

/* Whether the process was started with the variable `assignment`, which has `bytes` bytes with its
 * NUL. */
static bool has_variable(int64_t process, const char *assignment, size_t bytes) {
    char path[64];
    size_t length;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/environ", process);
    char *text = text_read_file(path, MOST_ENVIRON, &length);
    const char *at = text;
    while (at && (at = memmem(at, length - (size_t)(at - text), assignment, bytes)) != NULL &&
           at > text && at[-1] != '\0')
        at++;
    free(text);
    return at != NULL;
}

int64_t journal_find_process(const char *folder) {
    int64_t found = 0;
    Text assignment = {0};
    text_printf(&assignment, "%s=%s", TYTO_JOURNAL, folder);
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && !found && (entry = readdir(processes)) != NULL;) {
        const int64_t process = strtoll(entry->d_name, NULL, 10); /* 0 for other names */
        if (process > 0 && process != getpid() && journal_process_start(process) &&
            has_variable(process, text_string(&assignment), assignment.length + 1))
            found = process;
    }
    if (processes) closedir(processes);
    text_free(&assignment);
    return found;
}

void journal_free(Journal *journal) {
    if (!journal) return;
    if (journal->head) munmap(journal->head, journal->bytes);
    text_free(&journal->path);
    text_free(&journal->record);
    free(journal->counts);
    free(journal);
}

void journal_begin(Journal *journal, const char *kernel) {
    if (!journal || !journal->head) return;
    snprintf(journal->head->kernel, sizeof journal->head->kernel, "%s", kernel);
    journal->head->begun++;
}

void journal_end(Journal *journal, const RunStats *run, bool is_kept) {
    if (!journal || !journal->head) return;
    if (is_kept) {
        text_clear(&journal->record);
        run_add_kernel_bytes(&run->kernels[run->kernel_count - 1], &journal->record);
        add(journal, JOURNAL_KERNEL);
    }
    add_findings(journal, run->findings);
    journal->head->ended++;
}

void journal_wait(Journal *journal, uint64_t launches) {
    if (journal && journal->head) journal->head->waiting = launches;
}

bool journal_knows(const Journal *journal, uint64_t code) {
    return !journal || !journal->head || (journal->has_origin && journal->code == code);
}

void journal_sign(Journal *journal, const RunStats *run, uint64_t code) {
    if (!journal || !journal->head) return;
    text_clear(&journal->record);
    run_add_origin_texts(run, &journal->record);
    add(journal, JOURNAL_ORIGIN);
    journal->code = code;
    journal->has_origin = true;
}

bool journal_owns_files(const Journal *journal) {
    if (!journal || !journal->head || journal->head->begun) return true;
    if (journal->number) return false;
    Text next = {0};
    text_printf(&next, "%.*s" JOURNAL_NAME,
                (int)(strrchr(journal->path.bytes, '/') + 1 - journal->path.bytes),
                journal->path.bytes, 1);
    bool is_only = access(next.bytes, F_OK) != 0;
    text_free(&next);
    return is_only;
}

void journal_finish(Journal *journal, bool has_files) {
    if (!journal || !journal->path.length) return;
    if (journal->head) {
        journal->head->reported = journal->head->begun;
        journal->head->has_files = has_files;
        journal->head->is_done = true;
        return;
    }
    Text done = {0};
    text_printf(&done, "%s" JOURNAL_DONE, journal->path.bytes);
    rename(journal->path.bytes, done.bytes);
    text_free(&done);
}
