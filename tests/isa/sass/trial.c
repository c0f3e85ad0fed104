#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "tyto/cuda.h"

enum {
    LANES = 32,
    IN_BYTES = 512,  /* per lane */
    OUT_BYTES = 128, /* per lane */
    INPUTS = 6
};

struct Trial {
    const TrialRow *rows;
    size_t count;
    int sm, level;
    CUmodule modules[2];
    CUdeviceptr in, out;
    TrialRead *read; /* NULL: nothing else is compared */
    size_t read_bytes;
    uint8_t *more[2];
};

static void check(CUresult result, const char *what) {
    const char *name = "?";
    if (result == CUDA_SUCCESS) return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}

static bool is_for(const TrialRow *row, int sm) {
    return row->first_sm <= sm && (!row->last_sm || sm <= row->last_sm);
}

/* ---- PTX ---- */

static const char *type_of(char letter) {
    switch (letter) {
    case 'f': return ".f32";
    case 'd': return ".f64";
    case 'l': return ".b64";
    case 'h': return ".b16";
    case 'p': return ".pred";
    default: return ".b32";
    }
}
static int bytes_of(char letter) {
    return letter == 'd' || letter == 'l' ? 8 : letter == 'h' ? 2 : 4;
}

/* One operand of a row: registers %vI_0 to %vI_N-1. */
typedef struct Operand {
    bool is_destination;
    char letter;
    int count;
} Operand;

static const char *read_operand(const char *at, Operand *operand) {
    char *end;
    *operand = (Operand){.is_destination = *at == '>', .letter = at[1]};
    operand->count = (int)strtol(at + 2, &end, 10);
    return end;
}

static bool is_operand(const char *at) {
    return (*at == '<' || *at == '>') && strchr("rfdlhpsxy", at[1]) && at[2] >= '0' && at[2] <= '9';
}

static void put_names(Text *text, int index, int count) {
    if (count > 1) text_printf(text, "{");
    for (int i = 0; i < count; i++)
        text_printf(text, "%s%%v%d_%d", i ? "," : "", index, i);
    if (count > 1) text_printf(text, "}");
}

/* Declarations and loads of all operands, and the instruction. */
static void put_before(Text *text, const char *row) {
    int index = 0, offset = 0;
    for (const char *at = row; *at;) {
        Operand operand;
        if (!is_operand(at)) {
            at++;
            continue;
        }
        at = read_operand(at, &operand);
        for (int i = 0; i < operand.count; i++) {
            text_printf(text, ".reg %s %%v%d_%d;\n", type_of(operand.letter), index, i);
            if (operand.is_destination) continue;
            if (strchr("sxy", operand.letter))
                text_printf(
                    text,
                    "ld.global.b32 %%t,[%%i+%d]; and.b32 %%t,%%t,7; %s.s32 %%v%d_%d,%%t,%s;\n",
                    offset, operand.letter == 'x' ? "shl.b32 %t,%t,4; add" : "sub", index, i,
                    operand.letter == 's' ? "3" : "0");
            else if (operand.letter == 'p')
                text_printf(
                    text,
                    "ld.global.b32 %%t,[%%i+%d]; and.b32 %%t,%%t,1; setp.ne.u32 %%v%d_%d,%%t,0;\n",
                    offset, index, i);
            else
                text_printf(text, "ld.global%s %%v%d_%d,[%%i+%d];\n", type_of(operand.letter),
                            index, i, offset);
            offset += bytes_of(operand.letter) < 4 ? 4 : bytes_of(operand.letter);
        }
        index++;
    }
}

static void put_instruction(Text *text, const char *row) {
    int index = 0;
    for (const char *at = row; *at;) {
        Operand operand;
        if (!is_operand(at)) {
            text_printf(text, "%c", *at++);
            continue;
        }
        at = read_operand(at, &operand);
        put_names(text, index++, operand.count);
    }
    text_printf(text, ";\n");
}

static void put_after(Text *text, const char *row) {
    int index = 0, offset = 0;
    for (const char *at = row; *at;) {
        Operand operand;
        if (!is_operand(at)) {
            at++;
            continue;
        }
        at = read_operand(at, &operand);
        for (int i = 0; i < operand.count && operand.is_destination; i++) {
            if (operand.letter == 'p')
                text_printf(text, "selp.u32 %%t,1,0,%%v%d_%d; st.global.b32 [%%o+%d],%%t;\n", index,
                            i, offset);
            else
                text_printf(text, "st.global%s [%%o+%d],%%v%d_%d;\n", type_of(operand.letter),
                            offset, index, i);
            offset += bytes_of(operand.letter) < 4 ? 4 : bytes_of(operand.letter);
        }
        index++;
    }
}

