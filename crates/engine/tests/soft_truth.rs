//! Soft solids and sheets against closed forms: stress, the patch test, what is conserved, and masses.

mod elastic;

use elastic::{
    Point, Soft, accelerations, affine, block, bowed, cloth, cross, kinds, noise, norm, root, run,
    sheet_stress, stress,
};
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Energy, Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::soft::{Diagonals, SheetMesh, SolidMesh};
use pullback_scene::{AppliedForce, Elastic, Particles, Scene, Sheet, Solid, SolidMaterial, World};

/// Where all points have moved by one affine map, stress is the same everywhere and points inside feel no force: what is left
/// is the rounding of sums over some two dozen elements.
#[test]
fn the_patch_test() {
    for material in SolidMaterial::ALL {
        let mesh = block([1.0, 0.8, 0.9], [3; 3], 0.15);
        let solid = Solid::new("block", &mesh, Elastic::of_young(1.0, 0.3).expect("matter"), 1000.0);
        let inside = |i: usize| [i % 4, i / 4 % 4, i / 16].iter().all(|&at| at == 1 || at == 2);
        patch(material.name(), Soft::Solid(solid.material(material)), 8, inside);
    }
    let mesh = cloth([1.0, 0.8], [4, 4], 0.15);
    let sheet =
        Sheet::new("sheet", &mesh, 0.01, Elastic::of_young_in_plane(1.0, 0.3).expect("matter"), 1000.0);
    let inside = |i: usize| [i % 5, i / 5].iter().all(|&at| at > 0 && at < 4);
    patch("sheet", Soft::Sheet(sheet), 9, inside);
}

fn patch(name: &str, soft: Soft, count: usize, inside: impl Fn(usize) -> bool) {
    let masses = soft.masses();
    let model = soft.flying(affine, |_, _| [0.0; 3]);
    let forces: Vec<f64> = accelerations(&model).iter().zip(masses).map(|(a, m)| m * norm(a)).collect();
    let most = |within: bool| {
        let those = (0..forces.len()).filter(|&i| inside(i) == within);
        those.map(|i| forces[i]).fold(0.0, f64::max)
    };
    assert_eq!((0..forces.len()).filter(|&i| inside(i)).count(), count);
    println!("patch test, {name}: {:.1e} inside, {:.1e} outside", most(true), most(false));
    assert!(most(false) > 1e-4, "{name}: forces outside");
    assert!(most(true) < 1e-12 * most(false), "{name}: {:e} of {:e}", most(true), most(false));
}

/// Σ m v and Σ x × m v of a state.
fn momenta(masses: &[f64], state: &[f64]) -> [f64; 6] {
    let mut sums = [0.0; 6];
    let (x, v) = state.split_at(state.len() / 2);
    for (i, m) in masses.iter().enumerate() {
        let at = |of: &[f64]| -> Point { std::array::from_fn(|a| of[3 * i + a]) };
        let turning = cross(at(x), at(v));
        (0..3).for_each(|a| sums[a] += m * v[3 * i + a]);
        (0..3).for_each(|a| sums[3 + a] += m * turning[a]);
    }
    sums
}

/// Nothing from outside acts on what flies, turns, swings and is damped: both momenta stay. Semi-implicit Euler and the implicit
/// midpoint rule keep both to rounding, which adds up over the steps; what Newton's method leaves of its equations counts for the latter.
#[test]
fn momentum_is_kept() {
    for (integrator, dt, steps, tolerance) in
        [(Integrator::SemiImplicitEuler, 1e-3, 400, 1e-12), (Integrator::ImplicitMidpoint, 0.01, 20, 1e-11)]
    {
        for (name, soft) in kinds(true) {
            let masses = soft.masses();
            let velocity =
                |i: usize, _| std::array::from_fn(|a| ((i * 5 + a * 3) % 7) as f64 / 7.0 + 0.2 * a as f64);
            let model = soft.flying(bowed, velocity);
            let states = run(&model, integrator, dt, steps);
            let (first, last) = (momenta(&masses, &states[0]), momenta(&masses, &states[steps]));
            let scale = norm(&first);
            let off = first.iter().zip(&last).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale;
            println!("momenta, {name}, {}: {off:.1e} of {scale:.2}", integrator.name());
            assert!(off < tolerance, "{name}, {}: {first:?}, then {last:?}", integrator.name());
            // And it was damped.
            let mut energy = Energy::new(&model).expect("an energy");
            let [before, after] = [0, steps].map(|at| {
                let (kinetic, potential) =
                    energy.of(&states[at], model.params().values()).expect("an energy");
                kinetic + potential
            });
            println!("    energy: {before:.3} J, then {after:.3} J");
            assert!(!energy.is_conserved() && after < 0.99 * before, "{name}: {before} J, then {after} J");
        }
    }
}

