/* The kernels of Tyto's cuBLAS and cuBLASLt, except those for tensor cores (tensor_kernels.cu). They compute in float, in double if the data are double, and in
 * 32-bit integers on request; half and bfloat16 are only storage formats. The order of sums depends on the
 * sizes alone, so results are the same on every machine and under every schedule.
 *
 * Each kernel exists once for each type suffix: f32, f64, f16, bf16, s8, s32, c32, c64 (complex numbers of
 * floats and doubles). */
#include <tyto_device.h>

#include "blas_finish.cuh"

/* ---- Level 1: sizes and sums of numbers ---- */

/* The size of a number as level 1 defines it. */
template <class T> __device__ typename Real<T>::type magnitude(T x) {
    if constexpr (Real<T>::is_complex) return (x.x < 0 ? -x.x : x.x) + (x.y < 0 ? -x.y : x.y);
    else return x < 0 ? -x : x;
}

/* The term that an element adds to a reduction. */
enum { DOT, ASUM, NRM2, AMAX, AMIN, DOT_CONJUGATED };

/* The type in which a reduction sums: squares may exceed a float's range. */
template <class T, int what> struct Total {
    typedef typename Real<typename Sum<T>::type>::type type;
};
template <class T> struct Total<T, DOT> {
    typedef typename Sum<T>::type type;
};
template <class T> struct Total<T, DOT_CONJUGATED> {
    typedef typename Sum<T>::type type;
};
template <class T> struct Total<T, NRM2> {
    typedef double type;
};

template <class T> __device__ T &at(const BlasVector &v, long long i, long long r = 0) {
    return ((T *)v.items)[v.start + i * v.step + r * v.lead];
}

/* ---- Level 1: element by element ---- */

template <class T> __device__ void map_axpy(const BlasMap &p) {
    typedef typename Sum<T>::type A;
    A a = scalar<A, A>(p.c);
    for (long long i = global_index(); i < p.n; i += global_stride())
        write(at<T>(p.y, i), a * read<A>(at<T>(p.x, i)) + read<A>(at<T>(p.y, i)));
}

template <class T> __device__ void map_scal(const BlasMap &p) {
    typedef typename Sum<T>::type A;
    A a = scalar<A, A>(p.c);
    for (long long i = global_index(); i < p.n; i += global_stride())
        write(at<T>(p.x, i), a * read<A>(at<T>(p.x, i)));
}

template <class T> __device__ void map_copy(const BlasMap &p) {
    for (long long i = global_index(); i < p.n; i += global_stride())
        at<T>(p.y, i) = at<T>(p.x, i);
}

template <class T> __device__ void map_swap(const BlasMap &p) {
    for (long long i = global_index(); i < p.n; i += global_stride()) {
        T x = at<T>(p.x, i);
        at<T>(p.x, i) = at<T>(p.y, i);
        at<T>(p.y, i) = x;
    }
}

template <class T> __device__ void rotate(const BlasMap &p, T h11, T h12, T h21, T h22) {
    for (long long i = global_index(); i < p.n; i += global_stride()) {
        T x = at<T>(p.x, i), y = at<T>(p.y, i);
        at<T>(p.x, i) = h11 * x + h12 * y;
        at<T>(p.y, i) = h21 * x + h22 * y;
    }
}

template <class T> __device__ void map_rot(const BlasMap &p) {
    T c = scalar<T, T>(p.c), s = scalar<T, T>(p.s);
    rotate<T>(p, c, s, -s, c);
}

/* The flag of a modified rotation says which of its four numbers are stored (Lawson et al. 1979). */
template <class T> __device__ void map_rotm(const BlasMap &p) {
    const T *h = (const T *)p.parameters;
    if (h[0] == (T)-2) return;
    if (h[0] == (T)0) rotate<T>(p, 1, h[3], h[2], 1);
    else if (h[0] == (T)1) rotate<T>(p, h[1], 1, -1, h[4]);
    else rotate<T>(p, h[1], h[3], h[2], h[4]);
}

/* ---- Level 1: reduction to one number ---- */

template <class A> struct Found {
    A value;
    long long index;
};

