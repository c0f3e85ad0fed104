/* Matches spellings with the table of forms. Only this file parses the notation of a form's
 * modifiers, so the table stays readable and is the only place that defines them. */
#include "ptx/shape.h"

#include <string.h>

#include "ptx/fragment.h"

enum {
    MAX_SPELLING = 200, /* characters; the longest legal ones have about 100 */
    MAX_WORDS = 20,     /* modifiers of a spelling */
    MAX_ITEMS = 20      /* modifiers per form */
};

/* A part of a string, not NUL-terminated. */
typedef struct Slice {
    const char *text;
    size_t length;
} Slice;

/* A modifier of a form: one of `words`, which are separated by commas and may have notes. */
typedef struct Item {
    Slice words;
    bool is_optional;
    bool is_used; /* used by the current spelling */
} Item;

static bool slice_is(Slice slice, const char *text) {
    return slice.length == strlen(text) && !memcmp(slice.text, text, slice.length);
}

/* ---- Notation of the table ---- */

/* Splits a form's modifiers into items; returns the number of items. */
static int split_items(const char *notation, Item *items) {
    int count = 0;
    for (const char *p = notation; *p; count++) {
        bool is_list = *p == '(' || *p == '{';
        const char *start = is_list ? p + 1 : p;
        const char *end = start + (is_list ? strcspn(start, ")}") : 1 + strcspn(start + 1, ".({"));
        items[count] = (Item){{start, (size_t)(end - start)}, *p == '{', false};
        p = is_list ? end + 1 : end;
    }
    return count;
}

/* The next word of a comma-separated list, including its note. Returns false at the end. */
static bool next_word(Slice *list, Slice *word) {
    if (list->length == 0) return false;
    const char *comma = memchr(list->text, ',', list->length);
    word->text = list->text;
    word->length = comma ? (size_t)(comma - list->text) : list->length;
    size_t taken = word->length + (comma ? 1 : 0);
    list->text += taken;
    list->length -= taken;
    return true;
}

static size_t length_without_note(Slice word) {
    const char *note = memchr(word.text, '#', word.length);
    return note ? (size_t)(note - word.text) : word.length;
}

/* The word of an item, including its note, that matches a spelled word. */
static bool find_in_item(const Item *item, Slice spelled, Slice *match) {
    Slice list = item->words;
    while (next_word(&list, match)) {
        size_t length = length_without_note(*match);
        if (length == spelled.length && !memcmp(match->text, spelled.text, length)) return true;
    }
    return false;
}

static const PtxModifier *find_modifier(Slice word) {
    int count;
    const PtxModifier *modifiers = ptx_modifiers(&count);
    for (int i = 0; i < count; i++) {
        if (slice_is(word, modifiers[i].word)) return &modifiers[i];
    }
    return NULL;
}

/* ---- Matching a spelling ---- */

static void set_type(PtxInst *inst, PtxType type) {
    PtxType *unset = !inst->type    ? &inst->type
                     : !inst->type2 ? &inst->type2
                     : !inst->type3 ? &inst->type3
                                    : &inst->type4;
    *unset = type;
}

/* Sets the primary priority of a cache policy first, then that of the other accesses. */
static void set_l2_priority(PtxInst *inst, PtxEvict priority) {
    if (inst->evict_l2) inst->evict_rest = priority;
    else inst->evict_l2 = priority;
}

static void apply_modifier(PtxInst *inst, const PtxModifier *modifier) {
    uint32_t value = modifier->value;
    switch (modifier->field) {
    case PTX_FIELD_IGNORED: break;
    case PTX_FIELD_FLAG: inst->flags |= value; break;
    case PTX_FIELD_ROUND: inst->round = (PtxRound)value; break;
    case PTX_FIELD_COMPARE: inst->compare = (PtxCompare)value; break;
    case PTX_FIELD_SUB: inst->sub = (PtxSub)value; break;
    case PTX_FIELD_SUB2: inst->sub2 = (PtxSub)value; break;
    case PTX_FIELD_MUL: inst->mul_mode = (PtxMulMode)value; break;
    case PTX_FIELD_SPACE: inst->space = (PtxSpace)value; break;
    case PTX_FIELD_CACHE: inst->cache_op = (PtxCacheOp)value; break;
    case PTX_FIELD_SCOPE: inst->scope = (PtxScope)value; break;
    case PTX_FIELD_VECTOR: inst->vector = (uint8_t)value; break;
    case PTX_FIELD_SHAPE: inst->shape = (PtxMatrixShape)value; break;
    case PTX_FIELD_BOUNDARY: inst->boundary = (PtxBoundary)value; break;
    case PTX_FIELD_FORMATTED: inst->is_formatted = true; break;
    case PTX_FIELD_LEVEL: inst->level = (uint8_t)value; break;
    case PTX_FIELD_EVICT_L1: inst->evict_l1 = (PtxEvict)value; break;
    case PTX_FIELD_EVICT_L2: set_l2_priority(inst, (PtxEvict)value); break;
    case PTX_FIELD_CACHE_HINT: inst->has_policy = true; break;
    case PTX_FIELD_PREFETCH: inst->prefetch = (uint8_t)value; break;
    case PTX_FIELD_TYPE: set_type(inst, (PtxType)value); break;
    }
}

