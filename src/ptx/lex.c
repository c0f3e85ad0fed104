/* A hand-written lexer. The text ends in a NUL, so loops need not test for its end. */
#include "ptx/lex.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c) { return (unsigned)((c | 0x20) - 'a') < 26; }
static bool is_digit(char c) { return (unsigned)(c - '0') < 10; }
static bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
static bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    unsigned letter = (unsigned)((c | 0x20) - 'a');
    return letter < 6 ? (int)letter + 10 : -1;
}

void lex_begin(Lexer *lexer, const char *text, size_t length) {
    *lexer = (Lexer){.next = text, .end = text + length, .line_start = text, .line = 1};
}

static void start_line(Lexer *lexer, const char *newline) {
    lexer->line++;
    lexer->line_start = newline + 1;
}

static const char *end_of_line(const Lexer *lexer, const char *p) {
    const char *newline = memchr(p, '\n', (size_t)(lexer->end - p));
    return newline ? newline : lexer->end;
}

/* Skips a block comment. Returns false if it is not closed; then the rest of the text is
 * skipped. */
static bool skip_block_comment(Lexer *lexer) {
    for (const char *p = lexer->next + 2; p < lexer->end; p++) {
        if (*p == '\n') start_line(lexer, p);
        if (p[0] == '*' && p[1] == '/') {
            lexer->next = p + 2;
            return true;
        }
    }
    lexer->next = lexer->end;
    return false;
}

static void set_bad(Token *token, const char *why) {
    token->kind = LEX_BAD;
    token->why = why;
}

/* Skips spaces, comments and preprocessor lines. Returns false if a comment is not closed; then
 * `token` is a BAD token with the error. */
static bool skip_blanks(Lexer *lexer, Token *token) {
    for (;;) {
        const char *p = lexer->next;
        while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == '\f' || *p == '\v') {
            if (*p == '\n') start_line(lexer, p);
            p++;
        }
        lexer->next = p;
        if (*p == '#' || (p[0] == '/' && p[1] == '/')) {
            lexer->next = end_of_line(lexer, p);
        } else if (p[0] == '/' && p[1] == '*') {
            token->line = lexer->line;
            token->column = (int)(p - lexer->line_start) + 1;
            if (!skip_block_comment(lexer)) {
                set_bad(token, "comment is not closed: '*/' is missing");
                return false;
            }
        } else {
            return true;
        }
    }
}

/* Digits of an integer in base 2, 8, 10 or 16. Returns false if the value needs more than 64
 * bits. */
static bool read_digits(const char **text, unsigned base, uint64_t *value) {
    bool fits = true;
    *value = 0;
    for (int digit; (digit = hex_digit(**text)) >= 0 && (unsigned)digit < base; (*text)++) {
        uint64_t scaled;
        fits &= !__builtin_mul_overflow(*value, base, &scaled);
        fits &= !__builtin_add_overflow(scaled, (uint64_t)digit, value);
    }
    return fits;
}

/* 0f3F800000 and 0d3FF0000000000000: the bits of a float or a double. */
static void read_float_bits(const char **text, Token *token, int bits) {
    const char *p = *text + 2;
    int digits = 0;
    token->value = 0;
    for (int digit; (digit = hex_digit(*p)) >= 0; p++, digits++)
        token->value = token->value << 4 | (uint64_t)digit;
    token->kind = LEX_FLOAT;
    token->float_bits = bits;
    if (digits != bits / 4) {
        set_bad(token, bits == 32 ? "0f must be followed by exactly 8 hexadecimal digits"
                                  : "0d must be followed by exactly 16 hexadecimal digits");
    }
    *text = p;
}

/* Decimal floating point, independent of the locale of the host program. */
static void read_decimal_float(const char **text, Token *token) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end = NULL;
    double value = c_locale ? strtod_l(*text, &end, c_locale) : strtod(*text, &end);
    if (c_locale) freelocale(c_locale);
    memcpy(&token->value, &value, sizeof value);
    token->kind = LEX_FLOAT;
    token->float_bits = 0;
    *text = end;
}

static bool is_decimal_float(const char *p) {
    while (is_digit(*p))
        p++;
    if (*p == '.') return true;
    if ((*p | 0x20) != 'e') return false;
    p++;
    if (*p == '+' || *p == '-') p++;
    return is_digit(*p);
}

