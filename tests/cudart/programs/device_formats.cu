// printf in kernels formats as the host's does: every conversion with flags, widths and precisions,
// strings, pointers, stars. Both print the same lines into a file, whose halves must be equal.
#include "check.h"

#include <cstring>
#include <unistd.h>

struct Words {
    const char *word, *empty, *none;
    int *pointer;
    double big, small, negative, infinite, nan;
};

#define LINES(LINE, w)                                                                             \
    LINE("plain\n")                                                                                \
    LINE("%d %i %u %o %x %X\n", -42, 42, 42u, 8u, 0xbeefu, 0xBEEFu)                                \
    LINE("[%5d] [%-5d] [%05d] [%+d] [% d] [%.3d] [%8.3d]\n", 42, 42, 42, 42, 42, 7, 7)             \
    LINE("[%#x] [%#o] [%#X] [%x]\n", 255u, 8u, 255u, 0xffffffffu)                                  \
    LINE("%ld %lu %lld %llu %lx\n", -1234567890123l, 1234567890123ul, -5ll, 18446744073709551615ull, 0xfeedfacecafel) \
    LINE("%hd %hu %hhd %hhu %hhx\n", 70000, 70000, 300, 300, 0x1ff)                                \
    LINE("%zu %td %jd\n", sizeof(double), (ptrdiff_t)-3, (long)-4)                                 \
    LINE("%c%c%c|%3c|%-3c|\n", 'a', 'b', 'c', 'd', 'e')                                            \
    LINE("%s|%10s|%-10s|%.2s|%10.3s|\n", w.word, w.word, w.word, w.word, w.word)                   \
    LINE("<%s> <%s> %s\n", w.empty, w.none, "literal")                                             \
    LINE("%p %p [%20p] [%-20p]\n", (void *)w.pointer, (void *)0, (void *)w.pointer, (void *)w.pointer) \
    LINE("%f %F %e %E %g %G\n", 3.25, -3.25, 12345.678, 12345.678, 0.0001, 1e20)                   \
    LINE("%.2f %10.3f %-10.1f| %+.0f %#.0f %010.2f\n", w.big, w.small, w.negative, 2.5, 2.5, -1.5) \
    LINE("%a %A %.3a\n", 1.5, 255.75, 3.14159)                                                     \
    LINE("%f %e %g %f %g\n", w.infinite, -w.infinite, w.infinite, w.nan, w.nan)                    \
    LINE("%*d|%-*d|%.*f|%*.*f|%*s|\n", 6, 42, 6, 42, 2, 3.14159, 9, 3, 2.71828, 8, w.word)         \
    LINE("%% 100%% %d%%\n", 5)                                                                     \
    LINE("%d %f %s %ld %c %f %d %s %lu %g\n", 1, 2.0, w.word, 3l, '4', 5.5, 6, w.word, 7ul, 8.25)   \
    LINE("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", \
         1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, \
         27, 28, 29, 30, 31, 32)                                                                   \
    LINE("(%d, %d, %d) <%g %g>\n", w.xyz.x, w.xyz.y, w.xyz.z, w.uv.x, w.uv.y)

struct All : Words {
    int3 xyz;
    double2 uv;
};

__global__ void print_all(const All w, int *counts) {
    int n = 0;
#define ON_DEVICE(...) counts[n++] = printf(__VA_ARGS__);
    LINES(ON_DEVICE, w)
    counts[n] = -1;
}

__global__ void copy_word(char *to) {
    const char word[] = "word";
    for (int i = 0; i < 5; i++) to[i] = word[i];
    to[5] = 0;
}

// 5000 threads print more than the buffer of a GPU keeps: nothing is lost here.
__global__ void print_much() { printf("thread %05d of a grid that prints a long line each, so that much is printed: %s\n", blockIdx.x * blockDim.x + threadIdx.x, "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"); }

int main() {
    char *words, path[] = "device_formats_XXXXXX";
    int *d_counts, counts[64];
    EXPECT(mkstemp(path) >= 0);
    std::FILE *saved = fdopen(dup(STDOUT_FILENO), "w");
    EXPECT(std::freopen(path, "w", stdout));
    CHECK(cudaMallocManaged(&words, 16));
    CHECK(cudaMalloc(&d_counts, sizeof counts));
    copy_word<<<1, 1>>>(words);
    CHECK(cudaDeviceSynchronize());
    All w = {};
    w.word = words;
    w.empty = words + 5;
    w.pointer = d_counts;
    w.big = 123456789.125;
    w.small = 0.000125;
    w.negative = -17.5;
    w.infinite = INFINITY;
    w.nan = NAN;
    w.xyz = make_int3(1, -2, 3);
    w.uv = make_double2(0.5, -0.25);
    print_all<<<1, 1>>>(w, d_counts);
    CHECK(cudaDeviceSynchronize());
    std::fflush(stdout);
    int lines = 0;
#define ON_HOST(...) std::printf(__VA_ARGS__), lines++;
    LINES(ON_HOST, w)
    CHECK(cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost));
    print_much<<<50, 100>>>();
    CHECK(cudaDeviceSynchronize());
    std::fclose(stdout);

    static char text[2][64][400], line[400];
    std::FILE *file = std::fopen(path, "r");
    int wrong = 0, more = 0;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < lines; i++)
            if (!std::fgets(text[half][i], sizeof text[half][i], file)) text[half][i][0] = 0;
    for (int i = 0; i < lines; i++) {
        if (std::strcmp(text[0][i], text[1][i]) == 0 && text[0][i][0]) continue;
        std::fprintf(stderr, "kernel: %shost:   %s", text[0][i], text[1][i]);
        wrong++;
    }
    while (std::fgets(line, sizeof line, file)) more += std::strlen(line) > 200;
    std::fclose(file);
    unlink(path);
    if (wrong || lines != 20 || more != 5000) {
        std::fprintf(stderr, "%d of %d lines differ, %d are long\n", wrong, lines, more);
        return 1;
    }
    if (counts[0] != 0 || counts[1] != 6 || counts[18] != 32 || counts[lines] != -1) return 2; // numbers of arguments
    std::fprintf(saved, "passed\n");
    return 0;
}
