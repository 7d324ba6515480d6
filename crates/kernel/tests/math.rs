//! The builtins of `math`: every kernel's derivatives, the identities that define them, closed forms, `f32`
//! against `f64`.

use std::collections::BTreeSet;

use pullback_kernel::scalar::Local;
use pullback_kernel::{gradcheck, prelude::*};

/// Numbers in (-1, 1), the same in every run.
struct Random(u64);

impl Random {
    fn seeded(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.next();
        random
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A value with every number in (-1, 1).
    fn value<T: Argument>(&mut self) -> With<T, f64> {
        let mut value = <With<T, f64> as Local<f64>>::zero();
        T::each::<f64>(&mut value, &mut |x| *x = self.next());
        value
    }

    fn rotation(&mut self) -> Quat {
        normalize_quat(self.value::<Quat>())
    }

    fn pose(&mut self) -> Pose {
        let position = self.value::<Vec3>();
        pose_from_quat(self.rotation(), position)
    }

    /// A body that could exist: a few heavy points.
    fn inertia(&mut self) -> Inertia {
        (0..5).fold(Inertia::default(), |sum, _| {
            let (mass, center) = (1.5 + self.next(), self.value::<Vec3>());
            sum + inertia_from_center(mass, center, Sym3::default())
        })
    }

    fn articulated(&mut self) -> ArticulatedInertia {
        let sum = articulated_from_inertia(self.inertia());
        let joint = sum * self.value::<Motion>();
        // Half of what a joint would take away, to have no special structure left.
        rank_one_update(sum, joint, 40.0)
    }
}

/// The ranges of the numbers that a kernel is checked at.
const ANY: (f64, f64) = (-1.3, 1.3);
const POSITIVE: (f64, f64) = (0.2, 1.8);
const INSIDE: (f64, f64) = (-0.9, 0.9);
/// Far from singular: what is added to the diagonal of matrices that get inverted is in `regular`.
const WIDE: (f64, f64) = (-4.0, 4.0);

fn points<K: Kernel>(name: &str, (low, high): (f64, f64)) -> Vec<With<K::Arguments, f64>> {
    (1..6)
        .map(|seed| {
            let mut random = Random::seeded(seed);
            let mut arguments = random.value::<K::Arguments>();
            let mut i = 0;
            K::Arguments::each::<f64>(&mut arguments, &mut |x| {
                *x = 0.5 * (low + high) + 0.5 * (high - low) * *x + regular(name, i);
                i += 1;
            });
            arguments
        })
        .collect()
}

/// What to add to number `i` of the arguments of a kernel that inverts a matrix, so that it can be inverted.
fn regular(name: &str, i: usize) -> f64 {
    let diagonal = match name {
        "inverse" | "inverse_pullback" => i < 9 && i.is_multiple_of(4),
        "inverse_sym3" | "inverse_sym3_pullback" => i < 3,
        "solve_articulated" | "solve_articulated_pullback" => i < 3 || (15..18).contains(&i),
        _ => false,
    };
    if diagonal { 6.0 } else { 0.0 }
}

struct Entry {
    name: &'static str,
    gradcheck: fn(&str, (f64, f64)) -> Vec<String>,
    precisions: fn(&str, (f64, f64)),
    range: (f64, f64),
}

fn check<K: Kernel>(name: &str, range: (f64, f64)) -> Vec<String> {
    assert_eq!(name, K::NAME);
    let reports = points::<K>(name, range).into_iter().map(|point| gradcheck::kernel::<K>(&point));
    reports.filter_map(|report| report.err().map(|report| report.to_string())).collect()
}

/// The forward pass and the pullback in `f32` are those in `f64`, to what rounding explains.
fn precisions<K: Kernel>(name: &str, range: (f64, f64)) {
    for mut point in points::<K>(name, range) {
        K::Arguments::each::<f64>(&mut point, &mut |x| *x = f64::from(*x as f32));
        let single = narrow::<K::Arguments>(point);
        let out = K::forward::<f64>(point);
        let mut random = Random(17);
        let mut out_bar = out;
        K::Output::each::<f64>(&mut out_bar, &mut |x| *x = f64::from(random.next() as f32));
        let bar = K::pullback::<f64>(point, out_bar);
        close::<K::Output>(name, out, K::forward::<f32>(single));
        close::<K::Arguments>(name, bar, K::pullback::<f32>(single, narrow::<K::Output>(out_bar)));
    }
}

fn narrow<T: Argument>(value: With<T, f64>) -> With<T, f32> {
    let mut numbers = gradcheck::flat::<T>(value).into_iter();
    let mut narrow = <With<T, f32> as Local<f32>>::zero();
    T::each::<f32>(&mut narrow, &mut |x| *x = numbers.next().expect("as many numbers") as f32);
    narrow
}

fn close<T: Argument>(name: &str, double: With<T, f64>, mut single: With<T, f32>) {
    let double = gradcheck::flat::<T>(double);
    let scale = double.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
    let mut i = 0;
    T::each::<f32>(&mut single, &mut |x| {
        let error = (f64::from(*x) - double[i]).abs();
        assert!(error <= 3e-5 * scale, "{name}, number {i}: {x} in f32, {} in f64", double[i]);
        i += 1;
    });
}

macro_rules! entries {
    ($($range:ident: $($name:ident)*;)*) => {
        vec![$($(Entry {
            name: stringify!($name),
            gradcheck: check::<$name>,
            precisions: precisions::<$name>,
            range: $range,
        }),*),*]
    };
}

/// Every kernel of `math` that has a derivative, with where to check it.
fn entries() -> Vec<Entry> {
    entries! {
        POSITIVE: sqrt sqrt_pullback ln ln_pullback powf powf_pullback cos_and_sinc cos_and_sinc_pullback;
        INSIDE: asin asin_pullback acos acos_pullback tan tan_pullback;
        WIDE: quat_exp quat_log quat_difference rotate inertia_from_center length normalize atan2;
        ANY: abs abs_pullback min min_pullback max max_pullback clamp sin sin_pullback cos cos_pullback
            sin_cos sin_cos_pullback
            atan2_pullback exp exp_pullback tanh tanh_pullback
            vec3 dot dot_pullback cross cross_pullback length_squared length_pullback normalize_pullback
            mat3 mat3_times_vec3 mat3_times_vec3_pullback mat3_times_mat3 mat3_times_mat3_pullback transpose_times
            transpose_times_pullback transpose transpose_pullback outer outer_pullback diagonal trace contract
            contract_pullback skew cross_columns cofactors determinant determinant_pullback inverse inverse_pullback
            sym3_times_vec3 sym3_times_vec3_pullback sym3_diagonal mat3_from_sym3 mat3_from_sym3_pullback fold
            fold_pullback fold_outer fold_outer_pullback symmetric_part halve_off_diagonal symmetric_outer
            symmetric_outer_pullback outer_self outer_self_pullback congruence congruence_pullback cofactors_sym3
            inverse_sym3 inverse_sym3_pullback
            quat vector_part quat_times_quat quat_times_quat_pullback conjugate dot_quat dot_quat_pullback
            normalize_quat normalize_quat_pullback rotate_back rotation_matrix rotation_matrix_pullback
            quat_from_axis_angle integrate_quat integrate_quat_world
            pose_from_quat compose inverse_pose inverse_pose_pullback relative transform_point transform_point_back
            transform_vector transform_vector_back
            as_force as_motion power power_pullback cross_motion cross_motion_pullback cross_force
            cross_force_pullback inertia_times_motion inertia_times_motion_pullback kinetic_energy
            kinetic_energy_pullback steiner transform_motion transform_motion_pullback transform_motion_back
            transform_motion_back_pullback transform_force transform_force_pullback transform_force_back
            transform_force_back_pullback transform_inertia transform_inertia_back
            articulated_from_inertia articulated_times_motion articulated_times_motion_pullback articulated_outer
            solve_articulated solve_articulated_pullback transform_articulated;
        POSITIVE: rank_one_update rank_one_update_pullback;
    }
}

/// Kernels without a derivative to check: it is zero everywhere.
const CONSTANT: [&str; 5] = ["floor", "floor_pullback", "identity", "identity_quat", "identity_pose"];

#[test]
fn derivatives() {
    let check = |entry: Entry| (entry.gradcheck)(entry.name, entry.range);
    let failures: Vec<String> = entries().into_iter().flat_map(check).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn f32_is_f64_rounded() {
    for Entry { name, precisions, range, .. } in entries() {
        precisions(name, range);
    }
}

#[test]
fn no_kernel_is_left_out() {
    let sources = [
        include_str!("../src/math/articulated.rs"),
        include_str!("../src/math/functions.rs"),
        include_str!("../src/math/matrix.rs"),
        include_str!("../src/math/pose.rs"),
        include_str!("../src/math/quaternion.rs"),
        include_str!("../src/math/spatial.rs"),
        include_str!("../src/math/symmetric.rs"),
        include_str!("../src/math/vector.rs"),
    ];
    let written: BTreeSet<&str> = sources
        .iter()
        .flat_map(|source| source.split("#[kernel").skip(1))
        .filter_map(|after| after.split_once("]\npub fn ")?.1.split('<').next())
        .collect();
    let tested: BTreeSet<&str> = entries().iter().map(|entry| entry.name).chain(CONSTANT).collect();
    assert!(written.len() > 120, "{}", written.len());
    assert_eq!(written.difference(&tested).collect::<Vec<_>>(), Vec::<&&str>::new(), "not tested");
    assert_eq!(tested.difference(&written).collect::<Vec<_>>(), Vec::<&&str>::new(), "not there");
}

#[track_caller]
fn same<T: Argument>(a: With<T, f64>, b: With<T, f64>) {
    let (a, b) = (gradcheck::flat::<T>(a), gradcheck::flat::<T>(b));
    let scale = a.iter().chain(&b).fold(1.0, |scale: f64, x| scale.max(x.abs()));
    for (i, (x, y)) in a.iter().zip(&b).enumerate() {
        assert!((x - y).abs() <= 2e-14 * scale, "number {i}: {x} and {y}\n{a:?}\n{b:?}");
    }
}

fn v(x: f64, y: f64, z: f64) -> Vec3 {
    Vec3 { x, y, z }
}

/// Runs an identity at ten random points.
fn at_random(identity: impl Fn(&mut Random)) {
    for seed in 1..11 {
        identity(&mut Random::seeded(seed));
    }
}

#[test]
fn quaternions_rotate() {
    at_random(|r| {
        let (q, p, a, b) = (r.rotation(), r.rotation(), r.value::<Vec3>(), r.value::<Vec3>());
        same::<f64>(dot(rotate(q, a), rotate(q, b)), dot(a, b));
        same::<Vec3>(rotate(q, cross(a, b)), cross(rotate(q, a), rotate(q, b)));
        same::<Vec3>(rotate(q * p, a), rotate(q, rotate(p, a)));
        same::<Vec3>(rotate_back(q, rotate(q, a)), a);
        same::<Vec3>(rotation_matrix(q) * a, rotate(q, a));
        same::<f64>(determinant(rotation_matrix(q)), 1.0);
        // Not of unit length: |q p| = |q| |p|, and the formula is the matrix's there too.
        let (q, p) = (r.value::<Quat>(), r.value::<Quat>());
        same::<f64>(dot_quat(q * p, q * p), dot_quat(q, q) * dot_quat(p, p));
        same::<Vec3>(rotation_matrix(q) * a, rotate(q, a));
        same::<Quat>(q * conjugate(q), quat(dot_quat(q, q), v(0.0, 0.0, 0.0)));
    });
    // A quarter turn about z takes x to y.
    let quarter = std::f64::consts::FRAC_PI_2;
    same::<Vec3>(rotate(quat_from_axis_angle(v(0.0, 0.0, 1.0), quarter), v(1.0, 0.0, 0.0)), v(0.0, 1.0, 0.0));
    let (i, j) = (quat(0.0, v(1.0, 0.0, 0.0)), quat(0.0, v(0.0, 1.0, 0.0)));
    assert_eq!(i * j, quat(0.0, v(0.0, 0.0, 1.0)));
}

#[test]
fn exponential_and_logarithm() {
    at_random(|r| {
        for scale in [3.1, 1.0, 0.5, 0.3, 1e-2, 1e-5, 1e-9, 1e-200, 0.0] {
            let turn = normalize(r.value::<Vec3>()) * scale;
            same::<Vec3>(quat_log(quat_exp(turn)) / scale.max(1e-300), turn / scale.max(1e-300));
            same::<Vec3>(quat_log(-quat_exp(turn)), turn);
            same::<f64>(dot_quat(quat_exp(turn), quat_exp(turn)), 1.0);
            if scale > 0.0 {
                same::<Quat>(quat_exp(turn), quat_from_axis_angle(turn / scale, scale));
            }
        }
        let (q, turn) = (r.rotation(), r.value::<Vec3>());
        let other = if q.w < 0.0 { -q } else { q };
        same::<Quat>(quat_exp(quat_log(q)), other);
        same::<Vec3>(quat_difference(integrate_quat(q, turn, 0.5), q), turn * 0.5);
        same::<Quat>(integrate_quat_world(q, rotate(q, turn), 0.5), integrate_quat(q, turn, 0.5));
    });
}

/// To two units in the last place of 1, up to large angles; and in single precision.
#[test]
fn sines_without_calls_are_right() {
    at_random(|r| {
        for scale in [0.5, 3.0, 100.0, 1e5].repeat(200) {
            let x = scale * r.value::<f64>();
            let (s, c) = sin_cos(x);
            let most = 2.5 * f64::EPSILON * if scale > 1e4 { 2.0 } else { 1.0 };
            assert!((s - x.sin()).abs() < most && (c - x.cos()).abs() < most, "{x}: {s} {c}");
            if scale < 1e3 {
                let x = x as f32;
                let (s, c) = sin_cos(x);
                let most = 2.5 * f32::EPSILON;
                assert!((s - x.sin()).abs() < most && (c - x.cos()).abs() < most, "{x}: {s} {c}");
            }
        }
    });
    for k in -40..40 {
        let x = f64::from(k) * std::f64::consts::FRAC_PI_4;
        let (s, c) = sin_cos(x);
        assert!((s - x.sin()).abs() < 1e-15 && (c - x.cos()).abs() < 1e-15, "{x}: {s} {c}");
    }
}

/// At zero, value, first and second derivatives of the exponential are those of
/// cos(|v|/2) = 1 - |v|²/8 + ..., sin(|v|/2)/|v| v = v/2 - |v|² v/48 + ...; and so of the logarithm.
#[test]
fn exponential_is_smooth_at_zero() {
    let zero = v(0.0, 0.0, 0.0);
    assert_eq!(quat_exp(zero), identity_quat());
    gradcheck::kernel::<quat_exp>(&(zero,)).expect("smooth");
    gradcheck::kernel::<quat_log>(&(identity_quat(),)).expect("smooth");
    gradcheck::kernel::<quat_log>(&(-identity_quat::<f64>(),)).expect("smooth");
    gradcheck::kernel::<integrate_quat>(&(identity_quat(), zero, 0.1)).expect("smooth");
    gradcheck::kernel::<cos_and_sinc>(&(0.0,)).expect("smooth");

    // Second derivatives: of the pullback, along x.
    let along = Vec3 { x: Dual::new(0.0, 1.0), y: Dual::new(0.0, 0.0), z: Dual::new(0.0, 0.0) };
    let second = |w, x| {
        let constant = |x| Dual::new(x, 0.0);
        let bar = Quat { w: constant(w), x: constant(x), y: constant(0.0), z: constant(0.0) };
        let (turn_bar,) = quat_exp::pullback(along, bar);
        (turn_bar.x.value, turn_bar.x.tangent)
    };
    assert_eq!(second(1.0, 0.0), (0.0, -0.25));
    assert_eq!(second(0.0, 1.0), (0.5, 0.0));
    // Both sides of a threshold agree, also in the second derivative.
    for edge in [1.0, 2.0 * 0.2_f64.atan()] {
        let [below, above] = [1.0 - 1e-9, 1.0 + 1e-9].map(|f| {
            let turn = v(0.6, 0.0, 0.8) * (edge * f);
            let q = quat_exp(turn);
            let mut numbers = Vec::new();
            for k in 0..3 {
                let at = |x: f64, i: usize| Dual::new(x, f64::from(u8::from(i == k)));
                let moving = Vec3 { x: at(turn.x, 0), y: at(turn.y, 1), z: at(turn.z, 2) };
                let bar = Quat { w: at(1.0, 9), x: at(0.5, 9), y: at(0.25, 9), z: at(-2.0, 9) };
                let (turn_bar,) = quat_exp::pullback(moving, bar);
                let q = Quat { w: at(q.w, 3), x: at(q.x, 0), y: at(q.y, 1), z: at(q.z, 2) };
                let (q_bar,) = quat_log::pullback(q, Vec3 { x: at(1.0, 9), y: at(0.5, 9), z: at(-2.0, 9) });
                for number in [turn_bar.x, turn_bar.y, turn_bar.z, q_bar.w, q_bar.x, q_bar.y, q_bar.z] {
                    numbers.extend([number.value, number.tangent]);
                }
            }
            numbers
        });
        for (below, above) in below.iter().zip(&above) {
            assert!((below - above).abs() < 3e-7, "at {edge}: {below} and {above}");
        }
    }
}

#[test]
fn poses_compose() {
    at_random(|r| {
        let (a, b, x) = (r.pose(), r.pose(), r.value::<Vec3>());
        same::<Pose>(a * inverse_pose(a), identity_pose());
        same::<Pose>(inverse_pose(a) * a, identity_pose());
        same::<Vec3>(transform_point(a * b, x), transform_point(a, transform_point(b, x)));
        same::<Vec3>(transform_vector(a * b, x), transform_vector(a, transform_vector(b, x)));
        same::<Vec3>(transform_point_back(a, transform_point(a, x)), x);
        same::<Vec3>(transform_vector_back(a, transform_vector(a, x)), x);
        same::<Pose>(relative(a, b), inverse_pose(a) * b);
    });
}

#[test]
fn spatial_algebra() {
    at_random(|r| {
        let (a, b, f) = (r.value::<Motion>(), r.value::<Motion>(), r.value::<Force>());
        // crf(a) = -crm(a)ᵀ
        same::<f64>(power(b, cross_force(a, f)), -power(cross_motion(a, b), f));
        same::<Motion>(cross_motion(a, b), -cross_motion(b, a));
        // Moving there and back, and in two steps.
        let (p, q) = (r.pose(), r.pose());
        same::<Motion>(transform_motion(p * q, a), transform_motion(p, transform_motion(q, a)));
        same::<Force>(transform_force(p * q, f), transform_force(p, transform_force(q, f)));
        same::<Motion>(transform_motion_back(p, a), transform_motion(inverse_pose(p), a));
        same::<Force>(transform_force_back(p, f), transform_force(inverse_pose(p), f));
        // The frame changes nothing: power, and the cross products.
        let (a_p, b_p, f_p) = (transform_motion(p, a), transform_motion(p, b), transform_force(p, f));
        same::<f64>(power(a_p, f_p), power(a, f));
        same::<Motion>(cross_motion(a_p, b_p), transform_motion(p, cross_motion(a, b)));
        same::<Force>(cross_force(a_p, f_p), transform_force(p, cross_force(a, f)));
    });
}

#[test]
fn inertias() {
    at_random(|r| {
        let (i, k, p) = (r.inertia(), r.inertia(), r.pose());
        let (a, b) = (r.value::<Motion>(), r.value::<Motion>());
        same::<f64>(power(a, i * b), power(b, i * a));
        same::<Force>((i + k) * a, i * a + k * a);
        same::<f64>(kinetic_energy(transform_inertia(p, i), transform_motion(p, a)), kinetic_energy(i, a));
        same::<Force>(transform_inertia(p, i) * transform_motion(p, a), transform_force(p, i * a));
        same::<Inertia>(transform_inertia_back(p, transform_inertia(p, i)), i);
        assert!(kinetic_energy(i, a) > 0.0);
        // About its own centre, in turned axes, and moved: three ways to the same body.
        let about = sym3_diagonal(v(1.0, 1.5, 2.0));
        let centred = inertia_from_center(3.0, v(0.0, 0.0, 0.0), about);
        let placed = inertia_from_center(3.0, p.position, congruence(p.rotation, about));
        same::<Inertia>(transform_inertia(p, centred), placed);
    });
    // A mass of 2 at (0, 0, 3), turning about x at 1 rad/s: momentum m v = 2·(0, -3, 0), of moment 2·9 about x.
    let point = inertia_from_center(2.0, v(0.0, 0.0, 3.0), Sym3::default());
    let turning = Motion { angular: v(1.0, 0.0, 0.0), linear: v(0.0, 0.0, 0.0) };
    assert_eq!(point * turning, Force { torque: v(18.0, 0.0, 0.0), force: v(0.0, -6.0, 0.0) });
    assert_eq!(kinetic_energy(point, turning), 9.0);
}

/// Eq. 6 and 7 of Qiao et al. 2021, with their signs: `[w̄]× w₂` is w̄ × w₂.
#[test]
fn operator_adjoints_of_the_paper() {
    at_random(|r| {
        let (m1, f, p_bar) = (r.value::<Motion>(), r.value::<Force>(), r.value::<Force>());
        let (w1, v1, w2, v2) = (m1.angular, m1.linear, f.torque, f.force);
        let (w_bar, v_bar) = (p_bar.torque, p_bar.force);
        let p = cross_force(m1, f);
        same::<Force>(p, Force { torque: cross(w1, w2) + cross(v1, v2), force: cross(w1, v2) });
        let (m1_bar, f_bar) = cross_force::pullback(m1, f, p_bar);
        let angular = -cross(w_bar, w2) - cross(v_bar, v2);
        same::<Motion>(m1_bar, Motion { angular, linear: -cross(w_bar, v2) });
        let force = cross(w_bar, v1) + cross(v_bar, w1);
        same::<Force>(f_bar, Force { torque: cross(w_bar, w1), force });
    });
}

#[test]
fn articulated_inertias() {
    at_random(|r| {
        let (i, a, p) = (r.inertia(), r.articulated(), r.pose());
        let (m, n, f) = (r.value::<Motion>(), r.value::<Motion>(), r.value::<Force>());
        same::<Force>(articulated_from_inertia(i) * m, i * m);
        same::<f64>(power(n, a * m), power(m, a * n));
        same::<Force>(transform_articulated(p, a) * transform_motion(p, m), transform_force(p, a * m));
        same::<ArticulatedInertia>(
            transform_articulated(p, articulated_from_inertia(i)),
            articulated_from_inertia(transform_inertia(p, i)),
        );
        let residual = a * solve_articulated(a, f) - f;
        assert!(power(as_motion(residual), residual).sqrt() < 1e-12, "{residual:?}");
        // Across a joint along n no force is felt: (A - U Uᵀ/d) n = 0.
        let u = a * n;
        same::<Force>(rank_one_update(a, u, power(n, u)) * n, Force::default());
    });
}

#[test]
fn symmetric_matrices() {
    at_random(|r| {
        let (s, a, x) = (r.value::<Sym3>(), r.value::<Mat3>(), r.value::<Vec3>());
        same::<Vec3>(s * x, mat3_from_sym3(s) * x);
        same::<Sym3>(symmetric_part(mat3_from_sym3(s)), s);
        same::<Mat3>(mat3_from_sym3(congruence(a, s)), a * mat3_from_sym3(s) * transpose(a));
        same::<Mat3>(mat3_from_sym3(outer_self(x)), outer(x, x));
        same::<Mat3>(-skew(x) * skew(x), mat3_from_sym3(steiner(x, x)));
        same::<Mat3>(cross_columns(x, a), skew(x) * a);
        let regular = s + sym3_diagonal(v(4.0, 4.0, 4.0));
        same::<Mat3>(mat3_from_sym3(inverse_sym3(regular)), inverse(mat3_from_sym3(regular)));
    });
}
