/* The code of a listing: blocks of functions, labels at the targets of branches, instructions. */
#include "sass/listing_internal.h"

#include <stdio.h>
#include <string.h>

/* ---- Instructions ---- */

/* The target of a branch, if the instruction itself contains it. */
static bool find_target(const SassInst *inst, uint64_t pc, uint64_t *target) {
    if (inst->op == SASS_OP_BRX || inst->op == SASS_OP_BRXU) return false;
    if (inst->modifier[SASS_MOD_ABS] == SASS_ABS_ABS) return false;
    for (const SassOperand *o = inst->operand; o < inst->operand + inst->operand_count; o++) {
        if (o->kind != SASS_TARGET) continue;
        *target = pc + SASS_INST_BYTES + (uint64_t)o->value;
        return true;
    }
    return false;
}

/* The first relocation of an instruction; or NULL. */
static const CubinRelocation *find_relocation(const CubinSection *section, uint64_t offset) {
    uint32_t low = 0, high = section->relocation_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (section->relocations[middle].offset < offset) low = middle + 1;
        else high = middle;
    }
    bool is_there = low < section->relocation_count &&
                    section->relocations[low].offset < offset + SASS_INST_BYTES;
    return is_there ? &section->relocations[low] : NULL;
}

void listing_decode(const ListingBlock *block, uint64_t offset, ListingInst *inst) {
    uint64_t words[2];
    memcpy(words, block->section->bytes + offset, sizeof words);
    inst->offset = offset;
    inst->is_known = sass_decode(block->cubin->architecture, words, &inst->inst);
    inst->relocation = find_relocation(block->section, offset);
    inst->has_target = inst->is_known && !inst->relocation &&
                       find_target(&inst->inst, offset, &inst->target) &&
                       inst->target < block->section->size;
}

void listing_control(const SassControl *control, char text[LISTING_CONTROL_BYTES]) {
    char waits[] = "------", counters[2] = {'-', '-'};
    for (int i = 0; i < 6; i++) {
        if (control->wait_mask >> i & 1) waits[i] = (char)('0' + i);
    }
    if (control->read_counter != SASS_NO_COUNTER) counters[0] = (char)('0' + control->read_counter);
    if (control->write_counter != SASS_NO_COUNTER)
        counters[1] = (char)('0' + control->write_counter);
    snprintf(text, LISTING_CONTROL_BYTES, "[B%s:R%c:W%c:%c:S%02u]", waits, counters[0], counters[1],
             control->yields ? 'Y' : '-', control->stall % 100u);
}

/* ---- Labels ---- */

static uint64_t index_of(const ListingBlock *block, uint64_t offset) {
    return (offset - block->start) / SASS_INST_BYTES;
}

int32_t listing_label(const ListingBlock *block, uint64_t offset) {
    bool is_inside = offset >= block->start && offset < block->end && offset % SASS_INST_BYTES == 0;
    return is_inside ? block->labels[index_of(block, offset)] : LISTING_NO_LABEL;
}

const CubinFunction *listing_function_at(const ListingBlock *block, uint64_t offset) {
    uint32_t low = 0, high = block->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (block->first[middle].offset < offset) low = middle + 1;
        else high = middle;
    }
    bool is_there = low < block->count && block->first[low].offset == offset;
    return is_there ? &block->first[low] : NULL;
}

static void mark(const ListingBlock *block, int32_t *labels, uint64_t offset) {
    bool is_inside = offset >= block->start && offset < block->end && offset % SASS_INST_BYTES == 0;
    if (is_inside && !listing_function_at(block, offset)) labels[index_of(block, offset)] = 0;
}

/* Marks the code addresses that a linker fills in: return addresses of calls. */
static void mark_addresses(const ListingBlock *block, int32_t *labels) {
    for (uint32_t i = 0; i < block->section->relocation_count; i++) {
        const CubinRelocation *relocation = &block->section->relocations[i];
        const CubinSymbol *symbol = &block->cubin->symbols[relocation->symbol];
        if (symbol->section == block->first->code_section && relocation->addend)
            mark(block, labels, symbol->offset + (uint64_t)relocation->addend);
    }
}

/* Marks the targets of branches: those in instructions, and those of branches by register, from the
 * file. */
static void mark_targets(const ListingBlock *block, int32_t *labels) {
    ListingInst inst;
    for (uint64_t offset = block->start; offset < block->end; offset += SASS_INST_BYTES) {
        listing_decode(block, offset, &inst);
        if (inst.has_target) mark(block, labels, inst.target);
    }
    for (uint32_t i = 0; i < block->first->branch_count; i++) {
        CubinWords targets = block->first->branches[i].targets;
        for (uint32_t k = 0; k < targets.count; k++)
            mark(block, labels, cubin_word(targets, k));
    }
    mark_addresses(block, labels);
}

/* ---- Blocks ---- */

ListingBlock listing_block(ListingCubin *of, const CubinFunction *first, uint32_t count,
                           Arena *arena) {
    const CubinSection *section = &of->cubin->sections[first->code_section];
    ListingBlock block = {.cubin = of->cubin,
                          .lines = &of->lines,
                          .section = section,
                          .first = first,
                          .count = count,
                          .start = first->offset};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = first[i].offset + first[i].size;
        if (end > block.end) block.end = end;
    }
    block.end -= (block.end - block.start) % SASS_INST_BYTES;
    uint64_t instructions = (block.end - block.start) / SASS_INST_BYTES;
    int32_t *labels = ARENA_ARRAY(arena, int32_t, instructions + 1);
    for (uint64_t i = 0; i < instructions; i++)
        labels[i] = LISTING_NO_LABEL;
    mark_targets(&block, labels);
    for (uint64_t i = 0; i < instructions; i++) {
        if (labels[i] != LISTING_NO_LABEL) labels[i] = of->next_label++;
    }
    block.labels = labels;
    return block;
}
