/* mov: special registers, and vectors packed into a register or unpacked from one. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

#include "ptx/opcode.h"

/* ---- Special registers ----
 * A grid of 3 x 2 x 2 CTAs of 8 x 4 x 3 threads. */

static const uint32_t grid[3] = {3, 2, 2}, block[3] = {8, 4, 3};
enum { DYNAMIC_BYTES = 640, STATIC_BYTES = 128 };

typedef struct Thread {
    uint32_t tid[3], ctaid[3];
    uint32_t lane;
} Thread;

typedef uint64_t Value(const Thread *thread);

static uint64_t lane_bit(const Thread *thread) { return UINT64_C(1) << thread->lane; }

static uint64_t tid_x(const Thread *thread) { return thread->tid[0]; }
static uint64_t tid_y(const Thread *thread) { return thread->tid[1]; }
static uint64_t tid_z(const Thread *thread) { return thread->tid[2]; }
static uint64_t ctaid_x(const Thread *thread) { return thread->ctaid[0]; }
static uint64_t ctaid_y(const Thread *thread) { return thread->ctaid[1]; }
static uint64_t ctaid_z(const Thread *thread) { return thread->ctaid[2]; }
static uint64_t block_x(const Thread *thread) { return (void)thread, block[0]; }
static uint64_t block_y(const Thread *thread) { return (void)thread, block[1]; }
static uint64_t block_z(const Thread *thread) { return (void)thread, block[2]; }
static uint64_t grid_x(const Thread *thread) { return (void)thread, grid[0]; }
static uint64_t grid_y(const Thread *thread) { return (void)thread, grid[1]; }
static uint64_t grid_z(const Thread *thread) { return (void)thread, grid[2]; }
static uint64_t lane(const Thread *thread) { return thread->lane; }
static uint64_t equal(const Thread *thread) { return lane_bit(thread); }
static uint64_t less(const Thread *thread) { return lane_bit(thread) - 1; }
static uint64_t less_equal(const Thread *thread) { return lane_bit(thread) * 2 - 1; }
static uint64_t greater(const Thread *thread) { return UINT32_MAX & ~less_equal(thread); }
static uint64_t greater_equal(const Thread *thread) { return UINT32_MAX & ~less(thread); }
static uint64_t zero(const Thread *thread) { return (void)thread, 0; }
static uint64_t one(const Thread *thread) { return (void)thread, 1; }
static uint64_t warp_size(const Thread *thread) { return (void)thread, FORM_LANES; }
static uint64_t all_shared(const Thread *thread) {
    return (void)thread, DYNAMIC_BYTES + STATIC_BYTES;
}
static uint64_t dynamic_shared(const Thread *thread) { return (void)thread, DYNAMIC_BYTES; }

/* A special register. Either the ISA defines its value, or it depends on the machine and
 * `condition` must hold: instructions that set p from r. The register is read twice, into r and
 * s. */
typedef struct Special {
    const char *name;
    Value *value;
    const char *condition;
    int bits;     /* 64; 0 means 32 */
    bool is_pred; /* a predicate; its value is 0 or 1 */
} Special;

