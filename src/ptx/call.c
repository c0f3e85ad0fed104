/* Calls: their operands, prototypes and target lists, and the check of arguments against the
 * callee's parameters. Source: PTX ISA 9.0, section 7.1 and call, .callprototype, .calltargets,
 * .branchtargets. */
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

/* "(a, b)" of a call: a list of registers, constants, .param variables. */
static bool read_list(Reader *reader, PtxOperand **list, uint16_t *count) {
    PtxOperand *items = NULL;
    int32_t used = 0, capacity = 0;
    bool is_read = true;
    reader_next(reader);
    if (!reader_at(reader, ')')) {
        do {
            items = reader_grow(items, used, &capacity, sizeof *items);
            is_read = used < READER_MAX_LIST
                          ? operand_read(reader, &items[used])
                          : reader_error(reader, "more than %d arguments", READER_MAX_LIST);
            if (is_read) used++;
        } while (is_read && reader_accept(reader, ','));
    }
    *list = ARENA_ARRAY(reader->arena, PtxOperand, used);
    *count = (uint16_t)used;
    if (used) memcpy(*list, items, sizeof *items * (size_t)used);
    free(items);
    return is_read && reader_expect(reader, ')', "to close the arguments");
}

/* The callee: a function, or a register that holds its address. */
static bool read_callee(Reader *reader, PtxOperand *callee) {
    int line = reader->token.line;
    if (reader->token.kind != LEX_NAME)
        return reader_error(reader, "expected the name of a function, not %s",
                            reader_token_text(reader));
    if (!operand_read(reader, callee)) return false;
    bool is_register = callee->kind == PTX_OPERAND_REG;
    if (is_register) {
        PtxType type = reader->regs[callee->reg].type;
        int bits = operand_address_bits(reader, ptx_type_bits(type));
        is_register = operand_register_fits(type, bits == 64 ? PTX_U64 : PTX_U32, false);
    }
    return is_register || callee->kind == PTX_OPERAND_FUNC ||
           reader_error_at(reader, line, callee->column,
                           "this is neither a function nor a register with its address");
}

bool call_read(Reader *reader, PtxInst *inst) {
    inst->operands = ARENA_ARRAY(reader->arena, PtxOperand, 2);
    inst->operand_count = 1;
    if (reader_at(reader, '(')) {
        if (!read_list(reader, &inst->call_returns, &inst->call_return_count) ||
            !reader_expect(reader, ',', "behind the return values"))
            return false;
    }
    if (!read_callee(reader, &inst->operands[0])) return false;
    bool has_more = reader_accept(reader, ',');
    if (has_more && reader_at(reader, '(')) {
        if (!read_list(reader, &inst->call_arguments, &inst->call_argument_count)) return false;
        has_more = reader_accept(reader, ',');
    }
    bool is_direct = inst->operands[0].kind == PTX_OPERAND_FUNC;
    if (!has_more && !is_direct)
        return reader_error(reader,
                            "a call through a register needs a .callprototype or .calltargets");
    if (!has_more) return true;
    Token place = reader->token;
    Name *name = reader_expect_name(reader, "the label of a .callprototype or .calltargets");
    if (!name) return false;
    inst->operands[1] = (PtxOperand){.reg = -1, .column = place.column};
    inst->operand_count = 2;
    reader_add_reference(reader, name, &inst->operands[1], BINDING_PROTO, &place);
    return true;
}

/* ---- Prototypes and target lists ---- */

static bool has_predicate(const PtxVar *vars, int count) {
    for (int i = 0; i < count; i++)
        if (vars[i].type == PTX_PRED) return true;
    return false;
}

bool call_read_prototype(Reader *reader, Name *label, int line) {
    PtxPrototype *prototype = ARENA_NEW(reader->arena, PtxPrototype);
    prototype->name = label->text;
    if (reader_at(reader, '(') &&
        !variable_read_parameters(reader, false, &prototype->returns, &prototype->return_count))
        return false;
    if (!reader_expect_name(reader, "'_' as the name of the prototype")) return false;
    if (reader_at(reader, '(') && !variable_read_parameters(reader, false, &prototype->parameters,
                                                            &prototype->parameter_count))
        return false;
    reader_accept_word(reader, ".noreturn");
    if (has_predicate(prototype->returns, prototype->return_count) ||
        has_predicate(prototype->parameters, prototype->parameter_count))
        return reader_error(reader, "a call through a register cannot pass a .pred");
    names_bind(&reader->names, label, BINDING_PROTO, line)->prototype = prototype;
    return reader_expect(reader, ';', "behind a prototype");
}

