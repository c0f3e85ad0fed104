/* Function bodies: scopes, labels, instructions, and the directives among them. */
#include "ptx/reader.h"

#include <string.h>

/* State of a scope that is needed when it ends. */
typedef struct Scope {
    int32_t first_reference; /* first of the references made inside */
    uint64_t param_top;      /* end of the enclosing scopes' .param variables */
} Scope;

/* ---- Scopes and labels ---- */

static bool is_meant(const Reference *reference, const Binding *binding) {
    return binding->kind == reference->kind ||
           (reference->kind == BINDING_PROTO && binding->kind == BINDING_TARGETS);
}

static void complete(Reader *reader, const Reference *reference, const Binding *binding) {
    PtxOperand *operand = reference->operand;
    int column = operand->column;
    if (binding->kind == BINDING_LABEL) {
        operand->kind = PTX_OPERAND_LABEL;
        operand->target = binding->index;
    } else if (binding->kind == BINDING_PROTO) {
        operand->kind = PTX_OPERAND_PROTO;
        operand->prototype = binding->prototype;
    } else {
        *operand = *binding->targets;
        operand->column = column;
        reader->target_uses += operand->count;
        if (reader->target_uses > READER_MAX_TARGET_USES)
            reader_error_at(reader, reference->line, column,
                            "too many branches and calls with long lists of targets");
    }
}

/* Completes references to names of the scope that ends; leaves the others to the enclosing
 * scope. */
static void complete_references(Reader *reader, int32_t first) {
    int32_t kept = first;
    for (int32_t i = first; i < reader->reference_count && reader->errors < READER_MAX_ERRORS;
         i++) {
        Reference *reference = &reader->references[i];
        Binding *binding = reference->name->binding;
        if (binding && is_meant(reference, binding)) {
            complete(reader, reference, binding);
        } else {
            reader->references[kept++] = *reference;
        }
    }
    reader->reference_count = kept;
}

static const char *kind_text(BindingKind kind) {
    return kind == BINDING_LABEL     ? "label"
           : kind == BINDING_TARGETS ? ".branchtargets list"
                                     : ".callprototype or .calltargets list";
}

static void report_references(Reader *reader) {
    for (int32_t i = 0; i < reader->reference_count && reader->errors < READER_MAX_ERRORS; i++) {
        const Reference *r = &reader->references[i];
        if (names_meaning(r->name)) {
            reader_error_at(reader, r->line, r->column, "'%s' is not a %s", r->name->text,
                            kind_text(r->kind));
        } else {
            operand_undeclared(reader, r->name, kind_text(r->kind), r->line, r->column);
        }
    }
    reader->reference_count = 0;
}

static bool read_label(Reader *reader, const Token *place) {
    Name *name = names_intern(&reader->names, place->text, place->length);
    Binding *here = names_here(&reader->names, name);
    reader_next(reader);
    if (here) {
        reader_error_at(reader, place->line, place->column,
                        "'%s' is declared twice: first at line %d", name->text, here->line);
        return true;
    }
    if (reader_accept_word(reader, ".callprototype"))
        return call_read_prototype(reader, name, place->line);
    if (reader_accept_word(reader, ".branchtargets"))
        return call_read_targets(reader, name, place->line, true);
    if (reader_accept_word(reader, ".calltargets"))
        return call_read_targets(reader, name, place->line, false);
    names_bind(&reader->names, name, BINDING_LABEL, place->line)->index = reader->inst_count;
    return true;
}

/* ---- Instructions ---- */

static bool read_guard(Reader *reader, int32_t *guard, bool *is_negated) {
    *is_negated = reader_accept(reader, '!');
    Token place = reader->token;
    Name *name = reader_expect_name(reader, "the predicate of a guard");
    if (!name) return false;
    Binding *binding = operand_resolve(reader, name);
    if (!binding) return operand_undeclared(reader, name, "register", place.line, place.column);
    if (binding->kind != BINDING_REG || reader->regs[binding->index].type != PTX_PRED)
        return reader_error_at(reader, place.line, place.column,
                               "guard '%s' is not a .pred register", name->text);
    *guard = binding->index;
    return true;
}

