/* Makes results from journals (journal.h): for programs that ended before they could write their
 * own (_exit, exec, a crash, kill -9), and for several processes with the same options, whose
 * launches belong in one file. Results that a journal lacks are reported. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "simulator/journal.h"
#include "simulator/record.h"
#include "stats/report.h"
#include "stats/run_bytes.h"

/* A journal that was found. */
typedef struct Entry {
    const JournalHead *head; /* head of the text; NULL: the file is too small for one */
    char *text;              /* the file; owned */
    uint64_t length;         /* bytes of the file */
    const char *words;       /* its options, each ending with NUL; in the text */
    uint64_t word_bytes;     /* bytes of these words */
    bool is_done;            /* the process has reported all its launches */
    bool is_taken;           /* it is part of a group that was delivered */
} Entry;

/* The state of one call. */
typedef struct Delivery {
    Entry *entries; /* by journal number; owned */
    int count;
    int64_t program;    /* ID of the process that the command started */
    const char *ending; /* how that process ended */
    TytoStatus status;
} Delivery;

/* Processes with the same options, whose results are merged. */
typedef struct Group {
    Delivery *delivery;
    Entry **entries; /* borrowed */
    int count;
    Options *options;
    RunStats *run;
} Group;

static void say(Delivery *delivery, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(Delivery *delivery, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("tyto: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    delivery->status = TYTO_INTERRUPTED;
}

/* ---- Reading ---- */

/* Returns the payload of the record at *at, and advances *at; NULL at the end. */
static const char *next_record(const Entry *entry, uint64_t *at, JournalRecord *record) {
    if (entry->head->length - *at < sizeof *record) return NULL;
    memcpy(record, entry->text + *at, sizeof *record);
    const uint64_t start = *at + sizeof *record;
    if (record->bytes > entry->head->length - start) return NULL;
    *at = start + journal_pad(record->bytes);
    return entry->text + start;
}

static void find_options(Entry *entry) {
    JournalRecord record;
    uint64_t at = journal_pad(sizeof(JournalHead));
    entry->words = next_record(entry, &at, &record);
    entry->word_bytes = entry->words ? record.bytes : 0;
}

static bool is_head(const JournalHead *head, uint64_t length) {
    return length >= journal_pad(sizeof *head) && head->length <= length &&
           strcmp(head->version, TYTO_VERSION) == 0;
}

/* Reads a journal; returns false if there is none with this number. */
static bool read_entry(const char *folder, unsigned number, Entry *entry) {
    Text path = {0};
    size_t length;
    text_printf(&path, "%s/" JOURNAL_NAME, folder, number);
    *entry = (Entry){.text = text_read_file(path.bytes, SIZE_MAX - 1, &length)};
    if (entry->text) {
        entry->length = length;
        const JournalHead *head = (const void *)entry->text;
        if (is_head(head, length)) entry->head = head;
    }
    if (entry->head) {
        find_options(entry);
        entry->is_done = entry->head->is_done && entry->head->reported == entry->head->begun;
    } else {
        text_add(&path, JOURNAL_DONE);
        entry->is_done = access(path.bytes, F_OK) == 0;
    }
    text_free(&path);
    return entry->text || entry->is_done;
}

static void read_all(Delivery *delivery, const char *folder) {
    Entry entry;
    for (unsigned i = 0; i < JOURNAL_MOST && read_entry(folder, i, &entry); i++) {
        delivery->entries = base_realloc(delivery->entries, (i + 1) * sizeof entry);
        delivery->entries[i] = entry;
        delivery->count++;
    }
}

static Options *read_options(const char *words, uint64_t bytes) {
    Options *options = options_new();
    Diag *diag = diag_new();
    const char **list = ARENA_ARRAY(options->arena, const char *, bytes + 1);
    int count = 0;
    for (const char *word = words; word && word < words + bytes; word += strlen(word) + 1)
        list[count++] = word;
    options_parse(options, NULL, count, list, diag); /* they were valid when the process started */
    diag_free(diag);
    return options;
}

/* Text behind the record is never read as part of it, because a file ends with a NUL. */
static void take_origin(RunStats *run, const char *text, uint64_t bytes) {
    const char *end = text + bytes;
    while (text < end) {
        const char *value = text + strlen(text) + 1;
        if (value >= end) return;
        RunOrigin which = 0;
        while (which < RUN_ORIGINS && strcmp(run_origin_names[which], text) != 0)
            which++;
        if (which < RUN_ORIGINS) run_set_origin(run, which, value);
        text = value + strlen(value) + 1;
    }
}

static char *copy_text(const char *text) { return *text ? strdup(text) : NULL; }

/* Adds a finding of a process, whose first finding is the group's finding `first`; returns false if
 * the record is damaged. */
static bool take_finding(Group *group, uint32_t first, const char *bytes, uint64_t size) {
    Finding finding;
    uint32_t index;
    const char *end = bytes + size;
    if (size < sizeof index + sizeof finding) return false;
    memcpy(&index, bytes, sizeof index);
    memcpy(&finding, bytes + sizeof index, sizeof finding);
    const char *texts[5], *at = bytes + sizeof index + sizeof finding;
    for (int i = 0; i < 5; i++, at += strlen(at) + 1) {
        if (at >= end) return false;
        texts[i] = at;
    }
    finding.what = arena_strdup(group->options->arena, texts[0]);
    finding.text = copy_text(texts[1]);
    finding.kernel = copy_text(texts[2]);
    finding.file = copy_text(texts[3]);
    finding.source = copy_text(texts[4]);
    findings_put(group->run->findings, first + index, &finding);
    return true;
}

/* Adds the launches of a process, and the findings of its checks, to the group's run. */
static void take_entry(Group *group, const Entry *entry) {
    JournalRecord record;
    uint64_t at = journal_pad(sizeof(JournalHead));
    const uint32_t first = findings_count(group->run->findings);
    const char *bytes;
    while ((bytes = next_record(entry, &at, &record))) {
        bool is_whole = true;
        if (record.kind == JOURNAL_ORIGIN) take_origin(group->run, bytes, record.bytes);
        if (record.kind == JOURNAL_KERNEL)
            is_whole = run_take_kernel_bytes(group->run, bytes, record.bytes);
        if (record.kind == JOURNAL_FINDING)
            is_whole = take_finding(group, first, bytes, record.bytes);
        if (!is_whole) say(group->delivery, "a record of %s is damaged", entry->head->program);
    }
}

/* ---- Reports ---- */

static bool is_running(const JournalHead *head) {
    return head->process_start && journal_process_start(head->process) == head->process_start;
}

/* How the process of an entry ended, if known. */
static const char *ending_of(const Delivery *delivery, const Entry *entry) {
    const JournalHead *head = entry->head;
    for (const Entry *later = entry + 1; later < delivery->entries + delivery->count; later++) {
        if (later->head && later->head->process == head->process &&
            later->head->process_start == head->process_start)
            return "exec";
    }
    if (is_running(head)) return "nothing so far";
    if (head->is_done) return "exit, with launches after its results were written";
    return head->process == delivery->program ? delivery->ending : "_exit, or by a signal";
}

static void tell_of_lost(Delivery *delivery, const Entry *entry) {
    const JournalHead *head = entry->head;
    const uint64_t lost = head->begun - head->ended;
    if (is_running(head)) {
        say(delivery,
            "process %" PRId64 " (%s) still runs: the results have what it launched so far",
            head->process, head->program);
        return;
    }
    if (lost)
        say(delivery, "%s ended by %s in a launch of %s, which no result contains", head->program,
            ending_of(delivery, entry), head->kernel);
    if (head->waiting)
        say(delivery,
            "%s ended by %s while %" PRIu64 " launch%s waited in streams: no result has them",
            head->program, ending_of(delivery, entry), head->waiting,
            head->waiting == 1 ? "" : "es");
    if (head->is_full)
        say(delivery,
            "%s ended by %s, and there was no room in TMPDIR for the record of all its launches: "
            "the results lack some",
            head->program, ending_of(delivery, entry));
}

/* Why a file is incomplete. */
static const char *why(const Group *group, Text *text) {
    text_clear(text);
    if (group->run->ending)
        text_printf(text, "%s ended by %s", group->run->program, group->run->ending);
    else text_printf(text, "%d processes used CUDA", group->count);
    return text_string(text);
}

/* Reports the parts of the JSON file that are missing, because they need more than the records of
 * launches. */
static void tell_of_parts(const Group *group) {
    const Options *options = group->options;
    const struct {
        bool is_wanted;
        const char *option;
    } parts[] = {{options->sample_cycles, "--sample"},
                 {options->is_profiled, "--profile"},
                 {options->tells_units, "--per-unit"}};
    Text text = {0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].is_wanted)
            say(group->delivery, "%s: the requested data are missing: %s", parts[i].option,
                why(group, &text));
    }
    text_free(&text);
}

