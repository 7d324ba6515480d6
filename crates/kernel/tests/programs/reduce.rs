//! `reduce`: sums over all elements, which are broadcasts backwards, and the other way round.

use pullback_kernel::prelude::*;

use crate::kernels::energy;
use crate::subject::{Numbers, Outcome, SIZES, Subject, add, flat, typed, zeros};

fn energies(n: usize) -> Subject {
    let mut p = Program::builder();
    let x = p.input::<Vec3>("x", n);
    let m = p.parameter::<f64>("m", n);
    let g = p.parameter::<Vec3>("g", 1);
    let total = p.reduce::<energy>("total", (x.own(), m.own(), g.shared()));
    p.output(total);
    let program = p.finish().expect("a program");
    let inputs = [(x.into(), -1.0, 1.0), (m.into(), 0.5, 2.0), (g.into(), -1.0, 1.0)];
    Subject::new(program, &inputs, &[total.into()])
}

#[test]
fn sums_of_everything() {
    let naive = |inputs: &Numbers, seeds: &Numbers| {
        let (x, m, g) = (typed::<Vec3>(&inputs[0]), &inputs[1], typed::<Vec3>(&inputs[2])[0]);
        let (mut total, mut x_bar, mut m_bar, mut g_bar) =
            (0.0, zeros::<Vec3>(x.len()), vec![0.0; x.len()], zeros::<Vec3>(1));
        for i in 0..x.len() {
            total += <energy as Kernel>::forward::<f64>((x[i], m[i], g));
            let bars = <energy as Kernel>::pullback::<f64>((x[i], m[i], g), seeds[0][0]);
            (x_bar[i], m_bar[i]) = (bars.0, bars.1);
            add::<Vec3>(&mut g_bar[0], bars.2);
        }
        Outcome { values: vec![vec![total]], bars: vec![flat::<Vec3>(&x_bar), m_bar, flat::<Vec3>(&g_bar)] }
    };
    // Beyond several chunks too.
    for n in SIZES.into_iter().chain([1024, 1025, 5000]) {
        energies(n).check(n, &|inputs, seeds, _| naive(inputs, seeds));
    }
    energies(7).gradcheck();
}