/* The spelling that starts with `first`, which has been consumed. Spaces may precede modifiers. */
static Name *read_spelling(Reader *reader, const Token *first) {
    if (reader->token.kind != LEX_WORD)
        return names_intern(&reader->names, first->text, first->length);
    Text spelling = {0};
    text_add_bytes(&spelling, first->text, first->length);
    while (reader->token.kind == LEX_WORD) {
        text_add_bytes(&spelling, reader->token.text, reader->token.length);
        reader_next(reader);
    }
    Name *name = names_intern(&reader->names, spelling.bytes, spelling.length);
    text_free(&spelling);
    return name;
}

/* The shape of a spelling, looked up only once; NULL after an error. */
static const PtxShape *find_shape(Reader *reader, Name *spelling, const Token *place) {
    if (spelling->shape) return spelling->shape;
    Text why = {0};
    spelling->shape = ptx_shape_new(reader->arena, spelling->text, &why);
    if (!spelling->shape)
        reader_refuse(reader, place->line, place->column, "%s", text_string(&why));
    text_free(&why);
    return spelling->shape;
}

/* A literal thread count of a barrier must not be zero (PTX ISA, bar). */
static bool check_barrier(Reader *reader, const PtxInst *inst) {
    bool is_reduction = inst->sub == PTX_SUB_BAR_RED;
    int at = 1 + is_reduction; /* after the barrier's number */
    if (at >= inst->operand_count - is_reduction) return true;
    const PtxOperand *count = &inst->operands[at];
    return count->kind != PTX_OPERAND_IMM || count->imm != 0 ||
           reader_error_at(reader, inst->line, count->column,
                           "a barrier of 0 threads: leave the count out for all of the CTA's");
}

void reader_add_instruction(Reader *reader, const PtxInst *inst) {
    reader->insts = reader_grow(reader->insts, reader->inst_count, &reader->inst_capacity,
                                sizeof *reader->insts);
    reader->insts[reader->inst_count++] = *inst;
}

/* Reads an instruction after its first token, `place`. */
static bool read_instruction(Reader *reader, const Token *place, int32_t guard, bool is_negated) {
    Name *spelling = read_spelling(reader, place);
    const PtxShape *shape = find_shape(reader, spelling, place);
    if (!shape) return false;
    PtxInst inst = shape->inst;
    inst.has_destination = shape->slot_count > 0 && shape->slots[0].is_destination;
    inst.guard = guard;
    inst.guard_negated = is_negated;
    inst.line = place->line;
    inst.column = place->column;
    inst.loc = reader->loc;
    if (!operand_read_all(reader, shape, &inst)) return false;
    if (!reader_expect(reader, ';', "behind an instruction")) return false;
    bool is_barrier = (inst.op == PTX_OP_BAR && !(inst.flags & PTX_FLAG_WARP)) ||
                      inst.op == PTX_OP_CLUSTER_BARRIER;
    if (is_barrier && !check_barrier(reader, &inst)) return false;
    if (inst.op == PTX_OP_SETMAXNREG && inst.operands[0].imm > reader->function->set_registers)
        reader->function->set_registers = (uint32_t)inst.operands[0].imm;
    reader->function->uses_barrier |= is_barrier;
    reader_add_instruction(reader, &inst);
    return true;
}

/* Consumes the current name, together with modifiers that follow without a space, into `place`. */
static bool read_opcode(Reader *reader, Token *place) {
    if (reader->token.kind != LEX_NAME)
        return reader_error(reader, "expected an instruction, not %s", reader_token_text(reader));
    lex_extend_spelling(&reader->lexer, &reader->token);
    *place = reader->token;
    reader_next(reader);
    return true;
}

static bool read_label_or_instruction(Reader *reader) {
    Token place;
    if (!read_opcode(reader, &place)) return false;
    if (reader_at(reader, ':')) return read_label(reader, &place);
    return read_instruction(reader, &place, -1, false);
}

static bool read_guarded_instruction(Reader *reader) {
    Token place;
    int32_t guard = -1;
    bool is_negated = false;
    return read_guard(reader, &guard, &is_negated) && read_opcode(reader, &place) &&
           read_instruction(reader, &place, guard, is_negated);
}

/* ---- Directives ---- */

