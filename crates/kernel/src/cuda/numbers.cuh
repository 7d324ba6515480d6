
// c = a b and c = a / b of numbers, in the order of operators.rs; indices have no cotangents.
PB pb_tuple<float, float> pb_mul_pullback(float a, float b, float c_bar) { return {c_bar * b, a * c_bar}; }
PB pb_tuple<double, double> pb_mul_pullback(double a, double b, double c_bar) { return {c_bar * b, a * c_bar}; }
PB pb_tuple<unsigned, unsigned> pb_mul_pullback(unsigned, unsigned, unsigned) { return {0u, 0u}; }
PB pb_tuple<float, float> pb_div_pullback(float a, float b, float c_bar) {
    float a_bar = c_bar / b;
    return {a_bar, -((a / b) * a_bar)};
}
PB pb_tuple<double, double> pb_div_pullback(double a, double b, double c_bar) {
    double a_bar = c_bar / b;
    return {a_bar, -((a / b) * a_bar)};
}
PB pb_tuple<unsigned, unsigned> pb_div_pullback(unsigned, unsigned, unsigned) { return {0u, 0u}; }
template<class T, unsigned N, class R>
PB pb_tuple<pb_array<T, N>, R> pb_mul_pullback(const pb_array<T, N>& a, R s, const pb_array<T, N>& c_bar) {
    return {c_bar * s, pb_inner(a, c_bar)};
}
template<class T, unsigned N, class R>
PB pb_tuple<pb_array<T, N>, R> pb_div_pullback(const pb_array<T, N>& a, R s, const pb_array<T, N>& c_bar) {
    pb_array<T, N> a_bar = c_bar / s;
    return {a_bar, -pb_inner(a / s, a_bar)};
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