/// A rigid motion of what is deformed is not damped, to rounding; another motion of that speed is.
#[test]
fn what_turns_as_a_whole_is_not_damped() {
    let spin = |_: usize, x: Point| {
        let turning = cross([0.3, -0.2, 0.5], x);
        std::array::from_fn(|a| turning[a] + [4.0, 5.0, 6.0][a])
    };
    let swell = |_: usize, [x, y, z]: Point| [0.4 * x, 0.1 * x - 0.3 * y, 0.5 * x * x + 0.2 * z];
    for ((name, damped), (_, free)) in kinds(true).into_iter().zip(kinds(false)) {
        let slowed = |(damped, free): (Soft, Soft), velocity: &dyn Fn(usize, Point) -> Point| {
            let [a, b] = [damped, free].map(|soft| accelerations(&soft.flying(bowed, velocity)));
            a.iter().zip(&b).map(|(a, b)| norm(&[a[0] - b[0], a[1] - b[1], a[2] - b[2]])).fold(0.0, f64::max)
        };
        let turning = slowed((damped, free), &spin);
        let again = |damped| kinds(damped).into_iter().find(|kind| kind.0 == name).expect("the same").1;
        let swelling = slowed((again(true), again(false)), &swell);
        println!("rigid motion, {name}: slowed by {turning:.1e} m/s², another by {swelling:.1e}");
        assert!(swelling > 1e-2, "{name}: {swelling}");
        assert!(turning < 1e-11 * swelling, "{name}: {turning} of {swelling}");
    }
}

/// A bar that is drawn to length and held there, free to get thinner: the static equilibrium has the thickness and the force of the closed
/// form of its own energy, in any mesh, because the strain is the same everywhere.
#[test]
fn a_bar_that_is_stretched() {
    let elastic = Elastic::of_young(1.0, 0.3).expect("matter");
    let sides = [0.5, 0.3, 0.2];
    for material in SolidMaterial::ALL {
        // The nodes on faces stay there, those inside are anywhere.
        let mut mesh = SolidMesh::block(sides, [2; 3]).expect("a block").moved(sides.map(|side| 0.5 * side));
        mesh.points[13] = [0.28, 0.14, 0.11];
        let solid = Solid::new("bar", &mesh, elastic, 1000.0).material(material);
        for s in [0.7, 0.9, 1.1, 1.5, 2.0] {
            if material == SolidMaterial::StVenantKirchhoff && s > 1.7 {
                // It becomes so thin that it may as well turn inside out.
                continue;
            }
            let a = root(|a| stress(material, elastic, s, a)[1], [0.5, 1.4]);
            let wanted = stress(material, elastic, s, a)[0];
            let (place, force) = stretched(Soft::Solid(solid.clone()), sides, s);
            let name = format!("{material}, stretched by {s}");
            compare(&name, (sides[1] * a, place[1]), (wanted * sides[1] * sides[2], force));
            assert!((place[2] / (sides[2] * a) - 1.0).abs() < 1e-9, "{name}: {place:?}");
        }
    }
    let elastic = Elastic::of_young_in_plane(1.0, 0.3).expect("matter");
    let mesh =
        SheetMesh::sheet([0.5, 0.3], [2, 2], Diagonals::One).expect("a sheet").moved([0.25, 0.15, 0.0]);
    let sheet = Sheet::new("bar", &mesh, 0.01, elastic, 1000.0);
    // A sheet that is pressed would rather buckle.
    for s in [1.05, 1.1, 1.5, 2.0] {
        let a = root(|a| sheet_stress(elastic, s, a)[1], [0.5, 1.4]);
        let (place, force) = stretched(Soft::Sheet(sheet.clone()), [0.5, 0.3, 0.0], s);
        let wanted = sheet_stress(elastic, s, a)[0] * 0.3 * 0.01;
        compare(&format!("sheet, stretched by {s}"), (0.3 * a, place[1]), (wanted, force));
    }
}

