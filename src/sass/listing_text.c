/* A listing for people: instructions, labels and files in NVIDIA's notation, with the control bits
 * in a separate column, in CuAssembler's notation. */
#include "sass/listing_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/demangle.h"

/* ---- Headings ---- */

static void begin_cubin(ListingWriter *writer, const Cubin *cubin) {
    text_printf(&writer->text, "// %s: %smachine code for sm_%u", writer->options->file,
                cubin->is_relocatable ? "relocatable " : "", cubin->architecture);
    if (cubin->producer) text_printf(&writer->text, ", by %s", cubin->producer);
    text_add(&writer->text, "\n");
}

static void put_amount(Text *out, uint32_t amount, const char *unit) {
    if (amount) text_printf(out, ", %u %s", amount, unit);
}

static void put_threads(Text *out, const char *what, const uint32_t threads[3]) {
    if (threads[0]) text_printf(out, ", %s %ux%ux%u", what, threads[0], threads[1], threads[2]);
}

/* The resources that a function needs, in one line. */
static void put_needs(Text *out, const CubinFunction *function) {
    text_printf(out, "// %s, %u registers", function->is_kernel ? "kernel" : "function",
                function->registers);
    put_amount(out, function->shared_bytes, "B of shared memory");
    put_amount(out,
               function->stack_bytes   ? function->stack_bytes
               : function->frame_bytes ? function->frame_bytes
                                       : function->local_bytes,
               "B of local memory");
    put_amount(out, function->barriers, function->barriers == 1 ? "barrier" : "barriers");
    put_threads(out, "at most", function->max_threads);
    put_threads(out, "exactly", function->required_threads);
    put_threads(out, "clusters of", function->cluster);
    if (function->parameter_bytes)
        text_printf(out, ", %u B of parameters at c[0x0][0x%x]", function->parameter_bytes,
                    function->parameter_offset);
    text_add(out, "\n");
}

static void begin_block(ListingWriter *writer, const ListingBlock *block) {
    Text *out = &writer->text, whole = {0};
    text_printf(out, "\n//--------------------- %s --------------------------\n",
                block->section->name);
    demangle(block->first->name, &whole);
    if (strcmp(text_string(&whole), block->first->name) != 0)
        text_printf(out, "// %s\n", text_string(&whole));
    text_free(&whole);
    put_needs(out, block->first);
}

/* ---- Source lines ---- */

static void put_place(Text *out, const CubinLine *row) {
    text_printf(out, "\"%s%s%s\", line %u", row->folder, *row->folder ? "/" : "", row->file,
                row->line);
}

/* One line for each function that was inlined here, innermost first. */
static void put_lines(Text *out, const CubinLines *piece, const CubinLine *row) {
    for (; row; row = row->caller ? &piece->rows[row->caller - 1] : NULL) {
        text_add(out, "    //## File ");
        put_place(out, row);
        if (row->caller) {
            text_add(out, " inlined at ");
            put_place(out, &piece->rows[row->caller - 1]);
        }
        text_add(out, "\n");
    }
}

/* Whether two rows are for the same place; NULL matches nothing. */
static bool is_same_place(const CubinLine *a, const CubinLine *b) {
    return a && b && a->line == b->line && a->file == b->file && a->caller == b->caller;
}

/* Prints the source line if it changed. */
static void put_source(Text *out, const ListingBlock *block, uint64_t offset) {
    const CubinLines *piece, *piece_before;
    uint16_t section = block->first->code_section;
    const CubinLine *row = cubin_find_line(block->lines, section, offset, &piece);
    const CubinLine *before =
        offset > block->start
            ? cubin_find_line(block->lines, section, offset - SASS_INST_BYTES, &piece_before)
            : NULL;
    if (row && !is_same_place(row, before)) put_lines(out, piece, row);
}

/* ---- Operands that are replaced by a name ---- */

