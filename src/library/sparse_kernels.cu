/* The kernels of Tyto's cuSPARSE. They compute in float, or in double if the data are double; half and bfloat16 are
 * only storage formats. The order of sums depends only on the matrix, so results are the same on every machine and
 * under every schedule. No kernel adds numbers with atomics.
 *
 * Kernels that read values exist once for each type suffix: f32, f64, f16, bf16, c32, c64 (complex numbers of floats
 * and doubles). Products of half and bfloat16 are named after both types, of A and of the result. */
#include <tyto_device.h>

#include "numbers.cuh"
#include "sparse_device.h"

__device__ int index_at(const SparseIndices &list, long long i) {
    long long value = list.is_wide ? ((const long long *)list.items)[i] : ((const int *)list.items)[i];
    return (int)(value - list.base);
}

__device__ void put_index(const SparseIndices &list, long long i, int value) {
    if (list.is_wide) ((long long *)list.items)[i] = (long long)value + list.base;
    else ((int *)list.items)[i] = value + list.base;
}

/* The number of items of a sorted list that are less than `limit`. */
__device__ int lower_bound(const SparseIndices &sorted, int count, int limit) {
    int first = 0;
    while (count > 0) {
        int half = count / 2;
        bool is_less = index_at(sorted, first + half) < limit;
        if (is_less) first += half + 1;
        count = is_less ? count - half - 1 : half;
    }
    return first;
}

__device__ int line_of(const SparseEntries &e, int k) {
    return e.has_offsets ? lower_bound(e.major, e.lines, k + 1) - 1 : index_at(e.major, k);
}

template <class T> __device__ T &at(const SparseDense &m, long long i, long long j = 0) {
    return ((T *)m.items)[i * m.row + j * m.column];
}

template <class A, class T> __device__ A dense_value(const SparseDense &m, long long i, long long j = 0) {
    return conjugate_if(m.is_conjugated, read<A>(at<T>(m, i, j)));
}

template <class A> __device__ A scalar(const SparseScalar &s) {
    typedef typename Real<A>::type R;
    if (s.pointer) return *(const A *)s.pointer;
    if constexpr (Real<A>::is_complex) return A((R)s.value, (R)s.imaginary);
    else return (A)s.value;
}

/* *to = alpha * sum + beta * *to. If beta is 0, *to is not read. (With a reference, the compiler would read it
 * first.) */
template <class A, class T>
__device__ void put_sum(T *to, A sum, const SparseScalar &alpha, const SparseScalar &beta) {
    A factor = scalar<A>(beta);
    sum = scalar<A>(alpha) * sum;
    if (factor != (A)0) sum = sum + factor * read<A>(*to);
    write(*to, sum);
}

/* ---- Products ---- */

template <class A, class T> __device__ A line_value(const SparseLines &m, int k) {
    int place = m.order ? ((const int *)m.order)[k] : k;
    return conjugate_if(m.is_conjugated, read<A>(((const T *)m.values)[place]));
}

/* The elements of a row; none if there is no such row. */
struct Range {
    int first, end;
    __device__ Range(const SparseLines &m, long long line) : first(0), end(0) {
        if (line >= m.count || !m.offsets.items) return;
        first = index_at(m.offsets, line);
        end = index_at(m.offsets, line + 1);
    }
};

/* Sums over the groups of `lanes` threads; the first thread of each has the result. */
template <class A> __device__ A sum_lanes(A sum, int lanes) {
    for (int half = lanes / 2; half; half /= 2)
        sum += shuffle_down(sum, half);
    return sum;
}

/* Several threads for each row, which add up its elements. */
template <class T, class U> __device__ void multiply_vector(const SparseMultiply &p) {
    typedef typename Sum<T>::type A;
    long long line = global_index() / p.lanes;
    int lane = (int)threadIdx.x % p.lanes;
    Range range(p.a, line);
    A sum = 0;
    for (int k = range.first + lane; k < range.end; k += p.lanes)
        sum += line_value<A, T>(p.a, k) * dense_value<A, T>(p.b, index_at(p.a.indices, k));
    sum = sum_lanes(sum, p.lanes);
    if (lane == 0 && line < p.a.count) put_sum(&at<U>(p.c, line), sum, p.alpha, p.beta);
}

