// What the programs of answers share: a question is a call, printed with the name of its error, and
// what it wrote where that is no matter of the machine. Without an argument they name their groups
// of questions; with a name they ask that group.
//
// The text of a call is its name in answers.txt: white space that comes into its brackets changes
// it.
#ifndef ANSWERS_H
#define ANSWERS_H

#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

#define ASK(call)        say(#call, cudaGetErrorName(call)), cudaGetLastError()
#define ASK_DRIVER(call) say(#call, driver_name(call))
#define TELL(value)      std::printf("  %s = %lld\n", #value, (long long)(value))
#define LAUNCH(text, ...)                                                                          \
    __VA_ARGS__, say(text, cudaGetErrorName(cudaPeekAtLastError())), cudaGetLastError()

inline void say(const char *call, const char *name) {
    std::printf("%s: %s\n", call, name);
    std::fflush(stdout);
}

inline const char *driver_name(CUresult result) {
    const char *name = "?";
    return cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : "unknown";
}

struct Group {
    const char *name;
    void (*ask)();
};

template <int COUNT> int ask_group(const Group (&groups)[COUNT], int count, char **words) {
    for (const Group &group : groups) {
        if (count == 1) std::puts(group.name);
        else if (!std::strcmp(words[1], group.name)) return group.ask(), 0;
    }
    return count != 1;
}

#endif