static void read_integer(const char **text, Token *token) {
    const char *p = *text;
    unsigned base = 10;
    if (p[0] == '0' && (p[1] | 0x20) == 'x') {
        base = 16;
        p += 2;
    } else if (p[0] == '0' && (p[1] | 0x20) == 'b') {
        base = 2;
        p += 2;
    } else if (p[0] == '0') {
        base = 8;
    }
    const char *digits = p;
    bool fits = read_digits(&p, base, &token->value);
    token->kind = LEX_INTEGER;
    token->is_unsigned = *p == 'U' || token->value > INT64_MAX;
    if (p == digits) set_bad(token, "number without digits");
    if (!fits) set_bad(token, "number does not fit in 64 bits");
    if (*p == 'U') p++;
    *text = p;
}

static void read_number(Lexer *lexer, Token *token) {
    const char *p = lexer->next;
    char kind = p[0] == '0' ? (char)(p[1] | 0x20) : '\0';
    if (kind == 'f') {
        read_float_bits(&p, token, 32);
    } else if (kind == 'd') {
        read_float_bits(&p, token, 64);
    } else if (is_decimal_float(p)) {
        read_decimal_float(&p, token);
    } else {
        read_integer(&p, token);
    }
    if (is_name_char(*p)) {
        while (is_name_char(*p))
            p++;
        if (token->kind != LEX_BAD) set_bad(token, "number with letters or wrong digits in it");
    }
    lexer->next = p;
}

static void read_string(Lexer *lexer, Token *token) {
    const char *p = lexer->next + 1;
    while (*p != '"' && *p != '\n' && p < lexer->end)
        p += p[0] == '\\' && p[1] != '\n' && p + 1 < lexer->end ? 2 : 1;
    token->kind = LEX_STRING;
    token->text = lexer->next + 1;
    token->length = (size_t)(p - token->text);
    if (*p != '"') {
        set_bad(token, "string is not closed: '\"' is missing");
        lexer->next = p;
        return;
    }
    lexer->next = p + 1;
}

/* The end of a modifier or directive that starts at its dot. It consists of letters, digits, and
 * "::". */
static const char *end_of_word(const char *p) {
    p++;
    while (is_name_char(*p) || (p[0] == ':' && p[1] == ':' && is_name_char(p[2])))
        p += *p == ':' ? 2 : 1;
    return p;
}

static void read_symbol(Lexer *lexer, Token *token) {
    static const char pairs[][3] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    const char *p = lexer->next;
    token->kind = LEX_SYMBOL;
    token->symbol = (unsigned char)*p;
    lexer->next = p + 1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (p[0] == pairs[i][0] && p[1] == pairs[i][1]) {
            token->symbol = LEX_PAIR(p[0], p[1]);
            lexer->next = p + 2;
        }
    }
    if (!strchr("(){}[]<>,;:@!~+-*/%&|^?=", *p) || *p == '\0') {
        set_bad(token, "character that PTX does not use");
    }
}

void lex_next(Lexer *lexer, Token *token) {
    if (!skip_blanks(lexer, token)) return;
    const char *p = lexer->next;
    token->text = p;
    token->line = lexer->line;
    token->column = (int)(p - lexer->line_start) + 1;
    if (is_name_start(*p) && (*p != '%' || is_name_char(p[1]))) {
        do
            p++;
        while (is_name_char(*p));
        token->kind = LEX_NAME;
        lexer->next = p;
        if (p - token->text > LEX_MAX_NAME) set_bad(token, "name of more than 65535 characters");
    } else if (is_digit(*p) || (*p == '.' && is_digit(p[1]))) {
        read_number(lexer, token);
    } else if (*p == '.' && is_name_char(p[1])) {
        token->kind = LEX_WORD;
        lexer->next = end_of_word(p);
    } else if (*p == '"') {
        read_string(lexer, token);
        return;
    } else if (p == lexer->end) {
        token->kind = LEX_END;
    } else {
        read_symbol(lexer, token);
    }
    token->length = (size_t)(lexer->next - token->text);
}

void lex_extend_spelling(Lexer *lexer, Token *token) {
    const char *p = lexer->next;
    while (*p == '.' && is_name_char(p[1]))
        p = end_of_word(p);
    lexer->next = p;
    token->length = (size_t)(p - token->text);
}
