/* Attributes of launches, streams and kernel nodes. These take effect: a cooperative launch, the
 * events of a launch, the shape of clusters, the overlap with the previous kernel of the stream,
 * priorities, and the window of addresses with a priority in L2. Other hints are stored for the
 * program. Not supported: nodes that a kernel can change. */
#include "driver/attribute.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "driver/driver.h"

enum { EVERYWHERE = ATTRIBUTE_OF_STREAM | ATTRIBUTE_OF_NODE | ATTRIBUTE_OF_LAUNCH };
enum { WORK = ATTRIBUTE_OF_NODE | ATTRIBUTE_OF_LAUNCH };

/* What each attribute can belong to, and the bounds of attributes that are an int. */
typedef struct Row {
    CUlaunchAttributeID id;
    unsigned places; /* AttributePlace */
    int least, most;
} Row;

static const Row rows[] = {
    {CU_LAUNCH_ATTRIBUTE_IGNORE, ATTRIBUTE_OF_LAUNCH, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, EVERYWHERE, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, WORK, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, ATTRIBUTE_OF_STREAM, CU_SYNC_POLICY_AUTO,
     CU_SYNC_POLICY_BLOCKING_SYNC},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, WORK, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, WORK, 0, 2},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, ATTRIBUTE_OF_LAUNCH, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, ATTRIBUTE_OF_LAUNCH, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, EVERYWHERE, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, EVERYWHERE, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, EVERYWHERE, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT,
     CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, WORK, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, ATTRIBUTE_OF_LAUNCH, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, WORK, INT_MIN, INT_MAX},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, WORK, -1, 100},
    {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, WORK, INT_MIN, INT_MAX},
};

static const Row *find(CUlaunchAttributeID id, AttributePlace place) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].id == id) return rows[i].places & place ? &rows[i] : NULL;
    }
    return NULL;
}

bool attribute_is_of(CUlaunchAttributeID id, AttributePlace place) {
    return find(id, place) != NULL;
}

static bool is_window(const CUaccessPolicyWindow *window) {
    return window->hitRatio >= 0 && window->hitRatio <= 1 &&
           (unsigned)window->hitProp <= CU_ACCESS_PROPERTY_PERSISTING &&
           (unsigned)window->missProp <= CU_ACCESS_PROPERTY_STREAMING;
}

static CUresult missing(const char *function, const char *what) {
    Text name = {0};
    text_printf(&name, "%s with %s", function, what);
    CUresult status = driver_missing(text_string(&name));
    text_free(&name);
    return status;
}

CUresult attribute_check(CUlaunchAttributeID id, const CUlaunchAttributeValue *value,
                         AttributePlace place, const char *function) {
    const Row *row = find(id, place);
    if (!row) return CUDA_ERROR_INVALID_VALUE;
    if (value->cooperative < row->least || value->cooperative > row->most)
        return CUDA_ERROR_INVALID_VALUE;
    if (id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW && !is_window(&value->accessPolicyWindow))
        return CUDA_ERROR_INVALID_VALUE;
    if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
        (!value->clusterDim.x || !value->clusterDim.y || !value->clusterDim.z))
        return CUDA_ERROR_INVALID_VALUE;
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE && value->cooperative)
        return missing(function, "a node that kernels may change");
    return CUDA_SUCCESS;
}

void attributes_set(Attributes *attributes, CUlaunchAttributeID id,
                    const CUlaunchAttributeValue *value) {
    uint32_t i = 0;
    while (i < attributes->count && attributes->items[i].id != id)
        i++;
    if (i == attributes->count) {
        attributes->items =
            base_realloc(attributes->items, ++attributes->count * sizeof *attributes->items);
        attributes->items[i] = (CUlaunchAttribute){.id = id};
    }
    attributes->items[i].value = *value;
}

bool attributes_have(const Attributes *attributes, CUlaunchAttributeID id) {
    for (uint32_t i = 0; i < attributes->count; i++) {
        if (attributes->items[i].id == id) return true;
    }
    return false;
}

CUlaunchAttributeValue attributes_get(const Attributes *attributes, CUlaunchAttributeID id) {
    for (uint32_t i = 0; i < attributes->count; i++) {
        if (attributes->items[i].id == id) return attributes->items[i].value;
    }
    CUlaunchAttributeValue value = {.pad = {0}};
    if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) value.syncPolicy = CU_SYNC_POLICY_AUTO;
    if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap.remote = 1;
    return value;
}

void attributes_cluster(const Attributes *attributes, unsigned *cluster) {
    const CUlaunchAttributeValue value =
        attributes_get(attributes, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    cluster[0] = value.clusterDim.x;
    cluster[1] = value.clusterDim.y;
    cluster[2] = value.clusterDim.z;
}

Attributes attributes_copy(const Attributes *attributes) {
    Attributes copy = {NULL, attributes->count};
    if (!copy.count) return copy;
    copy.items = base_malloc(copy.count * sizeof *copy.items);
    memcpy(copy.items, attributes->items, copy.count * sizeof *copy.items);
    return copy;
}

void attributes_free(Attributes *attributes) {
    free(attributes->items);
    *attributes = (Attributes){NULL, 0};
}
