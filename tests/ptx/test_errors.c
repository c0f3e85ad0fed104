/* Every mistake is reported at its position. One row each: a wrong text, and the message. */
#include "ptx_test.h"

typedef struct Mistake {
    const char *text;
    const char *message; /* one of the output lines must contain this */
} Mistake;

/* Mistakes in statements of a kernel; line 5 of the text. */
static const Mistake statements[] = {
    /* spellings */
    {"cp.async.ca.shared.global [%rd1], %rd2, 4;",
     "operand b is not in brackets, but must be an address such as [%rd1+4]"},
    {"cp.async.ca.shared.global [%rd1], [%rd2], %r1;", "operand c is not an integer constant"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3}, {%r1,%r2,%r3,%r4}, "
     "{%r1,%r2}, {%f1,%f2,%f3,%f4};",
     "operand d has 3 elements, but must have 4"},
    /* operands */
    {"add.s32 %r1, %r2, %f1;",
     ":5:19: error: 'add.s32': operand b is %f1, a .f32 register, but must be .s32"},
    {"add.f32 %u1, %f1, %f2;",
     ":5:9: error: 'add.f32': operand d is %u1, a .u32 register, but must be .f32"},
    {"add.s32 %rd1, %r1, %r2;", "operand d is %rd1, a .b64 register, but must be .s32"},
    {"ld.global.f32 %d1, [%rd1];", "operand d is %d1, a .f64 register, but must be .f32 or wider"},
    {"ld.global.u32 %h1, [%rd1];", "but must be .u32 or wider"},
    {"add.s32 5, %r1, %r2;", "operand d is a constant, but must be a register to write to"},
    {"add.f32 %f1, %f2, 1;",
     ":5:19: error: integer constant where .f32 is needed: write it as 1.0 or 0f3F800000"},
    {"add.s32 %r1, %r2, 1.5;", "floating-point constant where .s32 is needed"},
    {"add.f16 %h1, %h2, 1.0;", "this type has no such constants"},
    {"add.u32 %r1, %tid.x, 1;",
     "operand a is a special register, but must be a register: read special registers with mov"},
    {"mov.u64 %rd1, %tid.x;", "operand a is %tid.x, but must be read as 32 bits"},
    {"mov.u32 %r1, %tid.q;", "'.q' is not an element of this vector"},
    {"mov.u32 %r1, %tid;", "operand a is a special register of four elements, but must be one of "
                           "them, such as %tid.x; mov.v4 moves all"},
    {"mov.b64 %rd1, %tid;", "operand a is a special register of four elements, but must be one"},
    {"mov.v4.u32 {%r1,%r2,%r3,%r4}, %laneid;",
     "operand a is no special register of four elements, but must be one, such as %tid"},
    {"mov.v4.u32 {%r1,%r2,%r3,%r4}, 5;", "is no special register of four"},
    {"mov.v2.u32 {%r1,%r2}, %tid;",
     "operand a is a single value, but must be a vector {a, b, ...}"},
    {"mov.v2.u32 {%r1,%r2}, {%r3,%r4,%r5,%r6};", "operand a has 4 elements, but must have 2"},
    {"mov.v2.f32 {%f1,%f2}, {%r3,%u4};", "operand a is %u4, a .u32 register, but must be .f32"},
    {"add.f32 %f1, %f2+1, %f3;",
     ":5:14: error: 'add.f32': operand a is followed by '+', but must be an integer register "
     "for that"},
    {"selp.u32 %r1, %r2, 0, %p1+1;", "followed by '+'"},
    {"add.u32 %r1, %r2+1.0, %r3;", "a constant added to a register must be an integer"},
    {"add.u32 %r1+1, %r2, %r3;",
     "operand d is followed by '+', but must be a register to write to"},
    {"mov.b64 %rd1, {%r1+1,%r2};", "expected '}' to close the vector, not '+'"},
    {"mov.v4.b32 {%r1,%r2,%r3}, %tid;", "operand d has 3 elements, but must have 4"},
    {"mov.u32 %r1, %clock64;", "operand a is %clock64, but must be read as 64 bits"},
    {"mov.f32 %f1, %tid.x;", "but must be read as 32 bits"},
    {"add.u64 %rd1, data, 4;", "operand a is the address of a symbol, but must be a register or "
                               "constant: take addresses with mov"},
    {"mov.u32 %r1, data;", "operand a is the address of a symbol, but must be read as 64 bits"},
    {"mov.u64 data, %rd1;", "operand d is the address of a symbol"},
    {"ld.global.u32 %r1, [%r2];",
     "operand a is based on %r2, a .b32 register, but must be based on a 64-bit integer"},
    {"ld.global.u32 %r1, %rd1;",
     "operand a is not in brackets, but must be an address such as [%rd1+4]"},
    {"ld.global.u32 %r1, [tile];", "'ld.global.u32': 'tile' is a .shared variable"},
    {"ld.global.u32 %r1, [data+%r2];", "expected a constant, not '%r2'"},
    {"ld.global.u32 %r1, [data+1.5];", "offset must be an integer"},
    {"ld.global.u32 %r1, [%tid.x];", "this cannot be the address of memory"},
    {"ld.global.u32 %r1, [%rd1;", "expected ']' to close the address, not ';'"},
    {"ld.global.v4.u32 {%r1,%r2,%r3}, [%rd1];", "operand d has 3 elements, but must have 4"},
    {"ld.global.v2.u16 {%r1,%h1}, [%rd1];",
     "operand d has registers of different widths: %r1 is a .b32 register, %h1 a .b16 register"},
    {"st.global.v4.u32 [%rd1], {%r1,1,%rd2,%r3};",
     "operand b has registers of different widths: %r1 is a .b32 register, %rd2 a .b64 register"},
    {"ld.global.v2.b32 {%f1,%u1}, [%rd1];",
     "'ld.global.v2.b32': operand d has an integer and a floating-point number: the elements of "
     "a vector must be of one kind"},
    {"ld.global.v4.b32 {%r1,%s1,_,%f1}, [%rd1];", "an integer and a floating-point number"},
    {"st.global.v2.b32 [%rd1], {%f1,1};", "an integer and a floating-point number"},
    {"mov.b64 %rd1, {%u1,%f1};", "an integer and a floating-point number"},
    {"ld.global.v2.u32 %r1, [%rd1];",
     "operand d is a single value, but must be a vector {a, b, ...}"},
    {"add.s32 {%r1,%r2}, %r1, %r2;", "operand d is a vector, but must be a single value"},
    {"ld.global.u32 _, [%rd1, %r1];", "expected ']'"},
    {"st.global.v2.u32 [%rd1], _;", "operand b is a single value, but must be a vector"},
    {"cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r1], "
     "[%rd1, {%r1, %r1, %r1, %r1}], [%r1], {%us1};",
     "operand g has 1 elements, but must have 2"},
    {"cp.async.mbarrier.arrive.b64 [%f1];",
     "operand a is based on %f1, a .f32 register, but must be based on a 64-bit integer"},
    {"mbarrier.arrive.b64 %rd1, [%r1];",
     "operand a is based on %r1, a .b32 register, but must be based on a 64-bit integer"},
    {"st.global.u32 [%rd1], _;", "operand b is '_', but must be a register or constant"},
    {"st.global.v2.u32 [%rd1], {%r1, {%r2}};", "'{' inside a vector"},
    {"st.global.u32 [%rd1], {1,2,3,4,5,6,7,8,9};",
     "operand b is a vector, but must be a single value"},
    {"mov.b64 %rd1, {%r1, %r2, %r3};",
     "operand a is a vector, but must be as wide as the instruction's type"},
    {"mov.u32 %r1, {%h1, %h2};", "and that a .b type"},
    {"add.s32 %r1|%p1, %r2, %r3;", "operand d is a pair, but must be a single register"},
    {"setp.eq.s32 %p1|%r1, %r2, %r3;", "operand p is %r1, a .b32 register, but must be .pred"},
    {"mov.b32 %p1, %r1;", "operand d is %p1, a .pred register, but must be .b32"},
    {"add.s32 %r1, !%r2, %r3;", "operand a is negated by '!', but must be written without '!'"},
    {"and.pred !%p1, %p2, %p3;", "operand d is negated by '!', but must be a register to write to"},
    {"add.s32 %r1.b0, %r2, %r3;",
     "operand d is a part of a register, but must be a whole register"},
    {"vadd.s32.s32.s32 %r1, %r2.q, %r3;",
     "'.q' is not a part of a register that can be selected here"},
    {"lop3.b32 %r1, %r2, %r3, %r4, %r5;", "operand e is not an integer constant, but must be one"},
    {"shl.b32 %r1, %r2, %rd1;", "operand b is %rd1, a .b64 register, but must be .u32"},
    {"add.s32 %r1, [%rd1], %r2;", "operand a is an address in brackets, but must be a value"},
    {"add.s32 %r1, %r2, k;", "operand b is the address of a symbol"},
    {"add.s32 %r1, %r2, L; L: ret;", "'L' is not declared"},
    {"L: add.s32 %r1, %r2, L;", "'L' is a label, not a value"},
    {"add.s32 %r1, %r2, 1, 2, 3, 4, 5, 6, 7, 8, 9;", "'add.s32' has more than 10 operands"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%r1, {%f1,%f2}];",
     "a 64-bit register or a .texref variable is expected here"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1}];",
     "'tex.2d.v4.f32.f32': 2 elements are expected here, not 1"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2,%f3}];",
     "'tex.2d.v4.f32.f32': 2 elements are expected here, not 3"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2,%r1,%f4}], {1};",
     "'tex.2d.v4.f32.f32': 2 elements are expected here, not 1"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2,%u1,%f4}];",
     "operand c is %u1, a .u32 register, but must be .f32"},
    {"tex.grad.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1}], {%f1,%f2}, {%f1};",
     "'tex.grad.1d.v4.f32.f32': 1 element is expected here, not 2"},
    {"tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, %rd1;",
     "expected '[' before the texture or surface, not '%rd1'"},
    {"suld.b.2d.b32.trap %r1, [k, {%s1,%s1}];", "a 64-bit register or a .surfref variable"},
    {"vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "operand a is not a part of a register"},
    {"vadd2.u32.u32.u32 %r1, %r2.h1, %r3, %r1;",
     "operand a is a selection that does not suit, but must be like .h10, of .h0 to .h3"},
    {"vadd4.u32.u32.u32 %r1.b01, %r2, %r3, %r1;",
     "operand d is a selection that does not suit, but must be like .b0, .b31 or .b3210"},
    {"add.s32 %r1, -%r2, %r3;", "operand a is negated by '-', but must be written without '-'"},
    {"mov.b128 {%rd1,%rd2}, 5;",
     "operand a is a single value, but must be a .b128 register or a vector"},
    /* names */
    {"add.s32 %r1, %r2, %r77;", "'%r77' is not declared: %r<10> ends at %r9"},
    {"add.s32 %r1, %r2, dat;",
     "'dat' is not declared: no register or variable has this name; did you mean 'data'?"},
    {"mov.u32 %newspecial, 1;", ":5:9: error: '%newspecial' is not declared"},
    {"add.u32 %r1, %newspecial, 1;", ":5:14: error: '%newspecial' is not declared"},
    {"bra Lend; L_end: ret;",
     ":5:5: error: 'Lend' is not declared: no label has this name; did you mean 'L_end'?"},
    {"bra data;", "'data' is not a label"},
    {"L: ret; L: ret;", ":5:9: error: 'L' is declared twice: first at line 5"},
    {".reg .b32 %r1;", "'%r1' is declared twice: first at line 4"},
    {".reg .b32 a; .reg .f32 a;", "'a' is declared twice"},
    {".reg .b32 %q4;\n.reg .b32 %q<5>;",
     ":6:11: error: '%q4' of '%q<5>' is declared twice: first at line 5"},
    {".reg .v2 .b32 %q0; .reg .pred %q5, %q6; .reg .b32 %q<5>;", "'%q0' of '%q<5>'"},
    {".local .b32 %q3; { .reg .b32 %q2; } .reg .b32 %q<5>;", "'%q3' of '%q<5>'"},
    {"@%r1 add.s32 %r1, %r2, %r3;", "guard '%r1' is not a .pred register"},
    {"@%p77 ret;", "'%p77' is not declared"},
    {"@5 ret;", "expected the predicate of a guard, not '5'"},
    {"@%p1 ;", "expected an instruction, not ';'"},
    {"brx.idx %r1, L; L: ret;", "'L' is not a .branchtargets list"},
    {"call %rd1, (%r1);", "a call through a register needs a .callprototype or .calltargets"},
    {"call data;", "this is neither a function nor a register with its address"},
    {"call 5;", "expected the name of a function, not '5'"},
    {"call k, (%rd1, %r1);", ":5:6: error: 'k' is a kernel: only functions (.func) can be called"},
    {"bar.sync 0, 0;", ":5:13: error: a barrier of 0 threads"},
    {"bar.red.popc.u32 %r1, 0, 0, %p1;", "a barrier of 0 threads"},
    {"add.u32 {%r1}, %r1, %r1;", "operand d is a vector, but must be a single value"},
    {"atom.global.add.u32 %r1, [%rd1], {%r1};", "operand b is a vector, but must be a single"},
    {"ld.global.v2.b32 {%r1}, [%rd1];", "operand d has 1 elements, but must have 2"},
    {"ld.global.b32 {%us1}, [%rd1];", "operand d is"},
    {"mov.f32 {%f1}, %f1;", "operand d is a vector, but must be as wide as the instruction's type"},
    {"call k, (%r1);", "'k' takes 2 arguments, but the call has 1"},
    {"call (%r1), k, (%rd1, %r1);", "'k' returns 0 values, but the call has 1"},
    {"call k, (%r1, %r2);", "argument of 4 bytes for a parameter of 'k' of 8 bytes"},
    {"call k, (data, %r2);", "argument of a call must be a register, constant or .param variable, "
                             "but 'data' is a .global variable"},
    {"T: .calltargets nothing;", "'nothing' is not declared: no function has this name"},
    {".reg .v4 .f32 v; mov.f32 %f1, v.q;", "'.q' is not an element of this vector"},
    /* declarations */
    {".reg .b32;", "expected the name of a register, not ';'"},
    {".reg b32 x;", "expected a type such as .u32, not 'b32'"},
    {".reg .b32 %x<4000000000>;",
     "%x<4000000000>: too many registers: at most 4194304 in a function"},
    {".reg .b32 %x<>;", "expected the number of registers, not '>'"},
    {".local .pred x;", ".pred is a type of registers only"},
    {".local .align 3 .b8 x;", "alignment 3 is not a power of two"},
    {".param .b8 x[];", "'x' has no size: only .extern arrays may leave it out"},
    {".local .b8 x[];", "'x' has no size: only .extern arrays may leave it out"},
    {".local .b8 x[99999999999];", "variable is too large: at most 33554432 bytes in .local"},
    {".local .b8 x[20000000]; .local .b8 y[20000000];",
     "'k' has more than 33554432 bytes of .local variables"},
    {".shared .b8 x[4][4][4][4][4][4][4][4][4][4][4][4][4][4][4][4][4];", "variable is too large"},
    {".shared .b8 x[1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1];",
     "array of more than 16 dimensions"},
    {".shared .b32 x = 5;", "'x' cannot be initialised: only .global and .const can"},
    {".loc 1;", "expected a number, not ';'"},
    {".pragma nounroll;", "expected a string behind .pragma, not 'nounroll'"},
    /* punctuation and characters */
    {"add.s32 %r1, %r2, %r3", "expected ';' behind an instruction, not '}'"},
    {"add.s32 %r1, %r2, %r3 ret;", "expected ';' behind an instruction, not 'ret'"},
    {"5;", "expected an instruction, label or directive, not '5'"},
    {"add.s32 %r1, %r2, `;", "cannot read this: character that PTX does not use"},
    {"mov.f32 %f1, 0f123;",
     "cannot read this: 0f must be followed by exactly 8 hexadecimal digits"},
    {"mov.f64 %d1, 0d123;", "0d must be followed by exactly 16 hexadecimal digits"},
    {"mov.u32 %r1, 0x;", "number without digits"},
    {"mov.u64 %rd1, 99999999999999999999;", "number does not fit in 64 bits"},
    {"mov.u32 %r1, 12abc;", "number with letters or wrong digits in it"},
    {".pragma \"open;", "string is not closed"},
    {"ret; /* open", "comment is not closed: '*/' is missing"},
    /* constants */
    {"mov.u32 %r1, 5/0;", "constant expression: division by zero"},
    {"mov.u32 %r1, 5 % 0;", "constant expression: division by zero"},
    {"mov.f32 %f1, 1.0 % 2.0;", "constant expression: this operator takes integers only"},
    {"mov.f32 %f1, 1.0+2;", "constant expression: an integer with a floating-point number"},
    {"mov.u32 %r1, ~1.0;", "constant expression: '~' takes integers only"},
    {"mov.u32 %r1, (5;", "expected ')' to close the parenthesis, not ';'"},
    {"mov.u32 %r1, ;", "expected a constant, not ';'"},
    {"mov.u32 %r1, 1 ? 2;", "expected ':' in a conditional constant, not ';'"},
};

