/* The list of differences (see the header). On an H100 the differences that ptxas causes are the
 * same (docs/real-gpu.md). */
#include "differences.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

typedef struct Difference {
    const char *forms;    /* shell pattern of spellings */
    const char *machines; /* shell pattern of "sm_90:-O3" */
    unsigned kinds;       /* DifferenceKind */
    const char *why;
} Difference;

#define WRITES_ALL   "ptxas computes it in all lanes where only some execute"
#define PUT_TOGETHER "put together from other instructions, not as the ISA describes it"

#define AS_HALVES "8-bit factors become halves, whose sums keep more bits"

#define IMPLICIT "by derivatives between lanes, or by a function of the system"

static const Difference differences[] = {
    {"set.*", "*", DIFFERS_IDLE, WRITES_ALL},
    {"testp.*", "*", DIFFERS_IDLE, WRITES_ALL},
    {"v*4.u32.u32.u32.add", "*", DIFFERS_IDLE, WRITES_ALL},
    {"setp.*.ftz.f32", "*", DIFFERS_MASKED, "ptxas drops .ftz in a branch"},
    {"v[a-z]*.[us]32.[us]32*", "*", DIFFERS_MASKED | DIFFERS_RESULT, PUT_TOGETHER},
    {"bf[ei].*64", "*", DIFFERS_MASKED | DIFFERS_RESULT,
     "positions and lengths past 255 are not cut to 8 bits"},
    {"fns.b32", "*", DIFFERS_MASKED | DIFFERS_RESULT, "0 for an offset of -2^31"},
    {"cvt.r[mp].ftz*.f16.f32", "*", DIFFERS_MASKED | DIFFERS_RESULT,
     "subnormal operands are not flushed"},
    {"cvt.rna*.tf32.f32", "*", DIFFERS_MASKED | DIFFERS_RESULT,
     "the low bits of a NaN are cut off, which can make it infinite"},
    {"sin.approx*", "*", DIFFERS_MASKED | DIFFERS_RESULT,
     "the argument in turns is rounded to a float first"},
    {"cos.approx*", "*", DIFFERS_MASKED | DIFFERS_RESULT,
     "the argument in turns is rounded to a float first"},
    {"mma.sync.aligned.m8n8k4.*.f32.f16.f16.*", "sm_[891]*", DIFFERS_RESULT,
     "computed without tensor cores"},
    {"mma.*.e[45]m[23].e[45]m[23].*", "sm_90*", DIFFERS_RESULT, AS_HALVES},
    {"mma.*.e[45]m[23].e[45]m[23].*", "sm_1[01]*", DIFFERS_RESULT, AS_HALVES},
    {"mma.*.e[45]m[23].e[45]m[23].*", "sm_89*", DIFFERS_REFUSED, "QMMA is not supported"},
    {"mma.*.e[45]m[23].e[45]m[23].*", "sm_120*", DIFFERS_REFUSED, "QMMA is not supported"},
    {"wmma.mma.*.f16.f32", "*", DIFFERS_RESULT, "sums are floats, rounded to halves once"},
    {"st.param.*", "*", DIFFERS_RESULT, "parts of a parameter that nothing wrote are 0"},
    {"atom*.shared*", "*", DIFFERS_RESULT, "lanes of a warp on one cell come in another order"},
    {"fence.acquire.*", "sm_[78]*", DIFFERS_REFUSED, "ptxas emits an instruction of zeros"},
    {"fence.release.*", "sm_[78]*", DIFFERS_REFUSED, "ptxas emits an instruction of zeros"},
    {"mbarrier.init*", "*", DIFFERS_FAULT, "the object has no mark, and counts wrap"},
    {"cp.async.mbarrier.arrive.noinc.b64", "sm_8*", DIFFERS_REFUSED,
     "32 bits of an address are taken for a generic address"},
    {"isspacep.global", "*", DIFFERS_RESULT, "true of a parameter's generic address"},
    {"call", "*", DIFFERS_RESULT,
     "ptxas loses predicates that a function returns with other values"},
    {"mov.%aggr_smem_size", "sm_[91]*", DIFFERS_RESULT, "with the 1,024 bytes of the system"},
    {"tex.grad.*[12]d.*", "*", DIFFERS_REFUSED, "offsets with gradients are not supported"},
    {"ld.v4.?64", "sm_1*", DIFFERS_REFUSED, "256 bits are in global memory only"},
    {"st.v4.?64", "sm_1*", DIFFERS_REFUSED, "256 bits are in global memory only"},
    {"cp.async.bulk.*shared::cluster.global.*", "sm_120*", DIFFERS_REFUSED,
     "ptxas calls a function of the system"},
    {"st.param*.b128", "*", DIFFERS_RESULT, "ptxas passes the lower half alone"},
    {"tex.grad.3d.*", "*", DIFFERS_REFUSED, IMPLICIT},
    {"tex.grad.*cube.*", "*", DIFFERS_REFUSED, IMPLICIT},
    {"rcp.approx.ftz.f64", "*", DIFFERS_MASKED | DIFFERS_RESULT,
     "subnormal results are not flushed"},
};

enum { COUNT = sizeof differences / sizeof *differences };
static bool was_needed[COUNT];

bool difference_is_known(const char *machine, const char *spelling, unsigned kinds) {
    unsigned known = 0;
    for (int i = 0; i < COUNT; i++) {
        const Difference *row = &differences[i];
        if (!(row->kinds & kinds) || fnmatch(row->forms, spelling, 0) != 0 ||
            fnmatch(row->machines, machine, 0) != 0)
            continue;
        known |= row->kinds;
        was_needed[i] = true;
    }
    return (kinds & ~known) == 0;
}

int differences_report_unused(const char *machine) {
    int unused = 0;
    for (int i = 0; i < COUNT; i++) {
        const Difference *row = &differences[i];
        if (was_needed[i] || fnmatch(row->machines, machine, 0) != 0) continue;
        fprintf(stderr, "no difference on %s: %s (%s)\n", machine, row->forms, row->why);
        unused += strcmp(row->machines, "*") != 0;
    }
    return unused;
}