/* Combines two partial results. For the largest and smallest element, the first of equal ones counts. */
enum Kind { ADD, LARGEST, SMALLEST };

template <int kind, class A> __device__ Found<A> merge(Found<A> a, Found<A> b) {
    if constexpr (kind == ADD) return {a.value + b.value, 0};
    else {
        bool is_better = kind == LARGEST ? b.value > a.value : b.value < a.value;
        bool is_first = b.value == a.value && b.index < a.index;
        if (b.index < 0) return a;
        return a.index < 0 || is_better || is_first ? b : a;
    }
}

template <int kind, class A> __device__ Found<A> reduce_block(Found<A> mine) {
    __shared__ Found<A> found[256];
    found[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = 128; half; half /= 2) {
        if (threadIdx.x < half) found[threadIdx.x] = merge<kind>(found[threadIdx.x], found[threadIdx.x + half]);
        __syncthreads();
    }
    return found[0];
}

template <class T, int what> __device__ Found<typename Total<T, what>::type> term(const BlasReduce &p, long long i) {
    typedef typename Total<T, what>::type A;
    typedef typename Sum<T>::type S;
    if constexpr (what == DOT || what == DOT_CONJUGATED) {
        A x = conjugate_if(what == DOT_CONJUGATED, read<A>(at<T>(p.x, i)));
        return {x * read<A>(at<T>(p.y, i)), 0};
    } else if constexpr (what == NRM2 && Real<S>::is_complex) {
        double x = at<T>(p.x, i).x, y = at<T>(p.x, i).y;
        return {x * x + y * y, 0};
    } else if constexpr (what == NRM2) {
        A x = read<A>(at<T>(p.x, i));
        return {x * x, 0};
    } else return {magnitude(read<S>(at<T>(p.x, i))), i};
}

template <int what> struct Merging {
    static const int kind = what == AMAX ? LARGEST : what == AMIN ? SMALLEST : ADD;
};

template <class T, int what> __device__ void reduce_parts(const BlasReduce &p) {
    typedef typename Total<T, what>::type A;
    const int kind = Merging<what>::kind;
    Found<A> mine = {0, kind == ADD ? 0 : -1};
    for (long long i = global_index(); i < p.n; i += global_stride())
        mine = merge<kind>(mine, term<T, what>(p, i));
    mine = reduce_block<kind>(mine);
    if (threadIdx.x == 0) ((Found<A> *)p.partial)[blockIdx.x] = mine;
}

template <class T, int what> __device__ void reduce_end(const BlasReduce &p) {
    typedef typename Total<T, what>::type A;
    const int kind = Merging<what>::kind;
    Found<A> mine = {0, kind == ADD ? 0 : -1};
    for (int i = (int)threadIdx.x; i < p.parts; i += 256)
        mine = merge<kind>(mine, ((const Found<A> *)p.partial)[i]);
    mine = reduce_block<kind>(mine);
    if (threadIdx.x != 0) return;
    if constexpr (kind != ADD) {
        if (p.has_wide_index) *(long long *)p.out = mine.index + 1;
        else *(int *)p.out = (int)(mine.index + 1);
    } else if constexpr (what == DOT || what == DOT_CONJUGATED) write(*(T *)p.out, mine.value);
    else write(*(typename Real<T>::type *)p.out, what == NRM2 ? (A)sqrt((double)mine.value) : mine.value);
}

/* ---- Level 2 ---- */

template <class T> __device__ T element(const BlasMatrix &m, long long i, long long j) {
    const T *items = (const T *)m.items;
    long long swap = i;
    bool is_outside = m.part == BLAS_LOWER ? j > i : m.part == BLAS_UPPER && j < i;
    if (is_outside && !m.is_symmetric) return 0;
    if (is_outside) i = j, j = swap;
    if (m.has_unit && i == j) return 1;
    if (m.storage == BLAS_BAND && (j - i > m.above || i - j > m.below)) return 0;
    if (m.storage == BLAS_DENSE) items += i + j * m.lead;
    else if (m.storage == BLAS_BAND) items += m.above + i - j + j * m.lead;
    else items += m.part == BLAS_LOWER ? i + (2LL * m.order - j - 1) * j / 2 : i + j * (j + 1) / 2;
    if constexpr (Real<T>::is_complex) {
        if (m.is_hermitian && i == j) return items->x;
        return conjugate_if(m.is_hermitian && is_outside, *items);
    } else return *items;
}

