/* Makes a record from CSV files (see the header). */
#include "cli/engine/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/files.h"

const char *const record_names[RECORDING_COUNT + 1] = {"nothing", "ctas",      "lru",
                                                       "belady",  "unbounded", NULL};

enum { MOST_CTAS = 4096 }; /* on one SM; later ones are left out */

typedef struct Ctas {
    unsigned long index[MOST_CTAS]; /* in the grid */
    int count;
} Ctas;

/* ---- Parts ---- */

static const char *cta_field(int i) {
    static const char *const names[] = {"start", "end"};
    return i < 2 ? names[i] : NULL;
}

static const RecordPart parts[] = {
    {"ctas", RECORD_CTAS, true, cta_field},
    {"order", RECORD_CTAS, true, NULL},
    {"progress", RECORD_CTAS, true, NULL},
    {"lru", RECORD_LRU, false, tyto_replay_number},
    {"belady", RECORD_BELADY, false, tyto_replay_number},
    {"unbounded", RECORD_UNBOUNDED, false, tyto_replay_number},
};

static bool has_field(const RecordPart *part, const char *name) {
    if (!part->field) /* a number without leading zeros */
        return *name >= '1' && *name <= '9' && name[strspn(name, "0123456789")] == '\0';
    for (int i = 0; part->field(i); i++) {
        if (strcmp(part->field(i), name) == 0) return true;
    }
    return false;
}

const RecordPart *record_find_part(const char *metric) {
    const char *point = strchr(metric, '.');
    size_t length = point ? (size_t)(point - metric) : 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && point; i++) {
        if (strlen(parts[i].name) == length && strncmp(parts[i].name, metric, length) == 0)
            return has_field(&parts[i], point + 1) ? &parts[i] : NULL;
    }
    return NULL;
}

/* ---- Reading ---- */

/* Goes to the next line; NULL at the end. */
static char *next_line(char **rest) {
    char *line;
    do
        line = strsep(rest, "\n");
    while (line && !*line);
    return line;
}

/* Reads the thread blocks of SM 0. The file lists them in the order in which they begin, which is
 * the order of their indices. */
static void add_ctas(char *text, Ctas *ctas, FILE *to) {
    char *line = next_line(&text); /* the heading */
    fprintf(to, "\"ctas\":[");
    while ((line = next_line(&text)) != NULL && ctas->count < MOST_CTAS) {
        unsigned long index, sm, start, end;
        if (sscanf(line, "0,%*[^,],%lu,%lu,%*u,%lu,%lu", &index, &sm, &start, &end) != 4 || sm)
            continue;
        fprintf(to, "%s{\"start\":%lu,\"end\":%lu}", ctas->count ? "," : "", start, end);
        ctas->index[ctas->count++] = index;
    }
    fprintf(to, "]");
}

/* The number of a thread block among those of the SM; the count of these if it is not among them.
 */
static int number_of(const Ctas *ctas, unsigned long index) {
    int i = 0;
    while (i < ctas->count && ctas->index[i] != index)
        i++;
    return i;
}

/* Writes the rows of SM 0 with this name, an object for each cycle. */
static void add_lists(const char *text, const char *name, const Ctas *ctas, FILE *to) {
    char *copy = strdup(text), *rest = copy, *line;
    char found[16];
    unsigned long last = 0, cycle, place;
    double index;
    fprintf(to, ",\"%s\":[", name);
    while (copy && (line = next_line(&rest)) != NULL) {
        if (sscanf(line, "%*[^,],%lu,0,%15[^,],%lu,%lf", &cycle, found, &place, &index) != 4 ||
            strcmp(found, name) != 0)
            continue;
        if (cycle < last) break; /* another launch */
        if (cycle != last) fprintf(to, "%s{", last ? "}," : "");
        fprintf(to, "%s\"%lu\":%d", cycle == last ? "," : "", place + 1,
                number_of(ctas, (unsigned long)index));
        last = cycle;
    }
    fprintf(to, "%s]", last ? "}" : "");
    free(copy);
}

char *record_read(const char *ctas_path, const char *policies_path) {
    size_t length;
    char *ctas_text = file_read(ctas_path, FILE_DATA_MAX, &length), *json = NULL;
    char *policies_text = file_read(policies_path, FILE_DATA_MAX, &length);
    if (ctas_text && policies_text) {
        Ctas *ctas = allocate(1, sizeof *ctas);
        FILE *to = open_memstream(&json, &length);
        fprintf(to, "{");
        add_ctas(ctas_text, ctas, to);
        add_lists(policies_text, "order", ctas, to);
        add_lists(policies_text, "progress", ctas, to);
        fprintf(to, "}");
        fclose(to);
        free(ctas);
    }
    free(ctas_text);
    free(policies_text);
    return json;
}

char *record_read_replay(const char *name, const char *path) {
    size_t length;
    char *text = file_read(path, FILE_DATA_MAX, &length);
    if (!text) return NULL;
    size_t size = length + strlen(name) + sizeof "{\"\":}";
    char *json = allocate(size, 1);
    snprintf(json, size, "{\"%s\":%s}", name, text);
    free(text);
    return json;
}