/* Mistakes of whole modules. */
static const Mistake modules[] = {
    {"", "this is not PTX: it must begin with .version, not the end of the file"},
    {"hello", "test.ptx:1:1: error: this is not PTX: it must begin with .version, not 'hello'"},
    {"\x7f"
     "ELF\x02",
     "this is not PTX"},
    {".version 8.0\n", "the .target directive is missing"},
    {".version 8\n.target sm_80\n", "expected a version such as 8.0, not '8'"},
    {".version 1.3\n.target sm_13\n", "PTX ISA 1.3 is not supported: versions are 1.4 to 9.x"},
    {".version 17.0\n.target sm_80\n", "PTX ISA 17.0 is not supported"},
    {".version 8.0\n.target compute_80\n",
     "unknown target 'compute_80': expected sm_ and a number"},
    {".version 8.0\n.target sm_80\n.address_size 48\n", "address size must be 32 or 64"},
    {PTX_HEADER ".entry k(.param .u64 a) { ret; ", "the body of 'k' is not closed: '}' is missing"},
    {PTX_HEADER ".entry k(.param .u64 a { ret; }", "expected ')' to close the parameters, not '{'"},
    {PTX_HEADER ".entry k(.reg .u64 a) { ret; }", "expected .param, not '.reg'"},
    {PTX_HEADER ".func k(.param .b8 a[], .param .u32 b) { ret; }",
     "'a' has no size: only the last parameter may leave it out"},
    {PTX_HEADER ".func k(u64 a) { ret; }", "expected .param or .reg, not 'u64'"},
    {PTX_HEADER ".entry k(.param .u64 a, .param .u64 a) { ret; }", "'a' is declared twice"},
    {PTX_HEADER ".entry k(.param .b8 a[40000]) { ret; }",
     "parameters of 'k' take more than 32764 bytes"},
    {PTX_HEADER ".entry k() { ret; } .entry k() { ret; }", "'k' is defined twice: first at line 4"},
    {PTX_HEADER ".func k(.param .b32 a);\n.func k(.param .b64 a) { ret; }",
     ":5:7: error: 'k' does not fit its declaration at line 4"},
    {PTX_HEADER ".func (.reg .pred c) f(.reg .u32 x) { ret; }",
     "'f' has a .pred among its parameters or results: only a function of several results can"},
    {PTX_HEADER ".func f(.reg .pred x) { ret; }", "'f' has a .pred among its parameters"},
    {PTX_HEADER ".func (.reg .u32 a, .reg .pred c) f(.reg .pred x) { ret; }\n"
                ".entry k() { .reg .pred %p; .reg .u32 %r, %s; call (%r, %s), f, (%p); }",
     ":5:57: error: 'f' takes or returns a predicate register here"},
    {PTX_HEADER ".func (.reg .u32 a, .reg .u32 c) f(.reg .u32 x) { ret; }\n"
                ".entry k() { .reg .pred %p; .reg .u32 %r; call (%r, %p), f, (%r); }",
     ":5:53: error: a predicate for a value of 'f' that is none"},
    {PTX_HEADER ".func (.reg .u32 a, .reg .pred c) f(.reg .pred x) { ret; }\n"
                ".entry k() { .reg .pred %p; .reg .u32 %r; call (%r, %p), f, (!%p); }",
     ":5:62: error: 'f' takes or returns a predicate register here"},
    {PTX_HEADER ".func f(.reg .v2 .u32 x) { ret; }\n"
                ".entry k() { .reg .u64 %d; call f, (%d); }",
     ":5:37: error: 'f' takes or returns a register of type .v2 .u32 here"},
    {PTX_HEADER ".func f(.reg .v2 .u32 x) { ret; }\n"
                ".entry k() { .reg .v2 .f32 %v; call f, (%v); }",
     "'f' takes or returns a register of type .v2 .u32 here"},
    {PTX_HEADER ".func f(.reg .u64 x) { ret; }\n"
                ".entry k() { .reg .v2 .u32 %v; call f, (%v); }",
     "a vector for a value of 'f' that is none"},
    {PTX_HEADER ".reg .u32 r; .reg .u32 r;",
     ":4:24: error: 'r' is declared twice: first at line 4"},
    {PTX_HEADER ".reg .u32 %r<4>; .reg .u32 %r2;", "'%r2' is declared twice"},
    {PTX_HEADER ".reg .u32 %r<4194304>; .reg .u32 x;",
     "more than 4194304 registers outside of functions"},
    {PTX_HEADER ".reg .u32 %r<4>;\n.entry k() { mov.u32 %r4, 1; ret; }",
     ":5:22: error: '%r4' is not declared: %r<4> ends at %r3"},
    {PTX_HEADER ".reg .u32 r; .func f() { mov.u32 r, 1; ret; } .func g(); .alias g, f;",
     "registers outside of functions in a module with .alias"},
    {PTX_HEADER ".local .b8 a[33554432]; .local .b8 b; .entry k() { ret; }",
     "more than 33554432 bytes of .local variables outside of functions"},
    {PTX_HEADER ".local .u32 a = 1;", "'a' cannot be initialised: only .global and .const can"},
    {PTX_HEADER ".entry k() { P: .callprototype (.reg .u32 _, .reg .pred _) _ (); ret; }",
     "a call through a register cannot pass a .pred"},
    {PTX_HEADER ".global .u32 k; .entry k() { ret; }", "'k' is declared twice"},
    {PTX_HEADER ".entry k() .maxntid 1,2,3,4 { ret; }", "more than three dimensions"},
    {PTX_HEADER ".entry k() .maxntid 0 { ret; }", "number of threads is out of range"},
    {".version 1.4\n.target sm_13\n.entry k() { .reg .u64 d; .reg .u32 r; st.global.u32 [d], 1;\n"
     "st.global.u32 [r], 1; }",
     ":4:15: error: 'st.global.u32': operand a is based on r, a .u32 register, but must be based "
     "on a 64-bit integer"},
    {PTX_HEADER ".entry k()\n.global .u32 a;",
     "expected a directive of a function such as .maxntid, not '.global'"},
    {PTX_HEADER ".global .u32\n.entry k() { ret; }",
     "expected a type or attribute of a variable, not '.entry'"},
    {PTX_HEADER ".entry k() { .bogus { ret; }", "the body of 'k' is not closed: '}' is missing"},
    {PTX_HEADER ".entry k() { bogus {; ret; } .entry l() { ret; }",
     "the body of 'k' is not closed"},
    {PTX_HEADER ".entry k() { bogus; } } .entry l() { ret; }", "expected a directive, not '}'"},
    {PTX_HEADER ".entry k() .bogus } .entry l() { ret; }",
     "expected ';' or a body behind the header of a function, not '}'"},
    {PTX_HEADER ".bogus { .u32 a;\n.entry k() { ret; }", "this is not closed: '}' is missing"},
    {PTX_HEADER ".entry .global k() { ret; }", "expected the name of a function, not '.global'"},
    {PTX_HEADER ".bogus 1;\n.entry k() { .reg .b32 r; mov.u32 r, q; }", "'q' is not declared"},
    {PTX_HEADER ".entry k() ret;",
     "expected ';' or a body behind the header of a function, not 'ret'"},
    {PTX_HEADER ".global .u32 a[2] = {1, 2, 3};",
     ":4:28: error: initialiser has more values than the variable holds"},
    {PTX_HEADER ".global .u32 a[2] = {{1}, 2};", "initialiser has more braces than dimensions"},
    {PTX_HEADER ".global .u32 a[2] = {1, 2;", "expected '}' to close the initialiser, not ';'"},
    {PTX_HEADER ".global .u32 a = nothing;",
     "'nothing' is not declared: no variable or function has this name"},
    {PTX_HEADER ".global .u8 a = a;", "an address does not fit in .u8"},
    {PTX_HEADER ".global .u32 b; .global .u8 a = 0xF0F(b);",
     "mask of an address must be 0xFF, 0xFF00, ...: one byte"},
    {PTX_HEADER ".global .f16 a = 1.5;", "this type has no such constants"},
    {PTX_HEADER ".global .u32 a = 1.5;", "floating-point constant where .u32 is needed"},
    {PTX_HEADER ".global .u32 a; .global .u32 a;", "'a' is declared twice: first at line 4"},
    {PTX_HEADER ".global .u32 a[1000000][1000000][1000000];",
     "variable is too large: at most 1099511627776 bytes in .global"},
    {PTX_HEADER ".global .u32 a[-1];", "array size is out of range"},
    {PTX_HEADER ".global .u32 a[1.5];", "array size must be an integer"},
    {PTX_HEADER ".shared .u32 a[9999999];",
     "variable is too large: at most 16777216 bytes in .shared"},
    {PTX_HEADER ".shared .b8 a[16777216]; .shared .b8 b; .entry k() { .reg .b32 r; ld.shared.b8 r, "
                "[a]; ld.shared.b8 r, [b]; ret; }",
     "'k' needs 16777217 bytes of shared memory; a thread block (CTA) can have at most 16777216"},
    {PTX_HEADER ".alias a, b;", "'a' is not declared: no function has this name"},
    {PTX_HEADER ".func a(); .func b(); .alias a, b; .alias b, a; .entry k() { ret; }",
     "'a' is an alias of itself"},
    {PTX_HEADER ".func a(); .alias a, a;", "'a' cannot be an alias: it is itself"},
    {PTX_HEADER ".func a() { ret; } .func b(); .alias a, b;",
     "'a' cannot be an alias: it is defined"},
    {PTX_HEADER ".section .debug { .b8 1", "section is not closed: '}' is missing"},
    {PTX_HEADER ".file one \"a\"", "expected a constant, not 'one'"},
    {PTX_HEADER ".file 1 a", "expected the name of a file, not 'a'"},
    {PTX_HEADER ".extern .func f(); .entry k() { call f; ret; }",
     "'f' is used but not defined: no module that is loaded has it"},
    {PTX_HEADER ".extern .global .u32 x; .entry k() { .reg .u32 r; ld.global.u32 r, [x]; ret; }",
     "'x' is used but not defined"},
    {PTX_HEADER "#line\n.global x;", ":5:9: error: expected a type such as .u32, not 'x'"},
};