/* Several threads for each row. Each thread computes one column of C. */
template <class T, class U> __device__ void multiply_matrix(const SparseMultiply &p) {
    typedef typename Sum<T>::type A;
    long long line = global_index() / p.lanes;
    Range range(p.a, line);
    if (line >= p.a.count) return;
    long long first = (long long)blockIdx.y * p.lanes + threadIdx.x % p.lanes;
    for (long long j = first; j < p.columns; j += gridDim.y * p.lanes) {
        A sum = 0;
        for (int k = range.first; k < range.end; k++)
            sum += line_value<A, T>(p.a, k) * dense_value<A, T>(p.b, index_at(p.a.indices, k), j);
        put_sum(&at<U>(p.c, line, j), sum, p.alpha, p.beta);
    }
}

/* One thread for each element of C. */
template <class T, class U> __device__ void sample(const SparseSample &p) {
    typedef typename Sum<T>::type A;
    int k = (int)global_index();
    if (k >= p.c.count) return;
    int line = line_of(p.c, k), place = index_at(p.c.minor, k);
    int i = p.c.is_by_column ? place : line, j = p.c.is_by_column ? line : place;
    A sum = 0;
    for (int l = 0; l < p.depth; l++)
        sum += dense_value<A, T>(p.a, i, l) * dense_value<A, T>(p.b, l, j);
    put_sum((U *)p.c.values + k, sum, p.alpha, p.beta);
}

/* One warp substitutes one unknown after another. */
template <class T> __device__ void solve(const SparseSolve &p) {
    T alpha = scalar<T>(p.alpha);
    int lane = (int)threadIdx.x;
    for (int step = 0; step < p.a.count; step++) {
        int line = p.is_lower ? step : p.a.count - 1 - step;
        Range range(p.a, line);
        T sum = 0, diagonal = 0;
        for (int k = range.first + lane; k < range.end; k += 32) {
            int j = index_at(p.a.indices, k);
            T value = line_value<T, T>(p.a, k);
            if (j == line) diagonal += value;
            else if (p.is_lower ? j < line : j > line) sum += value * at<T>(p.y, j);
        }
        sum = sum_lanes(sum, 32);
        diagonal = sum_lanes(diagonal, 32);
        if (lane == 0) {
            T rest = alpha * at<T>(p.x, line) - sum;
            at<T>(p.y, line) = p.has_unit ? rest : rest / diagonal;
        }
        __syncwarp();
    }
}

/* ---- A sparse vector and a dense one ---- */

/* One block adds up all elements. */
template <class T, class U> __device__ void dot(const SparsePair &p) {
    typedef typename Sum<T>::type A;
    __shared__ A sums[256];
    A sum = 0;
    for (int k = (int)threadIdx.x; k < p.count; k += 256) {
        A x = conjugate_if(p.is_conjugated, read<A>(((const T *)p.values)[k]));
        sum += x * read<A>(((const T *)p.dense)[index_at(p.indices, k)]);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) write(*(U *)p.result, sums[0]);
}

template <class T> __device__ void gather(const SparsePair &p) {
    int k = (int)global_index();
    if (k < p.count) ((T *)p.values)[k] = ((const T *)p.dense)[index_at(p.indices, k)];
}

template <class T> __device__ void scatter(const SparsePair &p) {
    int k = (int)global_index();
    if (k < p.count) ((T *)p.dense)[index_at(p.indices, k)] = ((const T *)p.values)[k];
}

template <class T> __device__ void add(const SparsePair &p) {
    typedef typename Sum<T>::type A;
    int k = (int)global_index();
    if (k >= p.count) return;
    T &y = ((T *)p.dense)[index_at(p.indices, k)];
    write(y, scalar<A>(p.alpha) * read<A>(((const T *)p.values)[k]) + read<A>(y));
}

/* ---- Sparse and dense matrices ---- */

