/* Allocations of a launch: none may depend on how long it runs. The program is linked so that every
 * call of base/'s allocating functions from another file arrives here first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "timed.h"

static int allocations; /* count so far */

/* COUNTED(result, function, parameters, arguments): __wrap_function counts the call and makes
 * it. */
#define COUNTED(result, function, parameters, arguments)                                           \
    result __real_##function parameters;                                                           \
    result __wrap_##function parameters;                                                           \
    result __wrap_##function parameters {                                                          \
        allocations++;                                                                             \
        return __real_##function arguments;                                                        \
    }
COUNTED(void *, base_malloc, (size_t size), (size))
COUNTED(void *, base_calloc, (size_t count, size_t size), (count, size))
COUNTED(void *, base_realloc, (void *block, size_t size), (block, size))
COUNTED(void *, base_alloc_lines, (size_t size), (size))
COUNTED(void *, arena_alloc, (Arena * arena, size_t size), (arena, size))
COUNTED(void *, arena_alloc_aligned, (Arena * arena, size_t size, size_t align),
        (arena, size, align))

/* Repeats `rounds` times: loads and stores, shared memory, a barrier, and a branch that splits
 * every warp. */
static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry work(.param .u64 data, .param .u64 rounds)\n{\n"
    ".shared .align 4 .b8 s[512];\n"
    ".reg .b64 %p, %o, %n;\n.reg .b32 %t, %v, %i, %c, %s;\n.reg .pred %q, %half;\n"
    "ld.param.u64 %p, [data];\nld.param.u64 %n, [rounds];\ncvt.u32.u64 %i, %n;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\nmad.lo.u32 %c, %c, 128, %t;\n"
    "and.b32 %v, %c, 16383;\nmul.wide.u32 %o, %v, 4;\nadd.u64 %p, %p, %o;\n"
    "mov.u32 %s, s;\nmad.lo.u32 %s, %t, 4, %s;\nand.b32 %v, %t, 1;\nsetp.eq.u32 %half, %v, 0;\n"
    "again:\nld.global.u32 %v, [%p];\n@%half bra even;\nadd.u32 %v, %v, 3;\neven:\n"
    "st.shared.u32 [%s], %v;\nbar.sync 0;\nst.global.u32 [%p], %v;\n"
    "sub.u32 %i, %i, 1;\nsetp.ne.u32 %q, %i, 0;\n@%q bra again;\nret;\n}\n";

typedef struct Work {
    Gpu *gpu;
    GpuModule *module;
    uint64_t data;
} Work;

/* The number of allocations of one launch. */
static int launch(const Work *work, uint32_t ctas, uint64_t rounds, bool is_functional) {
    GpuLaunch request = {.module = work->module,
                         .grid = {ctas, 1, 1},
                         .block = {128, 1, 1},
                         .parameters = (uint64_t[]){work->data, rounds},
                         .is_functional = is_functional};
    GpuResult result;
    int before = allocations;
    gpu_launch(work->gpu, &request, &result);
    if (result.status != GPU_OK) fail_msg("%s", result.message);
    return allocations - before;
}

static Work begin(Timed *timed, const char *machine, const char *policy) {
    timed_start(timed, machine, "", policy);
    GpuImage image = {"work.ptx", ptx, strlen(ptx)};
    Work work = {.gpu = timed->gpu, .module = gpu_load(timed->gpu, &image, 1, timed->diag)};
    if (!work.module) fail_msg("%s", diag_text(timed->diag));
    work.data = timed_buffer(timed, NULL, 16384);
    return work;
}

static void end(Timed *timed, Work *work) {
    gpu_unload(work->module);
    timed_stop(timed);
}

/* Once every CTA slot has been used, a launch allocates nothing, however many CTAs it has and
 * however long they run. */
static void a_timed_launch_allocates_nothing(void **state) {
    (void)state;
    static const char *const policies[] = {"gto", "two-level", "ccws", "pro", "owl"};
    for (int m = 0; m < machine_shipped_count(); m++) {
        Timed timed;
        Work work = begin(&timed, machine_shipped_name(m), policies[m % 5]);
        assert_true(launch(&work, timed.config->sms * timed.config->sm.ctas, 1, false) > 1);
        assert_int_equal(launch(&work, 1, 1, false), 0);
        assert_int_equal(launch(&work, 2 * timed.config->sms * timed.config->sm.ctas, 3, false), 0);
        end(&timed, &work);
    }
}

/* The same in functional runs, except for the state of the run. */
static void a_functional_launch_allocates_no_more_when_it_is_longer(void **state) {
    (void)state;
    Timed timed;
    Work work = begin(&timed, "gtx480", "gto");
    assert_true(launch(&work, 1, 1, true) > 1);
    assert_int_equal(launch(&work, 1, 1, true), 1);
    assert_int_equal(launch(&work, 2000, 50, true), 1);
    end(&timed, &work);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timed_launch_allocates_nothing),
        cmocka_unit_test(a_functional_launch_allocates_no_more_when_it_is_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
