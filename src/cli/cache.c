/* tyto cache: replays the L1D lookups that --record-l1d recorded on another cache. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"

/* Reads the size given for an option; *bytes is 0 if the option was not given. False after a
 * message. */
static bool read_size(const Arguments *arguments, const char *name, uint64_t most,
                      uint64_t *bytes) {
    const char *text = arguments_value(arguments, name);
    *bytes = 0;
    if (!text || (tyto_read_size(text, bytes) && *bytes && *bytes <= most)) return true;
    say_error("%s %s: not a number from 1 to %llu (32KiB is one)", name, text,
              (unsigned long long)most);
    return false;
}

static bool read_cache(const Arguments *arguments, TytoCache *cache) {
    uint64_t ways, line;
    *cache = (TytoCache){.policy = arguments_value(arguments, "--policy"),
                         .is_unbounded = arguments_has(arguments, "--unbounded")};
    if (!read_size(arguments, "--size", UINT64_C(1) << 31, &cache->size_bytes) ||
        !read_size(arguments, "--ways", 65536, &ways) ||
        !read_size(arguments, "--line", 4096, &line))
        return false;
    cache->ways = (uint32_t)ways;
    cache->line_bytes = (uint32_t)line;
    if (cache->is_unbounded && (cache->policy || cache->size_bytes || cache->ways)) {
        say_error("--unbounded cannot be combined with --policy, --size or --ways: nothing is ever "
                  "replaced");
        return false;
    }
    return true;
}

static bool write_files(const Arguments *arguments, const TytoReplay *replay) {
    const struct {
        const char *path; /* NULL: not wanted */
        char *(*make)(const TytoReplay *replay);
    } files[] = {{arguments_value(arguments, "--json"), tyto_replay_json},
                 {arguments_value(arguments, "--csv"), tyto_replay_csv}};
    bool is_written = true;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (!files[i].path) continue;
        char *text = files[i].make(replay);
        is_written &= file_write(files[i].path, text, strlen(text));
        free(text);
    }
    return is_written;
}

static int run_cache(Arguments *arguments) {
    TytoCache cache;
    TytoReplay *replay;
    char message[2048];
    if (!read_cache(arguments, &cache)) return EXIT_USAGE;
    TytoStatus status =
        tyto_replay(arguments->operands[0], &cache, &replay, message, sizeof message);
    if (status != TYTO_OK) {
        fprintf(stderr, "tyto: %s", message);
        return status == TYTO_BAD_OPTION ? EXIT_USAGE : EXIT_FAILED;
    }
    char *text = tyto_replay_text(replay);
    put_text("%s", text);
    free(text);
    bool is_written = write_files(arguments, replay);
    tyto_replay_free(replay);
    return is_written ? EXIT_DONE : EXIT_FAILED;
}

static const TytoOption options[] = {
    {"--policy", "lru|belady", "lru",
     "Which line is replaced: the least recently used, or the one whose next use is furthest away.",
     NULL, 0},
    {"--size", "SIZE", NULL, "Bytes of each SM's cache; default: as recorded.", NULL, 0},
    {"--ways", "N", NULL, "Lines of a set; default: as recorded.", NULL, 0},
    {"--line", "BYTES", NULL, "Bytes of a line, not less than recorded; default: as recorded.",
     NULL, 0},
    {"--unbounded", NULL, NULL, "Replace no line.", NULL, 0},
    {"--json", "FILE", NULL, "Write the numbers as JSON, - is standard output.", NULL,
     TYTO_OPTION_FILE},
    {"--csv", "FILE", NULL, "Write the numbers as CSV.", NULL, TYTO_OPTION_FILE},
};

const Command command_cache = {
    .name = "cache",
    .operands = "FILE",
    .summary = "Replay recorded L1D lookups on a cache of another size, or with Belady's policy",
    .text = "FILE is a file that --record-l1d wrote. The replay has no timing: a line is present "
            "from the\n"
            "lookup that allocates it.\n\n"
            "  tyto run --machine ccws --record-l1d spmv.l1d spmv\n"
            "  tyto cache spmv.l1d --policy belady\n"
            "  tyto cache spmv.l1d --size 64KiB --ways 16\n"
            "  tyto cache spmv.l1d --unbounded\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .lowest_operands = 1,
    .most_operands = 1,
    .run = run_cache,
};
