/* A listing for scripts: one JSON document (docs/machine-code.md lists its members). */
#include "sass/listing_internal.h"

#include <stdio.h>

#include "base/demangle.h"

static void put_name(Json *json, const char *key, const char *value) {
    json_key(json, key);
    json_string(json, value);
}

static void put_number(Json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_uint(json, value);
}

static void put_flag(Json *json, const char *key, bool value) {
    json_key(json, key);
    json_bool(json, value);
}

/* ---- The file and its cubins ---- */

static void begin_file(ListingWriter *writer) {
    Json *json = &writer->json;
    json_begin(json, &writer->text);
    json_object(json);
    put_name(json, "schema", "tyto-disasm-1");
    put_name(json, "file", writer->options->file);
    json_key(json, "cubins");
    json_array(json);
}

static void begin_cubin(ListingWriter *writer, const Cubin *cubin) {
    Json *json = &writer->json;
    char architecture[16];
    snprintf(architecture, sizeof architecture, "sm_%u", cubin->architecture);
    json_object(json);
    put_name(json, "architecture", architecture);
    put_flag(json, "relocatable", cubin->is_relocatable);
    if (cubin->producer) put_name(json, "producer", cubin->producer);
    json_key(json, "functions");
    json_array(json);
}

static void end_cubin(ListingWriter *writer) {
    json_end_array(&writer->json);
    json_end_object(&writer->json);
}

static void end_file(ListingWriter *writer) {
    json_end_array(&writer->json);
    put_number(&writer->json, "instructions", writer->counts->instructions);
    put_number(&writer->json, "unknown", writer->counts->unknown);
    json_end_object(&writer->json);
    text_add(&writer->text, "\n");
}

/* ---- Functions ---- */

static void put_threads(Json *json, const char *key, const uint32_t threads[3]) {
    if (!threads[0]) return;
    json_key(json, key);
    json_array(json);
    for (int i = 0; i < 3; i++)
        json_uint(json, threads[i]);
    json_end_array(json);
}

static void put_parameters(Json *json, const CubinFunction *function) {
    put_number(json, "parameter_offset", function->parameter_offset);
    put_number(json, "parameter_bytes", function->parameter_bytes);
    json_key(json, "parameters");
    json_array(json);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        json_object(json);
        put_number(json, "offset", function->parameters[i].offset);
        put_number(json, "size", function->parameters[i].size);
        json_end_object(json);
    }
    json_end_array(json);
}

/* The functions after the first. */
static void put_parts(Json *json, const ListingBlock *block) {
    if (block->count < 2) return;
    json_key(json, "parts");
    json_array(json);
    for (uint32_t i = 1; i < block->count; i++) {
        json_object(json);
        put_name(json, "name", block->first[i].name);
        put_number(json, "offset", block->first[i].offset);
        put_number(json, "size", block->first[i].size);
        json_end_object(json);
    }
    json_end_array(json);
}

static void begin_block(ListingWriter *writer, const ListingBlock *block) {
    Json *json = &writer->json;
    const CubinFunction *function = block->first;
    json_object(json);
    put_name(json, "name", function->name);
    demangle_write_json(function->name, json);
    put_name(json, "section", block->section->name);
    put_flag(json, "kernel", function->is_kernel);
    put_number(json, "offset", function->offset);
    put_number(json, "size", function->size);
    put_number(json, "registers", function->registers);
    put_number(json, "shared_bytes", function->shared_bytes);
    put_number(json, "frame_bytes", function->frame_bytes);
    put_number(json, "stack_bytes", function->stack_bytes);
    put_number(json, "barriers", function->barriers);
    put_threads(json, "max_threads", function->max_threads);
    put_threads(json, "required_threads", function->required_threads);
    put_threads(json, "cluster", function->cluster);
    if (function->is_kernel) put_parameters(json, function);
    put_parts(json, block);
    json_key(json, "instructions");
    json_array(json);
}

static void end_block(ListingWriter *writer, const ListingBlock *block) {
    (void)block;
    json_end_array(&writer->json);
    json_end_object(&writer->json);
}

/* ---- Instructions ---- */

static void put_counter(Json *json, const char *key, uint8_t counter) {
    if (counter != SASS_NO_COUNTER) put_number(json, key, counter);
}

static void put_control(Json *json, const SassControl *control) {
    json_key(json, "control");
    json_object(json);
    put_number(json, "stall", control->stall);
    put_flag(json, "yield", control->yields);
    put_counter(json, "write", control->write_counter);
    put_counter(json, "read", control->read_counter);
    json_key(json, "wait");
    json_array(json);
    for (unsigned i = 0; i < 6; i++) {
        if (control->wait_mask >> i & 1) json_uint(json, i);
    }
    json_end_array(json);
    json_end_object(json);
}

static void put_words(Json *json, const SassInst *inst) {
    json_key(json, "words");
    json_array(json);
    for (int i = 0; i < 2; i++) {
        char word[24];
        snprintf(word, sizeof word, "0x%016llx", (unsigned long long)inst->bits[i]);
        json_string(json, word);
    }
    json_end_array(json);
}

static void put_relocation(Json *json, const Cubin *cubin, const CubinRelocation *relocation) {
    const char *kind = cubin_relocation_name(relocation->kind);
    char number[16];
    snprintf(number, sizeof number, "%u", relocation->kind);
    json_key(json, "relocation");
    json_object(json);
    put_name(json, "kind", kind ? kind : number);
    put_name(json, "symbol", cubin->symbols[relocation->symbol].name);
    json_key(json, "addend");
    json_double(json, (double)relocation->addend);
    json_end_object(json);
}

/* The line, and those of the calls that were inlined, innermost first. */
static void put_lines(Json *json, const ListingBlock *block, uint64_t offset) {
    const CubinLines *piece;
    const CubinLine *row =
        cubin_find_line(block->lines, block->first->code_section, offset, &piece);
    if (!row) return;
    json_key(json, "lines");
    json_array(json);
    for (; row; row = row->caller ? &piece->rows[row->caller - 1] : NULL) {
        Text path = {0};
        text_printf(&path, "%s%s%s", row->folder, *row->folder ? "/" : "", row->file);
        json_object(json);
        put_name(json, "file", text_string(&path));
        put_number(json, "line", row->line);
        if (row->function) put_name(json, "inlined", row->function);
        json_end_object(json);
        text_free(&path);
    }
    json_end_array(json);
}

static void instruction(ListingWriter *writer, const ListingBlock *block, const ListingInst *inst) {
    Json *json = &writer->json;
    json_object(json);
    put_number(json, "offset", inst->offset);
    if (inst->is_known) {
        char text[1024];
        sass_print(&inst->inst, inst->offset, text, sizeof text);
        put_name(json, "text", text);
    }
    put_control(json, &inst->inst.control);
    if (inst->has_target) put_number(json, "target", inst->target);
    if (inst->relocation) put_relocation(json, block->cubin, inst->relocation);
    if (!inst->is_known || writer->options->has_words) put_words(json, &inst->inst);
    put_lines(json, block, inst->offset);
    json_end_object(json);
}

const ListingWriter listing_json_writer = {
    .begin_file = begin_file,
    .begin_cubin = begin_cubin,
    .begin_block = begin_block,
    .instruction = instruction,
    .end_block = end_block,
    .end_cubin = end_cubin,
    .end_file = end_file,
};