/* PTX that Tyto does not support: the kernel that contains it cannot run. Line 5 again. */
static const Mistake refusals[] = {
    /* matches no form, as instructions of a newer ISA version */
    {"addd.s32 %r1, %r2, %r3;",
     "test.ptx:5:1: there is no instruction 'addd'; did you mean 'add'?"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
     "{%r1,%r2}, {%r1,%r2};",
     "'.f16' is misspelled or not supported here"},
    {"add.s33 %r1, %r2, %r3;",
     "'add.s33': '.s33' is misspelled or not supported here; did you mean '.s32'?"},
    {"add.sat.u32 %r1, %r2, %r3;", "'add.sat.u32': '.u32' is misspelled or not supported here"},
    {"add %r1, %r2, %r3;", "'add': a modifier is missing: one of .u16 .u32"},
    {"cvt.f32.s32 %f1, %r1;", "'cvt.f32.s32'"},
    {"add.s32.u32 %r1, %r2, %r3;", "nothing more was expected"},
    {"add.s32 %r1, %r2;", "'add.s32' has 2 operands; it is written: add(.u16,.u32,.u64"},
    {"add.s32 %r1, %r2, %r3, %r4;", "'add.s32' has 4 operands"},
    {"bar.sync;", "'bar.sync' has 0 operands; it is written: bar{.cta}.sync a{, b}"},
    {"trap 1;", "'trap' has 1 operand; it is written: trap"},
    {"max.f16x2 %r1, %r2, %r3, %r4;", "'max.f16x2' has 4 operands"},
    {"mma.sync.aligned.kind::mxf8f6f4.block_scale.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0 "
     "{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4}, %r1, {0, 0}, %r2, {0, "
     "0};",
     "mma.sync.aligned.kind::mxf8f6f4.block_scale"},
    {"nothing.of.the_kind {%r1}, [%rd1], @foo;", "there is no instruction 'nothing'"},
    {".reg .s4 x;", "test.ptx:5:6: expected a type or attribute of a variable, not '.s4'"},
    {".reg .b31 x; mov.b31 x, y;", "expected a type or attribute of a variable, not '.b31'"},
    {".shared .align 4 .tensor9 x[4];", "a type or attribute of a variable, not '.tensor9'"},
    {".local .attribute(.bogus) .u32 s;", "expected the attribute .managed or .unified"},
    {".bogus 5;",
     "test.ptx:5:1: expected a directive or a state space such as .global, not '.bogus'"},
    {".bogus { .u32 x; } { ret; }", "a directive or a state space such as .global, not '.bogus'"},
    {".extern .bogus .u32 x;", "a state space such as .global, not '.bogus'"},
    {"{ { bogus {%r1}; ret; } } L: ret;", "there is no instruction 'bogus'"},
    {"P: .callprototype (.reg .b31 _) _ ();", "a type or attribute of a variable, not '.b31'"},
    {"mov.b32 %r1, %new_special9;",
     "test.ptx:5:14: '%new_special9' is neither declared nor a special register that is known"},
    {"mov.v4.u32 {%r1,%r2,%r3,%r4}, %newspecial;", "'%newspecial' is neither declared nor"},
    {"mov.u32 %r1, %newspecial.x;", "'%newspecial' is neither declared nor"},
    {"mov.u32 %r1, %smid_;",
     "'%smid_' is neither declared nor a special register that is known; did you mean '%smid'?"},
    {"tcgen05.wait::ld.sync.aligned;", "test.ptx:5:1: not supported: 'tcgen05' (tensor cores)"},
    {"st.async.b32 [%rd1], %r1;",
     "test.ptx:5:1: not supported: 'st.async.b32' (asynchronous stores and proxies)"},
    {"mov.u32 %r1, %pm0;", "test.ptx:5:14: not supported: special register '%pm0'"},
    {"cp.async.bulk.tensor.3d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {%r1, %r1, "
     "%r1}], "
     "[%r1];",
     "(this kind of tile)"},
    {"cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%r1], "
     "[%rd1, {%r1, %r1, %r1}], [%r1], {%s1, %s1};",
     "(tiles of im2col along W, of sm_100)"},
    {"tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%s1,%s1,%s1,%s1}]; bogus;",
     "test.ptx:5:1: not supported: 'tex.2dms.v4.f32.s32' (multisampled textures)"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f1}], %f2;",
     "test.ptx:5:1: not supported: 'tex.2d.v4.f32.f32' that compares depths"},
    {"fma.rn.oob.f16x2 %r1, %r1, %r1, %r1;",
     "'fma.rn.oob.f16x2' (operands that are out of bounds)"},
    {"cvt.rs.f16x2.f32 %r1, %f1, %f1, %r1;", "'cvt.rs.f16x2.f32' (stochastic rounding)"},
    {"redux.sync.min.NaN.f32 %f1, %f1, -1;", "'redux.sync.min.NaN.f32' (reductions of f32)"},
    {"stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%rd1], {%r1};", "(matrices of sm_100)"},
    {"txq.force_unnormalized_coords.b32 %r1, [%rd1];", "(what a sampler is made of)"},
    {"red.async.relaxed.cluster.global.add.u32 [%rd1], %r1;", "(asynchronous stores and proxies)"},
    {"tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%rd1], 1;",
     "(tensor maps of sm_100)"},
};

