/* Which handler executes a load or store. */
#include "isa/exec/handlers.h"

/* Handlers of 32-bit words in one space (exec/exec_word.c). */
typedef struct WordHandlers {
    IsaHandler load1, load2, load4, store1; /* by the number of words per lane */
} WordHandlers;

/* Whether the access moves plain words and discards none of them. */
static bool is_words(const IsaInst *inst) {
    const int plain = ISA_BASE_IS_32 | ISA_SIGNED; /* flags that do not matter for 32-bit words */
    bool is_plain = inst->size == 4 && !(inst->flags & ~plain) && !inst->sub;
    for (int i = 0; i <= inst->vector; ++i) /* the last operand is the base */
        is_plain &= inst->operand[i] != ISA_SINK;
    return is_plain;
}

static IsaHandler word_handler(const WordHandlers *handlers, int words, bool is_load) {
    if (!is_load) return words == 1 ? handlers->store1 : ISA_DO_NONE;
    return words == 1   ? handlers->load1
           : words == 2 ? handlers->load2
           : words == 4 ? handlers->load4
                        : ISA_DO_NONE;
}

IsaHandler isa_access_handler(const IsaInst *inst, PtxSpace space, bool is_load) {
    static const WordHandlers shared = {ISA_DO_LD_WORD_SHARED, ISA_DO_LD_WORDS2_SHARED,
                                        ISA_DO_LD_WORDS4_SHARED, ISA_DO_ST_WORD_SHARED};
    static const WordHandlers shared_64 = {ISA_DO_LD_WORD_SHARED_64, ISA_DO_LD_WORDS2_SHARED_64,
                                           ISA_DO_LD_WORDS4_SHARED_64, ISA_DO_ST_WORD_SHARED_64};
    static const WordHandlers global = {ISA_DO_LD_WORD_GLOBAL, ISA_DO_LD_WORDS2_GLOBAL,
                                        ISA_DO_LD_WORDS4_GLOBAL, ISA_DO_ST_WORD_GLOBAL};
    const bool is_narrow = (inst->flags & ISA_BASE_IS_32) != 0;
    const WordHandlers *words = NULL;
    if (space == PTX_SPACE_NONE) return is_load ? ISA_DO_LD_GENERIC : ISA_DO_ST_GENERIC;
    if (space == PTX_SPACE_SHARED) words = is_narrow ? &shared : &shared_64;
    if (space == PTX_SPACE_GLOBAL && !is_narrow) words = &global;
    if (words && is_words(inst)) {
        const IsaHandler own = word_handler(words, inst->vector, is_load);
        if (own != ISA_DO_NONE) return own;
    }
    return is_load ? ISA_DO_LD : ISA_DO_ST;
}
