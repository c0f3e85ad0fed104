/* printf from the device: every kind of argument, widths and precisions, a string, a percent sign,
 * and several threads printing one after another. */
#include "kernel.h"

extern "C" __global__ void print() {
    unsigned thread = threadIdx.x;
    if (thread == 0) {
        printf("plain\n");
        printf("%d %u %x %c %%\n", -5, 4000000000u, 0xbeefu, 'q');
        printf("%lld %llu %llx\n", -1234567890123ll, 18446744073709551615ull, 0x123456789abcull);
        printf("[%6d] [%-6d] [%06d] [%+d]\n", 42, 42, 42, 42);
        printf("%f %.3f %e %g\n", 1.5, 3.14159, 12345.678, 0.0001);
        printf("[%s] [%8s] [%-4s] [%*d]\n", "text", "right", "l", 5, 7);
    }
    if (thread % 16 == 5) printf("thread %u of warp %d\n", thread, (int)(thread / 32));
}