static bool read_target(Reader *reader, PtxOperand *target, bool is_branch) {
    Token place = reader->token;
    Name *name = reader_expect_name(reader, is_branch ? "a label" : "a function");
    if (!name) return false;
    *target = (PtxOperand){.reg = -1, .column = place.column};
    if (is_branch) return true;
    if (!name->binding || name->binding->kind != BINDING_FUNCTION)
        return operand_undeclared(reader, name, "function", place.line, place.column);
    target->kind = PTX_OPERAND_FUNC;
    target->function = name->binding->function;
    return true;
}

bool call_read_targets(Reader *reader, Name *label, int line, bool is_branch) {
    PtxOperand *list = ARENA_NEW(reader->arena, PtxOperand), *items = NULL;
    Token *places = NULL;
    int32_t used = 0, capacity = 0, place_capacity = 0;
    bool is_read = true;
    do {
        items = reader_grow(items, used, &capacity, sizeof *items);
        places = reader_grow(places, used, &place_capacity, sizeof *places);
        places[used] = reader->token;
        is_read = used < READER_MAX_LIST
                      ? read_target(reader, &items[used], is_branch)
                      : reader_error(reader, "more than %d targets", READER_MAX_LIST);
        if (is_read) used++;
    } while (is_read && reader_accept(reader, ','));
    *list = (PtxOperand){.kind = PTX_OPERAND_TARGETS, .reg = -1, .count = (uint16_t)used};
    list->items = ARENA_ARRAY(reader->arena, PtxOperand, used);
    for (int32_t i = 0; i < used; i++) {
        list->items[i] = items[i];
        if (!is_branch) continue;
        Name *name = names_intern(&reader->names, places[i].text, places[i].length);
        reader_add_reference(reader, name, &list->items[i], BINDING_LABEL, &places[i]);
    }
    free(items);
    free(places);
    names_bind(&reader->names, label, BINDING_TARGETS, line)->targets = list;
    return is_read && reader_expect(reader, ';', "behind the targets");
}

/* ---- Check of arguments against parameters ---- */

/* The callee, for messages and checks. */
typedef struct Callee {
    const char *name;
    const PtxVar *returns, *parameters;
    int return_count, parameter_count;
} Callee;

static bool set_callee(Callee *callee, const PtxInst *inst) {
    const PtxOperand *target = &inst->operands[inst->operand_count - 1];
    const PtxFunction *function = inst->operands[0].function;
    if (target->kind == PTX_OPERAND_TARGETS && target->count) function = target->items[0].function;
    if (target->kind == PTX_OPERAND_PROTO) {
        const PtxPrototype *p = target->prototype;
        *callee = (Callee){p->name, p->returns, p->parameters, p->return_count, p->parameter_count};
        return true;
    }
    if (!function || function->refusal) return false; /* never executed */
    *callee = (Callee){function->name, function->returns, function->parameters,
                       function->return_count, function->parameter_count};
    return true;
}

bool call_check_predicates(Reader *reader, const PtxFunction *header) {
    if (header->return_count > 1 || (!has_predicate(header->returns, header->return_count) &&
                                     !has_predicate(header->parameters, header->parameter_count)))
        return true;
    return reader_error_at(reader, header->line, header->column,
                           "'%s' has a .pred among its parameters or results: only a function of "
                           "several results can, as others follow the ABI",
                           header->name);
}

/* A predicate parameter takes only a predicate register, and other parameters do not. */
static bool check_predicate(Reader *reader, const PtxFunction *caller, const PtxInst *inst,
                            const PtxOperand *argument, const PtxVar *parameter,
                            const char *callee) {
    bool is_predicate = argument->kind == PTX_OPERAND_REG && !argument->negate &&
                        caller->regs[argument->reg].type == PTX_PRED;
    if (is_predicate && parameter->type == PTX_PRED) return true;
    return reader_error_at(reader, inst->line, argument->column,
                           is_predicate ? "a predicate for a value of '%s' that is none"
                                        : "'%s' takes or returns a predicate register here",
                           callee);
}

static bool is_predicate_register(const PtxFunction *function, const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_REG && function->regs[operand->reg].type == PTX_PRED;
}

/* A vector parameter takes only a vector register with the same number and width of elements, and
 * other parameters do not. */
