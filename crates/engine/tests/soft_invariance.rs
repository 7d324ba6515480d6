//! What solids, sheets and their contact do not see: where they are, and how they are turned. And what is kept: energy, to the order of the
//! integrator.

mod elastic;

use elastic::{Point, Soft, accelerations, block, bowed, cloth, kinds, noise, norm, run};
use pullback_engine::{Energy, Integrator, Model};
use pullback_scene::{Elastic, Scene, Sheet, SoftContact, Solid, SolidMaterial};

/// A turn about an axis, as three rows, by Rodrigues' formula with a quaternion.
fn turn(axis: Point, angle: f64) -> [Point; 3] {
    let (sin, cos) = (0.5 * angle).sin_cos();
    let [x, y, z] = axis.map(|a| a / norm(&axis) * sin);
    let w = cos;
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

fn times(q: &[Point; 3], x: Point) -> Point {
    std::array::from_fn(|i| q[i].iter().zip(x).map(|(a, b)| a * b).sum())
}

fn plus(a: Point, b: Point) -> Point {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Elsewhere, turned, and both.
fn motions() -> Vec<([Point; 3], Point)> {
    let (here, far) = ([0.0; 3], [3.0, -7.0, 2.0]);
    let turns = [
        turn([1.0; 3], 0.0),
        turn([0.3, -0.7, 0.5], 2.1),
        turn([-0.9, 0.1, 0.4], 3.1),
        turn([0.2, 1.0, 0.0], -1.3),
    ];
    let mut all: Vec<_> = turns.into_iter().flat_map(|q| [(q, here), (q, far)]).collect();
    all.remove(0);
    all
}

/// Stretched to the double, sheared and bent, and every point by up to a fourth of a cell somewhere else.
fn crumpled(i: usize, x: Point) -> Point {
    let [x, y, z] = bowed(x);
    let off = |a: usize| 0.08 * noise(3 * i + a + 77);
    [
        1.8 * x + 0.4 * y + off(0),
        0.7 * y - 0.3 * z + 0.6 * x * x + off(1),
        1.2 * z + 0.5 * x * y + 0.2 * x + off(2),
    ]
}

/// The energy of each solid, that of a sheet in its plane and that of its hinges alone is the same wherever it is.
#[test]
fn energies_see_no_place_and_no_turn() {
    let mut all = Vec::new();
    for material in SolidMaterial::ALL {
        let solid = Solid::new(
            "thing",
            &block([0.6, 0.6, 0.9], [2, 2, 3], 0.15),
            Elastic::of_young(1e4, 0.3).expect("matter"),
            1000.0,
        );
        all.push((material.name(), Soft::Solid(Solid { actuation: vec![0.1], ..solid.material(material) })));
    }
    let elastic = Elastic::of_young_in_plane(1e4, 0.3).expect("matter");
    let sheet = Sheet::new("thing", &cloth([0.9, 0.9], [3, 3], 0.15), 0.05, elastic, 1000.0).bending(1.0);
    all.push(("membrane", Soft::Sheet(Sheet { hinges: Vec::new(), actuation: vec![0.1], ..sheet.clone() })));
    all.push(("bending", Soft::Sheet(Sheet { fold: vec![0.2], ..sheet })));
    for (name, soft) in all {
        let mut scene = soft.still();
        for (i, x) in scene.particles[0].positions.iter_mut().enumerate() {
            *x = crumpled(i, *x);
        }
        let model = Model::new(&scene).expect("a scene that makes sense");
        let (state, mut params) = (model.state(), model.params());
        if name == "bending" {
            // There is no sheet without a membrane, but one without stiffness.
            params.set("thing.mu", &[1e-30]).expect("a modulus");
            params.set("thing.lambda", &[0.0]).expect("a modulus");
        }
        let mut energy = Energy::new(&model).expect("an energy");
        let mut of = |(q, t): &([Point; 3], Point)| {
            let mut state = state.values().to_vec();
            let n = state.len() / 2;
            for x in state[..n].chunks_exact_mut(3) {
                let moved = plus(times(q, [x[0], x[1], x[2]]), *t);
                x.copy_from_slice(&moved);
            }
            let (kinetic, potential) = energy.of(&state, params.values()).expect("an energy");
            assert_eq!(kinetic, 0.0);
            potential
        };
        let first = of(&(turn([1.0; 3], 0.0), [0.0; 3]));
        let off = motions().iter().map(|motion| (of(motion) / first - 1.0).abs()).fold(0.0, f64::max);
        println!("{name}: {first:.3} J, {off:.1e} off");
        assert!(first > 0.5, "{name}: {first}");
        assert!(off > 0.0 && off < 1e-12, "{name}: {off:e}");
    }
}

/// Two sheets that touch and rub, and one of them itself.
fn touching() -> Scene {
    let elastic = Elastic::of_young_in_plane(2e4, 0.3).expect("matter");
    let mesh = cloth([0.6, 0.6], [2, 2], 0.1);
    let mut scene = Soft::Sheet(Sheet::new("low", &mesh, 0.01, elastic, 300.0)).still();
    let high = Sheet::new("high", &mesh.moved([0.11, 0.07, 0.03]), 0.01, elastic, 300.0);
    let points = high.points();
    scene.add_sheet(high, points);
    scene.soft_contact =
        Some(SoftContact { thickness: 0.06, ke: 150.0, kd: 0.5, kf: 3.0, mu: 0.4, most: None });
    scene
}

/// Forces turn with what they act on, also those by which it is damped, and those of surfaces that touch and rub: the acceleration at
/// Q x + t and Q v + u is Q a. Only forces are found of contact, whose energy is not reported.
#[test]
fn forces_turn_along() {
    let mut all: Vec<(String, Scene, f64)> =
        kinds(true).into_iter().map(|(name, soft)| (name, soft.still(), 0.0)).collect();
    all.push(("contact".into(), touching(), 1.0));
    for (name, mut scene, contact) in all {
        let mut i = 0;
        for points in &mut scene.particles {
            for (x, v) in points.positions.iter_mut().zip(&mut points.velocities) {
                if contact == 0.0 {
                    *x = bowed(*x);
                }
                *v = [noise(i), noise(i + 100), noise(i + 200)];
                i += 1;
            }
        }
        let of = |scene: &Scene| accelerations(&Model::new(scene).expect("a scene that makes sense"));
        let first = of(&scene);
        let most = first.iter().map(|a| norm(a)).fold(0.0, f64::max);
        if contact > 0.0 {
            let without = of(&Scene { soft_contact: None, ..scene.clone() });
            let felt =
                first.iter().zip(&without).filter(|(a, b)| norm(&plus(**a, b.map(|b| -b))) > 0.01 * most);
            assert!(felt.count() >= 6, "they touch");
        }
        let mut worst = 0.0f64;
        for (q, t) in motions() {
            let mut moved = scene.clone();
            for points in &mut moved.particles {
                points.positions.iter_mut().for_each(|x| *x = plus(times(&q, *x), t));
                points.velocities.iter_mut().for_each(|v| *v = plus(times(&q, *v), t.map(|t| 0.3 * t)));
            }
            let off = of(&moved)
                .iter()
                .zip(&first)
                .map(|(a, &b)| norm(&plus(*a, times(&q, b).map(|b| -b))) / most)
                .fold(0.0, f64::max);
            worst = worst.max(off);
        }
        println!("{name}: {most:.1} m/s², {worst:.1e} off");
        assert!(most > 1.0 && worst < 1e-11, "{name}: {worst:e} of {most}");
    }
}

/// The energies of states, one step after the other.
fn energies(model: &Model, integrator: Integrator, dt: f64, time: f64) -> Vec<f64> {
    let mut energy = Energy::new(model).expect("an energy");
    assert!(energy.is_conserved());
    let params = model.params();
    let mut at = |state: &Vec<f64>| {
        let (kinetic, potential) = energy.of(state, params.values()).expect("an energy");
        kinetic + potential
    };
    run(model, integrator, dt, (time / dt).round() as usize).iter().map(&mut at).collect()
}

/// Energy is kept to the order of integrators: half the step, and the largest change becomes a half, a fourth or a sixteenth of what it was.
/// Runge and Kutta's rule loses in each step the (h ω)⁶/72 of a linear vibration, which is the fifth order over a time and more than the fourth
/// order of what is not linear: what it has lies between 16 and 32.
#[test]
fn energy_is_kept_to_the_order() {
    let rules = [
        (Integrator::SemiImplicitEuler, 5e-4, 1.95..2.05),
        (Integrator::VelocityVerlet, 1e-3, 3.95..4.05),
        (Integrator::ImplicitMidpoint, 4e-3, 3.9..4.1),
        (Integrator::RungeKutta4, 2e-3, 16.0..33.0),
    ];
    for (name, soft) in kinds(false) {
        let model = soft.flying(bowed, |_, _| [0.1, 0.2, -0.1]);
        for (integrator, dt, wanted) in rules.clone() {
            let [coarse, fine] = [dt, 0.5 * dt].map(|dt| {
                let all = energies(&model, integrator, dt, 0.2);
                all.iter().map(|energy| (energy / all[0] - 1.0).abs()).fold(0.0, f64::max)
            });
            println!("{name}, {}: {fine:.1e}, ratio {:.3}", integrator.name(), coarse / fine);
            assert!(fine < 5e-3, "{name}, {}: {fine:e}", integrator.name());
            assert!(wanted.contains(&(coarse / fine)), "{name}, {}: {coarse:e}, {fine:e}", integrator.name());
        }
    }
}

/// Every step of backward Euler loses energy, a long one and a short one, and over a time less is lost by shorter ones.
#[test]
fn backward_euler_loses_energy() {
    for (name, soft) in kinds(false) {
        let model = soft.flying(bowed, |_, _| [0.1, 0.2, -0.1]);
        let lost = [0.2, 0.02, 0.005].map(|dt| {
            let all = energies(&model, Integrator::BackwardEuler, dt, 0.4);
            assert!(all.windows(2).all(|pair| pair[1] < pair[0]), "{name}, {dt}: {all:?}");
            1.0 - all[all.len() - 1] / all[0]
        });
        println!("{name}: {lost:.3?} of its energy is lost");
        assert!(lost[0] > lost[1] && lost[1] > lost[2] && lost[2] > 0.05, "{name}: {lost:?}");
    }
}