bool body_read_pragma(Reader *reader) {
    do {
        if (reader->token.kind != LEX_STRING)
            return reader_error(reader, "expected a string behind .pragma, not %s",
                                reader_token_text(reader));
        reader_next(reader);
    } while (reader_accept(reader, ','));
    return reader_expect(reader, ';', "behind .pragma");
}

static bool read_number(Reader *reader, int *number) {
    if (reader->token.kind != LEX_INTEGER)
        return reader_error(reader, "expected a number, not %s", reader_token_text(reader));
    *number = reader->token.value <= INT32_MAX ? (int)reader->token.value : 0;
    reader_next(reader);
    return true;
}

/* Three numbers: a file, a line, a column. */
static bool read_place(Reader *reader, PtxLoc *loc) {
    return read_number(reader, &loc->file) && read_number(reader, &loc->line) &&
           read_number(reader, &loc->column);
}

/* The number of a place in the function's list. Adds the place if it is not among the last entries:
 * if places repeat, they repeat soon. */
static int32_t place_number(Reader *reader, const PtxLoc *loc, bool is_call_site) {
    enum { LOOK_BACK = 256 };
    PtxModule *module = reader->module;
    for (int32_t i = module->loc_count; i >= reader->first_loc && module->loc_count - i < LOOK_BACK;
         i--) {
        const PtxLoc *there = &module->locs[i - 1];
        if (there->file == loc->file && there->line == loc->line && there->column == loc->column &&
            (is_call_site || there->inlined_at == loc->inlined_at))
            return i;
    }
    module->locs =
        reader_grow(module->locs, module->loc_count, &reader->loc_capacity, sizeof *module->locs);
    module->locs[module->loc_count++] = *loc;
    return module->loc_count;
}

/* .loc file line column [, function_name label [+ offset], inlined_at file line column] */
static bool read_loc(Reader *reader) {
    PtxLoc loc = {0}, call_site = {0};
    int unused;
    if (!read_place(reader, &loc)) return false;
    while (reader_accept(reader, ',')) {
        Name *key = reader_expect_name(reader, "function_name or inlined_at");
        if (!key) return false;
        if (!strcmp(key->text, "inlined_at")) {
            if (!read_place(reader, &call_site)) return false;
            loc.inlined_at = place_number(reader, &call_site, true);
        } else if (!reader_expect_name(reader, "the label of a function's name") ||
                   (reader_accept(reader, '+') && !read_number(reader, &unused))) {
            return false;
        }
    }
    reader->loc = loc.line ? place_number(reader, &loc, false) : 0;
    return true;
}

static bool read_directive(Reader *reader) {
    if (reader_accept_word(reader, ".reg")) return variable_read_registers(reader);
    if (reader_accept_word(reader, ".loc")) return read_loc(reader);
    if (reader_accept_word(reader, ".pragma")) return body_read_pragma(reader);
    if (reader_accept_word(reader, ".extern")) return variable_read(reader, PTX_EXTERN);
    return variable_read(reader, PTX_LINK_NONE);
}

/* ---- The body ---- */

static bool read_statement(Reader *reader) {
    if (reader->token.kind == LEX_WORD) return read_directive(reader);
    if (reader->token.kind == LEX_NAME) return read_label_or_instruction(reader);
    if (reader_accept(reader, ';')) return true;
    if (reader_accept(reader, '@')) return read_guarded_instruction(reader);
    bool is_spared = reader_at(reader, '}') || reader_at(reader, '{');
    reader_error(reader, "expected an instruction, label or directive, not %s",
                 reader_token_text(reader));
    if (!is_spared) reader_next(reader);
    return false;
}

static bool enter(Reader *reader, Scope *scopes) {
    if (!names_enter(&reader->names)) return false;
    scopes[reader->names.depth] = (Scope){reader->reference_count, reader->param_top};
    return true;
}

static void leave(Reader *reader, const Scope *scopes) {
    const Scope *scope = &scopes[reader->names.depth];
    complete_references(reader, scope->first_reference);
    if (reader->names.depth == 1) report_references(reader);
    reader->param_top = scope->param_top;
    names_leave(&reader->names);
}