template <class T> __device__ T used(const BlasMatrix &m, long long i, long long j) {
    return conjugate_if(m.is_conjugated, m.is_transposed ? element<T>(m, j, i) : element<T>(m, i, j));
}

template <class T> __device__ void put_row(const BlasMultiply &p, long long i, long long r, T sum) {
    T alpha = scalar<T, T>(p.alpha), beta = scalar<T, T>(p.beta);
    T &y = at<T>(p.y, i, r);
    y = beta == 0 ? alpha * sum : alpha * sum + beta * y;
}

/* One thread for each row. */
template <class T> __device__ void multiply_rows(const BlasMultiply &p) {
    long long i = global_index();
    if (i >= p.rows) return;
    for (long long r = blockIdx.y; r < p.count; r += gridDim.y) {
        T sum = 0;
        for (int j = 0; j < p.columns; j++)
            sum += used<T>(p.a, i, j) * at<T>(p.x, j, r);
        put_row(p, i, r, sum);
    }
}

/* One warp for each row, if the numbers of a row are contiguous. */
template <class T> __device__ void multiply_lines(const BlasMultiply &p) {
    long long i = global_index() / 32;
    int lane = (int)threadIdx.x % 32;
    if (i >= p.rows) return;
    for (long long r = blockIdx.y; r < p.count; r += gridDim.y) {
        T sum = 0;
        for (int j = lane; j < p.columns; j += 32)
            sum += used<T>(p.a, i, j) * at<T>(p.x, j, r);
        for (int half = 16; half; half /= 2)
            sum += shuffle_down(sum, half);
        if (lane == 0) put_row(p, i, r, sum);
    }
}

/* One block for each x: substitution, one unknown after another. */
template <class T> __device__ void solve(const BlasSolve &p) {
    T alpha = scalar<T, T>(p.alpha);
    long long r = blockIdx.x;
    BlasMatrix a = p.a;
    BlasVector b = p.x;
    if (p.is_list) {
        a.items = ((const uint64_t *)a.items)[blockIdx.y];
        b.items = ((const uint64_t *)b.items)[blockIdx.y];
    }
    for (int i = (int)threadIdx.x; i < p.rows; i += (int)blockDim.x)
        at<T>(b, i, r) *= alpha;
    __syncthreads();
    for (int step = 0; step < p.rows; step++) {
        int i = p.is_lower ? step : p.rows - 1 - step;
        if (threadIdx.x == 0) at<T>(b, i, r) /= used<T>(a, i, i);
        __syncthreads();
        T x = at<T>(b, i, r);
        for (int rest = step + 1 + (int)threadIdx.x; rest < p.rows; rest += (int)blockDim.x) {
            int j = p.is_lower ? rest : p.rows - 1 - rest;
            at<T>(b, j, r) -= used<T>(a, j, i) * x;
        }
        __syncthreads();
    }
}

/* One thread for each stored element of A. */
template <class T> __device__ void update(const BlasUpdate &p) {
    T alpha = scalar<T, T>(p.alpha);
    long long i = global_index(), j = blockIdx.y;
    for (; j < p.columns; j += gridDim.y) {
        if (i >= p.rows || (p.a.part == BLAS_LOWER && i < j) || (p.a.part == BLAS_UPPER && i > j)) continue;
        T *items = (T *)p.a.items;
        if (p.a.storage == BLAS_DENSE) items += i + j * p.a.lead;
        else items += p.a.part == BLAS_LOWER ? i + (2LL * p.a.order - j - 1) * j / 2 : i + j * (j + 1) / 2;
        T sum = alpha * at<T>(p.x, i) * conjugate_if(p.is_conjugated, at<T>(p.y, j));
        if (p.has_two_sides)
            sum += conjugate_if(p.is_conjugated, alpha) * at<T>(p.y, i) * conjugate_if(p.is_conjugated, at<T>(p.x, j));
        *items += sum;
        if constexpr (Real<T>::is_complex) {
            if (p.a.is_hermitian && i == j) items->y = 0;
        }
    }
}