fn compare(name: &str, (wide, found): (f64, f64), (wanted, force): (f64, f64)) {
    println!(
        "{name}: width {:.1e} off, force {wanted:.6} {:.1e} off",
        found / wide - 1.0,
        force / wanted - 1.0
    );
    assert!((found / wide - 1.0).abs() < 1e-9, "{name}: {found}, and not {wide}");
    assert!((force / wanted - 1.0).abs() < 1e-9, "{name}: {force}, and not {wanted}");
}

/// Draws a bar along x and waits until it is at rest. Where its far corner is, and the force that holds its end.
fn stretched(soft: Soft, sides: [f64; 3], by: f64) -> (Point, f64) {
    let mut scene = Scene { world: World { gravity: [0.0; 3], ..World::default() }, ..Scene::default() };
    let (rest, masses) = match &soft {
        Soft::Solid(solid) => (solid.rest.clone(), solid.point_masses()),
        Soft::Sheet(sheet) => (sheet.rest.clone(), sheet.point_masses()),
    };
    let set = |mut points: Particles| {
        for (i, x) in rest.iter().enumerate() {
            points.positions[i][0] = by * x[0];
            points.fixed[i] = [x[0] == 0.0 || x[0] == sides[0], x[1] == 0.0, x[2] == 0.0];
        }
        points
    };
    match soft {
        Soft::Solid(solid) => {
            let points = set(solid.points());
            scene.add_solid(solid, points)
        }
        Soft::Sheet(sheet) => {
            let points = set(sheet.points());
            scene.add_sheet(sheet, points)
        }
    };
    // What moves in such a step is what has no weight: M/dt² is 1e-12 of the stiffness.
    let states =
        run(&Model::new(&scene).expect("a scene that makes sense"), Integrator::BackwardEuler, 1e6, 2);
    let far = rest.len() - 1;
    let end: Point = std::array::from_fn(|a| states[2][3 * far + a]);
    for i in 0..rest.len() {
        scene.particles[0].positions[i] = std::array::from_fn(|a| states[2][3 * i + a]);
        scene.particles[0].fixed[i] = [false; 3];
    }
    let free = accelerations(&Model::new(&scene).expect("a scene that makes sense"));
    let force = (0..rest.len()).filter(|&i| rest[i][0] == sides[0]).map(|i| -masses[i] * free[i][0]).sum();
    (end, force)
}

