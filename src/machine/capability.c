/* The table of compute capabilities. */
#include "machine/capability.h"

#define FACTS(major, minor, ratio) {major, minor, ratio},
#define NAME(major, minor, ratio)  #major "." #minor,

const GpuCapabilityFacts gpu_capabilities[] = {GPU_CAPABILITIES(FACTS)};
const char *const gpu_capability_names[] = {GPU_CAPABILITIES(NAME)};