/* ---- Products ---- */

enum { TILE = 64, DEPTH = 16, EACH = 4 };

/* Loads a tile of op(A) or op(B) into shared memory, with zeros outside the matrix. Adjacent threads load
 * adjacent elements. `along` counts rows of A or columns of B. */
template <class In, class A>
__device__ void load_tile(A tile[DEPTH][TILE + 1], const In *items, long long along_step, long long k_step,
                          long long along, int along_end, int k, int k_end, bool conjugates) {
    for (int e = (int)threadIdx.x; e < TILE * DEPTH; e += 256) {
        int a = along_step == 1 ? e % TILE : e / DEPTH, d = along_step == 1 ? e / TILE : e % DEPTH;
        bool is_inside = along + a < along_end && k + d < k_end;
        A value = is_inside ? read<A>(items[(along + a) * along_step + (k + d) * k_step]) : (A)0;
        tile[d][a] = conjugate_if(conjugates, value);
    }
}

/* One block of 256 threads for a tile of 64 x 64, 4 x 4 per thread. Types: In: of A and B; Out: of C and D;
 * A: of the sum; S: of the factors. */
template <class In, class Out, class A, class S> __device__ void product(const BlasProduct &p) {
    __shared__ A a_tile[DEPTH][TILE + 1], b_tile[DEPTH][TILE + 1];
    long long batch = blockIdx.z, row = (long long)blockIdx.x * TILE, column = (long long)blockIdx.y * TILE;
    const In *a = item<const In>(p.a, p.is_list, batch), *b = item<const In>(p.b, p.is_list, batch);
    int ti = (int)threadIdx.x % 16, tj = (int)threadIdx.x / 16;
    A sums[EACH][EACH] = {};
    for (int k = 0; k < p.k; k += DEPTH) {
        load_tile(a_tile, a, p.a.row, p.a.column, row, p.m, k, p.k, p.conjugates_a);
        load_tile(b_tile, b, p.b.column, p.b.row, column, p.n, k, p.k, p.conjugates_b);
        __syncthreads();
        for (int d = 0; d < DEPTH; d++) {
            A left[EACH], right[EACH];
            for (int e = 0; e < EACH; e++)
                left[e] = a_tile[d][ti + 16 * e], right[e] = b_tile[d][tj + 16 * e];
            for (int x = 0; x < EACH; x++)
                for (int y = 0; y < EACH; y++)
                    sums[x][y] += left[x] * right[y];
        }
        __syncthreads();
    }
    S alpha = scalar<S, S>(p.alpha), beta = scalar<S, S>(p.beta);
    const Out *c = beta != 0 ? item<const Out>(p.c, p.is_list, batch) : nullptr;
    Out *d = item<Out>(p.d, p.is_list, batch);
    for (int x = 0; x < EACH; x++) {
        for (int y = 0; y < EACH; y++) {
            long long i = row + ti + 16 * x, j = column + tj + 16 * y;
            if (i >= p.m || j >= p.n || (p.part == BLAS_LOWER && i < j) || (p.part == BLAS_UPPER && i > j)) continue;
            S value = finished<Out>(p, (S)sums[x][y], i, j, batch, alpha, beta, c);
            write(d[i * p.d.row + j * p.d.column], value);
        }
    }
}

/* One warp for each row. */
template <class T> __device__ void row_sum(const BlasRowSum &p) {
    typedef typename Sum<T>::type A;
    long long i = global_index() / 32;
    int lane = (int)threadIdx.x % 32;
    if (i >= p.rows) return;
    A sum = 0;
    for (int j = lane; j < p.columns; j += 32)
        sum += read<A>(((const T *)p.a.items)[i * p.a.row + j * p.a.column]);
    for (int half = 16; half; half /= 2)
        sum += shuffle_down(sum, half);
    if (lane != 0) return;
    if (p.out_is_f32) ((float *)p.out)[i] = (float)sum;
    else write(((T *)p.out)[i], sum);
}

