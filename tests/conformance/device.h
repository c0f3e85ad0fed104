/* A real GPU as one of the machines under test, by the CUDA driver's library, which is opened when
 * it is asked for: nothing of CUDA is needed to build this. */
#ifndef TYTO_TESTS_CONFORMANCE_DEVICE_H
#define TYTO_TESTS_CONFORMANCE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness.h"

struct MemTexture;

typedef struct Device Device;

/* Opens `library` and its first GPU, with the harness's buffers; ends the program when there is
 * none. */
Device *device_new(const char *library, uint64_t buffers[HARNESS_BUFFERS]);
void device_free(Device *device);
/* The GPU's name, and the first number of its compute capability. */
const char *device_name(const Device *device);
int device_capability(const Device *device);

/* The host's copy of a buffer: launches bring it to the GPU and back. */
void *device_buffer(const Device *device, int buffer);
/* What a launch may touch of a buffer: no more is copied. */
void device_reach(Device *device, int buffer, size_t bytes);

/* A module of PTX, for the GPU's own architecture; NULL when the driver's assembler does not take
 * it, with its messages in *messages (to be freed) unless that is NULL. */
void *device_load(Device *device, const char *ptx, char **messages);
void device_unload(Device *device, void *module);
/* NULL: the kernel has run. Else what is wrong; after that the process can do nothing more with the
 * GPU. */
const char *device_launch(Device *device, void *module, const char *kernel, const Shape *shape,
                          const void *parameters);

/* A texture or surface object with a copy of the texels that lie in a buffer; 0 when the driver
 * refuses. */
uint64_t device_texture(Device *device, const struct MemTexture *texture);
/* Says whose texels are copied from buffer 1 before a launch and to it afterwards; 0: none. */
void device_write_to(Device *device, uint64_t surface);

#endif
