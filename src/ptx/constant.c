/* Constant expressions: 64-bit integers with C's operators and precedence, and floating-point
 * numbers with arithmetic and comparisons. Source: PTX ISA 9.0, section 4.5. */
#include "ptx/reader.h"

#include <string.h>

/* Binary operators, from the lowest precedence. Operators of one level are left-associative. */
typedef enum Operator {
    OP_OR_ELSE,
    OP_AND_ALSO,
    OP_OR,
    OP_XOR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_SHL,
    OP_SHR,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_REM
} Operator;

static const struct {
    int symbol; /* Token.symbol */
    int level;  /* precedence; a higher level binds tighter */
    Operator op;
} operators[] = {
    {LEX_PAIR('|', '|'), 1, OP_OR_ELSE},
    {LEX_PAIR('&', '&'), 2, OP_AND_ALSO},
    {'|', 3, OP_OR},
    {'^', 4, OP_XOR},
    {'&', 5, OP_AND},
    {LEX_PAIR('=', '='), 6, OP_EQ},
    {LEX_PAIR('!', '='), 6, OP_NE},
    {'<', 7, OP_LT},
    {LEX_PAIR('<', '='), 7, OP_LE},
    {'>', 7, OP_GT},
    {LEX_PAIR('>', '='), 7, OP_GE},
    {LEX_PAIR('<', '<'), 8, OP_SHL},
    {LEX_PAIR('>', '>'), 8, OP_SHR},
    {'+', 9, OP_ADD},
    {'-', 9, OP_SUB},
    {'*', 10, OP_MUL},
    {'/', 10, OP_DIV},
    {'%', 10, OP_REM},
};

static bool read_unary(Reader *reader, Constant *value);
static bool read_conditional(Reader *reader, Constant *value);

static bool compare(Operator op, const Constant *a, const Constant *b) {
    bool is_less = a->is_unsigned || b->is_unsigned ? a->value < b->value
                                                    : (int64_t)a->value < (int64_t)b->value;
    bool is_equal = a->value == b->value;
    switch (op) {
    case OP_LT: return is_less;
    case OP_LE: return is_less || is_equal;
    case OP_GT: return !is_less && !is_equal;
    case OP_GE: return !is_less;
    case OP_EQ: return is_equal;
    default: return !is_equal;
    }
}

static uint64_t shift_right(const Constant *a, uint64_t count) {
    if (a->is_unsigned) return count < 64 ? a->value >> count : 0;
    return (uint64_t)((int64_t)a->value >> (count < 64 ? count : 63));
}

/* Quotient or remainder; the divisor is not 0. Signed results wrap around, as on the hardware. */
static uint64_t divide(Operator op, const Constant *a, const Constant *b) {
    if (a->is_unsigned || b->is_unsigned)
        return op == OP_DIV ? a->value / b->value : a->value % b->value;
    if (b->value == UINT64_MAX) return op == OP_DIV ? 0 - a->value : 0;
    int64_t x = (int64_t)a->value, y = (int64_t)b->value;
    return (uint64_t)(op == OP_DIV ? x / y : x % y);
}

/* Two double-precision numbers: arithmetic gives a number, a comparison gives an integer. */
static bool combine_floats(Reader *reader, Operator op, Constant *a, const Constant *b) {
    const double x = constant_as_double(a), y = constant_as_double(b);
    double result = 0;
    bool is_true = false;
    switch (op) {
    case OP_ADD: result = x + y; break;
    case OP_SUB: result = x - y; break;
    case OP_MUL: result = x * y; break;
    case OP_DIV: result = x / y; break;
    case OP_EQ: is_true = x == y; break;
    case OP_NE: is_true = x != y; break;
    case OP_LT: is_true = x < y; break;
    case OP_LE: is_true = x <= y; break;
    case OP_GT: is_true = x > y; break;
    case OP_GE: is_true = x >= y; break;
    default:
        return reader_error_at(reader, b->line, b->column,
                               "constant expression: this operator takes integers only");
    }
    a->is_float = op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_DIV;
    a->float_bits = 0;
    a->value = is_true;
    if (a->is_float) memcpy(&a->value, &result, sizeof result);
    return true;
}

