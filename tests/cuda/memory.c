/* CPU references for the kernels about memory: state spaces, vectors, atomics, the heap. */
#include "kernel_test.h"

#include <string.h>

static uint32_t byte_at(Data data, unsigned index) {
    return ((const unsigned char *)data.bytes)[index];
}
static uint32_t halfword_at(Data data, unsigned index) {
    return data.words[index / 2] >> (16 * (index % 2)) & 0xffff;
}

static void vector_loads(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n / 4; i++) {
        const uint32_t *w = in.words + 4 * i;
        uint32_t *row = out.words + 4 * i;
        row[0] = w[3];
        row[1] = w[0] + w[3];
        row[2] = w[2] ^ w[2];
        /* The low word of the sum of two double words, with its bytes reversed. */
        row[3] = __builtin_bswap32(w[0] + w[2]);
        for (unsigned k = 0; k < 4; k++) {
            static const uint32_t factors[4] = {1, 5, 7, 9};
            row[0] += byte_at(in, 16 * i + k) * (k + 1);
            row[1] += halfword_at(in, 8 * i + k) * factors[k];
        }
    }
}

static CUdeviceptr find_variable(const Session *session, const char *name, size_t size_bytes) {
    CUdeviceptr address = 0;
    size_t found_bytes = 0;
    session_check(cuModuleGetGlobal(&address, &found_bytes, session->module, name), name);
    if (found_bytes != size_bytes) session_check(CUDA_ERROR_INVALID_VALUE, "cuModuleGetGlobal");
    return address;
}

static bool constant_memory(Session *session) {
    enum { COUNT = 64 };
    struct {
        unsigned offset;
        double scale;
    } settings = {5, 0.125};
    float coefficients[16];
    uint32_t in[COUNT], launches_seen = 0, launches_expected = 42;
    unsigned n = COUNT;
    double got[COUNT] = {0}, expected[COUNT];
    for (unsigned k = 0; k < 16; k++)
        coefficients[k] = (float)(k * k) - 20.5f;
    for (unsigned i = 0; i < COUNT; i++)
        in[i] = i * 2654435761u;
    for (unsigned i = 0; i < COUNT; i++) {
        double sum = 0.0;
        for (unsigned k = 0; k < 16; k++)
            sum += (double)coefficients[k];
        expected[i] = sum + (double)coefficients[(in[i] + settings.offset) % 16] * settings.scale;
    }
    session_check(cuMemcpyHtoD(find_variable(session, "coefficients", sizeof coefficients),
                               coefficients, sizeof coefficients),
                  "cuMemcpyHtoD");
    session_check(cuMemcpyHtoD(find_variable(session, "settings", sizeof settings), &settings,
                               sizeof settings),
                  "cuMemcpyHtoD");
    CUdeviceptr device_in = session_upload(in, sizeof in), out = session_upload(got, sizeof got);
    session_check(session_launch(session, &(Shape){.grid = {2}, .block = {32}},
                                 (void *[]){&device_in, &out, &n}),
                  "constant_memory");
    session_download(got, out, sizeof got);
    session_free(device_in);
    session_free(out);
    session_download(&launches_seen, find_variable(session, "launches_seen", 4), 4);
    return session_compare(session, (Elements){KIND_DOUBLES, COUNT}, (Data){.doubles = got},
                           (Data){.doubles = expected}, 0) &&
           session_compare(session, (Elements){KIND_WORDS, 1}, (Data){.words = &launches_seen},
                           (Data){.words = &launches_expected}, 0);
}

static void dynamic_shared(Data in, Data out, unsigned n) {
    enum { THREADS = 96 };
    for (unsigned i = 0; i < n; i++) {
        const uint32_t *cta = in.words + i / THREADS * THREADS;
        unsigned thread = i % THREADS;
        uint32_t weight = cta[(thread + 1) % THREADS] % 1000 * 2;
        out.words[i] = cta[THREADS - 1 - thread] ^ cta[0] ^ weight ^ n;
    }
}

static void shared_structs(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const uint32_t *cta = in.words + i / 64 * 64;
        unsigned t = i % 64;
        uint32_t x = cta[63 - t];
        out.words[i] = (x & 0xfff) + (x >> 12 & 0x7ff) * 3 + (x >> 24) * 5 +
                       cta[t % 4 * 16 + t / 16 * 4 + t / 4 % 4];
    }
}