/* In a launch without clusters, each CTA is one. */
static const Special specials[] = {
    {"%tid.x", tid_x},
    {"%tid.y", tid_y},
    {"%tid.z", tid_z},
    {"%tid.w", zero},
    {"%ntid.x", block_x},
    {"%ntid.y", block_y},
    {"%ntid.z", block_z},
    {"%ntid.w", zero},
    {"%ctaid.x", ctaid_x},
    {"%ctaid.y", ctaid_y},
    {"%ctaid.z", ctaid_z},
    {"%ctaid.w", zero},
    {"%nctaid.x", grid_x},
    {"%nctaid.y", grid_y},
    {"%nctaid.z", grid_z},
    {"%nctaid.w", zero},
    {"%laneid", lane},
    {"%lanemask_eq", equal},
    {"%lanemask_le", less_equal},
    {"%lanemask_lt", less},
    {"%lanemask_ge", greater_equal},
    {"%lanemask_gt", greater},
    {"%total_smem_size", all_shared},
    {"%aggr_smem_size", all_shared},
    {"%dynamic_smem_size", dynamic_shared},
    {"%clusterid.x", ctaid_x},
    {"%clusterid.y", ctaid_y},
    {"%clusterid.z", ctaid_z},
    {"%clusterid.w", zero},
    {"%nclusterid.x", grid_x},
    {"%nclusterid.y", grid_y},
    {"%nclusterid.z", grid_z},
    {"%nclusterid.w", zero},
    {"%cluster_ctaid.x", zero},
    {"%cluster_ctaid.y", zero},
    {"%cluster_ctaid.z", zero},
    {"%cluster_ctaid.w", zero},
    {"%cluster_nctaid.x", one},
    {"%cluster_nctaid.y", one},
    {"%cluster_nctaid.z", one},
    {"%cluster_nctaid.w", zero},
    {"%cluster_ctarank", zero},
    {"%cluster_nctarank", one},
    {"WARP_SZ", warp_size},
    {"%warpid", NULL, "mov.u32 t, %nwarpid;\nsetp.lt.u32 p, r, t;\n"},
    {"%nwarpid", NULL, "setp.ge.u32 p, r, 3;\n"},
    {"%smid", NULL, "mov.u32 t, %nsmid;\nsetp.lt.u32 p, r, t;\n"},
    {"%nsmid", NULL, "setp.ge.u32 p, r, 1;\n"},
    {"%gridid", NULL, "setp.eq.u64 p, r, s;\n", 64},
    {"%clock", NULL, "sub.u32 r, s, r;\nsetp.lt.u32 p, r, 100000;\n"},
    {"%clock_hi", NULL, "setp.le.u32 p, r, s;\n"},
    {"%clock64", NULL, "setp.le.u64 p, r, s;\n", 64},
    {"%globaltimer", NULL, "setp.le.u64 p, r, s;\n", 64},
    {"%globaltimer_lo", NULL, "sub.u32 r, s, r;\nsetp.lt.u32 p, r, 100000000;\n"},
    {"%globaltimer_hi", NULL, "setp.le.u32 p, r, s;\n"},
    {"%envreg", NULL, "setp.eq.u32 p, r, s;\n"},
    {"%is_explicit_cluster", zero, .is_pred = true},
    {"%current_graph_exec", zero, .bits = 64},
};

static void write_special(Text *ptx, const Special *special, int slot) {
    int bits = special->bits ? special->bits : 32;
    const char *suffix = strcmp(special->name, "%envreg") == 0 ? "7" : "";
    text_printf(ptx, "{\n.reg .b%d r, s;\n", bits);
    if (special->is_pred)
        text_printf(ptx, "mov.pred p, %s;\nselp.u32 r, 1, 0, p;\n", special->name);
    else text_printf(ptx, "mov.u%d r, %s%s;\n", bits, special->name, suffix);
    if (special->condition)
        text_printf(ptx, "mov.u%d s, %s%s;\n%sselp.u%d r, 1, 0, p;\n", bits, special->name, suffix,
                    special->condition, bits);
    text_printf(ptx, "cvt.u64.u%d v, r;\nst.global.u64 [out+%d], v;\n}\n", bits, slot * 8);
}

/* Threads in the order of their linear index in the grid. */
static Thread thread_at(uint32_t index) {
    const uint32_t threads = block[0] * block[1] * block[2];
    uint32_t in_cta = index % threads, cta = index / threads;
    return (Thread){{in_cta % block[0], in_cta / block[0] % block[1], in_cta / block[0] / block[1]},
                    {cta % grid[0], cta / grid[0] % grid[1], cta / grid[0] / grid[1]},
                    in_cta % FORM_LANES};
}

static void run_special(Trial *trial, const Special *special) {
    char spelling[FORM_TEXT_BYTES];
    snprintf(spelling, sizeof spelling, "mov.%s", special->name);
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, "");
    text_printf(&trial->ptx,
                ".shared .b8 fixed[%d];\n.reg .b64 v;\n.reg .pred p;\n.reg .b32 y, z;\n"
                /* the linear index of the thread in the grid */
                "mov.u32 z, %%ctaid.z;\nmov.u32 y, %%ctaid.y;\nmad.lo.u32 z, z, %u, y;\n"
                "mad.lo.u32 z, z, %u, cta;\nmov.u32 y, %%tid.z;\nmad.lo.u32 z, z, %u, y;\n"
                "mov.u32 y, %%tid.y;\nmad.lo.u32 z, z, %u, y;\nmad.lo.u32 z, z, %u, tid;\n"
                "mad.wide.u32 out, z, 8, out;\nmov.u64 v, fixed;\n",
                STATIC_BYTES, grid[1], grid[0], block[2], block[1], block[0]);
    write_special(&trial->ptx, special, 0);
    memcpy(trial->shape.grid, grid, sizeof grid);
    memcpy(trial->shape.block, block, sizeof block);
    trial->shape.shared_bytes = DYNAMIC_BYTES;
    trial->slots = (int)(grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]);
    for (int i = 0; i < trial->slots; i++) {
        Thread thread = thread_at((uint32_t)i);
        trial->expected[i] = special->value ? special->value(&thread) : 1;
    }
    trial_run(trial);
}

