/* Lexer: converts PTX text to tokens, one at a time, without copying. */
#ifndef TYTO_PTX_LEX_H
#define TYTO_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum LexKind {
    LEX_END,
    LEX_NAME,    /* identifier: add, %r1, $L_2, _ */
    LEX_WORD,    /* directive or modifier with its dot: .global, .L1::evict_last */
    LEX_INTEGER, /* value */
    LEX_FLOAT,   /* value: bits of a float if float_bits is 32, otherwise bits of a double */
    LEX_STRING,  /* text and length are the part between the quotes */
    LEX_SYMBOL,  /* punctuation, in `symbol` */
    LEX_BAD      /* not PTX: `why` is the error */
} LexKind;

enum { LEX_MAX_NAME = 65535 }; /* characters; names from C++ templates have some thousand */

/* Punctuation of two characters as one number, as used in Token.symbol. */
#define LEX_PAIR(first, second) ((first) | (second) << 8)

typedef struct Token {
    LexKind kind;
    int symbol;       /* SYMBOL: the character, or a LEX_PAIR */
    const char *text; /* in the lexer's text */
    size_t length;    /* bytes */
    uint64_t value;   /* INTEGER, FLOAT */
    int float_bits;   /* FLOAT: 32 for 0f..., 64 for 0d..., 0 for a decimal one */
    bool is_unsigned; /* INTEGER: written with U, or too large for a signed 64-bit number */
    int line, column; /* from 1 */
    const char *why;  /* BAD */
} Token;

typedef struct Lexer {
    const char *next;       /* first byte not yet read */
    const char *end;        /* holds a NUL */
    const char *line_start; /* first byte of the current line */
    int line;               /* from 1 */
} Lexer;

/* Starts reading `length` bytes. text[length] must be a readable NUL. The text must outlive the
 * tokens. A copy of a Lexer saves its position. */
void lex_begin(Lexer *lexer, const char *text, size_t length);
void lex_next(Lexer *lexer, Token *token);

/* Extends a NAME token that was just read by the modifiers that follow without a space: "ld"
 * becomes "ld.global.u32". */
void lex_extend_spelling(Lexer *lexer, Token *token);

#endif