static void put_kernel(Text *text, size_t number, const char *row) {
    text_printf(text,
                ".visible .entry k%zu(.param .u64 in, .param .u64 out, .param .u64 handle) {\n"
                ".reg .b64 %%i,%%o,%%w,%%h; .reg .b32 %%t;\n"
                "ld.param.u64 %%i,[in]; ld.param.u64 %%o,[out]; ld.param.u64 %%h,[handle];\n"
                "mov.u32 %%t,%%tid.x; mul.wide.u32 %%w,%%t,%d; add.u64 %%i,%%i,%%w;\n"
                "mul.wide.u32 %%w,%%t,%d; add.u64 %%o,%%o,%%w;\n",
                number, IN_BYTES, OUT_BYTES);
    put_before(text, row);
    put_instruction(text, row);
    put_after(text, row);
    text_printf(text, "ret;\n}\n");
}

static void put_module(const Trial *trial, Text *text, const char *directives, bool is_assembled) {
    text_printf(text, ".version 9.0\n.target sm_%d\n.address_size 64\n%s\n", trial->sm, directives);
    for (size_t i = 0; i < trial->count; i++) {
        const TrialRow *row = &trial->rows[i];
        if (!is_for(row, trial->sm)) continue;
        put_kernel(text, i, is_assembled || !row->same ? row->text : row->same);
    }
}

/* ---- Modules ---- */

static void *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(size + 1);
    const bool is_read = bytes && fread(bytes, 1, size, file) == size;
    fclose(file);
    if (is_read) return bytes;
    free(bytes);
    return NULL;
}

static void *assemble(const Trial *trial, const char *ptx) {
    char folder[] = "/tmp/tyto-trial-XXXXXX", command[256], source[64], result[64];
    if (!mkdtemp(folder)) return NULL;
    snprintf(source, sizeof source, "%s/k.ptx", folder);
    snprintf(result, sizeof result, "%s/k.cubin", folder);
    FILE *file = fopen(source, "w");
    if (!file) return NULL;
    fputs(ptx, file);
    fclose(file);
    snprintf(command, sizeof command, "ptxas -arch=sm_%d -O%d %s -o %s", trial->sm, trial->level,
             source, result);
    const bool is_made = system(command) == 0;
    void *bytes = is_made ? read_file(result) : NULL;
    unlink(source);
    unlink(result);
    rmdir(folder);
    return bytes;
}

Trial *trial_new(int sm, int level, const char *directives, const TrialRow *rows, size_t count) {
    CUcontext context;
    if (system("ptxas --version > /dev/null 2>&1") != 0) {
        puts("skipped: there is no ptxas");
        exit(TRIAL_SKIPPED);
    }
    Trial *trial = calloc(1, sizeof *trial);
    if (!trial) abort();
    *trial = (Trial){.rows = rows, .count = count, .sm = sm, .level = level};
    Text text = {0}, assembled = {0};
    put_module(trial, &text, directives, false);
    put_module(trial, &assembled, directives, true);
    void *cubin = assemble(trial, text_string(&assembled));
    if (!cubin) {
        fprintf(stderr, "ptxas failed\n");
        exit(1);
    }
    check(cuInit(0), "cuInit");
    check(cuCtxCreate(&context, NULL, 0, 0), "cuCtxCreate");
    check(cuModuleLoadData(&trial->modules[0], text_string(&text)), "the PTX");
    check(cuModuleLoadData(&trial->modules[1], cubin), "the cubin");
    check(cuMemAlloc(&trial->in, LANES * IN_BYTES), "cuMemAlloc");
    check(cuMemAlloc(&trial->out, LANES * OUT_BYTES), "cuMemAlloc");
    text_free(&text);
    text_free(&assembled);
    free(cubin);
    return trial;
}

void trial_free(Trial *trial) {
    free(trial->more[0]);
    free(trial->more[1]);
    free(trial);
}

