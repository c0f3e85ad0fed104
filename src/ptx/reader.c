/* Tokens, errors and growing arrays of the PTX reader. */
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* The refusal of the function being read, or of the directive outside of functions. */
static const char **refusal_of(Reader *reader) {
    return reader->function ? &reader->function->refusal : &reader->refusal;
}

bool reader_error_at(Reader *reader, int line, int column, const char *format, ...) {
    if (*refusal_of(reader)) return false;
    va_list args;
    va_start(args, format);
    diag_verror(reader->diag, reader->module->file, line, column, format, args);
    va_end(args);
    if (++reader->errors == READER_MAX_ERRORS) {
        reader->lexer.next = reader->lexer.end;
        reader->token = (Token){.kind = LEX_END, .line = line, .column = column};
    }
    return false;
}

bool reader_refuse(Reader *reader, int line, int column, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    text_show_controls(message);
    const PtxFunction *function = reader->function;
    if (*refusal_of(reader)) return false;
    *refusal_of(reader) =
        arena_printf(reader->arena, "%s:%d:%d: %s", reader->module->file, line, column, message);
    const char *what = !function         ? "what this declares cannot be used"
                       : !function->name ? "this function cannot run"
                                         : NULL;
    if (what)
        diag_warning(reader->diag, reader->module->file, line, column, "%s; %s", message, what);
    else
        diag_warning(reader->diag, reader->module->file, line, column, "%s; '%s' cannot run",
                     message, function->name);
    return false;
}

const char *const reader_directives[READER_DIRECTIVES] = {
    ".version", ".target", ".address_size", ".file",   ".section", ".alias", ".pragma",
    ".visible", ".extern", ".weak",         ".common", ".entry",   ".func",  ".global",
    ".const",   ".shared", ".tex",          ".local",  ".reg"};

bool reader_at_directive(const Reader *reader) {
    for (int i = 0; i < READER_DIRECTIVES; i++) {
        if (reader_at_word(reader, reader_directives[i])) return true;
    }
    return false;
}

bool reader_unknown_word(Reader *reader, const char *what) {
    const Token place = reader->token;
    const char *text = reader_token_text(reader);
    if (reader_at_directive(reader) || place.kind != LEX_WORD)
        return reader_error(reader, "expected %s, not %s", what, text);
    return reader_refuse(reader, place.line, place.column, "expected %s, not %s", what, text);
}

bool reader_error(Reader *reader, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return reader_error_at(reader, reader->token.line, reader->token.column, "%s", message);
}

void reader_next(Reader *reader) {
    lex_next(&reader->lexer, &reader->token);
    while (reader->token.kind == LEX_BAD) {
        reader_error(reader, "cannot read this: %s", reader->token.why);
        lex_next(&reader->lexer, &reader->token);
    }
}

const char *reader_token_text(Reader *reader) {
    enum { MAX_SHOWN = 60 };
    const Token *token = &reader->token;
    if (token->kind == LEX_END) return "the end of the file";
    int length = token->length < MAX_SHOWN ? (int)token->length : MAX_SHOWN;
    return arena_printf(reader->arena, "'%.*s'", length, token->text);
}

bool reader_at(const Reader *reader, int symbol) {
    return reader->token.kind == LEX_SYMBOL && reader->token.symbol == symbol;
}

bool reader_at_word(const Reader *reader, const char *word) {
    const Token *token = &reader->token;
    return token->kind == LEX_WORD && token->length == strlen(word) &&
           !memcmp(token->text, word, token->length);
}

bool reader_accept(Reader *reader, int symbol) {
    if (!reader_at(reader, symbol)) return false;
    reader_next(reader);
    return true;
}

bool reader_accept_word(Reader *reader, const char *word) {
    if (!reader_at_word(reader, word)) return false;
    reader_next(reader);
    return true;
}

bool reader_expect(Reader *reader, int symbol, const char *where) {
    if (reader_accept(reader, symbol)) return true;
    return reader_error(reader, "expected '%c' %s, not %s", symbol, where,
                        reader_token_text(reader));
}

Name *reader_expect_name(Reader *reader, const char *what) {
    if (reader->token.kind != LEX_NAME) {
        reader_error(reader, "expected %s, not %s", what, reader_token_text(reader));
        return NULL;
    }
    Name *name = names_intern(&reader->names, reader->token.text, reader->token.length);
    reader_next(reader);
    return name;
}

PtxType reader_type_of(const Token *token) {
    if (token->kind != LEX_WORD) return PTX_TYPE_NONE;
    for (int type = PTX_TYPE_NONE + 1; type < PTX_TYPE_COUNT; type++) {
        if (type >= PTX_E4M3 && type <= PTX_B1) continue; /* elements of matrices only */
        const char *name = ptx_type_name((PtxType)type);
        if (strlen(name) == token->length && !memcmp(name, token->text, token->length))
            return (PtxType)type;
    }
    return PTX_TYPE_NONE;
}

/* Whether the current '}' ends a vector in the middle of a statement rather than a scope. */
static bool is_vector_end(const Reader *reader) {
    Lexer lexer = reader->lexer;
    Token next;
    lex_next(&lexer, &next);
    return next.kind == LEX_SYMBOL &&
           (next.symbol == ',' || next.symbol == ';' || next.symbol == ']');
}

void reader_skip_statement(Reader *reader) {
    int depth = 0;
    while (reader->token.kind != LEX_END) {
        if (reader_at(reader, '}') && depth == 0 && !is_vector_end(reader)) return;
        if (reader_at(reader, '{')) depth++;
        if (reader_at(reader, '}') && depth > 0) depth--;
        bool is_end = reader_at(reader, ';');
        reader_next(reader);
        if (is_end) return;
    }
}

ReaderPlace reader_place(const Reader *reader) {
    return (ReaderPlace){reader->lexer, reader->token};
}

void reader_go_back(Reader *reader, const ReaderPlace *place) {
    reader->lexer = place->lexer;
    reader->token = place->token;
}

void *reader_grow(void *array, int64_t count, int32_t *capacity, size_t item_bytes) {
    if (count < *capacity) return array;
    *capacity = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    return base_realloc(array, (size_t)*capacity * item_bytes);
}

void reader_add_reference(Reader *reader, Name *name, PtxOperand *operand, BindingKind kind,
                          const Token *place) {
    reader->references = reader_grow(reader->references, reader->reference_count,
                                     &reader->reference_capacity, sizeof *reader->references);
    reader->references[reader->reference_count++] =
        (Reference){name, operand, kind, place->line, place->column};
}
