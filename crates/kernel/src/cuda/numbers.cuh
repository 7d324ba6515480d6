
// c = a b and c = a / b of numbers, in the order of operators.rs; indices have no cotangents.
PB float pb_fma(float a, float b, float c) { return fmaf(a, b, c); }
PB double pb_fma(double a, double b, double c) { return fma(a, b, c); }
PB float pb_inner_add(float a, float b, float sum) { return pb_fma(a, b, sum); }
PB double pb_inner_add(double a, double b, double sum) { return pb_fma(a, b, sum); }
PB float pb_scale_add(float a, float s, float c) { return pb_fma(a, s, c); }
PB double pb_scale_add(double a, double s, double c) { return pb_fma(a, s, c); }
PB float pb_times_plus(float a, float b, float c) { return pb_fma(a, b, c); }
PB double pb_times_plus(double a, double b, double c) { return pb_fma(a, b, c); }
PB unsigned pb_times_plus(unsigned a, unsigned b, unsigned c) { return a * b + c; }
PB float pb_times_minus(float a, float b, float c) { return pb_fma(a, b, -c); }
PB double pb_times_minus(double a, double b, double c) { return pb_fma(a, b, -c); }
PB unsigned pb_times_minus(unsigned a, unsigned b, unsigned c) { return a * b - c; }
PB float pb_minus_times(float a, float b, float c) { return pb_fma(a, -b, c); }
PB double pb_minus_times(double a, double b, double c) { return pb_fma(a, -b, c); }
PB unsigned pb_minus_times(unsigned a, unsigned b, unsigned c) { return c - a * b; }
template<class T, unsigned N, class R> PB pb_array<T, N> pb_scale_add(pb_array<T, N> a, R s, const pb_array<T, N>& c) {
    for (unsigned i = 0; i < N; ++i) a[i] = pb_scale_add(a[i], s, c[i]);
    return a;
}
template<class T, unsigned N, class R> PB R pb_inner_add(const pb_array<T, N>& a, const pb_array<T, N>& b, R sum) {
    for (unsigned i = 0; i < N; ++i) sum = pb_inner_add(a[i], b[i], sum);
    return sum;
}
template<class T, unsigned N, class R> PB pb_tuple<pb_array<T, N>, R> pb_mul_pullback_add(
    const pb_array<T, N>& a, R s, const pb_array<T, N>& c_bar, const pb_array<T, N>& a_bar, R s_bar) {
    return {pb_scale_add(c_bar, s, a_bar), pb_inner_add(a, c_bar, s_bar)};
}
template<class T> PB T pb_negate(const T& bar) { T zero = pb_zero_like(bar); pb_subtract(zero, bar); return zero; }
PB pb_tuple<float, float> pb_mul_pullback_add(float a, float b, float c_bar, float a_bar, float b_bar) {
    return {pb_fma(c_bar, b, a_bar), pb_fma(a, c_bar, b_bar)};
}
PB pb_tuple<double, double> pb_mul_pullback_add(double a, double b, double c_bar, double a_bar, double b_bar) {
    return {pb_fma(c_bar, b, a_bar), pb_fma(a, c_bar, b_bar)};
}
PB pb_tuple<unsigned, unsigned> pb_mul_pullback_add(unsigned, unsigned, unsigned, unsigned, unsigned) {
    return {0u, 0u};
}
PB pb_tuple<float, float> pb_div_pullback(float a, float b, float c_bar) {
    float a_bar = c_bar / b;
    return {a_bar, -pb_fma(a / b, a_bar, -0.0f)};
}
PB pb_tuple<double, double> pb_div_pullback(double a, double b, double c_bar) {
    double a_bar = c_bar / b;
    return {a_bar, -pb_fma(a / b, a_bar, -0.0)};
}
PB pb_tuple<unsigned, unsigned> pb_div_pullback(unsigned, unsigned, unsigned) { return {0u, 0u}; }
template<class T, unsigned N, class R>
PB pb_tuple<pb_array<T, N>, R> pb_div_pullback(const pb_array<T, N>& a, R s, const pb_array<T, N>& c_bar) {
    pb_array<T, N> a_bar = c_bar / s;
    return {a_bar, -pb_inner_add(a / s, a_bar, R(-0.0))};
}

// The primitives of math/functions.rs, with the same ties and special values.
#define PB_FUNCTION(name, f32, f64) \
    PB float pb_c_##name(float x) { return f32(x); } \
    PB double pb_c_##name(double x) { return f64(x); } \
    template<class R> PB R pb_##name(R x) { return pb_c_##name(x); }
#define PB_FUNCTION2(name, f32, f64) \
    PB float pb_c_##name(float a, float b) { return f32(a, b); } \
    PB double pb_c_##name(double a, double b) { return f64(a, b); } \
    template<class R> PB R pb_##name(R a, R b) { return pb_c_##name(a, b); }
PB_FUNCTION(sqrt, sqrtf, sqrt)
PB_FUNCTION(abs, fabsf, fabs)
PB_FUNCTION(floor, floorf, floor)
PB_FUNCTION(sin, sinf, sin)
PB_FUNCTION(cos, cosf, cos)
PB_FUNCTION(tan, tanf, tan)
PB_FUNCTION(asin, asinf, asin)
PB_FUNCTION(acos, acosf, acos)
PB_FUNCTION(exp, expf, exp)
PB_FUNCTION(ln, logf, log)
PB_FUNCTION(tanh, tanhf, tanh)
PB_FUNCTION2(atan2, atan2f, atan2)
PB_FUNCTION2(powf, powf, pow)
template<class R> PB R pb_min(R a, R b) { return b < a ? b : a; }
template<class R> PB R pb_max(R a, R b) { return a < b ? b : a; }
template<class R, class T> PB T pb_identity(T x) { return x; }
template<class R, class T> PB pb_tuple<T> pb_identity_pullback(T, T out_bar) { return {out_bar}; }