/* The result of matching a form with a spelling. */
typedef struct Match {
    const PtxForm *form;
    int matched;      /* number of words that fit, from the left */
    bool is_complete; /* every word fits, and no modifier is missing */
    Item items[MAX_ITEMS];
    int item_count;
    PtxInst inst;
} Match;

static void try_form(Match *match, const PtxForm *form, const Slice *words, int count) {
    *match =
        (Match){.form = form, .inst = {.op = form->op, .vector = 1, .guard = -1, .reconverge = -1}};
    match->item_count = split_items(form->modifiers, match->items);
    for (; match->matched < count; match->matched++) {
        int i = 0;
        Slice word = {0};
        while (i < match->item_count &&
               (match->items[i].is_used ||
                !find_in_item(&match->items[i], words[match->matched], &word)))
            i++;
        if (i == match->item_count) return;
        match->items[i].is_used = true;
        apply_modifier(&match->inst, find_modifier(word));
    }
    match->is_complete = true;
    for (int i = 0; i < match->item_count; i++)
        match->is_complete &= match->items[i].is_used || match->items[i].is_optional;
}

/* ---- Operands ---- */

static PtxType wide_type(PtxType type) {
    switch (type) {
    case PTX_U16: return PTX_U32;
    case PTX_S16: return PTX_S32;
    case PTX_U32: return PTX_U64;
    default: return PTX_S64;
    }
}

static void set_fragment(PtxSlot *slot, const PtxInst *inst) {
    const PtxFragment fragment = ptx_fragment(inst, slot->name);
    slot->type = fragment.reg;
    slot->elements = fragment.regs;
    slot->can_brace = true;
}

/* Applies the letter after an operand's name (see PtxForm). */
static void set_slot_type(PtxSlot *slot, char letter, const PtxInst *inst) {
    slot->type = inst->type;
    slot->is_relaxed = letter == 'x' || letter == 'z';
    slot->can_select = letter == 'E' || letter == 'e' || letter == 'f';
    slot->can_minus = inst->op == PTX_OP_VMAD && !slot->is_destination;
    const bool is_vector = letter == 'x' || letter == 'V' || letter == 't' || slot->is_destination;
    slot->elements = is_vector ? inst->vector : 1;
    slot->can_enclose = inst->op == PTX_OP_LD || inst->op == PTX_OP_LDU || inst->op == PTX_OP_ST;
    switch (letter) {
    case 'u':
    case 'z':
    case '2':
    case 'e': slot->type = inst->type2; break;
    case 'v':
    case '3':
    case 'f': slot->type = inst->type3; break;
    case 'w': slot->type = wide_type(inst->type); break;
    case 'i': slot->type = PTX_U32; break;
    case 'j': slot->type = PTX_U16; break;
    case 'k': slot->type = PTX_U64; break;
    case 'g': slot->type = PTX_TYPE_NONE; break;
    case 'p': slot->type = PTX_PRED; break;
    case 'S': slot->space = PTX_SPACE_SHARED; break;
    case 'G': slot->space = PTX_SPACE_GLOBAL; break;
    case 's': slot->is_shared_if_short = true; break;
    case 'A': slot->space = PTX_SPACE_NONE; break;
    case 'D':
        slot->type = PTX_U32;
        slot->elements = inst->vector;
        slot->can_enclose = slot->is_in_brackets = true;
        break;
    case 'O':
        slot->type = PTX_U16;
        slot->elements = inst->vector > 2 ? (uint8_t)(inst->vector - 2) : 1;
        slot->can_enclose = true;
        break;
    case 'h': slot->type = PTX_F32; break;
    case 'y':
        slot->type = PTX_U32;
        slot->can_be_pred = true;
        break;
    case 'F':
    case 'R': set_fragment(slot, inst); break;
    case 'M':
        set_fragment(slot, inst);
        slot->can_describe = true;
        break;
    case 'l': slot->type = PTX_U64; break;
    case 'n': slot->kind = PTX_SLOT_CONSTANT; break;
    case 'm': slot->kind = PTX_SLOT_MOVE; break;
    case 't': slot->kind = PTX_SLOT_SPECIAL; break;
    case 'L': slot->kind = PTX_SLOT_LABEL; break;
    case 'T': slot->kind = PTX_SLOT_TARGETS; break;
    case 'X': slot->kind = PTX_SLOT_TEXTURE; break;
    case 'C': slot->kind = PTX_SLOT_CALL; break;
    default: break;
    }
}

