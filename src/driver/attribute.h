/* Attributes of launches, which streams and graph kernel nodes also have. */
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

/* Attributes that were set; the others have CUDA's defaults. */
typedef struct Attributes {
    CUlaunchAttribute *items;
    uint32_t count;
} Attributes;

/* Sets an attribute. Returns CUDA_SUCCESS, or the error if the attribute cannot have this value
 * there. A value that is not modelled is reported as a missing part of `function`. */
CUresult attribute_check(CUlaunchAttributeID id, const CUlaunchAttributeValue *value,
                         AttributePlace place, const char *function);
/* Whether this attribute exists there. */
bool attribute_is_of(CUlaunchAttributeID id, AttributePlace place);

void attributes_set(Attributes *attributes, CUlaunchAttributeID id,
                    const CUlaunchAttributeValue *value);
bool attributes_have(const Attributes *attributes, CUlaunchAttributeID id);
/* CTAs of a launch's clusters by axis; 0 if no attribute sets them. */
void attributes_cluster(const Attributes *attributes, unsigned *cluster);
CUlaunchAttributeValue attributes_get(const Attributes *attributes, CUlaunchAttributeID id);
Attributes attributes_copy(const Attributes *attributes);
void attributes_free(Attributes *attributes);

#endif