/* Whether the errors of the text contain the message; prints both if not. */
static bool has_message(const char *text, const char *message) {
    Text errors = {0};
    ptx_test_errors(text, &errors);
    bool is_there = strstr(text_string(&errors), message) != NULL;
    if (!is_there)
        print_message("wanted: %s\ngot:    %sof:\n%s\n", message, text_string(&errors), text);
    text_free(&errors);
    return is_there;
}

static void test_statements(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        Text text = {0};
        text_printf(&text, "%s%s\n}\n", PTX_KERNEL, statements[i].text);
        wrong += !has_message(text_string(&text), statements[i].message);
        text_free(&text);
    }
    assert_int_equal(wrong, 0);
}

static void test_what_is_not_supported_refuses_its_kernel_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        Text text = {0};
        text_printf(&text, "%s%s\nret;\n}\n.entry other() { ret; }\n", PTX_KERNEL,
                    refusals[i].text);
        PtxModule *module = ptx_test_read(text_string(&text));
        const PtxFunction *refused = ptx_find_function(module, "k");
        assert_non_null(refused->refusal);
        if (!strstr(refused->refusal, refusals[i].message))
            fail_msg("wanted: %s\ngot: %s", refusals[i].message, refused->refusal);
        assert_int_equal(refused->inst_count, 0);
        assert_null(ptx_find_function(module, "other")->refusal);
        assert_int_equal(ptx_find_function(module, "other")->inst_count, 1);
        ptx_module_free(module);
        text_free(&text);
    }
}