/* Replaces the last `number` in `text` by `name`; returns false if there is none. */
static bool replace_last(Text *text, const char *number, const char *name) {
    char *found = NULL, *at = text->bytes;
    size_t length = strlen(number);
    while ((at = strstr(at, number))) {
        bool ends = !strchr("0123456789abcdefx", at[length]) || !at[length];
        if (ends) found = at;
        at += length;
    }
    if (!found) return false;
    Text after = {0};
    text_add(&after, found + length);
    text->length = (size_t)(found - text->bytes);
    text->bytes[text->length] = '\0';
    text_add(text, name);
    text_add(text, text_string(&after));
    text_free(&after);
    return true;
}

static void name_target(Text *text, const ListingBlock *block, const ListingInst *inst) {
    char number[32], label[32];
    const CubinFunction *function = listing_function_at(block, inst->target);
    int32_t of_target = listing_label(block, inst->target);
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)inst->target);
    snprintf(label, sizeof label, "`(.L_x_%d)", of_target);
    if (function) {
        Text name = {0};
        text_printf(&name, "`(%s)", function->name);
        replace_last(text, number, text_string(&name));
        text_free(&name);
    } else if (of_target != LISTING_NO_LABEL) {
        replace_last(text, number, label);
    }
}

/* NVIDIA's notation for operands of these relocation kinds; others are shown in a comment of the
 * listing. */
static const struct {
    const char *kind, *form;
} forms[] = {
    {"R_CUDA_ABS32_LO_32", "32@lo(%s)"},
    {"R_CUDA_ABS32_HI_32", "32@hi(%s)"},
    {"R_CUDA_ABS47_34", "`(%s)"},
    {"R_CUDA_ABS55_16_34", "`(%s)"},
    {"R_CUDA_ABS56_16_34", "`(%s)"},
    {"R_CUDA_ABS32_32", "32@(%s)"},
    {"R_CUDA_UNIFIED32_LO_32", "32@lo(%s)"},
    {"R_CUDA_UNIFIED32_HI_32", "32@hi(%s)"},
};

/* Writes the form with %s replaced by the name. */
static void put_form(Text *out, const char *form, const char *name) {
    const char *place = strstr(form, "%s");
    text_add_bytes(out, form, (size_t)(place - form));
    text_add(out, name);
    text_add(out, place + 2);
}

/* The label that a symbol and an addend refer to in the listed code, or LISTING_NO_LABEL. */
static int32_t label_of(const ListingBlock *block, const CubinRelocation *relocation) {
    const CubinSymbol *symbol = &block->cubin->symbols[relocation->symbol];
    bool is_here = symbol->section == block->first->code_section && relocation->addend;
    return is_here ? listing_label(block, symbol->offset + (uint64_t)relocation->addend)
                   : LISTING_NO_LABEL;
}

/* The symbol and the addend of a relocation. */
static void put_symbol(Text *out, const ListingBlock *block, const CubinRelocation *relocation) {
    const char *name = block->cubin->symbols[relocation->symbol].name;
    long long addend = relocation->addend;
    int32_t label = label_of(block, relocation);
    if (label != LISTING_NO_LABEL) text_printf(out, "(%s + .L_x_%d@srel)", name, label);
    else if (!addend) text_add(out, name);
    else if (addend > 0) text_printf(out, "%s + 0x%llx", name, (unsigned long long)addend);
    else text_printf(out, "%s - 0x%llx", name, 0 - (unsigned long long)addend);
}

static void name_symbol(Text *text, Text *comment, const ListingBlock *block,
                        const CubinRelocation *relocation) {
    const char *kind = cubin_relocation_name(relocation->kind);
    Text symbol = {0}, operand = {0};
    bool is_named = false;
    put_symbol(&symbol, block, relocation);
    for (size_t i = 0; kind && i < sizeof forms / sizeof forms[0]; i++) {
        if (strcmp(forms[i].kind, kind) != 0) continue;
        put_form(&operand, forms[i].form, text_string(&symbol));
        is_named = replace_last(text, "0x0", text_string(&operand));
    }
    if (!is_named && kind) text_printf(comment, " /* %s %s */", kind, text_string(&symbol));
    else if (!is_named)
        text_printf(comment, " /* relocation %u %s */", relocation->kind, text_string(&symbol));
    text_free(&symbol);
    text_free(&operand);
}