/* Every special register of the reader has a row. */
static void check_specials(Harness *harness) {
    for (int i = 0; i < PTX_SREG_COUNT; i++) {
        const char *name = ptx_sreg_name((PtxSreg)i);
        size_t at = 0, count = sizeof specials / sizeof *specials;
        while (at < count && strcmp(specials[at].name, name) != 0)
            at++;
        if (at < count) continue;
        fprintf(stderr, "not covered: special register %s\n", name);
        harness_fail(harness, name);
    }
}

/* All elements of a special register: read into registers that hold 7, except the third element,
 * and into a vector register. */
static void run_whole(void *user, const char *spelling) {
    Trial *trial = user;
    const int bits = strstr(spelling, "16") ? 16 : 32;
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, "");
    Text *ptx = &trial->ptx;
    text_printf(ptx,
                ".reg .b%1$d e<4>;\n.reg .v4 .b%1$d v;\n.reg .b32 word;\n"
                "mad.wide.u32 out, tid, 64, out;\n",
                bits);
    for (int i = 0; i < 4; i++)
        text_printf(ptx, "mov.b%d e%d, 7;\n", bits, i);
    text_printf(ptx, "@guard %1$s {e0, e1, _, e3}, %%ntid;\n%1$s v, %%tid;\n", spelling);
    static const char *const values[] = {"e0", "e1", "e2", "e3", "v.x", "v.y", "v.z", "v.w"};
    for (int i = 0; i < 8; i++)
        text_printf(ptx, "cvt.u64.u%d at, %s;\nst.global.u64 [out+%d], at;\n", bits, values[i],
                    i * 8);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint64_t *to = &trial->expected[thread * 8];
        const bool executes = trial_guards(thread);
        to[0] = executes ? TRIAL_THREADS : 7;
        to[1] = executes ? 1 : 7;
        to[2] = 7;
        to[3] = executes ? 0 : 7;
        to[4] = (uint64_t)thread;
        to[5] = to[6] = to[7] = 0;
    }
    trial->slots = TRIAL_THREADS * 8;
    trial_run(trial);
}

/* ---- Vectors ---- */

/* mov.v2 and mov.v4: each thread rotates its own values in place if the guard holds. Then it moves
 * them into a vector register, with a constant as the last element. */
static void run_elements(void *user, const char *spelling) {
    Trial *trial = user;
    const int elements = spelling[5] - '0', last = elements - 1;
    const char *type = strrchr(spelling, '.') + 1;
    const int bits = strstr(type, "16") ? 16 : strstr(type, "32") ? 32 : 64;
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, "");
    Text *ptx = &trial->ptx;
    text_printf(ptx,
                ".reg .%1$s e<4>;\n.reg .v%2$d .%1$s v, w;\nmad.wide.u32 in, tid, 8, in;\n"
                "mad.wide.u32 out, tid, %3$d, out;\n",
                type, elements, elements * 16);
    for (int i = 0; i < elements; i++)
        text_printf(ptx, "ld.global.b%d e%d, [in+%d];\n", bits, i, i * 8);
    const char *const rotated = elements == 2 ? "{e1, e0}" : "{e1, e2, e3, e0}";
    const char *const all = elements == 2 ? "{e0, e1}" : "{e0, e1, e2, e3}";
    const char *const one = *type != 'f' ? "5" : bits == 64 ? "0d0000000000000005" : "0f00000005";
    text_printf(ptx, "@guard %1$s %2$s, %3$s;\n%1$s v, %4$s%5$s};\n%1$s w, v;\n", spelling, all,
                rotated, elements == 2 ? "{e0, " : "{e0, e1, e2, ", one);
    for (int i = 0; i < elements; i++)
        text_printf(ptx,
                    "mov.b64 at, 0;\nst.global.u64 [out+%1$d], at;\nst.global.b%3$d [out+%1$d], "
                    "e%4$d;\nst.global.u64 [out+%2$d], at;\nst.global.b%3$d [out+%2$d], w.%5$c;\n",
                    i * 8, (elements + i) * 8, bits, i, "xyzw"[i]);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint64_t *to = &trial->expected[thread * elements * 2];
        const int turn = trial_guards(thread) ? 1 : 0;
        for (int i = 0; i < elements; i++)
            to[i] = trial->in[thread + (i + turn) % elements] & type_mask(bits);
        memcpy(to + elements, to, (size_t)last * sizeof *to);
        to[elements + last] = 5;
    }
    trial->slots = TRIAL_THREADS * elements * 2;
    trial_run(trial);
}

