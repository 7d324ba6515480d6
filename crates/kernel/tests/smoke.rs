use pullback_kernel::{gradcheck, prelude::*};

#[kernel]
fn spring<R: Real>(x: [Vec3<R>; 2], v: [Vec3<R>; 2], k: R, c: R, rest: R) -> [Vec3<R>; 2] {
    let d = x[1] - x[0];
    let n = normalize(d);
    let f = n * (k * (length(d) - rest) + c * dot(v[1] - v[0], n));
    [f, -f]
}
#[kernel]
fn power_loop<R: Real>(a: R, b: Vec3<R>) -> R {
    let mut s = a;
    let mut acc = [0.0; 3];
    for i in 0..3 {
        acc[i] = s * b.x;
        if s > 0.5 {
            s = s * a + b.y;
        } else {
            s += b.z * s;
        }
    }
    let t = if s < a { sqrt(a) } else { sin(s) * acc[1] };
    s * t + acc[2]
}
#[kernel]
fn choose<R: Real>(k: usize, a: R, b: R) -> R {
    match k {
        0 => a * b,
        1 | 2 => a / b,
        _ => {
            let c = a * a;
            c * b
        }
    }
}
#[test]
fn smoke() {
    let v = |x, y, z| Vec3 { x, y, z };
    println!(
        "{}",
        gradcheck::kernel::<spring>(&(
            [v(0.1, 0.2, 0.3), v(1.0, 0.5, -0.3)],
            [v(0.3, 0.1, 0.0), v(0.5, -0.2, 0.7)],
            3.0,
            0.4,
            0.8
        ))
        .unwrap()
    );
    println!("{}", gradcheck::kernel::<power_loop>(&(0.7, v(0.3, 0.4, 0.9))).unwrap());
    println!("{}", gradcheck::kernel::<power_loop>(&(0.3, v(0.3, 0.4, 0.9))).unwrap());
    for k in 0..4 {
        println!("{}", gradcheck::kernel::<choose>(&(k, 0.3, 0.7)).unwrap());
    }
}
