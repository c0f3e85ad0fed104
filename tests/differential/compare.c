/* Modules, launches, and the comparison of what they write. */
#include "compare.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "conformance/assembler.h"
#include "conformance/values.h"

enum {
    SCRATCH_WORDS = PROGRAM_THREADS * PROGRAM_PRIVATE_BYTES / 8 + PROGRAM_CELLS,
    INPUT_SEED = 17,
    INSTRUCTION_LIMIT = 1 << 24, /* of a launch; nested loops with divisions need some 2^20 */
    EDGES_OF = 3                 /* one in this many values is an edge value of its type */
};

static int output_words(void) { return pool_value_count() * PROGRAM_THREADS; }

void compare_start(Comparison *comparison, const char *architecture, uint64_t seed) {
    memset(comparison, 0, sizeof *comparison);
    for (int e = 0; e < 2; e++)
        comparison->harnesses[e].instruction_limit = INSTRUCTION_LIMIT;
    harness_start(&comparison->harnesses[0], NULL, architecture);
    harness_start(&comparison->harnesses[1], NULL, NULL);
    for (int e = 0; e < 2; e++)
        comparison->engines[e] = &comparison->harnesses[e].engines[0];
    comparison->seed = seed;
    comparison->absent = map_new();
    for (int e = 0; e < 2; e++) {
        comparison->outcomes[e].output = malloc((size_t)output_words() * sizeof(uint64_t));
        comparison->outcomes[e].scratch = malloc(SCRATCH_WORDS * sizeof(uint64_t));
    }
}

void compare_end(Comparison *comparison) {
    for (int e = 0; e < 2; e++)
        harness_end(&comparison->harnesses[e]);
    map_free(comparison->absent);
    for (int e = 0; e < 2; e++) {
        free(comparison->outcomes[e].output);
        free(comparison->outcomes[e].scratch);
    }
}

/* ---- What ptxas accepts ---- */

static void write_module(const Comparison *comparison, Program *programs, int count, Text *ptx) {
    int line;
    program_write_header(comparison->seed, ptx, &line);
    for (int i = 0; i < count; i++)
        program_write(&programs[i], ptx, &line);
}

static void each_form(Program *programs, int count, void (*use)(void *, Statement *), void *user) {
    for (int p = 0; p < count; p++)
        for (int b = 0; b < PROGRAM_BODIES; b++)
            for (int i = 0; i < programs[p].bodies[b].count; i++) {
                Statement *statement = &programs[p].bodies[b].statements[i];
                if (statement->form && !statement->is_dropped) use(user, statement);
            }
}

static void drop_absent(void *user, Statement *statement) {
    const Comparison *comparison = user;
    const char *text = statement->form->text;
    statement->is_dropped = map_has(comparison->absent, text, strlen(text));
}

typedef struct Complaint {
    int line;
    const Form *form; /* the form on that line; NULL: none */
} Complaint;

static void find_line(void *user, Statement *statement) {
    Complaint *complaint = user;
    if (complaint->line >= statement->line && complaint->line < statement->line + statement->lines)
        complaint->form = statement->form;
}

/* Records the forms that the assembler's messages are about. Returns their number. */
static int note_absent(Comparison *comparison, Program *programs, int count, const char *messages) {
    int noted = 0;
    for (const char *at = messages; (at = strstr(at, ", line ")); at++) {
        Complaint complaint = {atoi(at + sizeof ", line " - 1), NULL};
        each_form(programs, count, find_line, &complaint);
        if (!complaint.form) continue;
        noted++;
        map_put(comparison->absent, complaint.form->text, strlen(complaint.form->text), NULL);
    }
    return noted;
}

/* Loads the programs as machine code, without the statements that ptxas does not accept. Returns
 * NULL, with the messages, if ptxas refuses them for another reason. */
static EngineModule *load_machine(Comparison *comparison, Program *programs, int count,
                                  char **messages) {
    for (;;) {
        Text ptx = {0};
        each_form(programs, count, drop_absent, comparison);
        write_module(comparison, programs, count, &ptx);
        EngineModule *module = engine_load(comparison->engines[0], &ptx, messages);
        text_free(&ptx);
        if (module || !note_absent(comparison, programs, count, *messages)) return module;
        free(*messages);
        *messages = NULL;
    }
}

