/* The link between the halves of an L2 (see the header). */
#include "partition/remote_l2.h"

uint64_t remote_l2_send(RemoteL2Link *link, uint64_t cycle, uint32_t bytes) {
    uint64_t could = cycle * link->bandwidth;
    if (link->moved < could) link->moved = could;
    link->moved += bytes;
    return (link->moved + link->bandwidth - 1) / link->bandwidth + link->latency;
}