/* The possible targets of a branch by register. */
static void put_branch_targets(Text *out, const ListingBlock *block, uint64_t offset) {
    for (uint32_t i = 0; i < block->first->branch_count; i++) {
        const CubinBranch *branch = &block->first->branches[i];
        if (branch->offset != offset) continue;
        text_add(out, " (*\"BRANCH_TARGETS ");
        for (uint32_t k = 0; k < branch->targets.count; k++) {
            uint32_t target = cubin_word(branch->targets, k);
            int32_t label = listing_label(block, target);
            text_add(out, k ? "," : "");
            if (label == LISTING_NO_LABEL) text_printf(out, "0x%x", target);
            else text_printf(out, ".L_x_%d", label);
        }
        text_add(out, "\"*)");
    }
}

/* ---- Instructions ---- */

static void put_unknown(Text *text, const SassInst *inst) {
    text_printf(text, ".dword 0x%016llx, 0x%016llx", (unsigned long long)inst->bits[0],
                (unsigned long long)inst->bits[1]);
}

static void put_known(Text *text, const SassInst *inst, uint64_t pc) {
    char line[1024];
    sass_print(inst, pc, line, sizeof line);
    text_add(text, line);
}

/* The guard is right-aligned before the mnemonic. */
static void put_aligned(Text *out, const char *text) {
    enum { GUARD_COLUMNS = 7 };
    const char *blank = *text == '@' ? strchr(text, ' ') : NULL;
    int guard = blank ? (int)(blank - text) : 0;
    text_printf(out, "%*.*s %s", GUARD_COLUMNS, guard, text, blank ? blank + 1 : text);
}

static void instruction(ListingWriter *writer, const ListingBlock *block, const ListingInst *inst) {
    Text *out = &writer->text, text = {0}, comment = {0};
    const CubinFunction *function = listing_function_at(block, inst->offset);
    int32_t label = listing_label(block, inst->offset);
    char control[LISTING_CONTROL_BYTES];
    if (function) text_printf(out, "%s:\n", function->name);
    if (label != LISTING_NO_LABEL) text_printf(out, ".L_x_%d:\n", label);
    put_source(out, block, inst->offset);
    if (inst->is_known) put_known(&text, &inst->inst, inst->offset);
    else put_unknown(&text, &inst->inst);
    if (inst->has_target) name_target(&text, block, inst);
    if (inst->is_known && inst->relocation) name_symbol(&text, &comment, block, inst->relocation);
    bool is_indirect = inst->inst.op == SASS_OP_BRX || inst->inst.op == SASS_OP_BRXU;
    if (is_indirect) put_branch_targets(&text, block, inst->offset);
    listing_control(&inst->inst.control, control);
    text_printf(out, "    %s /*%04llx*/", control, (unsigned long long)inst->offset);
    put_aligned(out, text_string(&text));
    text_printf(out, " ;%s\n", text_string(&comment));
    if (writer->options->has_words)
        text_printf(out, "%30s/* 0x%016llx 0x%016llx */\n", "",
                    (unsigned long long)inst->inst.bits[0], (unsigned long long)inst->inst.bits[1]);
    text_free(&text);
    text_free(&comment);
}

static void nothing(ListingWriter *writer) { (void)writer; }
static void end_block(ListingWriter *writer, const ListingBlock *block) {
    (void)writer;
    (void)block;
}
static void end_cubin(ListingWriter *writer) { text_add(&writer->text, "\n"); }

const ListingWriter listing_text_writer = {
    .begin_file = nothing,
    .begin_cubin = begin_cubin,
    .begin_block = begin_block,
    .instruction = instruction,
    .end_block = end_block,
    .end_cubin = end_cubin,
    .end_file = nothing,
};