/* Unsupported declarations of a module outside of bodies. The kernels and functions in `refused`
 * cannot run, those in `fine` can. Names have a space before and after them. */
typedef struct SetAside {
    const char *text;
    const char *message; /* of the first refused one, or the warning if none is refused */
    const char *refused, *fine;
} SetAside;

#define USER(name, statement) ".entry " name "() { .reg .b32 r; .reg .b64 d; " statement " ret; }\n"

static const SetAside set_aside[] = {
    /* directives of the module */
    {".bogus 4;\n" USER("fine", ""), "test.ptx:4:1: warning: expected a directive, not '.bogus'",
     "", " fine "},
    {".bogus 4\n" USER("fine", ""), "expected a directive, not '.bogus'", "", " fine "},
    {".bogus { .u32 a; { 1 } }\n" USER("fine", ""), "not '.bogus'", "", " fine "},
    {".bogus { .u32 a; };\n" USER("k", "mov.b64 d, a;") USER("fine", ""),
     "test.ptx:5:51: 'a' is of what is not supported: test.ptx:4:1: expected a directive", " k ",
     " fine "},
    {".bogus k, x;\n" USER("k", "") USER("l", "ld.global.b32 r, [x];"), "'x' is of what", " l ",
     " k "},
    {".bogus x;\n.global .u32 x; " USER("k", "ld.global.b32 r, [x];"), "not '.bogus'", "", " k "},
    {".bogus f;\n.func f() { ret; } .func f2(); " USER("k", "call f;"), "not '.bogus'", "",
     " k f "},
    {".bogus .global .u32 x;\n" USER("k", "ld.global.b32 r, [x];") USER("fine", ""),
     "'x' is of what is not supported", " k ", " fine "},
    /* variables */
    {".global .align 4 .b31x x;\n" USER("k", "ld.global.b32 r, [x];") USER("fine", ""),
     "'x' is of what is not supported: test.ptx:4:18: expected a type", " k ", " fine "},
    {".global .b31x x, y[2] = {1, {2}}, z;\n" USER("k", "ld.global.b32 r, [z];") USER("fine", ""),
     "'z' is of what is not supported", " k ", " fine "},
    {".global .attribute(.bogus) .u32 s;\n" USER("k", "mov.b64 d, s;") USER("fine", ""),
     "expected the attribute .managed or .unified, not '.bogus'", " k ", " fine "},
    {".global .b31x x;\n.global .u64 y[] = {1, x, 2}, z;\n" USER("k", "mov.b64 d, y;")
         USER("l", "mov.b64 d, z;") USER("fine", ""),
     "'y' is of what is not supported: test.ptx:5:24: 'x' is of what", " k l ", " fine "},
    {".global .samplerref s = { colour = 1 };\n" USER("k", "mov.b64 d, s;") USER("fine", ""),
     "a sampler has no property 'colour'", " k ", " fine "},
    {".reg .b31 %q<4>;\n.reg .b128 w;\n" USER("k", "mov.b32 r, %q3;") USER("l", "mov.b128 w, w;")
         USER("m", "@%q2 ret;") USER("fine", ""),
     "'%q3' is of what is not supported", " k l m ", " fine "},
    {".param .u32 a;\n" USER("fine", ""), "not supported: .param variables outside of a function",
     "", " fine "},
    /* branches to labels behind what is not supported, and those of the next function */
    {USER("k", "bra L; { bra M; tcgen05.wait::ld.sync.aligned; M: } L:")
         USER("fine", "bra L; { bra M; M: } L:"),
     "'tcgen05'", " k ", " fine "},
    /* headers of functions */
    {".visibel .entry k() { ret; }\n" USER("fine", ""),
     "test.ptx:4:1: expected a directive, not '.visibel'; did you mean '.visible'?", " k ",
     " fine "},
    {".bogus .weak .func f() { ret; }\n" USER("k", "call f;") USER("fine", ""),
     "test.ptx:4:1: expected a directive, not '.bogus'", " f ", " fine k "},
    {".entry k() .bogus 4 .maxntid 32 { ret; }\n" USER("fine", ""),
     "test.ptx:4:12: expected a directive of a function such as .maxntid, not '.bogus'", " k ",
     " fine "},
    {".entry k() .bogus (4, 5) .bogus2 { .reg .b32 a; } .func g() .bogus; " USER("fine", ""),
     "not '.bogus'", " k ", " fine "},
    {".func f() .bogus;\n.func f() { ret; }\n" USER("fine", ""), "not '.bogus'", " f ", " fine "},
    {".entry .bogus k() { ret; }\n" USER("fine", ""), "the name of a function, not '.bogus'", " k ",
     " fine "},
    {".entry k(.param .b31 x, .param .u32 y) { .reg .b32 r; ld.param.b32 r, [x]; ret; }\n" USER(
         "fine", ""),
     "a type or attribute of a variable, not '.b31'", " k ", " fine "},
    {".entry k(.bogus .u32 x) { ret; }\n" USER("fine", ""), "expected .param, not '.bogus'", " k ",
     " fine "},
    {".func (.reg .b31 r) f(.reg .b31 x, .reg .b32 y);\n"
     ".func (.reg .b31 r) f(.reg .b31 x, .reg .b32 y) { ret; }\n" USER("k", "call (r), f, (r, r);")
         USER("fine", ""),
     "a type or attribute of a variable, not '.b31'", " f ", " fine k "},
    {".func (.reg .b31 r { f;\n} " USER("k", "call f;") USER("fine", ""), "'f' is of what is not",
     " k ", " fine "},
    {".bogus f;\n.alias f, g;\n" USER("k", "T: .calltargets f;") USER("fine", ""),
     "'f' is of what is not supported", " k ", " fine "},
};