static void bind_parameter(Reader *reader, PtxVar *var) {
    Name *name = names_intern(&reader->names, var->name, strlen(var->name));
    var->owner = reader->function;
    if (!strcmp(var->name, "_")) return;
    Binding *here = names_here(&reader->names, name);
    if (here) {
        reader_error_at(reader, var->line, var->column, "'%s' is declared twice: first at line %d",
                        name->text, here->line);
    } else if (var->space == PTX_SPACE_NONE && var->vector > 1) {
        Binding *binding = names_bind(&reader->names, name, BINDING_VECTOR_REG, var->line);
        variable_new_vector(reader, name->text, var->type, var->vector, reader->declared_regs,
                            var->line, binding);
        var->reg = binding->index;
        reader->declared_regs += var->vector;
    } else if (var->space == PTX_SPACE_NONE) {
        var->reg = variable_new_register(reader, name->text, var->type, reader->declared_regs++,
                                         var->line);
        names_bind(&reader->names, name, BINDING_REG, var->line)->index = var->reg;
    } else {
        names_bind(&reader->names, name, BINDING_VAR, var->line)->var = var;
    }
}

static void start(Reader *reader, PtxFunction *function) {
    reader->function = function;
    reader->inst_count = reader->reg_count = 0;
    reader->declared_regs = 0;
    reader->local_count = 0;
    reader->loc = 0;
    reader->first_loc = reader->module->loc_count + 1;
    for (int i = 0; i < function->return_count; i++)
        bind_parameter(reader, &function->returns[i]);
    for (int i = 0; i < function->parameter_count; i++)
        bind_parameter(reader, &function->parameters[i]);
}

/* A copy of a growing array with the exact size. */
static void *copy_of(Arena *arena, const void *items, int32_t count, size_t item_bytes) {
    void *copy = arena_alloc(arena, (size_t)count * item_bytes);
    if (count) memcpy(copy, items, (size_t)count * item_bytes);
    return copy;
}

static void finish(Reader *reader, PtxFunction *function) {
    Arena *arena = reader->arena;
    if (function->refusal) reader->inst_count = 0; /* it never runs */
    function->insts = copy_of(arena, reader->insts, reader->inst_count, sizeof(PtxInst));
    function->inst_count = reader->inst_count;
    function->regs = copy_of(arena, reader->regs, reader->reg_count, sizeof(PtxReg));
    function->reg_count = reader->reg_count;
    function->locals = copy_of(arena, reader->locals, reader->local_count, sizeof(PtxVar *));
    function->local_count = (uint32_t)reader->local_count;
    function->is_defined = true;
    reader->function = NULL;
}

/* Skips the rest of a body that cannot run, including its '}'. Returns false if it is missing. */
static bool skip_body(Reader *reader) {
    int depth = reader->names.depth;
    while (depth > 0 && reader->token.kind != LEX_END) {
        depth += reader_at(reader, '{') - reader_at(reader, '}');
        reader_next(reader);
    }
    return depth == 0;
}

bool body_read(Reader *reader, PtxFunction *function) {
    Scope scopes[NAMES_MAX_DEPTH + 1];
    int line = reader->token.line, column = reader->token.column;
    reader->reference_count = 0; /* a body that cannot run leaves references and parameters */
    reader->param_top = 0;
    enter(reader, scopes);
    start(reader, function);
    reader_next(reader);
    bool is_closed = false;
    while (!is_closed && reader->token.kind != LEX_END) {
        const ReaderPlace statement = reader_place(reader);
        if (function->refusal) {
            is_closed = skip_body(reader);
        } else if (reader_at(reader, '{')) {
            if (!enter(reader, scopes)) {
                reader_error(reader, "scopes are nested more than %d deep", NAMES_MAX_DEPTH);
                break;
            }
            reader_next(reader);
        } else if (reader_at(reader, '}')) {
            leave(reader, scopes);
            reader_next(reader);
            is_closed = reader->names.depth == 0;
        } else if (!read_statement(reader)) {
            if (function->refusal) reader_go_back(reader, &statement);
            else reader_skip_statement(reader);
        }
    }
    while (reader->names.depth > 0)
        names_leave(&reader->names);
    finish(reader, function);
    return is_closed ||
           reader_error_at(reader, line, column, "the body of '%s' is not closed: '}' is missing",
                           function->name);
}
