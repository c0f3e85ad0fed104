/* Queries of kernels about the device, through the device runtime, in PTX as nvcc writes it. The
 * answers are those that the host gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal(call, CUDA_SUCCESS)

/* ask(out) stores words: the number of SMs and the error of that query, the error of a query about
 * another device, the last error, the stack limit, the error of an unknown limit, the runtime's
 * version, the CTAs of `ask` that fit on an SM, its maximum number of threads, the error of a query
 * about an address that is not a kernel, and the first 4 bytes of the name of error 101. */
#define CALL(function, arguments)                                                                  \
    "  call (r), " function ", (" arguments ");\n  ld.param.b32 %r1, [r];\n"
#define SET(number, value) "  st.param.b64 [p" number "], " value ";\n"
#define SET32(value)       "  st.param.b32 [w], " value ";\n"
#define NOTE(place)        "  st.global.u32 [%rd1+" place "], %r1;\n"
static const char ptx[] =
    ".version 8.5\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) __cudaCDP2DeviceGetAttribute(.param .b64 p, .param .b32 a,\n"
    "  .param .b32 d);\n"
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"
    ".extern .func (.param .b32 r) __cudaCDP2DeviceGetLimit(.param .b64 p, .param .b32 l);\n"
    ".extern .func (.param .b32 r) cudaRuntimeGetVersion(.param .b64 p);\n"
    ".extern .func (.param .b32 r) cudaFuncGetAttributes(.param .b64 p, .param .b64 f);\n"
    ".extern .func (.param .b32 r) cudaOccupancyMaxActiveBlocksPerMultiprocessor(.param .b64 p,\n"
    "  .param .b64 f, .param .b32 t, .param .b64 s);\n"
    ".extern .func (.param .b64 r) cudaGetErrorName(.param .b32 e);\n"
    ".visible .entry ask(.param .u64 out) .maxntid 96, 1, 1 {\n"
    "  .reg .b32 %r<4>;\n  .reg .b64 %rd<6>;\n  .local .align 8 .b8 room[144];\n"
    "  .param .b64 p1;\n  .param .b64 p2;\n  .param .b64 p3;\n  .param .b32 w;\n  .param .b32 d;\n"
    "  .param .b32 r;\n  .param .b64 q;\n"
    "  ld.param.u64 %rd1, [out];\n  mov.u64 %rd2, room;\n  cvta.local.u64 %rd2, %rd2;\n"
    "  mov.u64 %rd3, ask;\n  st.param.b32 [d], 0;\n" SET("1", "%rd1") SET32("16")
        CALL("__cudaCDP2DeviceGetAttribute", "p1, w, d") NOTE("4") /* device 1 */
    "  st.param.b32 [d], 1;\n" CALL("__cudaCDP2DeviceGetAttribute", "p1, w, d") NOTE(
        "8") "  call (r), __cudaCDP2GetLastError, ();\n  ld.param.b32 %r1, [r];\n" NOTE("12")
        SET("1", "%rd2") SET32("0") CALL("__cudaCDP2DeviceGetLimit",
                                         "p1, w") "  ld.local.u32 %r1, [room];\n" NOTE("16")
            SET32("77") CALL("__cudaCDP2DeviceGetLimit", "p1, w") NOTE("20") CALL(
                "cudaRuntimeGetVersion",
                "p1") "  ld.local.u32 %r1, [room];\n" NOTE("24") SET("2", "%rd3") SET32("96")
                SET("3", "0") CALL("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                                   "p1, p2, w, p3") "  ld.local.u32 %r1, [room];\n" NOTE("28")
                    CALL("cudaFuncGetAttributes", "p1, p2") "  ld.local.u32 %r1, [room+24];\n" NOTE(
                        "32") SET("2", "12345") CALL("cudaFuncGetAttributes", "p1, p2") NOTE("36")
                        SET32("101") "  call (q), cudaGetErrorName, (w);\n  ld.param.b64 %rd4, "
                                     "[q];\n  ld.u32 %r1, [%rd4];\n" NOTE("40") "  ret;\n}\n";

static void kernels_get_the_answers_that_the_host_gets(void **state) {
    (void)state;
    CUcontext context;
    CUmodule module;
    CUfunction ask;
    CUdeviceptr out;
    uint32_t words[11], name;
    int sms, ctas;
    size_t stack;
    void *parameters[] = {&out};
    assert_cuda(cuInit(0));
    assert_cuda(cuCtxCreate(&context, NULL, 0, 0));
    assert_cuda(cuModuleLoadData(&module, ptx));
    assert_cuda(cuModuleGetFunction(&ask, module, "ask"));
    assert_cuda(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 5000));
    assert_cuda(cuMemAlloc(&out, sizeof words));
    assert_cuda(cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(words, out, sizeof words));
    assert_cuda(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    assert_cuda(cuOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, ask, 96, 0));
    assert_cuda(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
    memcpy(&name, "cuda", sizeof name);
    const uint32_t expected[] = {(uint32_t)sms,  0,  101, 101, (uint32_t)stack, 1, 6000,
                                 (uint32_t)ctas, 96, 98,  name};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(words[i], expected[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_get_the_answers_that_the_host_gets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