static void check_names(const SetAside *row, const PtxModule *module, const char *names,
                        bool is_refused) {
    char name[32];
    for (int used; sscanf(names, "%31s%n", name, &used) == 1; names += used) {
        const PtxFunction *function = ptx_find_function(module, name);
        if (!function) fail_msg("no %s in:\n%s", name, row->text);
        if (is_refused != (function->refusal != NULL))
            fail_msg("%s %s in:\n%s", name, is_refused ? "can run" : function->refusal, row->text);
    }
}

static void test_what_a_module_declares_and_is_not_supported_refuses_who_uses_it(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof set_aside / sizeof *set_aside; i++) {
        const SetAside *row = &set_aside[i];
        Text text = {0};
        text_printf(&text, "%s%s", PTX_HEADER, row->text);
        Diag *diag = diag_new();
        PtxModule *module = ptx_read("test.ptx", text_string(&text), text.length, diag);
        if (!module || !ptx_link(&module, 1, diag))
            fail_msg("%sof:\n%s", diag_text(diag), row->text);
        check_names(row, module, row->refused, true);
        check_names(row, module, row->fine, false);
        char first[32] = "";
        sscanf(row->refused, "%31s", first);
        const char *said = *first ? ptx_find_function(module, first)->refusal : diag_text(diag);
        if (!strstr(said, row->message))
            fail_msg("wanted: %s\ngot: %s\nof:\n%s", row->message, said, row->text);
        assert_int_equal(diag_error_count(diag), 0);
        assert_true(diag_warning_count(diag) > 0);
        ptx_module_free(module);
        diag_free(diag);
        text_free(&text);
    }
}

