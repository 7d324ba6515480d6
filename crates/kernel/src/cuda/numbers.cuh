
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
// The angle of a point, as in scalar/atan2.rs.
PB float pb_small_angle(float t) {
    float z = t * t, n = 0.080537445f;
    n = pb_fma(n, z, -0.13877686f);
    n = pb_fma(n, z, 0.19977711f);
    n = pb_fma(n, z, -0.3333295f);
    return pb_fma(t, z * n, t);
}
PB double pb_small_angle(double t) {
    const double p[5] = {-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
                         -1.228866684490136173410e2, -6.485021904942025371773e1};
    const double q[5] = {2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
                         4.853903996359136964868e2, 1.945506571482613964425e2};
    double z = t * t, n = p[0], d = z + q[0];
    PB_UNROLL for (unsigned i = 1; i < 5u; ++i) {
        n = pb_fma(n, z, p[i]);
        d = pb_fma(d, z, q[i]);
    }
    return pb_fma(t, z * n / d, t);
}
template<class R> PB R pb_angle(R y, R x) {
    const bool single = sizeof(R) == 4;
    R ay = pb_c_abs(y), ax = pb_c_abs(x);
    bool steep = ax * R(2.414213562373095) < ay, flat = ay <= ax * R(single ? 0.41421356 : 0.66);
    R above = steep ? -ax : flat ? ay : ay - ax;
    R below = steep ? ay : flat ? ax : ay + ax;
    R t = above / (below == R(0) ? R(1) : below);
    R start = steep ? R(1.5707963267948966) : flat ? R(0) : R(0.7853981633974483);
    R rest = single ? R(0) : steep ? R(6.123233995736766e-17) : flat ? R(0) : R(3.061616997868383e-17);
    R angle = start + (rest + pb_small_angle(t));
    if (x < R(0)) angle = R(3.141592653589793) - (angle - R(single ? 0.0 : 1.2246467991473532e-16));
    return y < R(0) ? -angle : angle;
}
PB_FUNCTION2(atan2, pb_angle, pb_angle)
PB_FUNCTION2(powf, powf, pow)
template<class R> PB R pb_min(R a, R b) { return b < a ? b : a; }
template<class R> PB R pb_max(R a, R b) { return a < b ? b : a; }
template<class R, class T> PB T pb_identity(T x) { return x; }
template<class R, class T> PB pb_tuple<T> pb_identity_pullback(T, T out_bar) { return {out_bar}; }
