/* The quirks of historic simulators: behaviour of one program that no GPU has. A machine file
 * chooses them with one key, `simulator`, which sets every quirk. A single quirk can be changed
 * after that, to study its effect.
 *
 * Each simulator has a table in its own file, quirks_NAME.c. The table of GPGPU-Sim 4.2, the
 * default, has all quirks. The others list those that their sources determine, and use its values
 * for the rest. */
#ifndef TYTO_MACHINE_QUIRKS_H
#define TYTO_MACHINE_QUIRKS_H

/* The simulators: SIMULATOR(name, text) is the table quirks_NAME, called `text` in machine
 * files. */
#define QUIRK_SIMULATORS(SIMULATOR)                                                                \
    SIMULATOR(gpgpu_sim_4_2, "gpgpu-sim-4.2")                                                      \
    SIMULATOR(gpgpu_sim_3_2, "gpgpu-sim-3.2")                                                      \
    SIMULATOR(gpgpu_sim_3_1, "gpgpu-sim-3.1")                                                      \
    SIMULATOR(gpgpu_sim_2_1, "gpgpu-sim-2.1")

/* One value that a simulator sets. */
typedef struct Quirk {
    const char *key;    /* key of the machine parameter; NULL ends a table */
    const char *value;  /* value, as in a machine file */
    const char *origin; /* origin of the value, one line */
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

/* The i-th quirk, with its value for a simulator; NULL after the last. */
const Quirk *quirk_at(QuirkSimulator simulator, int i);

#endif
