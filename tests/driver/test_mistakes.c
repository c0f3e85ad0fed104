/* Mistakes in descriptors and graphs: each is refused with one message that says what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal(call, CUDA_SUCCESS)

static CUcontext context;
static CUdeviceptr buffer; /* of 4 KiB */
static CUarray flat, layered;
static CUmipmappedArray levels;

static int set_up(void **state) {
    (void)state;
    CUDA_ARRAY3D_DESCRIPTOR box = {
        .Width = 16, .Height = 8, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&buffer, 4096) ||
        cuArray3DCreate(&flat, &box) || cuMipmappedArrayCreate(&levels, &box, 3))
        return 1;
    box.Depth = 4;
    box.Flags = CUDA_ARRAY3D_LAYERED;
    return cuArray3DCreate(&layered, &box) != CUDA_SUCCESS;
}

/* Records what is written to stderr between the two calls. */
static FILE *heard;
static int saved;
static void listen(void) {
    fflush(stderr);
    heard = tmpfile();
    saved = dup(STDERR_FILENO);
    dup2(fileno(heard), STDERR_FILENO);
}
static void stop_listening(char *said, size_t room) {
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(heard);
    said[fread(said, 1, room - 1, heard)] = '\0';
    fclose(heard);
}

/* Expects one line with that reason. */
static void expect_said(const char *said, const char *reason) {
    const char *end = strchr(said, '\n');
    if (!strstr(said, reason) || !end || end[1]) fail_msg("'%s' is not '%s'", said, reason);
}

static void expect_refused(const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *sampling,
                           const CUDA_RESOURCE_VIEW_DESC *view, const char *reason) {
    static const CUDA_TEXTURE_DESC plain = {.flags = CU_TRSF_READ_AS_INTEGER};
    char said[1024];
    CUtexObject texture;
    listen();
    CUresult status = cuTexObjectCreate(&texture, resource, sampling ? sampling : &plain, view);
    stop_listening(said, sizeof said);
    assert_int_not_equal(status, CUDA_SUCCESS);
    expect_said(said, reason);
}

#define LINEAR(pointer, type, channels, bytes)                                                     \
    {                                                                                              \
        .resType = CU_RESOURCE_TYPE_LINEAR, .res.linear = { pointer, type, channels, bytes }       \
    }
#define PITCHED(pointer, channels, width, rows, pitch)                                             \
    {                                                                                              \
        .resType = CU_RESOURCE_TYPE_PITCH2D, .res.pitch2D = {                                      \
            pointer,                                                                               \
            CU_AD_FORMAT_FLOAT,                                                                    \
            channels,                                                                              \
            width,                                                                                 \
            rows,                                                                                  \
            pitch                                                                                  \
        }                                                                                          \
    }

