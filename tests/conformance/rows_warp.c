/* Instructions whose lanes read each other's values: votes, matches, shuffles, reductions. */
#include "lanes.h"

#include <string.h>

static bool is_active(const WarpCase *warp, int lane) { return warp->active >> lane & 1; }

/* Gives all lanes the same results. */
static void give_all(WarpCase *warp, uint64_t first, uint64_t second) {
    for (int lane = 0; lane < FORM_LANES; lane++) {
        warp->out[0][lane] = first;
        warp->out[1][lane] = second;
    }
}

/* ---- Votes ---- */

static uint32_t lanes_with(const WarpCase *warp, uint64_t value) {
    uint32_t lanes = 0;
    for (int lane = 0; lane < FORM_LANES; lane++)
        if (is_active(warp, lane) && warp->in[0][lane] == value) lanes |= 1u << lane;
    return lanes;
}

static void vote(const Form *form, WarpCase *warp) {
    uint32_t yes = lanes_with(warp, 1), no = lanes_with(warp, 0);
    if (form_has(form, "ballot")) give_all(warp, yes, 0);
    if (form_has(form, "all")) give_all(warp, no == 0, 0);
    if (form_has(form, "any")) give_all(warp, yes != 0, 0);
    if (form_has(form, "uni")) give_all(warp, yes == 0 || no == 0, 0);
}

static void active_mask(const Form *form, WarpCase *warp) {
    (void)form;
    give_all(warp, warp->active, 0);
}

/* The lowest lane in the mask is elected. */
static void elect(const Form *form, WarpCase *warp) {
    (void)form;
    for (int leader = 0; leader < FORM_LANES; leader++) {
        if (!is_active(warp, leader)) continue;
        give_all(warp, (uint64_t)leader, 0);
        warp->out[1][leader] = 1;
        return;
    }
}

static void match_any(const Form *form, WarpCase *warp) {
    (void)form;
    for (int lane = 0; lane < FORM_LANES; lane++)
        warp->out[0][lane] = lanes_with(warp, warp->in[0][lane]);
}

static void match_all(const Form *form, WarpCase *warp) {
    (void)form;
    for (int lane = 0; lane < FORM_LANES; lane++) {
        if (!is_active(warp, lane)) continue;
        const bool is_same = lanes_with(warp, warp->in[0][lane]) == warp->active;
        give_all(warp, is_same ? warp->active : 0, is_same);
        return;
    }
}

/* ---- Shuffles ----
 * c holds the segment mask in bits 8 to 12 and the limit inside a segment in bits 0 to 4. */

static int source_lane(const Form *form, int lane, uint64_t b, uint64_t c, bool *is_inside) {
    static const char *const modes[] = {"up", "down", "bfly", "idx", NULL};
    int offset = (int)(b & 31), segments = (int)(c >> 8 & 31), limit = (int)(c & 31);
    int last = (lane & segments) | (limit & ~segments), first = lane & segments;
    int mode = form_which(form, modes), j;
    if (mode == 0) j = lane - offset;
    else if (mode == 1) j = lane + offset;
    else if (mode == 2) j = lane ^ offset;
    else j = first | (offset & ~segments);
    *is_inside = mode == 0 ? j >= last : j <= last;
    return *is_inside ? j : lane;
}

static void shuffle(const Form *form, WarpCase *warp) {
    for (int lane = 0; lane < FORM_LANES; lane++) {
        bool is_inside;
        int from = source_lane(form, lane, warp->in[1][lane], warp->in[2][lane], &is_inside);
        bool is_there = from >= 0 && from < FORM_LANES && is_active(warp, from);
        warp->out[0][lane] = is_there ? warp->in[0][from] : 0; /* undefined in the ISA */
        warp->out[1][lane] = is_inside;
        if (warp->is_group && !is_there) warp->undefined |= 1u << lane;
    }
}

/* ---- Reductions ---- */

static void reduce(const Form *form, WarpCase *warp) {
    static const char *const operations[] = {"add", "min", "max", "and", "or", "xor", NULL};
    const Type *type = form->types[0];
    int operation = form_which(form, operations);
    bool is_first = true;
    __int128 total = 0;
    for (int lane = 0; lane < FORM_LANES; lane++) {
        if (!is_active(warp, lane)) continue;
        __int128 value = type_integer(type, warp->in[0][lane]);
        if (is_first) total = value;
        else if (operation == 0) total += value;
        else if (operation == 1) total = value < total ? value : total;
        else if (operation == 2) total = value > total ? value : total;
        else if (operation == 3) total &= value;
        else if (operation == 4) total |= value;
        else total ^= value;
        is_first = false;
    }
    give_all(warp, (uint64_t)total & UINT32_MAX, 0);
}

const Row ROWS_WARP[] = {
    {"activemask.b32", "0=", .warp = active_mask},
    {"vote(.all,.any,.uni).pred", "p=p", .warp = vote},
    {"vote.ballot.b32", "0=p", .warp = vote},
    {"vote.sync(.all,.any,.uni).pred", "p=pm", .warp = vote},
    {"vote.sync.ballot.b32", "0=pm", .warp = vote},
    {"elect.sync", "up=m", .warp = elect},
    {"match.any.sync(.b32,.b64)", "u=0m", .warp = match_any, .flags = ROW_NO_CONSTANT},
    {"match.all.sync(.b32,.b64)", "up=0m", .warp = match_all},
    {"shfl(.up,.down,.bfly,.idx).b32", "0=0nn", .warp = shuffle, .flags = ROW_NO_CONSTANT},
    {"shfl(.up,.down,.bfly,.idx).b32", "0p=0nn", .warp = shuffle, .flags = ROW_NO_CONSTANT},
    {"shfl.sync(.up,.down,.bfly,.idx).b32", "0=0nnm", .warp = shuffle, .flags = ROW_NO_CONSTANT},
    {"shfl.sync(.up,.down,.bfly,.idx).b32", "0p=0nnm", .warp = shuffle, .flags = ROW_NO_CONSTANT},
    {"redux.sync(.add,.min,.max)(.u32,.s32)", "0=0m", .warp = reduce, .flags = ROW_NO_CONSTANT},
    {"redux.sync(.and,.or,.xor).b32", "0=0m", .warp = reduce, .flags = ROW_NO_CONSTANT},
    {0},
};