static bool is_plain(const char *path) {
    struct stat status;
    return strcmp(path, "-") != 0 && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
}

/* Whether a path is a pipe without a reader: opening it would block. */
static bool is_unread(const char *path) {
    int descriptor = strcmp(path, "-") == 0 ? -1 : open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    const bool has_none = strcmp(path, "-") != 0 && descriptor < 0 && errno == ENXIO;
    if (descriptor >= 0) close(descriptor);
    return has_none;
}

/* Drops the files that cannot be made from launches, and those that each process has written to
 * (standard output, pipes). */
static void drop_files(Group *group) {
    Text text = {0};
    for (int i = 0; i < tyto_option_count(); i++) {
        const char *path = options_file(group->options, i);
        const bool is_of_launches = tyto_option(i)->traits & TYTO_OPTION_LAUNCHES;
        const bool is_open = path && !(group->run->ending && is_unread(path));
        if (!path || (is_of_launches && is_open && (group->run->ending || is_plain(path))))
            continue;
        if (group->run->ending)
            say(group->delivery, "%s is not written: %s", path, why(group, &text));
        else if (!is_of_launches)
            say(group->delivery, "%s only has the results of the last process: %s", path,
                why(group, &text));
        options_drop_file(group->options, i);
    }
    text_free(&text);
}