/* A call through a register may reach any function, so it cannot pass on registers that only some
 * functions take. */
static void test_registers_outside_of_functions_and_calls_through_registers(void **state) {
    (void)state;
    PtxModule *module = ptx_test_read(
        PTX_HEADER ".reg .u32 kept;\n.func f() { mov.u32 kept, 1; ret; }\n"
                   ".func g(.param .b32 n, .param .b8 rest[]) { mov.u32 kept, 2; ret; }\n"
                   ".entry k() { .reg .u64 p; shape: .callprototype _ (); mov.u64 p, f;\n"
                   "call p, shape; ret; }\n"
                   ".entry other() { call f; ret; }\n");
    assert_non_null(strstr(ptx_find_function(module, "k")->refusal,
                           ":8:1: not supported: a call through a register in a module with "
                           "registers outside of functions"));
    assert_non_null(strstr(ptx_find_function(module, "g")->refusal, "not supported"));
    assert_null(ptx_find_function(module, "f")->refusal);
    assert_null(ptx_find_function(module, "other")->refusal);
    ptx_module_free(module);
}

static void test_clusters_are_read(void **state) {
    (void)state;
    PtxModule *module = ptx_test_read(PTX_HEADER ".entry k() .reqnctapercluster 2, 1, 1 { ret; }\n"
                                                 ".entry e() .explicitcluster { ret; }\n"
                                                 ".entry b() .blocksareclusters .reqntid 32\n"
                                                 ".reqnctapercluster 2 { ret; }\n"
                                                 ".entry one() .reqnctapercluster 1 { ret; }\n"
                                                 ".entry most() .maxclusterrank 8 { ret; }\n");
    static const char *const fine[] = {"k", "e", "b", "one", "most"};
    for (int i = 0; i < 5; i++)
        assert_null(ptx_find_function(module, fine[i])->refusal);
    const PtxFunction *k = ptx_find_function(module, "k");
    assert_int_equal(k->cluster[0] * 100 + k->cluster[1] * 10 + k->cluster[2], 211);
    assert_true(ptx_find_function(module, "e")->needs_cluster);
    assert_false(k->needs_cluster);
    assert_true(ptx_find_function(module, "b")->counts_clusters);
    assert_false(k->counts_clusters);
    assert_int_equal(ptx_find_function(module, "most")->max_cluster, 8);
    ptx_module_free(module);
}

