/* The columns that identify a run (see the header). */
#include "cli/engine/origin.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine/words.h"

static int count_names(void) {
    int count = 0;
    while (tyto_origin(count))
        count++;
    return count;
}

/* The requested value of this name; "": none was requested, or the key has no such column. */
static const char *asked_for(const RunKey *key, const char *name) {
    const char *texts[STORE_KEYS];
    store_key_texts(key, texts);
    for (int i = 0; i < STORE_KEYS; i++) {
        if (strcmp(store_key_names[i], name) == 0) return texts[i];
    }
    return "";
}

bool origin_read(Store *store, const RunKey *key, char ***texts) {
    int count = count_names();
    if (!store_origin(store, key, count, texts)) {
        store_free_texts(*texts, count);
        return false;
    }
    for (int i = 0; i < count; i++) {
        const char *asked = asked_for(key, tyto_origin(i));
        if (!*asked) continue;
        free((*texts)[i]);
        (*texts)[i] = words_copy_text(asked);
    }
    return true;
}

void origin_free(char **texts) { store_free_texts(texts, count_names()); }

void csv_write_field(const char *text, FILE *to) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"') fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void origin_write_names(const char *before, FILE *to) {
    for (int i = 0; tyto_origin(i); i++)
        fprintf(to, "%s%s,", before, tyto_origin(i));
}

bool origin_write(Store *store, const RunKey *key, FILE *to) {
    char **texts = NULL;
    if (key && !origin_read(store, key, &texts)) return false;
    for (int i = 0; tyto_origin(i); i++) {
        if (texts) csv_write_field(texts[i], to);
        fputc(',', to);
    }
    origin_free(texts);
    return true;
}