static void descriptors_of_memory_are_refused_with_their_reason(void **state) {
    (void)state;
    const struct {
        CUDA_RESOURCE_DESC resource;
        const char *reason;
    } rows[] = {
        {{.resType = (CUresourcetype)77}, "there is no kind of memory 77"},
        {{.resType = CU_RESOURCE_TYPE_ARRAY}, "its handle is not an array's"},
        {{.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY}, "its handle is not a mipmapped array's"},
        {LINEAR(buffer, CU_AD_FORMAT_FLOAT, 3, 4096),
         "there are no elements of 3 channels of format 0x20 in a buffer"},
        {LINEAR(buffer, (CUarray_format)0x7777, 1, 4096), "format 0x7777"},
        {LINEAR(buffer, CU_AD_FORMAT_FLOAT, 1, (size_t)1 << 40),
         "a buffer of 274877906944 elements"},
        {LINEAR(512, CU_AD_FORMAT_FLOAT, 1, 4096), "its buffer at 0x200 is not in one allocation"},
        {LINEAR(buffer + 4, CU_AD_FORMAT_FLOAT, 1, 64), "is not aligned as textures need it"},
        {PITCHED(buffer, 1, 0, 4, 64), "a buffer of 0 x 4 elements"},
        {PITCHED(buffer, 1, 16, 4, 68), "the pitch 0x44 is not aligned as textures need it"},
        {PITCHED(buffer, 1, 16, 4, 4 << 20), "a buffer of 16 x 4 elements, pitch 4194304"},
        {PITCHED(buffer, 1, 16, 65, 64), "is not in one allocation"},
        {PITCHED(buffer, 1, (size_t)1 << 63, 4, 64), "a buffer of 9223372036854775808 x 4"},
        {PITCHED(buffer, 1, 16, (size_t)1 << 62, 64), "a buffer of 16 x 4611686018427387904"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_refused(&rows[i].resource, NULL, NULL, rows[i].reason);
}

static void descriptors_of_views_and_of_sampling_too(void **state) {
    (void)state;
    const CUDA_RESOURCE_DESC linear = LINEAR(buffer, CU_AD_FORMAT_FLOAT, 1, 4096),
                             plain = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array = {flat}},
                             sheets = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array = {layered}},
                             mipmap = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                       .res.mipmap = {levels}};
    expect_refused(&linear, NULL, &(CUDA_RESOURCE_VIEW_DESC){0},
                   "a view of memory that is not an array");
    expect_refused(&plain, NULL, &(CUDA_RESOURCE_VIEW_DESC){.lastMipmapLevel = 1},
                   "a view of levels 0 to 1 of 1");
    expect_refused(&plain, NULL, &(CUDA_RESOURCE_VIEW_DESC){.lastLayer = 1},
                   "a view of layers 0 to 1 of 1");
    expect_refused(&sheets, NULL, &(CUDA_RESOURCE_VIEW_DESC){.firstLayer = 3, .lastLayer = 2},
                   "a view of layers 3 to 2 of 4");
    expect_refused(&plain, NULL, &(CUDA_RESOURCE_VIEW_DESC){.width = 3, .height = 8},
                   "a view of 3 x 8 elements of an array of 16 x 8");
    expect_refused(&plain, NULL, &(CUDA_RESOURCE_VIEW_DESC){.format = CU_RES_VIEW_FORMAT_UINT_4X16},
                   "a view with elements of 8 bytes of an array that has 4");
    expect_refused(&plain, NULL, &(CUDA_RESOURCE_VIEW_DESC){.format = (CUresourceViewFormat)25},
                   "a view of format 25 (block-compressed) is not supported");
    expect_refused(&mipmap, NULL, NULL, "levels need normalised coordinates");
    expect_refused(&plain, &(CUDA_TEXTURE_DESC){.addressMode = {(CUaddress_mode)9}}, NULL,
                   "there is no addressing mode 9");
    expect_refused(&plain, &(CUDA_TEXTURE_DESC){.filterMode = (CUfilter_mode)5}, NULL,
                   "there is no such filter");
    expect_refused(&plain, &(CUDA_TEXTURE_DESC){.flags = CU_TRSF_SEAMLESS_CUBEMAP}, NULL,
                   "seamless cubes are not supported");
}

/* Five nodes. The third, the second and the fifth wait for each other. */
static void a_cycle_of_a_graph_is_told_with_a_node_of_it(void **state) {
    (void)state;
    char said[1024];
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode nodes[5];
    assert_cuda(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 5; i++)
        assert_cuda(cuGraphAddEmptyNode(&nodes[i], graph, i ? &nodes[0] : NULL, i ? 1 : 0));
    const CUgraphNode from[] = {nodes[2], nodes[1], nodes[4], nodes[4]},
                      to[] = {nodes[1], nodes[4], nodes[2], nodes[3]};
    assert_cuda(cuGraphAddDependencies(graph, from, to, NULL, 4));
    listen();
    CUresult status = cuGraphInstantiate(&executable, graph, 0);
    stop_listening(said, sizeof said);
    assert_int_equal(status, CUDA_ERROR_INVALID_VALUE);
    expect_said(said, " of 5 (as they were added) comes after itself, by way of 2 others");
    assert_true(strstr(said, "node 2 ") || strstr(said, "node 3 ") || strstr(said, "node 5 "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_of_memory_are_refused_with_their_reason),
        cmocka_unit_test(descriptors_of_views_and_of_sampling_too),
        cmocka_unit_test(a_cycle_of_a_graph_is_told_with_a_node_of_it),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
