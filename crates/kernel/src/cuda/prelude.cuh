// What every kernel may use: arrays, tuples, cotangents, and the functions that the language has built in.
// It compiles with NVRTC, and with a C++17 compiler (PB_HOST) to test kernels where there is no GPU.

#ifdef PB_HOST
#include <cmath>
#define PB static inline
#define PB_MEMBER inline
#else
#define PB static __device__ __forceinline__
#define PB_MEMBER __device__ __forceinline__
#endif
#define PB_UNROLL _Pragma("unroll")
#define PB_INFINITY (1.0 / 0.0)
#define PB_NAN (0.0 / 0.0)

template<class T, unsigned N> struct pb_array {
    T v[N > 0 ? N : 1];
    PB_MEMBER T& operator[](unsigned i) { return v[i]; }
    PB_MEMBER const T& operator[](unsigned i) const { return v[i]; }
};

template<class... T> struct pb_tuple;
template<> struct pb_tuple<> {};

template<class T> PB T pb_value(T x) { return x; }

// Cotangents start at -0: x + -0 is x for every x, so the first addition costs nothing.
PB void pb_set_zero(float& a) { a = -0.0f; }
PB void pb_set_zero(double& a) { a = -0.0; }
PB void pb_set_zero(unsigned& a) { a = 0u; }
PB void pb_set_zero(bool& a) { a = false; }
PB void pb_add(float& a, float b) { a = a + b; }
PB void pb_add(double& a, double b) { a = a + b; }
PB void pb_add(unsigned&, unsigned) {}
PB void pb_add(bool&, bool) {}
PB void pb_subtract(float& a, float b) { a = a - b; }
PB void pb_subtract(double& a, double b) { a = a - b; }
PB void pb_subtract(unsigned&, unsigned) {}
PB void pb_subtract(bool&, bool) {}

template<class T, unsigned N> PB void pb_set_zero(pb_array<T, N>& a) {
    for (unsigned i = 0; i < N; ++i) pb_set_zero(a[i]);
}
template<class T, unsigned N> PB void pb_add(pb_array<T, N>& a, const pb_array<T, N>& b) {
    for (unsigned i = 0; i < N; ++i) pb_add(a[i], b[i]);
}
template<class T, unsigned N> PB void pb_subtract(pb_array<T, N>& a, const pb_array<T, N>& b) {
    for (unsigned i = 0; i < N; ++i) pb_subtract(a[i], b[i]);
}
template<class T> PB T pb_zero_like(const T&) { T zero; pb_set_zero(zero); return zero; }
template<class T, unsigned N> PB T pb_sum(const pb_array<T, N>& a) {
    T sum; pb_set_zero(sum);
    for (unsigned i = 0; i < N; ++i) pb_add(sum, a[i]);
    return sum;
}
template<class T, class... Rest> PB pb_array<T, 1 + sizeof...(Rest)> pb_make_array(T first, Rest... rest) {
    return {{first, rest...}};
}
template<unsigned N, class T> PB pb_array<T, N> pb_repeat(T x) {
    pb_array<T, N> a;
    for (unsigned i = 0; i < N; ++i) a[i] = x;
    return a;
}

// Arrays are scaled, and added where they are fields of structs, element by element.
template<class T, unsigned N> PB pb_array<T, N> operator+(pb_array<T, N> a, const pb_array<T, N>& b) {
    for (unsigned i = 0; i < N; ++i) a[i] = a[i] + b[i];
    return a;
}
template<class T, unsigned N> PB pb_array<T, N> operator-(pb_array<T, N> a, const pb_array<T, N>& b) {
    for (unsigned i = 0; i < N; ++i) a[i] = a[i] - b[i];
    return a;
}
template<class T, unsigned N> PB pb_array<T, N> operator-(pb_array<T, N> a) {
    for (unsigned i = 0; i < N; ++i) a[i] = -a[i];
    return a;
}
template<class T, unsigned N, class R> PB pb_array<T, N> operator*(pb_array<T, N> a, R s) {
    for (unsigned i = 0; i < N; ++i) a[i] = a[i] * s;
    return a;
}
template<class T, unsigned N, class R> PB pb_array<T, N> operator/(pb_array<T, N> a, R s) {
    for (unsigned i = 0; i < N; ++i) a[i] = a[i] / s;
    return a;
}