static EngineModule *load_ptx(Comparison *comparison, Program *programs, int count,
                              char **messages) {
    Text ptx = {0};
    write_module(comparison, programs, count, &ptx);
    EngineModule *module = engine_load(comparison->engines[1], &ptx, messages);
    text_free(&ptx);
    return module;
}

/* ---- Launches ---- */

/* An input value of any magnitude, often near other inputs. */
static void fill_column(Pool pool, uint64_t *column, uint64_t *state) {
    Form form = {.letters = "0", .operands = {type_named(POOL_INFO[pool].type)}};
    uint64_t edges[VALUES_MAX_EDGES];
    const size_t count = values_edges(&form, 0, edges);
    for (int i = 0; i < PROGRAM_THREADS; i++) {
        const uint64_t random = values_next(state);
        column[i] = random % EDGES_OF ? values_random(&form, 0, state) : edges[random % count];
    }
}

static void fill_input(const Comparison *comparison, Engine *engine, uint32_t number) {
    uint64_t state = comparison->seed + number / COMPARE_MAX_PROGRAMS + INPUT_SEED;
    uint64_t *in = engine_buffer(engine, 0);
    for (int value = 0; value < pool_value_count(); value++, in += PROGRAM_THREADS) {
        int ignored;
        const Pool pool = pool_of_value(value, &ignored);
        fill_column(pool == POOL_PRED ? POOL_B32 : pool, in, &state);
    }
    uint64_t *scratch = engine_buffer(engine, 2);
    for (int i = 0; i < SCRATCH_WORDS; i++)
        scratch[i] = values_next(&state);
}

static void launch(const Comparison *comparison, Engine *engine, EngineModule *module,
                   uint32_t number, Outcome *outcome) {
    const Shape shape = {{PROGRAM_CTAS, 1, 1}, {PROGRAM_BLOCK, 1, 1}, 0};
    const size_t output_bytes = (size_t)output_words() * sizeof(uint64_t);
    char name[16];
    snprintf(name, sizeof name, "k%u", number);
    fill_input(comparison, engine, number);
    memset(engine_buffer(engine, 1), 0xcc, output_bytes);
    outcome->result = engine_launch(engine, module, name, shape, PROGRAM_THREADS);
    memcpy(outcome->output, engine_buffer(engine, 1), output_bytes);
    memcpy(outcome->scratch, engine_buffer(engine, 2), SCRATCH_WORDS * sizeof(uint64_t));
}

/* ---- Comparison ---- */

/* The value, with all NaNs replaced by the same one. */
static uint64_t canonical(const Type *type, uint64_t bits) {
    if (type->kind != KIND_FLOAT) return bits;
    for (int e = 0; e < type->elements; e++) {
        const int shift = e * type->bits;
        const uint64_t mask = type_mask(type->bits);
        if (real_class(type->format, bits >> shift & mask) == REAL_NAN)
            bits = (bits & ~(mask << shift)) | type->format->nan << shift;
    }
    return bits;
}

/* The index of the first output word that differs, or -1. */
static int find_difference(const Comparison *comparison) {
    const Outcome *machine = &comparison->outcomes[0], *ptx = &comparison->outcomes[1];
    for (int i = 0; i < output_words(); i++) {
        int number;
        const Pool pool = pool_of_value(i / PROGRAM_THREADS, &number);
        const Type *type = type_named(POOL_INFO[pool].type);
        if (machine->output[i] != ptx->output[i] &&
            canonical(type, machine->output[i]) != canonical(type, ptx->output[i]))
            return i;
    }
    return -1;
}

static Verdict judge(const Comparison *comparison) {
    const Outcome *machine = &comparison->outcomes[0], *ptx = &comparison->outcomes[1];
    /* a refused function is noticed only when a warp calls it */
    if (machine->result.status == GPU_REFUSED || strstr(machine->result.message, "not supported"))
        return VERDICT_REFUSED;
    const bool differs =
        machine->result.status != GPU_OK || ptx->result.status != GPU_OK ||
        memcmp(machine->scratch, ptx->scratch, SCRATCH_WORDS * sizeof(uint64_t)) != 0 ||
        find_difference(comparison) >= 0;
    return differs ? VERDICT_DIFFERENT : VERDICT_SAME;
}

