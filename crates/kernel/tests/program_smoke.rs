//! smoke
use pullback_kernel::prelude::*;
#[kernel]
fn spring<R: Real>(x: [Vec3<R>; 2], v: [Vec3<R>; 2], k: R, c: R, rest: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let n = normalize(d);
    let f = n * (k * (length(d) - rest) + c * dot(v[1] - v[0], n));
    [f, -f]
}
#[kernel]
fn advance<R: Real>(x: Vec3<R>, v: Vec3<R>, f: Vec3<R>, m: R, dt: R) -> (Vec3<R>, Vec3<R>) {
    let v1 = v + f * (dt / m);
    (x + v1 * dt, v1)
}
#[test]
fn chain() {
    let n = 101;
    let mut p = Program::builder();
    let x = p.input::<Vec3>("x", n);
    let v = p.input::<Vec3>("v", n);
    let k = p.parameter::<f64>("k", n - 1);
    let c = p.parameter::<f64>("c", 1);
    let m = p.parameter::<f64>("m", n);
    let rest = p.constant::<f64>("rest", &vec![0.5; n - 1]);
    let dt = p.constant::<f64>("dt", &[0.01]);
    let springs = p.corners("springs", &(0..n - 1).map(|i| [i, i + 1]).collect::<Vec<_>>(), n);
    let f = p.elements::<spring, _, 2>(
        "f",
        springs,
        (x.at(springs), v.at(springs), k.own(), c.shared(), rest.own()),
    );
    let (x1, v1) = p.map::<advance>("x1, v1", (x.own(), v.own(), f.own(), m.own(), dt.shared()));
    p.output(x1);
    p.output(v1);
    let program = p.finish().expect("built");
    println!("{program}");
    let vec =
        |i: usize, s: f64| Vec3 { x: (i as f64 * s).sin(), y: (i as f64 * 1.7 + s).cos(), z: i as f64 * 0.3 };
    let mut all = Vec::new();
    for threads in [1, 2, 7] {
        for width in [Width::One, Width::Narrow, Width::Wide] {
            for isa in Isa::available() {
                let mut ws = program.workspace::<f64>(RunOptions { threads, width, isa, ..RunOptions::default() });
                ws.write(x, &(0..n).map(|i| vec(i, 0.3)).collect::<Vec<_>>()).unwrap();
                ws.write(v, &(0..n).map(|i| vec(i, 0.9)).collect::<Vec<_>>()).unwrap();
                ws.write(k, &(0..n - 1).map(|i| 1.0 + i as f64).collect::<Vec<_>>()).unwrap();
                ws.write(c, &[0.3]).unwrap();
                ws.write(m, &(0..n).map(|i| 1.0 + 0.1 * i as f64).collect::<Vec<_>>()).unwrap();
                ws.forward();
                ws.seed(x1, &(0..n).map(|i| vec(i, 0.1)).collect::<Vec<_>>()).unwrap();
                ws.seed(v1, &(0..n).map(|i| vec(i, 0.2)).collect::<Vec<_>>()).unwrap();
                ws.pullback();
                all.push((
                    ws.read(x1),
                    ws.read(v1),
                    ws.bars(x),
                    ws.bars(v),
                    ws.bars(k),
                    ws.bars(c),
                    ws.bars(m),
                ));
                // differences for k[3], c, m[5], x[7].y
                if all.len() == 1 {
                    let obj = |ws: &mut Workspace<f64>| -> f64 {
                        ws.forward();
                        let (a, b) = (ws.read(x1), ws.read(v1));
                        (0..n).map(|i| dot(a[i], vec(i, 0.1)) + dot(b[i], vec(i, 0.2))).sum()
                    };
                    let mut kk: Vec<f64> = (0..n - 1).map(|i| 1.0 + i as f64).collect();
                    kk[3] += 1e-5;
                    ws.write(k, &kk).unwrap();
                    let p = obj(&mut ws);
                    kk[3] -= 2e-5;
                    ws.write(k, &kk).unwrap();
                    let q = obj(&mut ws);
                    println!("{} {}", (p - q) / 2e-5, all[0].4[3]);
                    kk[3] += 1e-5;
                    ws.write(k, &kk).unwrap();
                    ws.write(c, &[0.3 + 1e-5]).unwrap();
                    let p = obj(&mut ws);
                    ws.write(c, &[0.3 - 1e-5]).unwrap();
                    let q = obj(&mut ws);
                    println!("{} {}", (p - q) / 2e-5, all[0].5[0]);
                }
            }
        }
    }
    for a in &all {
        assert!(*a == all[0]);
    }
    // batch
    for width in [Width::One, Width::Narrow, Width::Wide] {
        let mut ws = program.batch::<f64>(19, RunOptions { threads: 2, width, ..RunOptions::default() });
        for w in 0..19 {
            ws.write_in(w, x, &(0..n).map(|i| vec(i, 0.3)).collect::<Vec<_>>()).unwrap();
            ws.write_in(w, v, &(0..n).map(|i| vec(i, 0.9)).collect::<Vec<_>>()).unwrap();
            ws.write_in(w, k, &(0..n - 1).map(|i| 1.0 + i as f64).collect::<Vec<_>>()).unwrap();
            ws.write_in(w, c, &[0.3]).unwrap();
            ws.write_in(w, m, &(0..n).map(|i| 1.0 + 0.1 * i as f64).collect::<Vec<_>>()).unwrap();
        }
        ws.forward();
        for w in 0..19 {
            ws.seed_in(w, x1, &(0..n).map(|i| vec(i, 0.1)).collect::<Vec<_>>()).unwrap();
            ws.seed_in(w, v1, &(0..n).map(|i| vec(i, 0.2)).collect::<Vec<_>>()).unwrap();
        }
        ws.pullback();
        for w in 0..19 {
            assert!(
                all[0]
                    == (
                        ws.read_in(w, x1).unwrap(),
                        ws.read_in(w, v1).unwrap(),
                        ws.bars_in(w, x).unwrap(),
                        ws.bars_in(w, v).unwrap(),
                        ws.bars_in(w, k).unwrap(),
                        ws.bars_in(w, c).unwrap(),
                        ws.bars_in(w, m).unwrap()
                    )
            );
        }
    }
}