template <class T> __device__ void scale(const SparseScale &p) {
    typedef typename Sum<T>::type A;
    long long i = global_index();
    if (i >= p.rows) return;
    A beta = scalar<A>(p.beta);
    for (long long j = blockIdx.y; j < p.columns; j += gridDim.y) {
        T *to = &at<T>(p.a, i, j);
        A value = 0;
        if (beta != (A)0) value = beta * read<A>(*to);
        write(*to, value);
    }
}

template <class T> __device__ void expand(const SparseExpand &p) {
    int k = (int)global_index();
    if (k >= p.a.count) return;
    int line = line_of(p.a, k), place = index_at(p.a.minor, k);
    T &to = p.a.is_by_column ? at<T>(p.b, place, line) : at<T>(p.b, line, place);
    to = ((const T *)p.a.values)[k];
}

template <class T> __device__ bool is_zero(const T &x) {
    typedef typename Sum<T>::type A;
    return read<A>(x) == (A)0;
}

/* One warp for each line, and one more that sets the count behind the last line to 0. */
template <class T> __device__ void count_elements(const SparseCompress &p) {
    long long line = global_index() / 32;
    int lane = (int)threadIdx.x % 32, count = 0;
    if (line > p.b.lines) return;
    for (int j = lane; line < p.b.lines && j < p.places; j += 32)
        count += !is_zero(at<T>(p.a, line, j));
    count = sum_lanes(count, 32);
    if (lane == 0) ((int *)p.counts)[line] = count;
}

/* One warp for each line, which writes its elements in order; one more for the end of the last line. */
template <class T> __device__ void write_elements(const SparseCompress &p) {
    long long line = global_index() / 32;
    int lane = (int)threadIdx.x % 32;
    if (line > p.b.lines) return;
    int place = ((const int *)p.counts)[line];
    if (lane == 0 && p.b.has_offsets) put_index(p.b.major, line, place);
    for (int first = 0; line < p.b.lines && first < p.places; first += 32) {
        int j = first + lane;
        bool is_element = j < p.places && !is_zero(at<T>(p.a, line, j));
        unsigned elements = __ballot_sync(0xffffffff, is_element);
        int k = place + __popc(elements & ((1u << lane) - 1));
        if (is_element) {
            ((T *)p.b.values)[k] = at<T>(p.a, line, j);
            put_index(p.b.minor, k, j);
            if (!p.b.has_offsets) put_index(p.b.major, k, (int)line);
        }
        place += __popc(elements);
    }
}

template <class T> __device__ void permute(const SparsePermute &p) {
    int k = (int)global_index();
    if (k < p.count) ((T *)p.out)[k] = ((const T *)p.in)[((const int *)p.order)[k]];
}

/* ---- Indices ---- */

__device__ void pick_index(const SparsePick &p) {
    int k = (int)global_index();
    if (k >= p.from.count) return;
    int element = p.order ? ((const int *)p.order)[k] : k;
    put_index(p.out, k, p.wants_minor ? index_at(p.from.minor, element) : line_of(p.from, element));
}

__device__ void find_bounds(const SparseBounds &p) {
    int i = (int)global_index();
    if (i <= p.lines) put_index(p.out, i, lower_bound(p.sorted, p.count, i));
}

/* One block adds up 256 items after another. */
__device__ void add_before(const SparseScan &p) {
    __shared__ int sums[8];
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, before = 0;
    for (long long first = 0; first < p.count; first += 256) {
        long long i = first + threadIdx.x;
        int item = i < p.count ? ((const int *)p.items)[i] : 0, sum = item;
        for (int step = 1; step < 32; step *= 2) {
            int other = __shfl_up_sync(0xffffffff, sum, step);
            if (lane >= step) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        int total = 0;
        for (int w = 0; w < 8; w++) {
            if (w < warp) sum += sums[w];
            total += sums[w];
        }
        if (i < p.count) put_index(p.out, i, before + sum - item);
        before += total;
        __syncthreads();
    }
}

__device__ int digit_of(const SparseSort &p, int i) {
    return ((const int *)p.keys)[i] >> p.shift & (SPARSE_DIGITS - 1);
}

/* One block for each tile. */
__device__ void count_digits(const SparseSort &p) {
    __shared__ int counts[SPARSE_DIGITS];
    int first = (int)blockIdx.x * SPARSE_TILE, end = min(first + SPARSE_TILE, p.count);
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = first + (int)threadIdx.x; i < end; i += 256)
        atomicAdd(&counts[digit_of(p, i)], 1);
    __syncthreads();
    ((int *)p.counts)[(long long)threadIdx.x * p.tiles + blockIdx.x] = counts[threadIdx.x];
}