/* The operation and the reason: "TMML: TMML is not supported yet". */
static void name_refusal(const char *message, char *out, size_t size) {
    static const char reason_start[] = ": not supported: ";
    const char *operation = strstr(message, "*/ "), *reason = strstr(message, reason_start);
    if (!operation || !reason) {
        snprintf(out, size, "%.*s", (int)size - 1, message);
        return;
    }
    operation += sizeof "*/ " - 1;
    if (*operation == '@') operation += strcspn(operation, " ") + 1;
    reason += sizeof reason_start - 1;
    snprintf(out, size, "%.*s: %.*s", (int)strcspn(operation, " :"), operation,
             (int)strcspn(reason, "\n"), reason);
}

/* Counts the reason for which the last program was refused. */
static void count_refusal(Comparison *comparison) {
    char text[sizeof comparison->refusals->text];
    int at = 0;
    name_refusal(comparison->outcomes[0].result.message, text, sizeof text);
    while (at < comparison->refusal_count && strcmp(comparison->refusals[at].text, text) != 0)
        at++;
    if (at == COMPARE_MAX_REFUSALS) return;
    Refusal *refusal = &comparison->refusals[at];
    if (at == comparison->refusal_count) {
        memcpy(refusal->text, text, sizeof text);
        comparison->refusal_count++;
    }
    refusal->count++;
}

void compare_describe(const Comparison *comparison, Text *out) {
    const Outcome *machine = &comparison->outcomes[0], *ptx = &comparison->outcomes[1];
    if (machine->result.status != GPU_OK)
        text_printf(out, "machine code: %s\n", machine->result.message);
    if (ptx->result.status != GPU_OK) text_printf(out, "PTX: %s\n", ptx->result.message);
    if (machine->result.status != GPU_OK || ptx->result.status != GPU_OK) return;
    const int at = find_difference(comparison);
    if (at >= 0) {
        int number;
        const Pool pool = pool_of_value(at / PROGRAM_THREADS, &number);
        text_printf(out, "thread %d, %s%d: PTX 0x%llx, machine code 0x%llx\n", at % PROGRAM_THREADS,
                    POOL_INFO[pool].prefix, number, (unsigned long long)ptx->output[at],
                    (unsigned long long)machine->output[at]);
        return;
    }
    for (int i = 0; i < SCRATCH_WORDS; i++) {
        if (machine->scratch[i] == ptx->scratch[i]) continue;
        text_printf(out, "word %d of global memory: PTX 0x%llx, machine code 0x%llx\n", i,
                    (unsigned long long)ptx->scratch[i], (unsigned long long)machine->scratch[i]);
        return;
    }
}

static void run_loaded(Comparison *comparison, EngineModule *const *modules, Program *programs,
                       int count, Verdict *verdicts) {
    for (int i = 0; i < count; i++) {
        for (int e = 0; e < 2; e++)
            launch(comparison, comparison->engines[e], modules[e], programs[i].number,
                   &comparison->outcomes[e]);
        verdicts[i] = judge(comparison);
        if (count > 1 && verdicts[i] == VERDICT_REFUSED) count_refusal(comparison);
    }
}

bool compare_run(Comparison *comparison, const char *level, Program *programs, int count,
                 Verdict *verdicts) {
    char *messages = NULL;
    comparison->engines[0]->level = level;
    EngineModule *modules[2] = {load_machine(comparison, programs, count, &messages), NULL};
    if (modules[0]) modules[1] = load_ptx(comparison, programs, count, &messages);
    if (!modules[1] && count > 1) fprintf(stderr, "%s\n", messages ? messages : "");
    free(messages);
    const bool is_loaded = modules[0] && modules[1];
    if (is_loaded) run_loaded(comparison, modules, programs, count, verdicts);
    for (int e = 0; e < 2; e++)
        if (modules[e]) engine_unload(comparison->engines[e], modules[e]);
    return is_loaded;
}

Verdict compare_one(Comparison *comparison, const char *level, Program *program) {
    Verdict verdict = VERDICT_SAME;
    compare_run(comparison, level, program, 1, &verdict);
    return verdict;
}