/* ---- Writing ---- */

static void write_group(Group *group) {
    Delivery *delivery = group->delivery;
    Diag *diag = diag_new();
    Text found = {0};
    tell_of_parts(group);
    drop_files(group);
    group->run->peak_memory_bytes = host_children_peak_memory_bytes();
    if (!record_write(group->run, group->options, diag)) {
        diag_print(diag, stderr);
        delivery->status = TYTO_BAD_FILE;
    }
    if (group->run->ending && group->run->kernel_count && !group->options->is_quiet) {
        report_run(group->run, group->options->is_verbose, host_columns(STDERR_FILENO), &found);
        fputs(text_string(&found), stderr);
    }
    if (findings_total(group->run->findings) && delivery->status == TYTO_OK)
        delivery->status = TYTO_CHECKS_FAILED;
    text_free(&found);
    diag_free(diag);
}

/* Whether the files of a group are incomplete. */
static bool is_to_be_written(const Group *group) {
    int launching = 0, written = 0, whole = 0;
    for (int i = 0; i < group->count; i++) {
        const Entry *entry = group->entries[i];
        const bool has_files = entry->is_done && entry->head->has_files;
        launching += entry->head->begun > 0;
        written += has_files;
        whole += has_files && entry->head->begun > 0;
    }
    return launching ? launching > 1 || whole < launching : !written;
}

static void deliver_group(Group *group) {
    const Delivery *delivery = group->delivery;
    if (!is_to_be_written(group)) return;
    group->options = read_options(group->entries[0]->words, group->entries[0]->word_bytes);
    group->run = run_new(group->entries[0]->head->program);
    group->run->shape = group->entries[0]->head->shape;
    group->run->peaks = group->entries[0]->head->peaks;
    group->run->findings = findings_new((uint32_t)group->options->most_errors, NULL, NULL);
    for (int i = 0; i < group->count; i++) {
        const Entry *entry = group->entries[i];
        if (!entry->is_done && !group->run->ending)
            group->run->ending = strdup(ending_of(delivery, entry));
        if (!entry->is_done) tell_of_lost(group->delivery, entry);
        take_entry(group, entry);
    }
    write_group(group);
    run_free(group->run);
    options_free(group->options);
}

static bool is_alike(const Entry *one, const Entry *other) {
    return one->word_bytes == other->word_bytes &&
           (!one->word_bytes || memcmp(one->words, other->words, one->word_bytes) == 0);
}

