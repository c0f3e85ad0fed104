/* A real GPU as one of the machines under test. It uses the CUDA driver's library and opens it only
 * on request, so that this builds without CUDA. */
#ifndef TYTO_TESTS_CONFORMANCE_DEVICE_H
#define TYTO_TESTS_CONFORMANCE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness.h"

struct MemTexture;

typedef struct Device Device;

/* Opens `library` and its first GPU, and allocates the harness's buffers. Ends the program if there
 * is no GPU. */
Device *device_new(const char *library, uint64_t buffers[HARNESS_BUFFERS]);
void device_free(Device *device);
/* The GPU's name, and the major number of its compute capability. */
const char *device_name(const Device *device);
int device_capability(const Device *device);

/* The host's copy of a buffer. Launches copy it to the GPU and back. */
void *device_buffer(const Device *device, int buffer);
/* Sets how much of a buffer a launch may access; only that part is copied. */
void device_reach(Device *device, int buffer, size_t bytes);

/* Loads a PTX module for the GPU's own architecture. Returns NULL if the driver's assembler rejects
 * it, with its messages in *messages (the caller frees them) unless `messages` is NULL. */
void *device_load(Device *device, const char *ptx, char **messages);
void device_unload(Device *device, void *module);
/* Returns NULL if the kernel ran, else the error. After an error the process can no longer use the
 * GPU. */
const char *device_launch(Device *device, void *module, const char *kernel, const Shape *shape,
                          const void *parameters);

/* A texture or surface object with a copy of the texels in a buffer; 0 if the driver refuses. */
uint64_t device_texture(Device *device, const struct MemTexture *texture);
/* Sets the surface whose texels are copied from buffer 1 before a launch and back afterwards; 0:
 * none. */
void device_write_to(Device *device, uint64_t surface);

#endif
