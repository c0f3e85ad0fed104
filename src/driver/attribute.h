/* Attributes of launches, which streams and the kernel nodes of graphs have too. */
#ifndef TYTO_DRIVER_ATTRIBUTE_H
#define TYTO_DRIVER_ATTRIBUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "tyto/cuda.h"

/* What an attribute can belong to. */
typedef enum AttributePlace {
    ATTRIBUTE_OF_STREAM = 1,
    ATTRIBUTE_OF_NODE = 2,
    ATTRIBUTE_OF_LAUNCH = 4
} AttributePlace;

/* Those that were given; the others have CUDA's defaults. */
typedef struct Attributes {
    CUlaunchAttribute *items;
    uint32_t count;
} Attributes;

/* CUDA_SUCCESS, or why the attribute cannot have that value there; what is not modelled is named
 * as a part of `function`. */
CUresult attribute_check(CUlaunchAttributeID id, const CUlaunchAttributeValue *value,
                         AttributePlace place, const char *function);
/* Whether there is such an attribute there. */
bool attribute_is_of(CUlaunchAttributeID id, AttributePlace place);

void attributes_set(Attributes *attributes, CUlaunchAttributeID id,
                    const CUlaunchAttributeValue *value);
bool attributes_have(const Attributes *attributes, CUlaunchAttributeID id);
/* CTAs of a launch's clusters by axis; 0 where no attribute says. */
void attributes_cluster(const Attributes *attributes, unsigned *cluster);
CUlaunchAttributeValue attributes_get(const Attributes *attributes, CUlaunchAttributeID id);
Attributes attributes_copy(const Attributes *attributes);
void attributes_free(Attributes *attributes);

#endif