void trial_compare_more(Trial *trial, TrialRead *read, size_t size) {
    trial->read = read;
    trial->read_bytes = size;
    trial->more[0] = malloc(size);
    trial->more[1] = malloc(size);
}

void *trial_module(Trial *trial, int which) { return trial->modules[which]; }

/* ---- Runs ---- */

static uint64_t next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t bits = *state;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
}

/* A half, a bfloat16, or the upper part of a float or double, of moderate size, in 16 bits. */
static uint32_t moderate(uint64_t random) {
    return (uint32_t)((random & 0x83ff) | (0x30 + (random >> 16) % 24) << 8);
}

static uint32_t word_of(int input, bool is_texture, uint64_t random) {
    float fraction = (float)(random >> 40) * 0x1p-24f;
    uint32_t bits;
    memcpy(&bits, &fraction, sizeof bits);
    if (is_texture) return bits;
    switch (input % 3) {
    case 0: return moderate(random) << 16 | moderate(random >> 32);
    case 1: return (uint32_t)random;
    default: return random >> 60 ? (uint32_t)(random & 0xf00000ff) : (uint32_t)random | 0x7f800000;
    }
}

static void run(const Trial *trial, int which, size_t row, uint64_t handle, uint8_t *result) {
    char name[32];
    CUfunction function;
    void *parameters[] = {(void *)&trial->in, (void *)&trial->out, &handle};
    snprintf(name, sizeof name, "k%zu", row);
    check(cuMemsetD8(trial->out, 0xee, LANES * OUT_BYTES), "cuMemsetD8");
    check(cuModuleGetFunction(&function, trial->modules[which], name), name);
    CUresult status = cuLaunchKernel(function, 1, 1, 1, LANES, 1, 1, 0, NULL, parameters, NULL);
    if (status == CUDA_SUCCESS) status = cuMemcpyDtoH(result, trial->out, LANES * OUT_BYTES);
    if (status != CUDA_SUCCESS) {
        printf("%s by %s failed with %d\n", trial->rows[row].text, which ? "machine code" : "PTX",
               (int)status);
        memset(result, which, LANES * OUT_BYTES);
    }
}

static bool is_same(const Trial *trial, size_t row, uint64_t handle, int input, bool is_texture) {
    static uint8_t in[LANES * IN_BYTES], result[2][LANES * OUT_BYTES];
    uint64_t state = (uint64_t)input * 1000 + row;
    for (size_t i = 0; i < sizeof in / 4; i++) {
        const uint32_t word = word_of(input, is_texture, next_random(&state));
        memcpy(in + 4 * i, &word, 4);
    }
    check(cuMemcpyHtoD(trial->in, in, sizeof in), "cuMemcpyHtoD");
    for (int which = 0; which < 2; which++) {
        run(trial, which, row, handle, result[which]);
        if (trial->read) trial->read(trial->more[which], trial->read_bytes);
    }
    if (trial->read && memcmp(trial->more[0], trial->more[1], trial->read_bytes) != 0) {
        printf("sm_%d -O%d: %s, input %d: another effect\n", trial->sm, trial->level,
               trial->rows[row].text, input);
        return false;
    }
    for (size_t i = 0; i < sizeof result[0] / 4; i++) {
        uint32_t word[2];
        memcpy(&word[0], result[0] + 4 * i, 4);
        memcpy(&word[1], result[1] + 4 * i, 4);
        if (word[0] == word[1]) continue;
        printf("sm_%d -O%d: %s, input %d: lane %zu, word %zu: PTX %08x, machine code %08x\n",
               trial->sm, trial->level, trial->rows[row].text, input, i / (OUT_BYTES / 4),
               i % (OUT_BYTES / 4), word[0], word[1]);
        return false;
    }
    return true;
}

unsigned trial_run(Trial *trial, uint64_t handle, bool is_texture) {
    unsigned wrong = 0, rows = 0;
    for (size_t row = 0; row < trial->count; row++) {
        if (!is_for(&trial->rows[row], trial->sm)) continue;
        bool is_good = true;
        for (int input = 0; input < INPUTS && is_good; input++)
            is_good = is_same(trial, row, handle, input, is_texture);
        wrong += !is_good;
        rows++;
    }
    printf("sm_%d -O%d: %u instructions, %u differ\n", trial->sm, trial->level, rows, wrong);
    return wrong;
}