static void test_modules(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        wrong += !has_message(modules[i].text, modules[i].message);
    assert_int_equal(wrong, 0);
}

/* One run reports every mistake, and each only once. */
static void test_several(void **state) {
    (void)state;
    Text errors = {0};
    ptx_test_errors(PTX_KERNEL "add.s32 %r1, %r2, %f1;\n"
                               "mov.u32 %r1, %r2;\n"
                               "mov.b64 {%r1, %q9}, %rd1;\n"
                               "ld.global.v2.u32 {%r1, %r2, [%rd1];\n"
                               "ret;\n}\n"
                               ".global .u32 x[2] = {1, 2, {3}};\n"
                               ".global .u32 y = z;\n"
                               ".entry l() { bra nowhere; }\n",
                    &errors);
    const char *lines[] = {":5:19:", ":7:15:", ":8:29:", ":11:28:", ":12:18:", ":13:18:"};
    int count = 0;
    for (const char *p = text_string(&errors); (p = strstr(p, "error: ")); p++)
        count++;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strstr(text_string(&errors), lines[i]))
            fail_msg("%s is missing in:\n%s", lines[i], text_string(&errors));
    }
    if (count != (int)(sizeof lines / sizeof *lines)) fail_msg("%s", text_string(&errors));
    text_free(&errors);
}

/* Reading stops after some errors, so that a binary file does not produce a million of them. */
static void test_many(void **state) {
    (void)state;
    Text text = {0}, errors = {0};
    text_add(&text, PTX_KERNEL);
    for (int i = 0; i < 100000; i++)
        text_add(&text, "@@; ");
    ptx_test_errors(text_string(&text), &errors);
    assert_non_null(strstr(text_string(&errors), "more errors"));
    text_free(&text);
    text_free(&errors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_what_is_not_supported_refuses_its_kernel_alone),
        cmocka_unit_test(test_what_a_module_declares_and_is_not_supported_refuses_who_uses_it),
        cmocka_unit_test(test_registers_outside_of_functions_and_calls_through_registers),
        cmocka_unit_test(test_clusters_are_read),
        cmocka_unit_test(test_modules),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_many)};
    printf("%zu mistakes, each with its message\n",
           sizeof statements / sizeof *statements + sizeof modules / sizeof *modules);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