static void read_only_loads(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out.words[i] =
            in.words[i * 17 % n] + in.words[n - 1 - i] * 3 + (in.words[i] ^ byte_at(in, i));
}

static void volatile_access(Data in, Data out, unsigned n) {
    for (unsigned first = 0; first < n; first += 32) {
        uint32_t words[64] = {0}, before[64];
        memcpy(words, in.words + first, 32 * sizeof *words);
        for (unsigned step = 16; step > 0; step /= 2) {
            memcpy(before, words, sizeof words);
            for (unsigned lane = 0; lane < 32; lane++)
                words[lane] += before[lane + step];
        }
        for (unsigned lane = 0; lane < 32; lane++)
            out.words[first + lane] = words[lane] + 1;
    }
}

static void generic_pointers(Data in, Data out, unsigned n) {
    static const uint32_t spaces[3] = {4, 2, 1}; /* local, shared, global */
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], *global = out.words + 8 * i, place[4], total = 0;
        for (unsigned k = 0; k < 4; k++) {
            uint32_t values[3] = {x + k, x * (k + 1), x ^ k};
            place[k] = values[x % 3] + 100;
            global[k] = values[2] + (x % 3 == 2 ? 100 : 0);
            total += place[k] * (2 * k + 1);
        }
        global[4] = total + (x & 1 ? 11 + 3 * 22 + 5 * 33 + 7 * 44 : total);
        global[5] = spaces[x % 3] + 8 * 1;
    }
}

static void atomics32(Data in, Data out, unsigned n) {
    uint32_t *o = out.words;
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i];
        o[0] += x;
        o[1] -= x;
        if ((int32_t)x < out.ints[2]) o[2] = x;
        if ((int32_t)x > out.ints[3]) o[3] = x;
        if (~x < o[4]) o[4] = ~x;
        if (x > o[5]) o[5] = x;
        o[6] &= x | 0xffff0000u;
        o[7] |= x & 0x1111u;
        o[8] ^= x;
        o[9] = o[9] >= 36 ? 0 : o[9] + 1;
        o[10] = o[10] == 0 || o[10] > 36 ? 36 : o[10] - 1;
        o[16 + (o[11]++ & 255)]++;
        o[12] = o[12] * 3 + 1;
        o[13] += o[14];
        o[14] = 7;
        o[15] += x;
    }
}

static void atomics64(Data in, Data out, unsigned n) {
    uint64_t *o = out.longs;
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = in.longs[i];
        o[0] += x;
        if ((int64_t)x < (int64_t)o[1]) o[1] = x;
        if ((int64_t)x > (int64_t)o[2]) o[2] = x;
        if (~x < o[3]) o[3] = ~x;
        if (x > o[4]) o[4] = x;
        o[5] &= x | 0xffffffff00000000u;
        o[6] |= x & 0x1111000011110000u;
        o[7] ^= x;
        o[8] = o[8] * 5 + 1;
        o[9] += o[10];
        o[10] = 7;
    }
}

static void atomics_float(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i] % 256;
        float as_float = (float)in.words[i];
        out.floats[0] += (float)x;
        out.doubles[1] += x * 1e9;
        if (as_float > out.floats[1]) out.floats[1] = as_float;
    }
    /* n times the pair (1, 2): the halves 512 and 1024. */
    out.words[4] = 0x64006000;
    out.words[5] = 1;
}

static void atomics_shared(Data in, Data out, unsigned n) {
    enum { THREADS = 128 };
    for (unsigned cta = 0; cta < n / THREADS; cta++) {
        uint32_t *row = out.words + 8 * cta;
        uint64_t sum = 0;
        row[4] = UINT32_MAX;
        for (unsigned thread = 0; thread < THREADS; thread++) {
            uint32_t x = in.words[cta * THREADS + thread];
            row[x % 4]++;
            if (x < row[4]) row[4] = x;
            row[5] |= (uint32_t)1 << x % 32;
            sum += x;
        }
        row[6] = (uint32_t)sum + (uint32_t)(sum / 16);
        row[7] = 7 * THREADS / 2;
    }
}

