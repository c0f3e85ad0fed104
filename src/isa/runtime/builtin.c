/* Functions that the device itself provides to PTX: vprintf, malloc, free, __assertfail, and the
 * setting of a graph's condition. Functions of the device runtime are in device_runtime.c. The CUDA
 * headers declare their signatures; arguments are passed as in any call. */
#include "isa/runtime/builtin.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "isa/check/check.h"
#include "memory/heap.h"

enum { MAX_STRING_BYTES = 1 << 16 }; /* maximum length of a format or %s argument */

uint64_t builtin_argument(const BuiltinCall *call, uint32_t i) {
    const IsaCallValue *value = &call->list->arguments[i];
    uint64_t result = 0;
    uint32_t size = value->size < 8 ? value->size : 8;
    if (!value->is_register) {
        const IsaFrame *frame = &call->warp->frames[call->warp->frame];
        isa_local_read(call->warp, call->lane, frame->local_base + value->offset, &result, size);
    } else if (size == 8) {
        result = isa_row64(call->warp, value->operand)[call->lane];
    } else {
        result = isa_row32(call->warp, value->operand)[call->lane];
    }
    return result;
}

void builtin_structure(const BuiltinCall *call, uint32_t i, void *bytes, uint32_t size) {
    const IsaCallValue *value = &call->list->arguments[i];
    const IsaFrame *frame = &call->warp->frames[call->warp->frame];
    memset(bytes, 0, size);
    if (value->is_register) return; /* a structure is never in a register */
    isa_local_read(call->warp, call->lane, frame->local_base + value->offset, bytes,
                   value->size < size ? value->size : size);
}

void builtin_set_result(const BuiltinCall *call, uint64_t result) {
    if (call->list->return_count == 0) return;
    const IsaCallValue *value = &call->list->returns[0];
    if (!value->is_register) {
        const IsaFrame *frame = &call->warp->frames[call->warp->frame];
        isa_local_write(call->warp, call->lane, frame->local_base + value->offset, &result,
                        value->size < 8 ? value->size : 8);
    } else if (value->size == 8) {
        isa_row64(call->warp, value->operand)[call->lane] = result;
    } else {
        isa_row32(call->warp, value->operand)[call->lane] = (uint32_t)result;
    }
}

/* Reads the NUL-terminated string at a generic address. Returns false after a fault. */
static bool read_string(const BuiltinCall *call, uint64_t address, Text *out) {
    for (uint64_t i = 0; i < MAX_STRING_BYTES; i++) {
        char c;
        if (!isa_generic_read(call->context, call->warp, call->lane, address + i, &c, 1))
            return false;
        if (!c) return true;
        text_add_bytes(out, &c, 1);
    }
    return true;
}

/* ---- vprintf(format, arguments) ---- */

/* One conversion specification of a format. */
typedef struct Conversion {
    char text[40]; /* as written, without length modifiers: "%-8" */
    size_t length; /* of text */
    char letter;   /* conversion letter, 0 when the format ended */
    bool is_long;  /* l, ll, j, z, t: a 64-bit argument */
    int halves;    /* h, hh: an int that is converted to a short or a char */
} Conversion;

/* Values are stored one after another in the argument buffer at their natural alignment, as C's
 * default promotions leave them: 4 bytes for int, 8 for long, pointers and double. */
static bool next_value(const BuiltinCall *call, uint64_t *at, uint32_t size, uint64_t *value) {
    *value = 0;
    *at = bits_align_up(*at, size);
    if (!isa_generic_read(call->context, call->warp, call->lane, *at, value, size)) return false;
    *at += size;
    return true;
}

/* Widths and precisions of more than four digits are limited, because they make no sense in a line
 * of output. */
static void conversion_add(Conversion *conversion, char c) {
    size_t length = conversion->length, digits = 0;
    while (digits < length && isdigit((unsigned char)conversion->text[length - 1 - digits]))
        digits++;
    if (isdigit((unsigned char)c) && digits == 4) return;
    if (length + 2 < sizeof conversion->text) conversion->text[conversion->length++] = c;
}

