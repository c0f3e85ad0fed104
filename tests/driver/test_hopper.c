/* Features of Hopper that Tyto lacks (larger clusters, ...): each kernel is refused separately,
 * with a message that has the line and the name of the instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tyto/cuda.h"

/* A kernel's body, and a part of the message about it. */
static const struct {
    const char *body, *named;
} rows[] = {
    {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [a], "
     "[b, {a, a, a}], [a], {a, a};",
     "tiles of im2col along W"},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s64 [a], "
     "[a], 16, [a];",
     "this kind of bulk copy"},
    {"st.async.release.sys.global.u32 [b], a;", "st.async"},
    {"setmaxnreg.inc.sync.aligned.u32 60;", "60 registers: a multiple of 8"},
    {"wgmma.wait_group.sync.aligned 8;", "a wait for all but 8 groups"},
    {"tcgen05.wait::ld.sync.aligned;", "tcgen05"},
    {"multimem.red.global.add.u32 [b], a;", "multimem"},
    {"tensormap.replace.tile.interleave_layout.global.b1024.b32 [b], 3;",
     "value 3 of a tensor map"},
    {"tensormap.replace.tile.elemtype.global.b1024.b32 [b], 13;", "value 13 of a tensor map"},
    {"tensormap.replace.tile.global_stride.global.b1024.b64 [b], 4, b;",
     "dimension 4 of a tensor map"},
};

/* Launches the kernel; stores what is printed on stderr in `said`. */
static CUresult launch_and_listen(CUfunction kernel, char *said, size_t room) {
    FILE *file = tmpfile();
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    CUresult status = cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    said[fread(said, 1, room - 1, file)] = '\0';
    fclose(file);
    return status;
}

static void each_is_refused_by_its_name(void **state) {
    (void)state;
    CUcontext context;
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuCtxCreate(&context, NULL, 0, 0), CUDA_SUCCESS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char ptx[1024], said[4096];
        CUmodule module;
        CUfunction bad = NULL, good = NULL;
        snprintf(ptx, sizeof ptx,
                 ".version 8.6\n.target sm_90a\n.address_size 64\n"
                 ".visible .entry good() { ret; }\n"
                 ".visible .entry bad()\n{ .reg .b32 a; .reg .b64 b; .shared .align 16 .b8 s[64];\n"
                 "mov.u32 a, s;\nmov.u64 b, 0;\n%s\nret; }\n",
                 rows[i].body);
        if (cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&good, module, "good") ||
            cuModuleGetFunction(&bad, module, "bad"))
            fail_msg("%s: the module does not load", rows[i].body);
        assert_int_equal(launch_and_listen(good, said, sizeof said), CUDA_SUCCESS);
        assert_string_equal(said, "");
        CUresult status = launch_and_listen(bad, said, sizeof said);
        if (status != CUDA_ERROR_NOT_SUPPORTED || !strstr(said, "not supported") ||
            !strstr(said, rows[i].named) || !strstr(said, "kernel bad cannot run: <ptx>:9:"))
            fail_msg("%s: %d, %s", rows[i].body, (int)status, said);
        assert_int_equal(cuModuleUnload(module), CUDA_SUCCESS);
    }
}

/* A bound on clusters is not a cluster: the kernel runs alone. */
static void a_bound_on_clusters_stops_nothing(void **state) {
    (void)state;
    CUmodule module;
    CUfunction kernel;
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {2, 1, 1, 32, 1, 1, 0, NULL, &attribute, 1};
    static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k() .maxntid 128 .maxclusterrank 4 { ret; }\n";
    assert_int_equal(cuModuleLoadData(&module, ptx), CUDA_SUCCESS);
    assert_int_equal(cuModuleGetFunction(&kernel, module, "k"), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
    assert_int_equal(cuLaunchKernelEx(&config, kernel, NULL, NULL), CUDA_SUCCESS);
    attribute.value.clusterDim.x = 8;
    config.gridDimX = 8;
    assert_int_equal(cuLaunchKernelEx(&config, kernel, NULL, NULL),
                     CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_refused_by_its_name),
        cmocka_unit_test(a_bound_on_clusters_stops_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
