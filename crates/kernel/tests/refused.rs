//! Programs that the kernel language refuses: each with its message, which points at the token and says what to write.

#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