/* The number of elements of a packed video instruction: the digit at the end of its name. */
static uint8_t elements_of(const char *name) { return (uint8_t)(name[strlen(name) - 1] - '0'); }

static void read_slots(PtxShape *shape) {
    bool is_optional = false, has_hint = strstr(shape->spelling, ".L2::cache_hint") != NULL;
    for (const char *p = shape->form->operands; *p; p++) {
        if (*p == '{' || *p == '}') is_optional = *p == '{';
        if (*p == '[') shape->slots[shape->slot_count].kind = PTX_SLOT_MEMORY;
        if (*p < 'a' || *p > 'z') continue;
        if (*p == 'k' && !has_hint) break;
        PtxSlot *slot = &shape->slots[shape->slot_count++];
        slot->name = *p;
        slot->is_optional = is_optional && *p != 'k';
        slot->is_destination = *p == 'd' || *p == 'p';
        char letter = slot->name == 'p' ? 'p' : '\0';
        if (p[1] == ':') {
            letter = p[2];
            p += 2;
        }
        set_slot_type(slot, letter, &shape->inst);
        shape->reads_destination |= letter == 'R';
        if (letter >= '1' && letter <= '3') slot->picks = elements_of(shape->form->name);
        if (p[1] == '|') {
            slot->can_pair = true;
            p += 2;
        }
        if (!slot->is_optional) shape->required_count++;
    }
}

/* ---- Messages ---- */

static void add_words(const Match *match, Text *out) {
    const char *separator = "";
    for (int i = 0; i < match->item_count; i++) {
        if (match->items[i].is_used) continue;
        Slice list = match->items[i].words, word;
        while (next_word(&list, &word)) {
            text_printf(out, "%s%.*s", separator, (int)length_without_note(word), word.text);
            separator = " ";
        }
    }
}

void ptx_form_write(const PtxForm *form, Text *out) {
    text_add(out, form->name);
    for (const char *p = form->modifiers; *p; p++) {
        if (*p == '#') {
            while (p[1] && !strchr(".,)}{(", p[1]))
                p++;
        } else {
            text_add_bytes(out, p, 1);
        }
    }
    if (*form->operands) text_add(out, " ");
    for (const char *p = form->operands; *p; p++) {
        if (*p == ':' && p[1]) {
            p++;
        } else {
            text_add_bytes(out, p, 1);
        }
    }
}

/* The opcode that is most similar to a name, or NULL. */
static const char *nearest_opcode(const char *name) {
    const char *names[PTX_OP_COUNT];
    for (int i = 0; i < PTX_OP_COUNT; i++)
        names[i] = ptx_opcode_name((PtxOpcode)i);
    return diag_nearest(name, names, PTX_OP_COUNT);
}

/* Whether PTX has the opcode. Adds what it is to `why`. */
static bool explain_unsupported(const char *name, Text *why) {
    int count;
    const PtxUnsupported *unsupported = ptx_unsupported(&count);
    for (int i = 0; i < count; i++) {
        if (strcmp(unsupported[i].name, name) != 0) continue;
        text_printf(why, "not supported: '%s' (%s)", name, unsupported[i].what);
        return true;
    }
    return false;
}

static int split_words(const char *spelling, Slice *name, Slice *words) {
    int count = 0;
    *name = (Slice){spelling, strcspn(spelling, ".")};
    for (const char *p = spelling + name->length; *p && count < MAX_WORDS; count++) {
        size_t length = 1 + strcspn(p + 1, ".");
        words[count] = (Slice){p, length};
        p += length;
    }
    return count;
}

/* Whether a spelling has the modifiers in `name`, and its opcode if it has one. */
static bool has_words(const char *spelling, const char *name) {
    Slice opcode, wanted_opcode, words[MAX_WORDS], wanted[MAX_WORDS];
    const int word_count = split_words(spelling, &opcode, words);
    const int wanted_count = split_words(name, &wanted_opcode, wanted);
    bool has_all =
        wanted_opcode.length == 0 || (opcode.length == wanted_opcode.length &&
                                      memcmp(opcode.text, wanted_opcode.text, opcode.length) == 0);
    for (int i = 0; i < wanted_count && has_all; i++) {
        bool is_there = false;
        for (int w = 0; w < word_count; w++)
            is_there |= words[w].length == wanted[i].length &&
                        memcmp(words[w].text, wanted[i].text, wanted[i].length) == 0;
        has_all = is_there;
    }
    return has_all;
}

