/* Control flow graphs as Graphviz DOT. */
#include "ptx/ptx.h"

#include "base/text.h"

static void write_block(const PtxFunction *function, int index, int32_t block, Text *out) {
    const PtxBlock *b = &function->blocks[block];
    const PtxInst *last = &function->insts[b->last];
    text_printf(out, "    f%db%d [label=\"%d: lines %d-%d\\n%s%s\"];\n", index, block, block,
                function->insts[b->first].line, last->line, last->guard >= 0 ? "@" : "",
                ptx_opcode_name(last->op));
    for (int i = 0; i < b->successor_count; i++) {
        bool is_back = b->successors[i] <= block;
        text_printf(out, "    f%db%d -> f%db%d%s;\n", index, block, index, b->successors[i],
                    is_back ? " [constraint=false]" : "");
    }
    text_printf(out, "    f%db%d -> f%db%d [style=dotted, color=grey, constraint=false];\n", index,
                block, index, b->post_dominator);
}

static void write_function(const PtxFunction *function, int index, Text *out) {
    text_printf(out, "  subgraph cluster_%d {\n    label=\"%s\";\n", index, function->name);
    for (int32_t b = 0; b < function->block_count; b++)
        write_block(function, index, b, out);
    text_printf(out, "    f%db%d [label=\"exit\", shape=oval];\n  }\n", index,
                function->block_count);
}

void ptx_write_dot(const PtxModule *module, const PtxFunction *function, Text *out) {
    text_add(out, "// solid: control flow; dotted: to the immediate post-dominator\n"
                  "digraph ptx {\n  node [shape=box, fontname=monospace];\n");
    for (int i = 0; i < module->function_count; i++) {
        bool is_wanted =
            module->functions[i]->is_defined && (!function || function == module->functions[i]);
        if (is_wanted) write_function(module->functions[i], i, out);
    }
    text_add(out, "}\n");
}