/* Unpacks a value of `bits` bits into its elements, and packs them again in the opposite order. */
static void run_vector(Trial *trial, int bits, int elements) {
    char spelling[FORM_TEXT_BYTES];
    snprintf(spelling, sizeof spelling, "mov.b%d", bits);
    int part = bits / elements, last = elements - 1;
    trial_begin(trial, spelling);
    trial_begin_kernel(trial, "");
    Text *ptx = &trial->ptx;
    text_printf(ptx,
                ".reg .b%d whole;\n.reg .b%d e<4>;\nmad.wide.u32 in, tid, 8, in;\n"
                "mad.wide.u32 out, tid, 16, out;\nld.global.b%d whole, [in];\n",
                bits, part, bits);
    /* a false guard leaves the elements unchanged; one element is discarded */
    for (int e = 0; e < elements; e++)
        text_printf(ptx, "cvt.u%d.u32 e%d, 0;\n", part, e);
    text_printf(ptx,
                elements == 2 ? "@guard mov.b%d {_, e1}, whole;\nmov.b%d whole, {e1, e1};\n"
                              : "@guard mov.b%d {e0, _, _, e3}, whole;\n"
                                "mov.b%d whole, {e3, e0, e0, e3};\n",
                bits, bits);
    text_printf(ptx, "st.global.b%d [out], whole;\nld.global.b%d whole, [in];\n", bits, bits);
    text_printf(ptx,
                elements == 2 ? "mov.b%d {e0, e1}, whole;\nmov.b%d whole, {e1, e0};\n"
                              : "mov.b%d {e0, e1, e2, e3}, whole;\n"
                                "mov.b%d whole, {e3, e2, e1, e0};\n",
                bits, bits);
    text_printf(ptx, "st.global.b%d [out+8], whole;\n", bits);
    for (int thread = 0; thread < TRIAL_THREADS; thread++) {
        uint64_t guarded = 0, reversed = 0, mask = type_mask(part), in = trial->in[thread];
        for (int e = 0; e < elements; e++) {
            const int from = elements == 2 ? 1 : e == 0 || e == last ? last : 0;
            if (trial_guards(thread)) guarded |= (in >> from * part & mask) << e * part;
            reversed |= (in >> (last - e) * part & mask) << e * part;
        }
        uint64_t above = TRIAL_UNTOUCHED & ~type_mask(bits);
        trial->expected[thread * 2] = above | guarded;
        trial->expected[thread * 2 + 1] = above | reversed;
    }
    trial->slots = TRIAL_THREADS * 2;
    trial_run(trial);
}

void registers_run(Harness *harness) {
    Trial *trial = trial_new(harness);
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        run_special(trial, &specials[i]);
    check_specials(harness);
    form_expand("mov", ".v4(.b16,.b32,.u16,.u32,.s16,.s32)", run_whole, trial);
    form_expand("mov", ".v2(.b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64,.f32,.f64)", run_elements,
                trial);
    form_expand("mov", ".v4(.b16,.b32,.u16,.u32,.s16,.s32,.f32)", run_elements, trial);
    run_vector(trial, 32, 2);
    run_vector(trial, 32, 4);
    run_vector(trial, 64, 2);
    run_vector(trial, 64, 4);
    trial_free(trial);
}
