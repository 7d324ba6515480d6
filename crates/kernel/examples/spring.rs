//! A spring force as a kernel: calling it, its pullback, its pushforward, and the check of its derivatives. docs/kernels.md
//! explains it line by line.

use pullback_kernel::gradcheck;
use pullback_kernel::prelude::*;

/// Spring forces on its two ends [N]:  f = (k (|d| - rest) + c n·(v1 - v0)) n,  n = d/|d|
#[kernel]
fn spring<R: Real>(x: [Vec3<R>; 2], v: [Vec3<R>; 2], k: R, c: R, rest: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let n = normalize(d);
    let f = n * (k * (length(d) - rest) + c * dot(v[1] - v[0], n));
    [f, -f]
}

/// Energy of an elastic band [J]: ½ k x² at the elongation x, and nothing where it is slack
#[kernel]
fn energy<R: Real>(k: R, x: R) -> R {
    if x > 0.0 { 0.5 * k * x * x } else { 0.0 }
}

fn main() -> Result<(), Box<gradcheck::Report>> {
    let x = [Vec3 { x: 0.0, y: 0.0, z: 0.0 }, Vec3 { x: 3.0, y: 0.0, z: 4.0 }];
    let v = [Vec3 { x: 0.0, y: 0.0, z: 0.0 }, Vec3 { x: 1.0, y: 0.5, z: -0.25 }];
    let (k, c, rest) = (10.0, 0.5, 2.0);

    // A kernel is a function: here of f64, elsewhere of f32, of eight worlds at once, or of values with tangents.
    let [f, _] = spring(x, v, k, c, rest);
    println!("force on the first end: {f:?}");
    assert!((length(f) - 30.2).abs() < 1e-12, "k (5 - 2) + c 0.4 along the spring");

    // Its pullback takes the cotangent of the result to one cotangent per argument. Here the loss is f.x of the
    // first end, so its cotangent is 1 there and 0 elsewhere.
    let zero = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
    let f_bar = [Vec3 { x: 1.0, y: 0.0, z: 0.0 }, zero];
    let (x_bar, _, k_bar, c_bar, rest_bar) = spring::pullback(x, v, k, c, rest, f_bar);
    println!("d f.x / d k = {k_bar}, d f.x / d rest = {rest_bar}");
    assert!((k_bar - 3.0 * 0.6).abs() < 1e-12 && (rest_bar + k * 0.6).abs() < 1e-12);
    assert!((c_bar - 0.4 * 0.6).abs() < 1e-12);
    assert!((x_bar[0].x + x_bar[1].x).abs() < 1e-12, "moving both ends changes nothing");

    // Its pushforward takes tangents of the arguments to the tangent of the result: here of stiffening.
    let still = [zero; 2];
    let (_, f_dot) =
        <spring as Kernel>::pushforward::<f64>((x, v, k, c, rest), (still, still, 1.0, 0.0, 0.0));
    assert!((f_dot[0].x - k_bar).abs() < 1e-12, "the same derivative from the other side");

    // Never trust a derivative that was not compared with differences.
    let report = gradcheck::kernel::<spring>(&(x, v, k, c, rest))?;
    println!("{report}");
    assert!(report.worst.error < 1e-7);

    // A branch has the derivative of the side that is taken.
    assert_eq!(energy::pullback(2.0, 3.0, 1.0), (4.5, 6.0));
    assert_eq!(energy::pullback(2.0, -3.0, 1.0), (0.0, 0.0));
    Ok(())
}
