/* The table never removes a name, only its meanings. Its texts are at most as long as the input. */
#include "ptx/names.h"

#include <stdlib.h>
#include <string.h>

enum { INITIAL_CAPACITY = 1024, MAX_NUMBER_DIGITS = 9 };

void names_init(Names *names, Arena *arena) {
    *names = (Names){.arena = arena, .capacity = INITIAL_CAPACITY};
    names->slots = base_calloc(INITIAL_CAPACITY, sizeof *names->slots);
}

void names_free(Names *names) {
    free(names->slots);
    names->slots = NULL;
}

static uint32_t hash_of(const char *text, size_t length) {
    uint64_t hash = length;
    while (length > 0) {
        uint64_t word = 0;
        size_t bytes = length < 8 ? length : 8;
        memcpy(&word, text, bytes);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
        text += bytes;
        length -= bytes;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static void grow(Names *names) {
    Name **old = names->slots;
    uint32_t old_capacity = names->capacity;
    names->capacity *= 2;
    names->slots = base_calloc(names->capacity, sizeof *names->slots);
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (!old[i]) continue;
        uint32_t slot = old[i]->hash & (names->capacity - 1);
        while (names->slots[slot])
            slot = (slot + 1) & (names->capacity - 1);
        names->slots[slot] = old[i];
    }
    free(old);
}

/* Sets the parts of %r12: prefix %r and number 12. Numbers have no leading zeros. */
static void split_number(Names *names, Name *name) {
    uint32_t start = name->length;
    while (start > 0 && name->text[start - 1] >= '0' && name->text[start - 1] <= '9')
        start--;
    uint32_t digits = name->length - start;
    bool is_number = digits > 0 && start > 0 && digits <= MAX_NUMBER_DIGITS;
    if (is_number && (name->text[start] != '0' || digits == 1)) {
        name->number = (int32_t)strtol(name->text + start, NULL, 10);
        name->prefix = names_intern(names, name->text, start);
    }
}

Name *names_intern(Names *names, const char *text, size_t length) {
    uint32_t hash = hash_of(text, length);
    uint32_t slot = hash & (names->capacity - 1);
    for (Name *name; (name = names->slots[slot]); slot = (slot + 1) & (names->capacity - 1)) {
        if (name->hash == hash && name->length == length && !memcmp(name->text, text, length))
            return name;
    }
    Name *name = ARENA_NEW(names->arena, Name);
    name->text = arena_strndup(names->arena, text, length);
    name->length = (uint32_t)length;
    name->hash = hash;
    name->number = -1;
    names->slots[slot] = name;
    if (++names->count * 2 > names->capacity) grow(names);
    split_number(names, name);
    return name;
}

bool names_enter(Names *names) {
    if (names->depth == NAMES_MAX_DEPTH) return false;
    names->scopes[++names->depth] = NULL;
    return true;
}

void names_leave(Names *names) {
    for (Binding *b = names->scopes[names->depth]; b; b = b->next_in_scope) {
        if (b->kind == BINDING_RANGE) {
            b->name->range = b->hidden;
        } else {
            b->name->binding = b->hidden;
            Name *prefix = b->name->prefix;
            if (prefix && prefix->numbered == b) prefix->numbered = b->numbered;
        }
    }
    names->depth--;
}

Binding *names_bind_at(Names *names, Name *name, BindingKind kind, int depth, int line) {
    Binding *binding = ARENA_NEW(names->arena, Binding);
    Binding **meaning = kind == BINDING_RANGE ? &name->range : &name->binding;
    binding->kind = kind;
    binding->depth = depth;
    binding->line = line;
    binding->name = name;
    binding->hidden = *meaning;
    *meaning = binding;
    binding->next_in_scope = names->scopes[depth];
    names->scopes[depth] = binding;
    return binding;
}

Binding *names_bind(Names *names, Name *name, BindingKind kind, int line) {
    Binding *binding = names_bind_at(names, name, kind, names->depth, line);
    if (name->prefix && kind != BINDING_RANGE) {
        binding->numbered = name->prefix->numbered;
        name->prefix->numbered = binding;
    }
    return binding;
}

Binding *names_unknown(const Name *name) {
    for (; name; name = name->prefix)
        if (name->binding && name->binding->kind == BINDING_UNKNOWN) return name->binding;
    return NULL;
}

void names_bind_unknown(Names *names, Name *name, const char *refusal, int line) {
    names_bind_at(names, name, BINDING_UNKNOWN, 0, line)->refusal = refusal;
}

Binding *names_alone(const Names *names, const Name *name, int32_t count) {
    Binding *binding = name->numbered;
    for (; binding && binding->depth == names->depth; binding = binding->numbered) {
        if (binding->name->number < count && binding->kind != BINDING_LABEL) return binding;
    }
    return NULL;
}

Binding *names_range(Names *names, Name *name) {
    int depth = name->binding ? name->binding->depth : -1;
    if (name->prefix) {
        Binding *range = name->prefix->range;
        if (range && range->depth > depth && name->number < range->count) return range;
    }
    if (name->binding || !name->prefix) return NULL;
    /* A prefix may itself end in digits: %r1<5> has %r10 to %r14. */
    for (uint32_t start = name->prefix->length + 1; start < name->length; start++) {
        if (name->text[start] == '0' && start + 1 < name->length) continue;
        Binding *range = names_intern(names, name->text, start)->range;
        if (range && strtol(name->text + start, NULL, 10) < range->count) return range;
    }
    return NULL;
}

Binding *names_here(Names *names, Name *name) {
    Binding *meaning = names_meaning(name);
    if (meaning && meaning->depth == names->depth) return meaning;
    Binding *range = names_range(names, name);
    return range && range->depth == names->depth ? range : NULL;
}
