/* A kernel that contains something unsupported: the module loads, its other kernels run, and a
 * launch of it ends the program with one message. With --return-unsupported the launch returns an
 * error. Each case runs in its own process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <tyto/cuda.h>

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry good(.param .u64 p) { .reg .b64 a; ld.param.u64 a, [p];\n"
    "st.global.u32 [a], 7; ret; }\n"
    ".func helper() { tcgen05.wait::ld.sync.aligned; ret; }\n"
    ".visible .entry bad(.param .u64 p) { call helper; ret; }\n"
    ".visible .entry typed(.param .u64 p) { .reg .b31 q; { mov.b31 q, {q}; } ret; }\n"
    ".visible .entry given(.param .tensor9 p) { ret; }\n"
    ".visible .entry bounded(.param .u64 p) .newbound 4 { ret; }\n"
    ".newmodule 4;\n.global .b31 x;\n"
    ".visible .entry user(.param .u64 p) { .reg .b32 r; ld.global.b32 r, [x]; ret; }\n";

/* The message for the launch of each kernel that cannot run. */
static const struct {
    const char *kernel, *message;
} refused[] = {
    {"bad", "kernel bad cannot run: <ptx>:6:18: not supported: 'tcgen05'"},
    {"typed", "kernel typed cannot run: <ptx>:8:45: expected a type"},
    {"given", "kernel given cannot run: <ptx>:9:30: expected a type"},
    {"bounded", "kernel bounded cannot run: <ptx>:10:40: expected a directive of a function"},
    {"user", "kernel user cannot run: <ptx>:13:70: 'x' is of what is not supported: <ptx>:12:9: "},
};
enum { REFUSED = sizeof refused / sizeof *refused };

enum { WENT_ON = 42 };

static CUresult launch(CUmodule module, const char *name, CUdeviceptr word) {
    CUfunction function;
    void *parameters[] = {&word};
    CUresult status = cuModuleGetFunction(&function, module, name);
    if (status) return status;
    status = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
    return status ? status : cuCtxSynchronize();
}

/* Runs a good kernel, then `name`. Returns WENT_ON if the second launch returned `expected`. */
static int run_program(const char *name, CUresult expected) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUdeviceptr word;
    unsigned value = 0;
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
        cuCtxSetCurrent(context) || cuModuleLoadData(&module, ptx) || cuMemAlloc(&word, 4))
        return 2;
    if (launch(module, "good", word) || cuMemcpyDtoH(&value, word, 4) || value != 7) return 3;
    CUresult status = launch(module, name, word);
    fprintf(stderr, "the launch returned %d\n", (int)status);
    return status == expected ? WENT_ON : 4;
}

/* Runs such a process. Returns its exit status, with its stderr in `said`. */
static int outcome(const char *name, const char *options, CUresult expected, char *said,
                   size_t room) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        setenv("TYTO_OPTIONS", options, 1);
        _exit(run_program(name, expected));
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], said + length, room - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_launch_of_a_refused_kernel_ends_the_program_with_its_place(void **state) {
    (void)state;
    char said[4096];
    for (int i = 0; i < REFUSED; i++) {
        assert_int_equal(
            outcome(refused[i].kernel, "--functional --quiet", CUDA_SUCCESS, said, sizeof said), 1);
        if (!strstr(said, refused[i].message)) fail_msg("%s", said);
        assert_null(strstr(said, "the launch returned"));
    }
}

static void an_option_has_the_launch_return_an_error(void **state) {
    (void)state;
    char said[4096];
    for (int i = 0; i < REFUSED; i++) {
        assert_int_equal(outcome(refused[i].kernel, "--functional --quiet --return-unsupported",
                                 CUDA_ERROR_NOT_SUPPORTED, said, sizeof said),
                         WENT_ON);
        if (!strstr(said, refused[i].message)) fail_msg("%s", said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_of_a_refused_kernel_ends_the_program_with_its_place),
        cmocka_unit_test(an_option_has_the_launch_return_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