/* ---- Factors of small matrices: a block for each matrix of a list ---- */

template <class T> __device__ void swap_rows(T *a, long long lead, int columns, int i, int j) {
    for (int c = (int)threadIdx.x; c < columns; c += 256) {
        T x = a[i + c * lead];
        a[i + c * lead] = a[j + c * lead];
        a[j + c * lead] = x;
    }
}

/* LU factors, one column after another; the pivot is the largest number of its column. If it is 0, the column
 * is left as it is. Source: the reference LAPACK's getf2. */
template <class T> __device__ void factor(const BlasFactor &p) {
    typedef typename Real<T>::type R;
    T *a = ((T *const *)p.items)[blockIdx.x];
    int n = p.order, info = 0;
    for (int k = 0; k < n; k++) {
        Found<R> mine = {0, -1};
        for (int i = k + (int)threadIdx.x; i < n && p.pivots; i += 256)
            mine = merge<LARGEST>(mine, Found<R>{magnitude(a[i + k * p.lead]), i});
        int row = p.pivots ? (int)reduce_block<LARGEST>(mine).index : k;
        if (p.pivots && threadIdx.x == 0) ((int *)p.pivots)[blockIdx.x * (long long)n + k] = row + 1;
        if (row != k) swap_rows(a, p.lead, n, k, row);
        __syncthreads();
        T pivot = a[k + k * p.lead];
        if (pivot == 0) {
            if (info == 0) info = k + 1;
            continue;
        }
        for (int i = k + 1 + (int)threadIdx.x; i < n; i += 256)
            a[i + k * p.lead] /= pivot;
        __syncthreads();
        int rest = n - k - 1;
        for (int e = (int)threadIdx.x; e < rest * rest; e += 256) {
            int i = k + 1 + e % rest, j = k + 1 + e / rest;
            a[i + j * p.lead] -= a[i + k * p.lead] * a[k + j * p.lead];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) ((int *)p.infos)[blockIdx.x] = info;
}

template <class T> __device__ void permute(const BlasPermute &p) {
    T *b = ((T *const *)p.items)[blockIdx.y];
    const int *pivots = (const int *)p.pivots + (long long)blockIdx.y * p.order;
    long long column = global_index();
    if (column >= p.columns) return;
    b += column * p.lead;
    for (int step = 0; step < p.order; step++) {
        int i = p.is_backward ? p.order - 1 - step : step, j = pivots[i] - 1;
        T x = b[i];
        b[i] = b[j];
        b[j] = x;
    }
}

template <class T> __device__ void unit(const BlasUnit &p) {
    T *a = ((T *const *)p.items)[blockIdx.y];
    long long e = global_index();
    if (e < (long long)p.order * p.order) a[e % p.order + e / p.order * p.lead] = (T)(e % p.order == e / p.order);
    if (e != 0) return;
    const T *factors = ((const T *const *)p.factors)[blockIdx.y];
    int k = 0;
    while (k < p.order && factors[k * (p.factor_lead + 1)] != 0)
        k++;
    ((int *)p.infos)[blockIdx.y] = k < p.order ? k + 1 : 0;
}

/* ---- Whole matrices, element by element ---- */

template <class T> __device__ T &entry(const BlasOperand &o, long long i, long long j) {
    return ((T *)o.items)[i * o.row + j * o.column];
}

template <class T> __device__ void combine(const BlasCombine &p) {
    typedef typename Sum<T>::type A;
    A alpha = scalar<A, A>(p.alpha), beta = scalar<A, A>(p.beta);
    long long i = global_index();
    if (i >= p.m) return;
    for (long long j = blockIdx.y; j < p.n; j += gridDim.y) {
        A sum = 0;
        if (alpha != 0) sum = alpha * conjugate_if(p.conjugates_a, read<A>(entry<T>(p.a, i, j)));
        if (beta != 0) sum += beta * conjugate_if(p.conjugates_b, read<A>(entry<T>(p.b, i, j)));
        write(entry<T>(p.c, i, j), sum);
    }
}

template <class T> __device__ void scale_lines(const BlasScaleLines &p) {
    long long i = global_index();
    if (i >= p.m) return;
    for (long long j = blockIdx.y; j < p.n; j += gridDim.y)
        entry<T>(p.c, i, j) = entry<T>(p.a, i, j) * at<T>(p.x, p.is_by_row ? i : j);
}

/* ---- Instances of each kernel for its types ---- */

#define KERNEL(name, Parameters, call)                                                                       \
    extern "C" __global__ void __launch_bounds__(256) name(const Parameters p) { call(p); }

#define REDUCTION(kernel, name, T, what)                                                                      \
    KERNEL(kernel##_##name, BlasReduce, (reduce_parts<T, what>))                                             \
    KERNEL(kernel##_end_##name, BlasReduce, (reduce_end<T, what>))

#define FOR_ALL(name, T)                                                                                     \
    KERNEL(axpy_##name, BlasMap, map_axpy<T>)                                                                \
    KERNEL(scal_##name, BlasMap, map_scal<T>)                                                                \
    KERNEL(copy_##name, BlasMap, map_copy<T>)                                                                \
    KERNEL(swap_##name, BlasMap, map_swap<T>)                                                                \
    REDUCTION(dot, name, T, DOT)                                                                             \
    REDUCTION(asum, name, T, ASUM)                                                                           \
    REDUCTION(nrm2, name, T, NRM2)                                                                           \
    REDUCTION(amax, name, T, AMAX)                                                                           \
    REDUCTION(amin, name, T, AMIN)                                                                           \
    KERNEL(combine_##name, BlasCombine, combine<T>)

/* Kernels that compute in the type in which numbers are stored. */
#define FOR_EXACT(name, T)                                                                                   \
    FOR_ALL(name, T)                                                                                         \
    KERNEL(multiply_rows_##name, BlasMultiply, multiply_rows<T>)                                             \
    KERNEL(multiply_lines_##name, BlasMultiply, multiply_lines<T>)                                           \
    KERNEL(solve_##name, BlasSolve, solve<T>)                                                                \
    KERNEL(update_##name, BlasUpdate, update<T>)                                                             \
    KERNEL(scale_lines_##name, BlasScaleLines, scale_lines<T>)                                               \
    KERNEL(factor_##name, BlasFactor, factor<T>)                                                             \
    KERNEL(permute_##name, BlasPermute, permute<T>)                                                          \
    KERNEL(unit_##name, BlasUnit, unit<T>)                                                                   \
    KERNEL(gemm_##name##_##name, BlasProduct, (product<T, T, T, T>))

#define FOR_REALS(name, T)                                                                                   \
    FOR_EXACT(name, T)                                                                                       \
    KERNEL(rot_##name, BlasMap, map_rot<T>)                                                                  \
    KERNEL(rotm_##name, BlasMap, map_rotm<T>)

#define FOR_COMPLEX(name, T)                                                                                 \
    FOR_EXACT(name, T)                                                                                       \
    REDUCTION(dotc, name, T, DOT_CONJUGATED)

/* Gradients of biases. */
KERNEL(row_sum_f32, BlasRowSum, row_sum<float>)
KERNEL(row_sum_f64, BlasRowSum, row_sum<double>)
KERNEL(row_sum_f16, BlasRowSum, row_sum<F16>)
KERNEL(row_sum_bf16, BlasRowSum, row_sum<BF16>)

FOR_REALS(f32, float)
FOR_REALS(f64, double)
FOR_ALL(f16, F16)
FOR_ALL(bf16, BF16)
FOR_COMPLEX(c32, C32)
FOR_COMPLEX(c64, C64)

KERNEL(gemm_f16_f16, BlasProduct, (product<F16, F16, float, float>))
KERNEL(gemm_f16_f32, BlasProduct, (product<F16, float, float, float>))
KERNEL(gemm_bf16_bf16, BlasProduct, (product<BF16, BF16, float, float>))
KERNEL(gemm_bf16_f32, BlasProduct, (product<BF16, float, float, float>))
KERNEL(gemm_s8_s32, BlasProduct, (product<signed char, int, int, int>))
KERNEL(gemm_s8_f32, BlasProduct, (product<signed char, float, int, float>))
