// CUB's device-wide algorithms: radix sort, scan, reduction by key, histogram, selection, segments.
#include "check.h"

#include <algorithm>
#include <cstdint>
#include <cub/cub.cuh>
#include <map>
#include <numeric>
#include <vector>

// Asks an algorithm how much memory it needs, gives it that, and runs it.
#define RUN(...)                                                                                   \
    do {                                                                                           \
        void *scratch = nullptr;                                                                   \
        size_t bytes = 0;                                                                          \
        auto run = [&] { return __VA_ARGS__; };                                                    \
        CHECK(run());                                                                              \
        CHECK(cudaMalloc(&scratch, bytes));                                                        \
        CHECK(run());                                                                              \
        CHECK(cudaFree(scratch));                                                                  \
    } while (0)

template <typename T> struct Buffer {
    T *items;
    size_t count;
    explicit Buffer(size_t n) : items(nullptr), count(n) { CHECK(cudaMalloc(&items, n * sizeof(T))); }
    explicit Buffer(const std::vector<T> &from) : Buffer(from.size()) {
        CHECK(cudaMemcpy(items, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Buffer() { cudaFree(items); }
    std::vector<T> host(size_t n) const {
        std::vector<T> out(n);
        CHECK(cudaMemcpy(out.data(), items, n * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
};

struct IsOdd {
    __device__ bool operator()(int x) const { return x & 1; }
};

int main() {
    const int n = 5000;
    unsigned state = 7;
    std::vector<unsigned> keys(n);
    std::vector<int> values(n), small(n);
    for (int i = 0; i < n; i++) {
        keys[i] = next_random(state) % 3000;
        values[i] = i;
        small[i] = (int)(next_random(state) % 100);
    }
    Buffer<unsigned> d_keys(keys), d_keys_out(n);
    Buffer<int> d_values(values), d_values_out(n), d_small(small), d_out(n), d_count(1);

    // a stable sort of pairs
    RUN(cub::DeviceRadixSort::SortPairs(scratch, bytes, d_keys.items, d_keys_out.items, d_values.items,
                                        d_values_out.items, n));
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    std::vector<unsigned> sorted = d_keys_out.host(n);
    EXPECT(d_values_out.host(n) == order);
    for (int i = 0; i < n; i++)
        EXPECT(sorted[i] == keys[order[i]]);

    RUN(cub::DeviceScan::ExclusiveSum(scratch, bytes, d_small.items, d_out.items, n));
    std::vector<int> scan = d_out.host(n), expected(n);
    for (int i = 1; i < n; i++)
        expected[i] = expected[i - 1] + small[i - 1];
    EXPECT(scan == expected);

    // the sums of the runs of equal keys
    Buffer<unsigned> d_unique(n);
    RUN(cub::DeviceReduce::ReduceByKey(scratch, bytes, d_keys_out.items, d_unique.items, d_small.items, d_out.items,
                                       d_count.items, cuda::std::plus<>(), n));
    std::map<unsigned, int> sums;
    for (int i = 0; i < n; i++)
        sums[sorted[i]] += small[i];
    int runs = d_count.host(1)[0];
    EXPECT((size_t)runs == sums.size());
    std::vector<unsigned> unique = d_unique.host(runs);
    std::vector<int> totals = d_out.host(runs);
    auto at = sums.begin();
    for (int i = 0; i < runs; i++, ++at)
        EXPECT(unique[i] == at->first && totals[i] == at->second);

    const int levels = 11;
    Buffer<int> d_histogram(levels - 1);
    RUN(cub::DeviceHistogram::HistogramEven(scratch, bytes, d_small.items, d_histogram.items, levels, 0, 100, n));
    std::vector<int> histogram(levels - 1);
    for (int x : small)
        histogram[x / 10]++;
    EXPECT(d_histogram.host(levels - 1) == histogram);

    RUN(cub::DeviceSelect::If(scratch, bytes, d_small.items, d_out.items, d_count.items, n, IsOdd()));
    std::vector<int> odd;
    for (int x : small)
        if (x & 1) odd.push_back(x);
    EXPECT(d_count.host(1)[0] == (int)odd.size() && d_out.host(odd.size()) == odd);

    RUN(cub::DeviceReduce::Max(scratch, bytes, d_small.items, d_count.items, n));
    EXPECT(d_count.host(1)[0] == *std::max_element(small.begin(), small.end()));
    return passed();
}