/* Delivers the entries with the same options as the first that is not delivered. */
static void deliver_alike(Delivery *delivery, int first) {
    Group group = {.delivery = delivery,
                   .entries = base_calloc((size_t)delivery->count, sizeof(Entry *))};
    for (int i = first; i < delivery->count; i++) {
        Entry *entry = &delivery->entries[i];
        if (!entry->head || entry->is_taken || !is_alike(&delivery->entries[first], entry))
            continue;
        entry->is_taken = true;
        group.entries[group.count++] = entry;
    }
    deliver_group(&group);
    free(group.entries);
}

/* Reports files that processes with other options have also written, so that one process has
 * replaced the other's file. */
static void tell_of_shared(Delivery *delivery, const Entry *one, const Entry *other) {
    Options *first = read_options(one->words, one->word_bytes);
    Options *second = read_options(other->words, other->word_bytes);
    for (int i = 0; i < tyto_option_count(); i++) {
        const char *path = options_file(first, i), *same = options_file(second, i);
        if (path && same && strcmp(path, same) == 0 && is_plain(path))
            say(delivery, "%s only has the results of one process: others had other options", path);
    }
    options_free(first);
    options_free(second);
}

static void compare_options(Delivery *delivery) {
    const Entry *first = NULL;
    for (int i = 0; i < delivery->count; i++) {
        const Entry *entry = &delivery->entries[i];
        if (!entry->head || !entry->head->begun) continue;
        if (!first) first = entry;
        if (is_alike(first, entry)) continue;
        tell_of_shared(delivery, first, entry);
        return;
    }
}

/* Whether a process has launched a kernel, if known. */
static bool has_launched(const Delivery *delivery) {
    for (int i = 0; i < delivery->count; i++)
        if (!delivery->entries[i].head || delivery->entries[i].head->begun) return true;
    return false;
}

/* Why there are no results of a program that has launched no kernel. Returns false if one of its
 * processes still runs, and may launch one. */
static bool say_why_none(const Delivery *delivery, const char *folder, Text *out) {
    char path[64], name[32] = "";
    const bool has_begun = delivery->count > 0;
    const int64_t process = journal_find_process(folder);
    if (!process) {
        text_printf(out, "the program ended without %s",
                    has_begun ? "launching a kernel" : "using CUDA");
        return true;
    }
    snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", process);
    FILE *file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file)) name[strcspn(name, "\n")] = '\0';
    if (file) fclose(file);
    text_show_controls(name);
    text_printf(out,
                "no process of the program has %s so far; process %" PRId64
                " (%s) still runs, and what it does is in no result",
                has_begun ? "launched a kernel" : "used CUDA", process, name);
    return false;
}

/* Reports that no kernel was launched. If the program never used CUDA, also reports each file that
 * is not written. */
static void tell_of_none(Delivery *delivery, const char *folder) {
    const char *words = getenv("TYTO_OPTIONS");
    Options *options = options_new();
    Diag *diag = diag_new();
    Text why = {0};
    const bool is_over = say_why_none(delivery, folder, &why);
    if (words && !options_parse_string(options, "TYTO_OPTIONS", words, diag))
        diag_print(diag, stderr);
    for (int i = 0; i < tyto_option_count(); i++) {
        const char *path = options_file(options, i);
        if (path && !delivery->count && strcmp(tyto_option(i)->name, "--snapshot") != 0)
            say(delivery, "%s is not written: %s", path, text_string(&why));
    }
    if (!options->is_quiet && delivery->status == TYTO_OK)
        fprintf(stderr, "tyto: note: %s%s\n", text_string(&why),
                is_over && !delivery->count ? ": nothing ran on Tyto" : "");
    text_free(&why);
    diag_free(diag);
    options_free(options);
}

TytoStatus tyto_deliver(const char *folder, int64_t program, const char *ending, bool may_be_none) {
    Delivery delivery = {.program = program, .ending = ending};
    read_all(&delivery, folder);
    if (!has_launched(&delivery) && !may_be_none) tell_of_none(&delivery, folder);
    for (int i = 0; i < delivery.count; i++) {
        const Entry *entry = &delivery.entries[i];
        if (!entry->head && !entry->is_done)
            say(&delivery,
                "the results of a process that ended before it wrote them are lost: TMPDIR "
                "has no room for the record of its launches");
        else if (entry->head && !entry->is_taken) deliver_alike(&delivery, i);
    }
    compare_options(&delivery);
    for (int i = 0; i < delivery.count; i++)
        free(delivery.entries[i].text);
    free(delivery.entries);
    return delivery.status;
}