/* The threads of the warp whose items have the same digit. */
__device__ unsigned find_peers(int digit, bool is_item) {
    unsigned peers = __ballot_sync(0xffffffff, is_item);
    for (int bit = 1; bit < SPARSE_DIGITS; bit *= 2) {
        unsigned have = __ballot_sync(0xffffffff, (digit & bit) != 0);
        peers &= digit & bit ? have : ~have;
    }
    return peers;
}

/* One block for each tile, which moves 256 items at a time. */
__device__ void move_items(const SparseSort &p) {
    __shared__ int places[8][SPARSE_DIGITS]; /* of the next item of each warp and digit */
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    int first = (int)blockIdx.x * SPARSE_TILE, end = min(first + SPARSE_TILE, p.count);
    int next = ((const int *)p.counts)[(long long)threadIdx.x * p.tiles + blockIdx.x];
    for (; first < end; first += 256) {
        int i = first + (int)threadIdx.x;
        bool is_item = i < end;
        int digit = is_item ? digit_of(p, i) : 0;
        for (int w = 0; w < 8; w++)
            places[w][threadIdx.x] = 0;
        __syncthreads();
        unsigned peers = find_peers(digit, is_item);
        int rank = __popc(peers & ((1u << lane) - 1));
        if (is_item && rank == 0) places[warp][digit] = __popc(peers);
        __syncthreads();
        for (int w = 0; w < 8; w++) {
            int count = places[w][threadIdx.x];
            places[w][threadIdx.x] = next;
            next += count;
        }
        __syncthreads();
        if (is_item) {
            int place = places[warp][digit] + rank;
            ((int *)p.keys_out)[place] = ((const int *)p.keys)[i];
            ((int *)p.order_out)[place] = p.order ? ((const int *)p.order)[i] : i;
        }
        __syncthreads();
    }
}

__device__ void count_up(const SparseIdentity &p) {
    int k = (int)global_index();
    if (k < p.count) ((int *)p.out)[k] = k;
}

/* ---- Products of two sparse matrices ---- */

/* One thread for each element of A, and one more that sets the count behind the last to 0. */
__device__ void count_terms(const SparseTerms &p) {
    int k = (int)global_index(), count = 0;
    if (k > p.a.count) return;
    if (k < p.a.count) {
        int row = index_at(p.a.minor, k);
        count = index_at(p.b.major, row + 1) - index_at(p.b.major, row);
    }
    ((int *)p.ends)[k] = count;
}

/* One thread for each term. */
template <class T> __device__ void make_terms(const SparseTerms &p) {
    int t = (int)global_index();
    if (t >= p.count) return;
    SparseIndices ends = {p.ends, 0, 0};
    int k = lower_bound(ends, p.a.count, t + 1) - 1;
    int place = index_at(p.b.major, index_at(p.a.minor, k)) + t - index_at(ends, k);
    ((int *)p.rows)[t] = line_of(p.a, k);
    ((int *)p.columns)[t] = index_at(p.b.minor, place);
    ((T *)p.values)[t] = ((const T *)p.a.values)[k] * ((const T *)p.b.values)[place];
}

/* One thread for each term in order, and one more that writes 0 behind the last. */
__device__ void mark_first(const SparseMerge &p) {
    int t = (int)global_index();
    if (t > p.count) return;
    bool is_first = t < p.count;
    if (is_first && t > 0) {
        const int *rows = (const int *)p.rows, *columns = (const int *)p.columns, *order = (const int *)p.order;
        is_first = rows[t] != rows[t - 1] || columns[order[t]] != columns[order[t - 1]];
    }
    ((int *)p.places)[t] = is_first;
}

