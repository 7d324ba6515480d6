
// Values between memory and registers, for the patterns. Numbers `stride` apart:
template<class T, class R> PB T pb_load(const R* p, size_t stride) {
    T value;
    R* numbers = (R*)&value;
    PB_UNROLL for (unsigned c = 0; c < sizeof(T) / sizeof(R); ++c) numbers[c] = p[c * stride];
    return value;
}
template<class T, class R> PB void pb_store(R* p, size_t stride, const T& value) {
    const R* numbers = (const R*)&value;
    PB_UNROLL for (unsigned c = 0; c < sizeof(T) / sizeof(R); ++c) p[c * stride] = numbers[c];
}
template<class T, class R> PB void pb_store_add(R* p, size_t stride, const T& value) {
    const R* numbers = (const R*)&value;
    PB_UNROLL for (unsigned c = 0; c < sizeof(T) / sizeof(R); ++c) p[c * stride] = p[c * stride] + numbers[c];
}

// Rows of numbers side by side, padded to four, 16 bytes at a time:
template<class R> struct alignas(16) pb_sixteen { R v[16 / sizeof(R)]; };
template<class T, class R> PB T pb_load_row(const R* p) {
    constexpr unsigned n = sizeof(T) / sizeof(R), per = 16 / sizeof(R), chunks = (n + per - 1) / per;
    pb_sixteen<R> row[chunks];
    PB_UNROLL for (unsigned c = 0; c < chunks; ++c) row[c] = ((const pb_sixteen<R>*)p)[c];
    T value;
    R* numbers = (R*)&value;
    PB_UNROLL for (unsigned c = 0; c < n; ++c) numbers[c] = row[c / per].v[c % per];
    return value;
}
template<class T, class R> PB void pb_store_row(R* p, const T& value) {
    constexpr unsigned n = sizeof(T) / sizeof(R), per = 16 / sizeof(R), padded = (n + 3) / 4 * 4;
    const R* numbers = (const R*)&value;
    PB_UNROLL for (unsigned c = 0; c < padded / per; ++c) {
        pb_sixteen<R> chunk;
        PB_UNROLL for (unsigned i = 0; i < per; ++i) chunk.v[i] = c * per + i < n ? numbers[c * per + i < n ? c * per + i : 0] : R(0);
        ((pb_sixteen<R>*)p)[c] = chunk;
    }
}
template<class T, class R> PB void pb_store_row_add(R* p, const T& value) {
    T sum = pb_load_row<T>(p);
    pb_add(sum, value);
    pb_store_row(p, sum);
}
template<class R, class T> PB void pb_set_positive_zero(T& value) {
    R* numbers = (R*)&value;
    PB_UNROLL for (unsigned c = 0; c < sizeof(T) / sizeof(R); ++c) numbers[c] = R(0);
}

// The sum over a block's threads, in one order.
template<class R> PB R pb_block_sum(R sum) {
    __shared__ R sums[256];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}
