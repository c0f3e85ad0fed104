// What every program here needs: errors end it, and results are compared with the CPU's.
#ifndef CHECK_H
#define CHECK_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

inline void check(cudaError_t status, const char *what, int line) {
    if (status == cudaSuccess) return;
    std::printf("line %d: %s: %s\n", line, what, cudaGetErrorString(status));
    std::exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

// Ends the program when a condition about its results does not hold.
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("line %d: not so: %s\n", __LINE__, #condition);                            \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

inline bool is_near(double a, double b, double tolerance = 1e-5) {
    return std::fabs(a - b) <= tolerance * (1 + std::fabs(b));
}

// The same numbers in every run.
inline unsigned next_random(unsigned &state) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

inline int passed() {
    std::printf("passed\n");
    return 0;
}

#endif