static bool combine(Reader *reader, Operator op, Constant *a, const Constant *b) {
    if (a->is_float && b->is_float) return combine_floats(reader, op, a, b);
    if (a->is_float || b->is_float)
        return reader_error_at(reader, b->line, b->column,
                               "constant expression: an integer with a floating-point number");
    if ((op == OP_DIV || op == OP_REM) && b->value == 0)
        return reader_error_at(reader, b->line, b->column, "constant expression: division by zero");
    switch (op) {
    case OP_OR_ELSE: a->value = a->value || b->value; break;
    case OP_AND_ALSO: a->value = a->value && b->value; break;
    case OP_OR: a->value |= b->value; break;
    case OP_XOR: a->value ^= b->value; break;
    case OP_AND: a->value &= b->value; break;
    case OP_SHL: a->value = b->value < 64 ? a->value << b->value : 0; break;
    case OP_SHR: a->value = shift_right(a, b->value); break;
    case OP_ADD: a->value += b->value; break;
    case OP_SUB: a->value -= b->value; break;
    case OP_MUL: a->value *= b->value; break;
    case OP_DIV:
    case OP_REM: a->value = divide(op, a, b); break;
    default: a->value = compare(op, a, b); break;
    }
    if (op != OP_SHL && op != OP_SHR) a->is_unsigned |= b->is_unsigned;
    return true;
}

static void negate(Constant *value) {
    if (value->is_float) {
        value->value ^= UINT64_C(1) << (value->float_bits == 32 ? 31 : 63);
    } else {
        value->value = 0 - value->value;
    }
}

static bool read_primary(Reader *reader, Constant *value) {
    const Token *token = &reader->token;
    *value = (Constant){.line = token->line, .column = token->column};
    if (token->kind == LEX_INTEGER || token->kind == LEX_FLOAT) {
        value->is_float = token->kind == LEX_FLOAT;
        value->is_unsigned = token->is_unsigned && !value->is_float;
        value->float_bits = token->float_bits;
        value->value = token->value;
        reader_next(reader);
        return true;
    }
    bool is_warp_size =
        token->kind == LEX_NAME && token->length == 7 && !memcmp(token->text, "WARP_SZ", 7);
    if (is_warp_size) {
        value->value = 32;
        reader_next(reader);
        return true;
    }
    if (!reader_accept(reader, '('))
        return reader_error(reader, "expected a constant, not %s", reader_token_text(reader));
    bool is_signed = reader_accept_word(reader, ".s64");
    if (is_signed || reader_accept_word(reader, ".u64")) {
        if (!reader_expect(reader, ')', "behind a cast") || !read_unary(reader, value))
            return false;
        value->is_unsigned = !is_signed && !value->is_float;
        return true;
    }
    return read_conditional(reader, value) &&
           reader_expect(reader, ')', "to close the parenthesis");
}

static bool read_unary(Reader *reader, Constant *value) {
    if (reader->nesting >= READER_MAX_NESTING)
        return reader_error(reader, "constant expression: nested more than %d deep",
                            READER_MAX_NESTING);
    int line = reader->token.line, column = reader->token.column;
    int sign = reader->token.kind == LEX_SYMBOL ? reader->token.symbol : 0;
    if (sign != '-' && sign != '+' && sign != '~' && sign != '!') {
        reader->nesting++;
        bool is_read = read_primary(reader, value);
        reader->nesting--;
        return is_read;
    }
    reader_next(reader);
    reader->nesting++;
    bool is_read = read_unary(reader, value);
    reader->nesting--;
    if (!is_read) return false;
    if (value->is_float && (sign == '~' || sign == '!'))
        return reader_error_at(reader, line, column,
                               "constant expression: '%c' takes integers only", sign);
    if (sign == '-') negate(value);
    if (sign == '~') value->value = ~value->value;
    if (sign == '!') value->value = !value->value;
    if (sign == '~' || sign == '!') value->is_unsigned = sign == '~';
    return true;
}