/* Reads the specification after '%' at *p; `*` takes its number from the arguments. */
static bool read_conversion(const BuiltinCall *call, const char **p, uint64_t *at,
                            Conversion *conversion) {
    *conversion = (Conversion){.text = "%", .length = 1};
    for (; **p && strchr("-+ #0123456789.*hlLjzt", **p); (*p)++) {
        if (**p == '*') {
            uint64_t width;
            char digits[16];
            if (!next_value(call, at, 4, &width)) return false;
            snprintf(digits, sizeof digits, "%d", (int)(uint32_t)width);
            for (const char *d = digits; *d; d++)
                conversion_add(conversion, *d);
        } else if (strchr("hlLjzt", **p)) {
            conversion->is_long |= **p != 'h' && **p != 'L';
            conversion->halves += **p == 'h';
        } else {
            conversion_add(conversion, **p);
        }
    }
    conversion->letter = **p;
    if (**p) (*p)++;
    return true;
}

/* An integer argument in the form that C's printf expects. */
static long long integer_of(const Conversion *conversion, uint64_t value) {
    bool is_signed = strchr("di", conversion->letter) != NULL;
    if (conversion->is_long) return (long long)value;
    if (conversion->halves > 1) return is_signed ? (int8_t)value : (uint8_t)value;
    if (conversion->halves == 1) return is_signed ? (int16_t)value : (uint16_t)value;
    return is_signed ? (int32_t)value : (long long)(uint32_t)value;
}

/* Formats one value. The specification was checked to be that of a number. */
static void format_number(Conversion *conversion, uint64_t value, Text *out) {
    char spec[48];
    char letter = conversion->letter;
    if (strchr("eEfFgGaA", letter)) {
        double number;
        memcpy(&number, &value, sizeof number);
        snprintf(spec, sizeof spec, "%.*s%c", (int)conversion->length, conversion->text, letter);
        text_printf(out, spec, number);
        return;
    }
    const char *length = letter == 'c' || letter == 'p' ? "" : "ll";
    snprintf(spec, sizeof spec, "%.*s%s%c", (int)conversion->length, conversion->text, length,
             letter);
    if (letter == 'c') text_printf(out, spec, (int)value);
    else if (letter == 'p') text_printf(out, spec, (void *)(uintptr_t)value);
    else text_printf(out, spec, integer_of(conversion, value));
}

static bool format_string(const BuiltinCall *call, const Conversion *conversion, uint64_t address,
                          Text *out) {
    Text string = {0};
    char spec[48];
    snprintf(spec, sizeof spec, "%.*ss", (int)conversion->length, conversion->text);
    bool is_ok = true;
    if (address) is_ok = read_string(call, address, &string);
    else text_add(&string, "(null)");
    if (is_ok) text_printf(out, spec, text_string(&string));
    text_free(&string);
    return is_ok;
}

/* Formats a whole call. Returns vprintf's result, the number of conversions. */
static bool format_call(const BuiltinCall *call, const char *format, uint64_t at, Text *out,
                        int *count) {
    *count = 0;
    for (const char *p = format; *p;) {
        if (*p != '%' || p[1] == '%') {
            text_add_bytes(out, p, 1);
            p += *p == '%' ? 2 : 1;
            continue;
        }
        p++;
        Conversion conversion;
        if (!read_conversion(call, &p, &at, &conversion)) return false;
        char letter = conversion.letter;
        if (!letter || !strchr("diuoxXcpseEfFgGaA", letter)) { /* unknown: printed unchanged */
            text_add_bytes(out, conversion.text, conversion.length);
            if (letter) text_add_bytes(out, &letter, 1);
            continue;
        }
        bool is_wide = conversion.is_long || strchr("pseEfFgGaA", letter);
        uint64_t value;
        if (!next_value(call, &at, is_wide ? 8 : 4, &value)) return false;
        if (letter == 's') {
            if (!format_string(call, &conversion, value, out)) return false;
        } else {
            format_number(&conversion, value, out);
        }
        (*count)++;
    }
    return true;
}