/* The `count` bytes starting at `index`, the first one lowest. */
static uint32_t bytes_at(Data data, unsigned index, unsigned count) {
    uint32_t value = 0;
    for (unsigned k = 0; k < count; k++)
        value |= byte_at(data, index + k) << (8 * k);
    return value;
}

static void unaligned_bytes(Data in, Data out, unsigned n) {
    unsigned last = 4 * n - 8;
    for (unsigned i = 0; i < n; i++) {
        unsigned record = i * 7 % last;
        out.words[i] = bytes_at(in, i * 3 % last, 4) + byte_at(in, record) * 3 +
                       (bytes_at(in, record + 1, 4) + 1) * 5 + bytes_at(in, record + 5, 2) * 7;
    }
}

static void device_heap(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        /* The list of the next thread of the CTA, built front to back and read back to front. */
        unsigned builder = i / 64 * 64 + (i + 1) % 64;
        uint32_t sum = 0;
        for (unsigned k = in.words[builder] % 9 + 1; k > 0; k--)
            sum = sum * 31 + in.words[(builder + k - 1) % n];
        out.words[i] = sum;
    }
}

static void grid3d(Data in, Data out, unsigned n) {
    enum { WIDTH = 12, HEIGHT = 10 }; /* 3 x 2 CTAs of 4 x 5 threads */
    for (unsigned cell = 0; cell < n; cell++) {
        unsigned x = cell % WIDTH, y = cell / WIDTH % HEIGHT, z = cell / (WIDTH * HEIGHT);
        out.words[cell] = in.words[(cell + n - WIDTH) % n] + x + 100 * y + 10000 * z;
    }
}

static void cache_operators(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < 4 * n; i++)
        out.words[i] = in.words[i / 4] * 2;
}

/* Two CTAs over 128 words, and `words_per_thread` words of result for each thread. */
#define ROWS_OF(words_per_thread)                                                                  \
    .shape = {.grid = {2}, .block = {64}}, .in = {KIND_WORDS, 128},                                \
    .out = {KIND_WORDS, 128 * (words_per_thread)}

const KernelTest MEMORY_TESTS[] = {
    {.name = "vector_loads", ROWS_OF(1), .reference = vector_loads},
    {.name = "constant_memory", .run = constant_memory},
    {.name = "dynamic_shared",
     .shape = {.grid = {2}, .block = {96}, .shared_bytes = 96 * 12},
     .in = {KIND_WORDS, 192},
     .out = {KIND_WORDS, 192},
     .reference = dynamic_shared},
    {.name = "shared_structs", ROWS_OF(1), .reference = shared_structs},
    {.name = "read_only_loads", ROWS_OF(1), .reference = read_only_loads},
    {.name = "volatile_access",
     .shape = {.grid = {4}, .block = {32}},
     .in = {KIND_WORDS, 128},
     .out = {KIND_WORDS, 128},
     .reference = volatile_access},
    {.name = "generic_pointers", ROWS_OF(8), .reference = generic_pointers},
    {.name = "atomics32",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_WORDS, 256},
     .out = {KIND_WORDS, 16 + 256},
     .out_start = 0x4000ff00,
     .reference = atomics32},
    {.name = "atomics64",
     .shape = {.grid = {4}, .block = {64}},
     .in = {KIND_LONGS, 256},
     .out = {KIND_LONGS, 11},
     .out_start = 0x4000ff00,
     .reference = atomics64},
    {.name = "atomics_float",
     .shape = {.grid = {4}, .block = {128}},
     .in = {KIND_WORDS, 512},
     .out = {KIND_WORDS, 6},
     .reference = atomics_float},
    {.name = "atomics_shared",
     .shape = {.grid = {3}, .block = {128}},
     .in = {KIND_WORDS, 384},
     .out = {KIND_WORDS, 24},
     .reference = atomics_shared},
    {.name = "unaligned_bytes", ROWS_OF(1), .reference = unaligned_bytes},
    {.name = "device_heap", ROWS_OF(1), .reference = device_heap},
    {.name = "grid3d",
     .shape = {.grid = {3, 2, 2}, .block = {4, 5, 3}},
     .in = {KIND_WORDS, 12 * 10 * 6},
     .out = {KIND_WORDS, 12 * 10 * 6},
     .reference = grid3d},
    {.name = "cache_operators", ROWS_OF(4), .reference = cache_operators},
    {0},
};
