/* Exclusive prefix sums of a large array. */
#include "../common/scan.cuh"