/// Elements have masses of their own besides those of the points, each in equal parts at its corners: sum and centre are those of the
/// elements.
#[test]
fn masses_of_elements_and_points() {
    let mesh = block([0.6, 0.4, 0.5], [2, 2, 2], 0.15);
    let mut solid = Solid::new("block", &mesh, Elastic::of_young(1e4, 0.3).expect("matter"), 1.0);
    solid.density = (0..mesh.elements.len()).map(|i| 800.0 + 300.0 * noise(i)).collect();
    let mut points = solid.points();
    points.masses = (0..mesh.points.len()).map(|i| 0.5 + 0.4 * noise(7 * i)).collect();
    let mut scene = Scene { world: World { gravity: [0.0; 3], ..World::default() }, ..Scene::default() };
    // Two newtons on each of the points, which are at rest.
    scene.forces = vec![AppliedForce::constant("push", (0..mesh.points.len()).collect(), [0.0, 2.0, 0.0])];
    let (density, own) = (solid.density.clone(), points.masses.clone());
    scene.add_solid(solid, points);
    let model = Model::new(&scene).expect("a scene that makes sense");
    let found: Vec<f64> = accelerations(&model).iter().map(|a| 2.0 / a[1]).collect();
    let mut wanted = [0.0; 4];
    let mut add = |mass: f64, at: Point| {
        wanted[0] += mass;
        (0..3).for_each(|a| wanted[1 + a] += mass * at[a]);
    };
    for (i, volume) in mesh.volumes().enumerate() {
        let corners = mesh.corners(i);
        add(density[i] * volume, std::array::from_fn(|a| corners.iter().map(|x| x[a]).sum::<f64>() / 4.0));
    }
    own.iter().zip(&mesh.points).for_each(|(&mass, &at)| add(mass, at));
    let sum: f64 = found.iter().sum();
    assert!((sum / wanted[0] - 1.0).abs() < 1e-12, "{sum}, and not {}", wanted[0]);
    for a in 0..3 {
        let centre: f64 = found.iter().zip(&mesh.points).map(|(m, x)| m * x[a]).sum::<f64>() / sum;
        assert!((centre - wanted[1 + a] / wanted[0]).abs() < 1e-13, "{centre}");
    }
    // And the energy knows them: ½ M v².
    let mut state = model.state();
    let n = state.values().len() / 2;
    state.values_mut()[n..].fill(1.0);
    let (kinetic, _) =
        Energy::new(&model).expect("an energy").of(state.values(), model.params().values()).expect("one");
    assert!((kinetic / (1.5 * sum) - 1.0).abs() < 1e-12, "{kinetic}");
}

/// Where all points are at the end, weighed without a pattern.
struct Places;

impl Loss for Places {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        let n = moment.state.len() / 2;
        if moment.last { (0..n).map(|i| noise(i) * moment.state[i]).sum() } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        let n = moment.state.len() / 2;
        (0..n).filter(|_| moment.last).for_each(|i| bars.state[i] += noise(i));
    }
}

/// Of the shape at rest all else depends: edges, volumes, masses, the angles and weights of hinges. Against central differences, whose
/// error is h² of the third derivative and rounding/h: 1e-9 of the largest at h = 1e-5 of a cell.
#[test]
fn gradients_by_the_shape_at_rest() {
    for (name, soft) in kinds(true) {
        let soft = match soft {
            Soft::Solid(solid) => Soft::Solid(solid.rest_params()),
            Soft::Sheet(sheet) => Soft::Sheet(sheet.rest_params()),
        };
        let model = soft.flying(bowed, |i, _| [noise(i), noise(i + 50), noise(i + 90)]);
        let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-3)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(40)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        let gradient =
            rollout.gradient(&Start::new(&state, &[], &params), &Places).expect("a gradient").clone();
        let named = match name.as_str() {
            "sheet" => "sheet[*].rest",
            _ => "block[*].rest",
        };
        let places = model.params_layout().select(named).expect("places at rest");
        let places: Vec<usize> = places.into_iter().flatten().collect();
        assert_eq!(places.len(), state.values().len() / 2);
        let most = places.iter().map(|&i| gradient.params[i].abs()).fold(0.0, f64::max);
        let mut worst: f64 = 0.0;
        for &i in &places {
            let mut value = |h: f64| {
                let mut params = params.clone();
                params.values_mut()[i] += h;
                rollout.value(&Start::new(&state, &[], &params), &Places).expect("a value")[0]
            };
            let h = 3e-6;
            let difference = (value(h) - value(-h)) / (2.0 * h);
            worst = worst.max((difference - gradient.params[i]).abs() / most);
        }
        println!("shape at rest, {name}: {worst:.1e} of {most:.2}");
        assert!(most > 0.1 && worst > 0.0 && worst < 1e-8, "{name}: {worst} of {most}");
    }
}