__device__ void write_offsets(const SparseMerge &p) {
    int i = (int)global_index();
    SparseIndices rows = {p.rows, 0, 0};
    if (i <= p.c.lines) put_index(p.c.major, i, ((const int *)p.places)[lower_bound(rows, p.count, i)]);
}

/* The thread of the first term of each element adds the others. */
template <class T> __device__ void merge_terms(const SparseMerge &p) {
    int t = (int)global_index();
    const int *order = (const int *)p.order, *places = (const int *)p.places;
    if (t >= p.count || places[t] == places[t + 1]) return;
    T sum = ((const T *)p.values)[order[t]];
    for (int other = t + 1; other < p.count && places[other] == places[other + 1]; other++)
        sum += ((const T *)p.values)[order[other]];
    put_index(p.c.minor, places[t], ((const int *)p.columns)[order[t]]);
    put_sum((T *)p.c.values + places[t], sum, p.alpha, p.beta);
}

/* ---- Instances of each kernel for its types ---- */

#define KERNEL(name, Parameters, call)                                                                       \
    extern "C" __global__ void __launch_bounds__(256) name(const Parameters p) { call(p); }

KERNEL(pick, SparsePick, pick_index)
KERNEL(bounds, SparseBounds, find_bounds)
KERNEL(scan, SparseScan, add_before)
KERNEL(sort_count, SparseSort, count_digits)
KERNEL(sort_move, SparseSort, move_items)
KERNEL(identity, SparseIdentity, count_up)
KERNEL(terms_count, SparseTerms, count_terms)
KERNEL(merge_mark, SparseMerge, mark_first)
KERNEL(merge_offsets, SparseMerge, write_offsets)

#define FOR_TYPE(name, T)                                                                                    \
    KERNEL(gather_##name, SparsePair, gather<T>)                                                             \
    KERNEL(scatter_##name, SparsePair, scatter<T>)                                                           \
    KERNEL(add_##name, SparsePair, add<T>)                                                                   \
    KERNEL(scale_##name, SparseScale, scale<T>)                                                              \
    KERNEL(expand_##name, SparseExpand, expand<T>)                                                           \
    KERNEL(count_##name, SparseCompress, count_elements<T>)                                                  \
    KERNEL(write_##name, SparseCompress, write_elements<T>)                                                  \
    KERNEL(permute_##name, SparsePermute, permute<T>)
FOR_TYPE(f32, float)
FOR_TYPE(f64, double)
FOR_TYPE(f16, F16)
FOR_TYPE(bf16, BF16)
FOR_TYPE(c32, C32)
FOR_TYPE(c64, C64)

#define FOR_PRODUCT(name, T, U)                                                                              \
    KERNEL(spmv_##name, SparseMultiply, (multiply_vector<T, U>))                                             \
    KERNEL(spmm_##name, SparseMultiply, (multiply_matrix<T, U>))                                             \
    KERNEL(sddmm_##name, SparseSample, (sample<T, U>))                                                       \
    KERNEL(dot_##name, SparsePair, (dot<T, U>))
FOR_PRODUCT(f32, float, float)
FOR_PRODUCT(f64, double, double)
FOR_PRODUCT(c32, C32, C32)
FOR_PRODUCT(c64, C64, C64)
FOR_PRODUCT(f16_f16, F16, F16)
FOR_PRODUCT(f16_f32, F16, float)
FOR_PRODUCT(bf16_bf16, BF16, BF16)
FOR_PRODUCT(bf16_f32, BF16, float)

#define FOR_EXACT(name, T)                                                                                   \
    KERNEL(solve_##name, SparseSolve, solve<T>)                                                              \
    KERNEL(terms_##name, SparseTerms, make_terms<T>)                                                         \
    KERNEL(merge_##name, SparseMerge, merge_terms<T>)
FOR_EXACT(f32, float)
FOR_EXACT(f64, double)
FOR_EXACT(c32, C32)
FOR_EXACT(c64, C64)
