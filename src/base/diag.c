/* Diagnostics collected in one text. Unprintable bytes are replaced, so that a message that quotes
 * hostile input stays one line and cannot control a terminal. */
#include "base/diag.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct Diag {
    Text messages; /* the lines kept so far */
    Text shown;    /* what diag_text last returned */
    int errors;    /* reported, kept or not */
    int warnings;  /* reported, kept or not */
};

Diag *diag_new(void) { return base_calloc(1, sizeof(Diag)); }

void diag_free(Diag *diag) {
    if (!diag) return;
    text_free(&diag->messages);
    text_free(&diag->shown);
    free(diag);
}

static void add_place(Text *out, const char *file, int line, int column) {
    if (!file) return;
    text_printf(out, "%s:", file);
    if (line > 0) text_printf(out, "%d:", line);
    if (line > 0 && column > 0) text_printf(out, "%d:", column);
    text_add(out, " ");
}

static void add_message(Diag *diag, const char *kind, const char *file, int line, int column,
                        const char *format, va_list args) {
    size_t start = diag->messages.length;
    add_place(&diag->messages, file, line, column);
    text_printf(&diag->messages, "%s: ", kind);
    text_vprintf(&diag->messages, format, args);
    text_show_controls(diag->messages.bytes + start);
    text_add(&diag->messages, "\n");
}

void diag_verror(Diag *diag, const char *file, int line, int column, const char *format,
                 va_list args) {
    if (diag->errors++ < DIAG_MAX_ERRORS) {
        add_message(diag, "error", file, line, column, format, args);
    }
}

void diag_error(Diag *diag, const char *file, int line, int column, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diag_verror(diag, file, line, column, format, args);
    va_end(args);
}

void diag_warning(Diag *diag, const char *file, int line, int column, const char *format, ...) {
    if (diag->warnings++ >= DIAG_MAX_ERRORS) return;
    va_list args;
    va_start(args, format);
    add_message(diag, "warning", file, line, column, format, args);
    va_end(args);
}

int diag_error_count(const Diag *diag) { return diag->errors; }
int diag_warning_count(const Diag *diag) { return diag->warnings; }

static void add_rest(Text *out, int count, const char *what) {
    int rest = count - DIAG_MAX_ERRORS;
    if (rest > 0) text_printf(out, "and %d more %s%s\n", rest, what, text_plural((uint64_t)rest));
}

const char *diag_text(Diag *diag) {
    text_clear(&diag->shown);
    text_add(&diag->shown, text_string(&diag->messages));
    add_rest(&diag->shown, diag->errors, "error");
    add_rest(&diag->shown, diag->warnings, "warning");
    return text_string(&diag->shown);
}

void diag_print(Diag *diag, FILE *stream) { fputs(diag_text(diag), stream); }

enum { NEAREST_MAX_LENGTH = 63 }; /* no option, opcode or policy name is longer */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static int least(int a, int b) { return a < b ? a : b; }

/* Edit distance (insert, delete, replace, swap of neighbours), ignoring case. */
static int distance_of(const char *a, int a_length, const char *b, int b_length) {
    int rows[3][NEAREST_MAX_LENGTH + 1];
    for (int j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            row[j] = least(above[j - 1] + (x != y), least(above[j], row[j - 1]) + 1);
            bool is_swap = i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]);
            if (is_swap) row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *diag_nearest(const char *name, const char *const *names, int count) {
    size_t length = strlen(name);
    if (length > NEAREST_MAX_LENGTH) return NULL;
    const char *best = NULL;
    int best_distance = (int)length / 3 + 1;
    for (int i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if (other > NEAREST_MAX_LENGTH) continue;
        int distance = distance_of(name, (int)length, names[i], (int)other);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}
