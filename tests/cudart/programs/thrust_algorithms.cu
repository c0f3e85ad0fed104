// Thrust: vectors on the device, sorts, scans, reductions by key, transformations, fancy iterators.
#include "check.h"

#include <algorithm>
#include <map>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};
struct Product {
    template <typename Pair> __host__ __device__ int operator()(const Pair &p) const {
        return thrust::get<0>(p) * thrust::get<1>(p);
    }
};

int main() {
    const int n = 3000;
    thrust::host_vector<int> keys(n), values(n);
    unsigned state = 11;
    for (int i = 0; i < n; i++)
        keys[i] = (int)(next_random(state) % 500), values[i] = (int)(next_random(state) % 50);
    thrust::device_vector<int> d_keys = keys, d_values = values;

    thrust::sort_by_key(d_keys.begin(), d_keys.end(), d_values.begin());
    std::map<int, int> sums;
    for (int i = 0; i < n; i++)
        sums[keys[i]] += values[i];
    thrust::host_vector<int> sorted = d_keys;
    std::sort(keys.begin(), keys.end());
    EXPECT(sorted == keys);

    thrust::device_vector<int> unique_keys(n), totals(n);
    auto ends = thrust::reduce_by_key(d_keys.begin(), d_keys.end(), d_values.begin(), unique_keys.begin(), totals.begin());
    size_t runs = ends.first - unique_keys.begin();
    EXPECT(runs == sums.size());
    size_t at = 0;
    thrust::host_vector<int> h_keys(unique_keys.begin(), ends.first), h_totals(totals.begin(), ends.second);
    for (auto &pair : sums) {
        EXPECT(h_keys[at] == pair.first && h_totals[at] == pair.second);
        at++;
    }
    d_keys.erase(thrust::unique(d_keys.begin(), d_keys.end()), d_keys.end());
    EXPECT(d_keys.size() == sums.size());

    thrust::device_vector<float> x(n);
    thrust::sequence(x.begin(), x.end(), 0.0f, 0.5f);
    float squares = thrust::transform_reduce(x.begin(), x.end(), Square(), 0.0f, thrust::plus<float>());
    double expected = 0;
    for (int i = 0; i < n; i++)
        expected += 0.25 * i * i;
    EXPECT(is_near(squares, expected, 1e-4));

    thrust::device_vector<int> scanned(n);
    thrust::inclusive_scan(thrust::counting_iterator<int>(1), thrust::counting_iterator<int>(n + 1), scanned.begin());
    EXPECT(scanned[n - 1] == n * (n + 1) / 2 && scanned[0] == 1);
    auto pairs = thrust::make_zip_iterator(thrust::make_tuple(thrust::counting_iterator<int>(0), d_values.begin()));
    thrust::transform(pairs, pairs + n, scanned.begin(), Product());
    thrust::host_vector<int> products = scanned, h_values = d_values;
    for (int i = 0; i < n; i++)
        EXPECT(products[i] == i * h_values[i]);
    EXPECT(thrust::count(d_values.begin(), d_values.end(), 7) == std::count(values.begin(), values.end(), 7));
    thrust::sort(d_values.begin(), d_values.end(), thrust::greater<int>());
    std::sort(values.begin(), values.end(), std::greater<int>());
    h_values = d_values;
    EXPECT(h_values == values);
    return passed();
}