/* Whether PTX has these modifiers but this reader does not support them. */
static bool explain_unsupported_words(const char *spelling, Text *why) {
    int count;
    const PtxUnsupported *unsupported = ptx_unsupported_words(&count);
    for (int i = 0; i < count; i++) {
        if (!has_words(spelling, unsupported[i].name)) continue;
        text_printf(why, "not supported: '%s' (%s)", spelling, unsupported[i].what);
        return true;
    }
    return false;
}

static void explain_opcode(const char *name, Text *why) {
    text_printf(why, "there is no instruction '%s'", name);
    const char *nearest = nearest_opcode(name);
    if (nearest) text_printf(why, "; did you mean '%s'?", nearest);
}

/* The modifier in the table that is most similar to a misspelled one, or NULL. */
static const char *nearest_modifier(Slice word) {
    enum { MAX_NAMES = 512, MAX_LENGTH = 64 };
    const char *names[MAX_NAMES];
    char spelled[MAX_LENGTH] = "";
    int count, name_count = 0;
    const PtxModifier *modifiers = ptx_modifiers(&count);
    if (word.length >= MAX_LENGTH) return NULL;
    memcpy(spelled, word.text, word.length);
    for (int i = 0; i < count && name_count < MAX_NAMES; i++) {
        if (strchr(modifiers[i].word, '#')) continue;
        if (!strcmp(modifiers[i].word, spelled)) return NULL;
        names[name_count++] = modifiers[i].word;
    }
    return diag_nearest(spelled, names, name_count);
}

static void explain_word(const char *spelling, const Match *best, Slice word, Text *why) {
    Text expected = {0};
    add_words(best, &expected);
    const char *nearest = nearest_modifier(word);
    text_printf(why, "'%s': '%.*s' is misspelled or not supported here", spelling, (int)word.length,
                word.text);
    if (nearest) text_printf(why, "; did you mean '%s'?", nearest);
    text_add(why, expected.length ? "; expected one of: " : "; nothing more was expected");
    text_add(why, text_string(&expected));
    text_free(&expected);
}

static void explain_missing(const char *spelling, const Match *best, Text *why) {
    for (int i = 0; i < best->item_count; i++) {
        const Item *item = &best->items[i];
        if (item->is_used || item->is_optional) continue;
        text_printf(why, "'%s': a modifier is missing: ", spelling);
        if (memchr(item->words.text, ',', item->words.length)) text_add(why, "one of ");
        Slice list = item->words, word;
        for (const char *separator = ""; next_word(&list, &word); separator = " ")
            text_printf(why, "%s%.*s", separator, (int)length_without_note(word), word.text);
        return;
    }
}

/* ---- Shapes ---- */

PtxShape *ptx_shape_new(Arena *arena, const char *spelling, Text *why) {
    Slice name, words[MAX_WORDS];
    if (strlen(spelling) > MAX_SPELLING) {
        text_printf(why, "instruction of more than %d characters", MAX_SPELLING);
        return NULL;
    }
    int word_count = split_words(spelling, &name, words), form_count;
    const PtxForm *forms = ptx_forms(&form_count);
    Match best = {.matched = -1};
    for (int i = 0; i < form_count && !best.is_complete; i++) {
        if (!slice_is(name, forms[i].name)) continue;
        Match match;
        try_form(&match, &forms[i], words, word_count);
        if (match.matched > best.matched || match.is_complete) best = match;
    }
    if (!best.form) {
        char opcode[64] = "";
        memcpy(opcode, name.text, name.length < sizeof opcode ? name.length : sizeof opcode - 1);
        if (!explain_unsupported(opcode, why)) explain_opcode(opcode, why);
        return NULL;
    }
    if (!best.is_complete) {
        if (explain_unsupported_words(spelling, why)) return NULL;
        if (best.matched < word_count) {
            explain_word(spelling, &best, words[best.matched], why);
        } else {
            explain_missing(spelling, &best, why);
        }
        return NULL;
    }
    PtxShape *shape = ARENA_NEW(arena, PtxShape);
    shape->spelling = arena_strdup(arena, spelling);
    shape->form = best.form;
    shape->inst = best.inst;
    if (shape->inst.type == PTX_B128 && shape->inst.op != PTX_OP_MOV) { /* its registers are
                                                                         * pairs */
        shape->inst.type = PTX_B64;
        shape->inst.vector = 2;
    }
    read_slots(shape);
    return shape;
}
