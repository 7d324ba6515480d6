
// Values from and to flat numbers and indices, in the order of Argument::each; without indices, these stay.
#ifdef PB_HOST
#define PB_ENTRY
#else
#define PB_ENTRY __global__
#endif
template<class R, class T> PB void pb_read(T& a, const R*& x, const unsigned*&) {
    R* numbers = reinterpret_cast<R*>(&a);
    for (unsigned i = 0; i < sizeof(T) / sizeof(R); ++i) numbers[i] = *x++;
}
template<class R> PB void pb_read(unsigned& a, const R*&, const unsigned*& k) { if (k) a = *k++; }
template<class R> PB void pb_read(pb_tuple<>&, const R*&, const unsigned*&) {}
template<class R, class T, unsigned N> PB void pb_read(pb_array<T, N>& a, const R*& x, const unsigned*& k) {
    for (unsigned i = 0; i < N; ++i) pb_read(a[i], x, k);
}
template<class R, class T> PB void pb_write(const T& a, R*& y, unsigned*&) {
    const R* numbers = reinterpret_cast<const R*>(&a);
    for (unsigned i = 0; i < sizeof(T) / sizeof(R); ++i) *y++ = numbers[i];
}
template<class R> PB void pb_write(const unsigned& a, R*&, unsigned*& k) { if (k) *k++ = a; }
template<class R> PB void pb_write(const pb_tuple<>&, R*&, unsigned*&) {}
template<class R, class T, unsigned N> PB void pb_write(const pb_array<T, N>& a, R*& y, unsigned*& k) {
    for (unsigned i = 0; i < N; ++i) pb_write(a[i], y, k);
}
