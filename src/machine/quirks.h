/* The quirks of historic simulators: what reproduces the behaviour of one program and of no GPU.
 * A machine file chooses them by one key, `simulator`, which sets every quirk; a single quirk can
 * still be set after that, to ask what it does.
 *
 * Each simulator has a table in a file of its own, quirks_NAME.c. The table of GPGPU-Sim 4.2, the
 * default, has all quirks; the others list those that their sources decide, and keep its values of
 * the rest. */
#ifndef TYTO_MACHINE_QUIRKS_H
#define TYTO_MACHINE_QUIRKS_H

/* The simulators: SIMULATOR(name, text) is the table quirks_NAME, written `text` in machine files.
 */
#define QUIRK_SIMULATORS(SIMULATOR)                                                                \
    SIMULATOR(gpgpu_sim_4_2, "gpgpu-sim-4.2")                                                      \
    SIMULATOR(gpgpu_sim_3_2, "gpgpu-sim-3.2")                                                      \
    SIMULATOR(gpgpu_sim_3_1, "gpgpu-sim-3.1")                                                      \
    SIMULATOR(gpgpu_sim_2_1, "gpgpu-sim-2.1")

/* One value that a simulator sets. */
typedef struct Quirk {
    const char *key;    /* of the machine parameter; NULL ends a table */
    const char *value;  /* as a machine file writes it */
    const char *origin; /* where the value is from, one line */
} Quirk;

#define QUIRK_DECLARE(name, text)  extern const Quirk quirks_##name[];
#define QUIRK_CONSTANT(name, text) QUIRK_SIMULATOR_##name,
QUIRK_SIMULATORS(QUIRK_DECLARE)
typedef enum QuirkSimulator {
    QUIRK_SIMULATORS(QUIRK_CONSTANT) QUIRK_SIMULATOR_COUNT
} QuirkSimulator;
#undef QUIRK_DECLARE
#undef QUIRK_CONSTANT

/* The simulators' names, in the order of QuirkSimulator. */
extern const char *const quirk_simulator_names[QUIRK_SIMULATOR_COUNT];

/* The i-th quirk with the value that a simulator gives it; NULL past the last. */
const Quirk *quirk_at(QuirkSimulator simulator, int i);

#endif
