//! Kernels as functions to check.

use super::{Entry, Found, Function, Options, Random, Report, check_with, exceeds, flat, unflat};
use crate::scalar::Dual;
use crate::{Argument, Kernel, With};

/// Checks a kernel at `x`: all four questions, and the macro's pullback where the kernel names its own.
pub fn kernel<K: Kernel>(x: &With<K::Arguments, f64>) -> Result<Report, Box<Report>> {
    kernel_with::<K>(x, Options::default())
}

/// Checks a kernel at `x`.
pub fn kernel_with<K: Kernel>(x: &With<K::Arguments, f64>, options: Options) -> Result<Report, Box<Report>> {
    let function = KernelAt::<K> { arguments: *x };
    let mut report = check_with(&function, &flat::<K::Arguments>(*x), options)?;
    if K::NAMES_ITS_PULLBACK {
        let mut random = Random(7);
        let mut out_bar = K::forward::<f64>(*x);
        K::Output::each::<f64>(&mut out_bar, &mut |y| *y = random.next());
        let named = flat::<K::Arguments>(K::pullback::<f64>(*x, out_bar));
        let derived = flat::<K::Arguments>(K::derived_pullback::<f64>(*x, out_bar));
        let mut found = Found::default();
        let name = |i| format!("cotangent of {}", function.input_name(i));
        found.compare(&named, |i| derived[i], name);
        if exceeds(found.worst.error, 1e-9) {
            let Entry { which, derivative, difference, .. } = found.worst;
            report.failures.push(format!(
                "the named pullback is not the macro's: {which}: named {derivative:.12e}, derived {difference:.12e}"
            ));
            return Err(Box::new(report));
        }
    }
    Ok(report)
}

/// A kernel as a function of the numbers of its arguments; its indices and kinds stay.
struct KernelAt<K: Kernel> {
    arguments: With<K::Arguments, f64>,
}

impl<K: Kernel> KernelAt<K> {
    fn arguments(&self, x: &[f64]) -> With<K::Arguments, f64> {
        unflat::<K::Arguments>(self.arguments, x)
    }
}

impl<K: Kernel> Function for KernelAt<K> {
    fn name(&self) -> String {
        K::NAME.to_owned()
    }
    /// The argument's name, and the number within it where it has several.
    fn input_name(&self, i: usize) -> String {
        let mut first = 0;
        for (name, len) in K::ARGUMENTS.iter().zip(K::Arguments::lens()) {
            if i < first + len {
                return if len == 1 { (*name).to_owned() } else { format!("{name}[{}]", i - first) };
            }
            first += len;
        }
        format!("input[{i}]")
    }
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        flat::<K::Output>(K::forward::<f64>(self.arguments(x)))
    }
    fn pullback(&self, x: &[f64], y_bar: &[f64]) -> Vec<f64> {
        let arguments = self.arguments(x);
        let out_bar = unflat::<K::Output>(K::forward::<f64>(arguments), y_bar);
        flat::<K::Arguments>(K::pullback::<f64>(arguments, out_bar))
    }
    fn pushforward(&self, x: &[f64], x_dot: &[f64]) -> Vec<f64> {
        let (_, y_dot) = K::pushforward::<f64>(self.arguments(x), self.arguments(x_dot));
        flat::<K::Output>(y_dot)
    }
    fn second_order(&self, x: &[f64], y_bar: &[f64], x_dot: &[f64]) -> Option<Vec<f64>> {
        let arguments = K::Arguments::dual::<f64>(self.arguments(x), self.arguments(x_dot));
        let out = K::forward::<f64>(self.arguments(x));
        let (y_bar, zeros) =
            (unflat::<K::Output>(out, y_bar), unflat::<K::Output>(out, &vec![0.0; y_bar.len()]));
        let bars = K::pullback::<Dual<f64>>(arguments, K::Output::dual::<f64>(y_bar, zeros));
        Some(flat::<K::Arguments>(K::Arguments::parts::<f64>(bars).1))
    }
}