/* Reads operators of at least `level` after a first operand. */
static bool read_binary(Reader *reader, Constant *value, int level) {
    if (!read_unary(reader, value)) return false;
    for (;;) {
        size_t i = 0;
        int symbol = reader->token.kind == LEX_SYMBOL ? reader->token.symbol : 0;
        while (i < sizeof operators / sizeof *operators &&
               (operators[i].symbol != symbol || operators[i].level < level))
            i++;
        if (i == sizeof operators / sizeof *operators) return true;
        reader_next(reader);
        Constant right;
        if (!read_binary(reader, &right, operators[i].level + 1)) return false;
        if (!combine(reader, operators[i].op, value, &right)) return false;
    }
}

static bool read_conditional(Reader *reader, Constant *value) {
    if (!read_binary(reader, value, 1)) return false;
    if (!reader_accept(reader, '?')) return true;
    Constant yes, no;
    if (reader->nesting >= READER_MAX_NESTING)
        return reader_error(reader, "constant expression: nested more than %d deep",
                            READER_MAX_NESTING);
    reader->nesting++;
    bool is_read = read_conditional(reader, &yes) &&
                   reader_expect(reader, ':', "in a conditional constant") &&
                   read_conditional(reader, &no);
    reader->nesting--;
    if (is_read) *value = value->value ? yes : no;
    return is_read;
}

bool constant_read(Reader *reader, Constant *constant) {
    return read_conditional(reader, constant);
}

bool constant_read_integer(Reader *reader, const char *what, uint64_t low, uint64_t high,
                           uint64_t *value) {
    Constant constant;
    if (!constant_read(reader, &constant)) return false;
    bool is_negative = !constant.is_unsigned && (int64_t)constant.value < 0;
    if (constant.is_float)
        return reader_error_at(reader, constant.line, constant.column, "%s must be an integer",
                               what);
    if (is_negative || constant.value < low || constant.value > high)
        return reader_error_at(reader, constant.line, constant.column,
                               "%s is out of range: it must be from %llu to %llu", what,
                               (unsigned long long)low, (unsigned long long)high);
    *value = constant.value;
    return true;
}

double constant_as_double(const Constant *constant) {
    double value;
    if (constant->float_bits == 32) {
        uint32_t bits = (uint32_t)constant->value;
        float single;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    memcpy(&value, &constant->value, sizeof value);
    return value;
}

static uint64_t float_bits_of(const Constant *constant, int bits) {
    if (constant->float_bits == bits || (bits == 64 && constant->float_bits == 0))
        return constant->value;
    double value = constant_as_double(constant);
    uint64_t result = 0;
    if (bits == 64) {
        memcpy(&result, &value, sizeof value);
    } else {
        float single = (float)value;
        memcpy(&result, &single, sizeof single);
    }
    return result;
}

bool constant_convert_initial(Reader *reader, const Constant *constant, PtxType type,
                              uint64_t *bits) {
    if (!constant->is_float || !ptx_type_is_bits(type))
        return constant_convert(reader, constant, type, bits);
    *bits = type == PTX_B32 ? float_bits_of(constant, 32) : constant->value;
    return true;
}

bool constant_convert(Reader *reader, const Constant *constant, PtxType type, uint64_t *bits) {
    int width = ptx_type_bits(type);
    bool is_float_type = type == PTX_F32 || type == PTX_F64;
    bool is_float_bits = (type == PTX_B32 && constant->float_bits == 32) ||
                         (type == PTX_B64 && constant->float_bits != 32);
    if (constant->is_float && (is_float_type || is_float_bits)) {
        *bits = float_bits_of(constant, width);
        return true;
    }
    if (constant->is_float || ptx_type_is_float(type))
        return reader_error_at(
            reader, constant->line, constant->column, "%s constant where %s is needed: %s",
            constant->is_float ? "floating-point" : "integer", ptx_type_name(type),
            is_float_type ? "write it as 1.0 or 0f3F800000" : "this type has no such constants");
    *bits = constant->value;
    if (type == PTX_PRED) {
        *bits = constant->value != 0;
    } else if (width < 64) {
        int shift = 64 - width;
        *bits = ptx_type_is_signed(type) ? (uint64_t)((int64_t)(*bits << shift) >> shift)
                                         : *bits << shift >> shift;
    }
    return true;
}
