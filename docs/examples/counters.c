/* A kernel run on Tyto, and counters of it by name.
 *
 * cc $(pkg-config --cflags tyto) counters.c $(pkg-config --libs tyto) -o counters
 * ./counters cycles l1d_accesses ipc */
#include <stdio.h>
#include <string.h>

#include <tyto/tyto.h>

/* out[thread] = thread */
static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry number(.param .u64 out) {\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
    "  add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1; ret;\n}\n";

static void print_counter(TytoSimulator *simulator, const char *name) {
    int i = tyto_find_counter(name);
    if (i < 0) {
        printf("%s: there is no such counter\n", name);
        return;
    }
    TytoValue value = tyto_value(simulator, TYTO_TOTAL, i);
    if (value.is_known) printf("%s: %g %s\n", name, value.value, tyto_counter(i)->unit);
    else printf("%s: not known\n", name);
}

int main(int argc, char **argv) {
    const char *options[] = {"--quiet", "--machine", "gtx480"};
    char message[512];
    TytoSimulator *simulator = tyto_new(3, options, message, sizeof message);
    TytoModule *module;
    uint64_t out;
    if (!simulator) return fprintf(stderr, "%s\n", message), 1;
    const void *arguments[] = {&out};
    bool is_done = tyto_load(simulator, "number.ptx", ptx, strlen(ptx), &module) == TYTO_OK &&
                   tyto_alloc(simulator, 256 * sizeof(uint32_t), &out) == TYTO_OK &&
                   tyto_launch(simulator, &(TytoLaunch){.module = module,
                                                        .grid = {1, 1, 1},
                                                        .block = {256, 1, 1},
                                                        .arguments = arguments,
                                                        .argument_count = 1}) == TYTO_OK;
    if (!is_done) fprintf(stderr, "%s\n", tyto_message(simulator));
    for (int i = 1; is_done && i < argc; i++)
        print_counter(simulator, argv[i]);
    tyto_free(simulator);
    return !is_done;
}