static bool check_vector(Reader *reader, const PtxFunction *caller, const PtxInst *inst,
                         const PtxOperand *argument, const PtxVar *parameter, const char *callee) {
    bool is_right = argument->kind == PTX_OPERAND_VECTOR && argument->count == parameter->vector;
    for (int i = 0; is_right && i < argument->count; i++) {
        const PtxOperand *item = &argument->items[i];
        is_right = item->kind == PTX_OPERAND_REG && !item->pick.count &&
                   operand_register_fits(caller->regs[item->reg].type, parameter->type, false);
    }
    if (is_right) return true;
    if (parameter->vector > 1)
        return reader_error_at(reader, inst->line, argument->column,
                               "'%s' takes or returns a register of type .v%d %s here", callee,
                               parameter->vector, ptx_type_name(parameter->type));
    return reader_error_at(reader, inst->line, argument->column,
                           "a vector for a value of '%s' that is none", callee);
}

static bool check_argument(Reader *reader, const PtxFunction *caller, const PtxInst *inst,
                           PtxOperand *argument, const PtxVar *parameter, const char *callee,
                           bool is_return) {
    const char *what = is_return ? "return value" : "argument";
    uint64_t size = 0;
    if (is_return && argument->kind == PTX_OPERAND_SINK) {
        if (parameter->vector > 1) operand_spread_sink(reader, argument, parameter->vector);
        return true;
    }
    if (parameter->vector > 1 || argument->kind == PTX_OPERAND_VECTOR)
        return check_vector(reader, caller, inst, argument, parameter, callee);
    if (parameter->type == PTX_PRED || is_predicate_register(caller, argument))
        return check_predicate(reader, caller, inst, argument, parameter, callee);
    switch (argument->kind) {
    case PTX_OPERAND_REG:
        size = (uint64_t)ptx_type_bits(caller->regs[argument->reg].type) / 8;
        if (size > parameter->size && parameter->size < 4) size = parameter->size;
        break;
    case PTX_OPERAND_ADDRESS:
        if (argument->var->space != PTX_SPACE_PARAM)
            return reader_error_at(reader, inst->line, argument->column,
                                   "%s of a call must be a register, constant or .param variable, "
                                   "but '%s' is a %s variable",
                                   what, argument->var->name, ptx_space_name(argument->var->space));
        size = argument->var->size;
        break;
    case PTX_OPERAND_IMM: {
        Constant constant = {.is_float = argument->is_float,
                             .float_bits = argument->reg,
                             .value = (uint64_t)argument->imm,
                             .line = inst->line,
                             .column = argument->column};
        uint64_t bits;
        if (is_return) break;
        if (!constant_convert(reader, &constant, parameter->type, &bits)) return false;
        argument->imm = (int64_t)bits;
        argument->reg = -1;
        return true;
    }
    default: break;
    }
    if (size == 0)
        return reader_error_at(reader, inst->line, argument->column,
                               "%s of a call must be a register, constant or .param variable",
                               what);
    if (size == parameter->size || parameter->is_incomplete) return true;
    return reader_error_at(reader, inst->line, argument->column,
                           "%s of %llu bytes for a parameter of '%s' of %llu bytes", what,
                           (unsigned long long)size, callee, (unsigned long long)parameter->size);
}

static void check_list(Reader *reader, const PtxFunction *caller, const PtxInst *inst,
                       PtxOperand *arguments, int count, const PtxVar *parameters,
                       int parameter_count, const char *callee, bool is_return) {
    const bool lacks_rest =
        count + 1 == parameter_count && ptx_has_rest(parameters, parameter_count);
    if (count != parameter_count && !lacks_rest) {
        reader_error_at(reader, inst->line, inst->column, "'%s' %s %d %s%s, but the call has %d",
                        callee, is_return ? "returns" : "takes", parameter_count,
                        is_return ? "value" : "argument", text_plural((uint64_t)parameter_count),
                        count);
        return;
    }
    for (int i = 0; i < count; i++)
        check_argument(reader, caller, inst, &arguments[i], &parameters[i], callee, is_return);
}

void call_check_all(Reader *reader, const PtxFunction *function) {
    for (int32_t i = 0; i < function->inst_count; i++) {
        const PtxInst *inst = &function->insts[i];
        Callee callee;
        if (inst->op != PTX_OP_CALL || !set_callee(&callee, inst)) continue;
        const PtxFunction *called = inst->operands[0].function;
        if (called && called->is_kernel)
            reader_error_at(reader, inst->line, inst->operands[0].column,
                            "'%s' is a kernel: only functions (.func) can be called", called->name);
        check_list(reader, function, inst, inst->call_returns, inst->call_return_count,
                   callee.returns, callee.return_count, callee.name, true);
        check_list(reader, function, inst, inst->call_arguments, inst->call_argument_count,
                   callee.parameters, callee.parameter_count, callee.name, false);
    }
}
