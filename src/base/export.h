/* Exports of a library that hides everything else: aliases of functions, and functions that exist
 * only so that programs load. */
#ifndef TYTO_BASE_EXPORT_H
#define TYTO_BASE_EXPORT_H

#define EXPORT __attribute__((visibility("default")))

/* The type with which a table names functions of any signature. */
typedef void ExportFunction(void);

#if defined(__x86_64__)
#define EXPORT_JUMP "jmp "
#define EXPORT_PLT  "@PLT"
#elif defined(__aarch64__)
#define EXPORT_JUMP "b "
#define EXPORT_PLT  ""
#else
#error "state this machine's jump instruction"
#endif

/* Another name for a function: a jump, which passes on all arguments. (A C alias would have to be
 * in the file that defines the function.) */
#define EXPORT_ALIAS(alias, symbol)                                                                \
    ExportFunction alias EXPORT;                                                                   \
    __asm__(".pushsection .text\n.globl " #alias "\n.type " #alias ", %function\n" #alias          \
            ":\n\t" EXPORT_JUMP #symbol EXPORT_PLT "\n.size " #alias ", .-" #alias                 \
            "\n.popsection");

/* A function that returns the result of `tell(name, why)`, whatever its arguments. */
#define EXPORT_MISSING(symbol, tell, why)                                                          \
    EXPORT int symbol(void);                                                                       \
    int symbol(void) { return tell(#symbol, why); }

#endif
