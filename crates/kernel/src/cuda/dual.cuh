// A value and its tangent, as scalar/dual.rs has it: kernels that are forces pull back through it.

template<class S> struct pb_dual {
    S value, tangent;
    pb_dual() = default;
    PB_MEMBER pb_dual(S value, S tangent) : value(value), tangent(tangent) {}
    PB_MEMBER pb_dual(double x) : value(S(x)), tangent(S(-0.0)) {}
};

template<class S> PB pb_dual<S> operator+(pb_dual<S> a, pb_dual<S> b) { return {a.value + b.value, a.tangent + b.tangent}; }
template<class S> PB pb_dual<S> operator-(pb_dual<S> a, pb_dual<S> b) { return {a.value - b.value, a.tangent - b.tangent}; }
template<class S> PB pb_dual<S> operator-(pb_dual<S> a) { return {-a.value, -a.tangent}; }
template<class S> PB pb_dual<S> operator*(pb_dual<S> a, pb_dual<S> b) {
    return {a.value * b.value, a.tangent * b.value + a.value * b.tangent};
}
template<class S> PB pb_dual<S> operator/(pb_dual<S> a, pb_dual<S> b) {
    S value = a.value / b.value;
    return {value, (a.tangent - value * b.tangent) / b.value};
}
#define PB_COMPARISON(op) \
    template<class S> PB bool operator op(pb_dual<S> a, pb_dual<S> b) { return a.value op b.value; }
PB_COMPARISON(<)
PB_COMPARISON(<=)
PB_COMPARISON(>)
PB_COMPARISON(>=)
PB_COMPARISON(==)
PB_COMPARISON(!=)

template<class S> PB void pb_set_zero(pb_dual<S>& a) { pb_set_zero(a.value); pb_set_zero(a.tangent); }
template<class S> PB void pb_add(pb_dual<S>& a, pb_dual<S> b) { a = a + b; }
template<class S> PB void pb_subtract(pb_dual<S>& a, pb_dual<S> b) { a = a - b; }
template<class S> PB pb_dual<S> pb_fma(pb_dual<S> a, pb_dual<S> b, pb_dual<S> c) {
    return {pb_fma(a.value, b.value, c.value), pb_fma(a.tangent, b.value, pb_fma(a.value, b.tangent, c.tangent))};
}
template<class S> PB pb_dual<S> pb_inner_add(pb_dual<S> a, pb_dual<S> b, pb_dual<S> sum) { return pb_fma(a, b, sum); }
template<class S> PB pb_dual<S> pb_scale_add(pb_dual<S> a, pb_dual<S> s, pb_dual<S> c) { return pb_fma(a, s, c); }
template<class S> PB pb_dual<S> pb_times_plus(pb_dual<S> a, pb_dual<S> b, pb_dual<S> c) { return pb_fma(a, b, c); }
template<class S> PB pb_dual<S> pb_times_minus(pb_dual<S> a, pb_dual<S> b, pb_dual<S> c) { return pb_fma(a, b, -c); }
template<class S> PB pb_dual<S> pb_minus_times(pb_dual<S> a, pb_dual<S> b, pb_dual<S> c) { return pb_fma(a, -b, c); }
template<class S> PB pb_tuple<pb_dual<S>, pb_dual<S>> pb_mul_pullback_add(
    pb_dual<S> a, pb_dual<S> b, pb_dual<S> c_bar, pb_dual<S> a_bar, pb_dual<S> b_bar) {
    return {pb_fma(c_bar, b, a_bar), pb_fma(a, c_bar, b_bar)};
}
template<class S> PB pb_tuple<pb_dual<S>, pb_dual<S>> pb_div_pullback(pb_dual<S> a, pb_dual<S> b, pb_dual<S> c_bar) {
    pb_dual<S> a_bar = c_bar / b;
    return {a_bar, -pb_fma(a / b, a_bar, pb_dual<S>(-0.0))};
}
template<class S> PB pb_dual<S> pb_c_floor(pb_dual<S> x) { return {pb_c_floor(x.value), S(-0.0)}; }

// Values of numbers side by side, with tangents, as the same type of duals.
template<class R, class T> struct pb_moving {
    T value, tangent;
    template<class U> PB_MEMBER operator U() const {
        U dual;
        const R* v = reinterpret_cast<const R*>(&value);
        const R* t = reinterpret_cast<const R*>(&tangent);
        pb_dual<R>* d = reinterpret_cast<pb_dual<R>*>(&dual);
        for (unsigned i = 0; i < sizeof(T) / sizeof(R); ++i) d[i] = pb_dual<R>(v[i], t[i]);
        return dual;
    }
};
template<class R, class T> PB pb_moving<R, T> pb_as_dual(T value, T tangent) { return {value, tangent}; }
template<class R, class T> PB pb_moving<R, T> pb_as_dual(T value) { return {value, pb_zero_like(value)}; }
template<class R> PB unsigned pb_as_dual(unsigned index) { return index; }

// The tangents of duals.
template<class T, class R, class U> PB T pb_tangents(const U& dual) {
    T tangents;
    const pb_dual<R>* d = reinterpret_cast<const pb_dual<R>*>(&dual);
    R* t = reinterpret_cast<R*>(&tangents);
    for (unsigned i = 0; i < sizeof(T) / sizeof(R); ++i) t[i] = d[i].tangent;
    return tangents;
}
template<class T, class R> PB T pb_tangents(unsigned) { return 0u; }