static void builtin_vprintf(const BuiltinCall *call) {
    Text format = {0}, out = {0};
    int count = 0;
    if (read_string(call, builtin_argument(call, 0), &format) &&
        format_call(call, text_string(&format), builtin_argument(call, 1), &out, &count)) {
        if (out.length) call->context->print(call->context->user, text_string(&out), out.length);
        builtin_set_result(call, (uint64_t)(uint32_t)count);
    }
    text_free(&format);
    text_free(&out);
}

/* ---- malloc, free, __assertfail ---- */

uint64_t builtin_allocate(const BuiltinCall *call, uint64_t size) {
    const IsaLaunch *launch = call->context->launch;
    uint64_t address = mem_heap_alloc(launch->heap, size);
    if (launch->check) isa_check_malloc(call->context, call->warp, call->lane, address);
    return address;
}

static void builtin_malloc(const BuiltinCall *call) {
    builtin_set_result(call, builtin_allocate(call, builtin_argument(call, 0)));
}

void builtin_free(const BuiltinCall *call) {
    struct MemHeap *heap = call->context->launch->heap;
    uint64_t address = builtin_argument(call, 0);
    if (!address || mem_heap_release(heap, address)) return;
    Text where = {0};
    if (mem_heap_has(heap, address)) mem_heap_describe(heap, address, &where);
    else mem_describe(call->context->memory, address, &where);
    isa_bad_access(call->context, call->warp, call->lane, ISA_FAULT_ADDRESS, address,
                   "free of 0x%" PRIx64 ", where no block from device malloc starts: %s", address,
                   text_string(&where));
    text_free(&where);
}

/* Reports the failed assertion with CUDA's text. */
static void fault_assertion(const BuiltinCall *call, const char *message, const char *file,
                            const char *function) {
    uint32_t cta[3], thread[3];
    isa_thread_of(call->context->launch, isa_warp_number(call->warp), call->lane, cta, thread);
    isa_fault(call->context, call->warp, call->lane, ISA_FAULT_ASSERT,
              "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file,
              (unsigned)builtin_argument(call, 2), function, cta[0], cta[1], cta[2], thread[0],
              thread[1], thread[2], message);
}

/* __assertfail(message, file, line, function, character size) */
static void builtin_assertfail(const BuiltinCall *call) {
    Text message = {0}, file = {0}, function = {0};
    if (read_string(call, builtin_argument(call, 0), &message) &&
        read_string(call, builtin_argument(call, 1), &file) &&
        read_string(call, builtin_argument(call, 3), &function))
        fault_assertion(call, text_string(&message), text_string(&file), text_string(&function));
    text_free(&message);
    text_free(&file);
    text_free(&function);
}

/* cudaGraphSetConditional(handle, value) */
static void builtin_set_conditional(const BuiltinCall *call) {
    const IsaLaunch *launch = call->context->launch;
    uint64_t handle = builtin_argument(call, 0);
    uint32_t value = (uint32_t)builtin_argument(call, 1);
    if (!launch->set_condition || !launch->set_condition(launch->condition_user, handle, value))
        isa_fault(call->context, call->warp, call->lane, ISA_FAULT_CALL,
                  "cudaGraphSetConditional: 0x%" PRIx64 " is not a graph's conditional handle",
                  handle);
}

void isa_builtin_call(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    static void (*const builtins[PTX_BUILTIN_COUNT])(const BuiltinCall *) = {
        [PTX_BUILTIN_VPRINTF] = builtin_vprintf,
        [PTX_BUILTIN_MALLOC] = builtin_malloc,
        [PTX_BUILTIN_FREE] = builtin_free,
        [PTX_BUILTIN_ASSERTFAIL] = builtin_assertfail,
        [PTX_BUILTIN_SET_CONDITIONAL] = builtin_set_conditional,
    };
    BuiltinCall call = {context, warp, &context->program->calls[inst->imm], 0};
    for (; mask && !context->fault.is_set; mask &= mask - 1) {
        call.lane = bits_lowest32(mask);
        if (builtins[inst->target]) builtins[inst->target](&call);
        else device_runtime_call(&call, (PtxBuiltin)inst->target);
    }
}
