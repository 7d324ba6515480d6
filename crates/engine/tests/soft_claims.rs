//! What docs/soft.md says of soft things beside their laws: what is refused, how much room there is, which hinges are stiff, and when
//! explicit steps let surfaces through each other.

mod elastic;

use elastic::{Soft, block, cloth};
use pullback_engine::rollout::Moment;
use pullback_engine::{Energy, Error, Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::soft::{Cut, Diagonals, Mesh, SheetMesh, SolidMesh};
use pullback_scene::{Elastic, Scene, Sheet, SoftContact, Solid, SolidMaterial, World};

fn rubber() -> Elastic {
    Elastic::of_young(1e3, 0.3).expect("matter")
}

fn paper() -> Elastic {
    Elastic::of_young_in_plane(1e4, 0.3).expect("matter")
}

fn still() -> Scene {
    Scene { world: World { gravity: [0.0; 3], ..World::default() }, ..Scene::default() }
}

/// Elements read velocities, also without any damping.
#[test]
fn reversible_steps_refuse_all_that_is_soft() {
    let sheet = Sheet::new("heart", &cloth([0.5; 2], [2; 2], 0.1), 0.01, paper(), 300.0);
    let flat = Sheet { hinges: Vec::new(), ..sheet.clone() };
    let solid = Solid::new("heart", &block([0.5; 3], [1; 3], 0.1), rubber(), 1000.0);
    let solids = SolidMaterial::ALL.map(|material| Soft::Solid(solid.clone().material(material)));
    for soft in solids.into_iter().chain([Soft::Sheet(sheet), Soft::Sheet(flat)]) {
        let model = Model::new(&soft.still()).expect("a scene that makes sense");
        let error =
            Step::new(&model, Scheme::new(Integrator::ReversibleVerlet, 1e-3)).err().expect("it is refused");
        assert!(matches!(error, Error::Reversible(_)) && error.to_string().contains("`heart`"), "{error}");
        assert!(Step::new(&model, Scheme::new(Integrator::VelocityVerlet, 1e-3)).is_ok());
    }
}

/// Materials that know F over ∛(1 + a) have no shape where 1 + a is not above 0: the step and the element are named. The neo-Hookean one asks
/// for a volume, of which it may be short.
#[test]
fn actuations_of_no_volume() {
    for material in SolidMaterial::ALL {
        let solid = Solid::new("heart", &block([0.5; 3], [1; 3], 0.1), rubber(), 1000.0).material(material);
        let soft = Soft::Solid(Solid { controlled: true, actuation: vec![0.0; 6], ..solid });
        let model = Model::new(&soft.still()).expect("a scene that makes sense");
        let (state, params) = (model.state(), model.params());
        for integrator in [Integrator::SemiImplicitEuler, Integrator::RungeKutta4, Integrator::BackwardEuler]
        {
            let step = Step::new(&model, Scheme::new(integrator, 1e-4)).expect("a step");
            let mut rollout = Rollout::<f64>::new(&step, Options::new(3)).expect("a rollout");
            let mut with = |a: f64| {
                let mut controls = vec![0.0; 3 * 6];
                controls[6 + 3] = a;
                rollout.watch(&Start::new(&state, &controls, &params), |_| ())
            };
            with(-0.9).expect("a small volume");
            for a in [-1.0, -1.1] {
                if material == SolidMaterial::NeoHookean {
                    with(a).expect("a volume is what it asks for");
                    continue;
                }
                let error = with(a).expect_err("no volume");
                assert!(matches!(error, Error::NotFinite { step: 1, .. }), "{error}");
                assert!(error.to_string().contains("`force of heart 1 stress[3]`"), "{error}");
            }
        }
    }
}

/// So many small sheets over each other, all of them nearer than the thickness, and a solid far away.
fn stack(sheets: usize, most: Option<usize>) -> Scene {
    let mesh = SheetMesh::sheet([1.0; 2], [1; 2], Diagonals::One).expect("a sheet");
    let mut scene = still();
    for i in 0..sheets {
        let at = 0.02 * i as f64;
        let sheet = Sheet::new(format!("sheet{i}"), &mesh.moved([at, 0.4 * at, at]), 0.01, paper(), 300.0);
        let points = sheet.points();
        scene.add_sheet(sheet, points);
    }
    let solid = Solid::new("far", &block([4.0; 3], [2; 3], 0.0).moved([100.0, 0.0, 0.0]), rubber(), 1000.0);
    let points = solid.points();
    scene.add_solid(solid, points);
    scene.soft_contact = Some(SoftContact { thickness: 0.5, ke: 1e-3, kd: 0.0, kf: 0.0, mu: 0.0, most });
    scene
}

/// Where nothing is said, 256 pairs may touch at once and 8 for each vertex of a surface: four of a sheet, and 26 of a block whose 27th
/// point is inside. What is said holds to one pair.
#[test]
fn room_for_pairs() {
    let step = |scene: &Scene| {
        let model = Model::new(scene).expect("a scene that makes sense");
        let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, 1e-6)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        rollout.watch(&Start::new(&state, &[], &params), |_| ())
    };
    let room = |sheets: usize| 256 + 8 * (4 * sheets + 26);
    for sheets in [7, 9] {
        // As many pairs as there are, by halving.
        let mut range = [0, 41 * sheets * sheets];
        while range[1] - range[0] > 1 {
            let middle = (range[0] + range[1]) / 2;
            match step(&stack(sheets, Some(middle))) {
                Ok(()) => range[1] = middle,
                Err(Error::TooManySoftContacts { step: 0, most, .. }) => {
                    assert_eq!(most, middle);
                    range[0] = middle;
                }
                Err(error) => panic!("{error}"),
            }
        }
        let pairs = range[1];
        println!("{sheets} sheets: {pairs} pairs, and room for {}", room(sheets));
        let found = step(&stack(sheets, None));
        if pairs <= room(sheets) {
            found.expect("room for all");
            continue;
        }
        let error = found.expect_err("no room");
        assert!(matches!(error, Error::TooManySoftContacts { most, .. } if most == room(sheets)), "{error}");
    }
}

/// What lies beyond a leg of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Beyond {
    /// A triangle, and a hinge of this flexural rigidity.
    Hinge(f64),
    Border,
}

/// How stiff the diagonal of a square of 1 m is, over k, in each of its two triangles: of an energy of ½ K θ² with both together. One
/// leg of each has something beyond it, and the other has something else.
fn diagonal([one, other]: [Beyond; 2]) -> f64 {
    const BENDING: f64 = 0.7;
    let mut points = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let mut elements = vec![[0, 1, 2], [0, 2, 3]];
    let flaps = [
        ([0, 1], [0.5, -0.8], one),
        ([2, 3], [0.4, 1.9], one),
        ([1, 2], [1.7, 0.4], other),
        ([3, 0], [-0.6, 0.5], other),
    ];
    for ([from, to], [x, y], beyond) in flaps {
        if beyond != Beyond::Border {
            elements.push([to, from, points.len() as u32]);
            points.push([x, y, 0.0]);
        }
    }
    let mut sheet = Sheet::new("square", &Mesh { points, elements }, 1e-2, paper(), 300.0);
    let stiff = |edge: [u32; 2]| {
        let is = |of: [u32; 2]| of == edge || [of[1], of[0]] == edge;
        let flap = flaps.iter().find(|flap| is(flap.0));
        match flap.map(|flap| flap.2) {
            Some(Beyond::Hinge(part)) => part * BENDING,
            Some(Beyond::Border) => panic!("a border is no hinge"),
            None => BENDING,
        }
    };
    sheet.bending = sheet.hinges.iter().map(|hinge| stiff(hinge.edge)).collect();
    // What is left of the diagonal turns about it.
    let theta = 0.3f64;
    let mut scene = Soft::Sheet(sheet).still();
    for x in &mut scene.particles[0].positions {
        let out = (x[1] - x[0]) / 2f64.sqrt();
        if out > 1e-9 {
            let middle = 0.5 * (x[0] + x[1]);
            let (across, up) = (out * theta.cos() / 2f64.sqrt(), out * theta.sin());
            *x = [middle - across, middle + across, up];
        }
    }
    let model = Model::new(&scene).expect("a scene that makes sense");
    let (state, params) = (model.state(), model.params());
    let energy =
        Energy::new(&model).expect("an energy").of(state.values(), params.values()).expect("an energy").1;
    energy / (theta * theta * BENDING)
}

/// A triangle has the energy ½ k A |Λ|² with Λ = Σ l off/(A + A′) n ⊗ n: of the diagonal alone, with l² = 2 and A = A′ = ½, that is
/// ½ k off² (1.00 k), also where a leg is a hinge that does not resist, which stays flat. A leg at a border gives way until n·Λ n = 0 there, n the
/// normal of that leg: of n ⊗ n = ½ ((1, 1), (1, 1)) of the diagonal, one of four equal squares goes (0.75 k), and of both legs two (0.50 k).
#[test]
fn how_stiff_diagonals_are() {
    let (stiff, soft, border) = (Beyond::Hinge(1.0), Beyond::Hinge(0.0), Beyond::Border);
    let cases = [
        ([stiff, stiff], 1.0),
        ([soft, stiff], 1.0),
        ([stiff, soft], 1.0),
        ([soft, soft], 1.0),
        ([border, stiff], 0.75),
        ([stiff, border], 0.75),
        ([border, soft], 0.75),
        ([border, border], 0.5),
    ];
    for (legs, wanted) in cases {
        let found = diagonal(legs);
        assert!((found - wanted).abs() < 1e-12, "{legs:?}: {found} k, and not {wanted} k");
    }
}

/// A sheet that comes down on another, which is held, from so many thicknesses above it, and goes so many in each part of a step; ke is so
/// many times m (v/thickness)² of its heaviest point. The heights of its points over the other [m] and their velocities [m/s], from the
/// start on.
fn meeting(part: f64, from: f64, substeps: usize, ke: f64) -> Vec<[Vec<f64>; 2]> {
    let (thickness, dt) = (0.01, 1e-3);
    let speed = part * thickness / (dt / substeps as f64);
    let mesh = SheetMesh::sheet([0.4; 2], [2; 2], Diagonals::One).expect("a sheet");
    let (mut scene, mut heaviest) = (still(), 0.0);
    for (name, at) in [("low", [0.0; 3]), ("high", [0.03, 0.02, from * thickness])] {
        let sheet = Sheet::new(name, &mesh.moved(at), 0.01, paper(), 300.0);
        heaviest = sheet.point_masses().into_iter().fold(0.0, f64::max);
        let points = sheet.points();
        let points = if name == "low" { points.fix() } else { points.velocity([0.0, 0.0, -speed]) };
        scene.add_sheet(sheet, points);
    }
    let ke = ke * heaviest * (speed / thickness).powi(2);
    scene.soft_contact = Some(SoftContact { thickness, ke, kd: 0.0, kf: 0.0, mu: 0.0, most: None });
    let model = Model::new(&scene).expect("a scene that makes sense");
    let scheme = Scheme { integrator: Integrator::SemiImplicitEuler, dt, substeps };
    let step = Step::new(&model, scheme).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(40)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let mut seen = Vec::new();
    // Nine points of the one that is held, nine of the other, and their velocities.
    let up = |state: &[f64], from: usize| (from..from + 9).map(|i| state[3 * i + 2]).collect();
    let see = |m: &Moment<'_>| seen.push([up(m.state, 9), up(m.state, 27)]);
    rollout.watch(&Start::new(&state, &[], &params), see).expect("it moves");
    seen
}

/// Explicit steps see contact where they look: sheets that go less than half the thickness in a step, and are stopped within it, do
/// not cross; without the stiffness for it they do, and at several times the thickness they do not even feel each other.
#[test]
fn explicit_steps_that_are_short_enough() {
    for part in [0.1, 0.3, 0.5] {
        for from in [1.1, 1.25, 1.43, 1.61, 1.79, 1.97] {
            for substeps in [1, 4] {
                let seen = meeting(part, from, substeps, 1.2);
                let lowest = seen.iter().flat_map(|[x, _]| x).fold(f64::INFINITY, |a, &b| a.min(b));
                let mean = seen[40][1].iter().sum::<f64>() / 9.0;
                println!(
                    "{part} thicknesses a step, from {from}, {substeps} parts: {lowest:.5} m, then {mean:.2} m/s"
                );
                assert!(lowest > 0.0 && mean > 0.0, "{part}, {from}, {substeps}: {lowest}, {mean}");
            }
        }
    }
    let through = meeting(0.3, 1.1, 1, 0.01);
    assert!(through[40][0].iter().all(|&x| x < -0.01), "too soft: {:?}", through[40]);
    // From 2.5 thicknesses above it to 2.5 below.
    let through = meeting(5.0, 2.5, 1, 1.2);
    assert!(through[1][0].iter().all(|&x| x < -0.02), "{:?}", through[1]);
    assert_eq!(through[40][1], through[0][1], "nothing was felt");
}

/// How far a beam of these cells sags, as a part of what beam theory with shear says.
fn sagging(cells: [usize; 3], cut: Cut, poisson: f64) -> f64 {
    const YOUNG: f64 = 1e8;
    const WEIGHT: f64 = 9.81e3;
    let mesh = SolidMesh::beam_cut([1.0, 0.1, 0.1], cells, cut).expect("a beam");
    let elastic = Elastic::of_young(YOUNG, poisson).expect("matter");
    let held = mesh.points_near_plane([0.0; 3], [1.0, 0.0, 0.0], 1e-6).expect("an end");
    let end = mesh.points_near_plane([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 1e-6).expect("an end");
    let mut scene = Scene { world: World { gravity: [0.0, 0.0, -9.81], wind: [0.0; 3] }, ..Scene::default() };
    let solid = Solid::new("beam", &mesh, elastic, 1000.0);
    let points = solid.points().fix_points(&held);
    scene.add_solid(solid, points);
    let model = Model::new(&scene).expect("a model");
    // A step of hours ends at rest.
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 3600.0)).expect("a step");
    let (state, params, mut low) = (model.state(), model.params(), 0.0);
    let mut rollout = Rollout::<f64>::new(&step, Options::new(1)).expect("a rollout");
    let see = |m: &Moment<'_>| {
        let all = end.iter().map(|&i| mesh.points[i as usize][2] - m.state[3 * i as usize + 2]);
        low = all.sum::<f64>() / end.len() as f64;
    };
    rollout.watch(&Start::new(&state, &[], &params), see).expect("rest");
    let inertia = 0.1f64.powi(3) / 12.0;
    let shear = YOUNG / (2.0 + 2.0 * poisson) * 5.0 / 6.0;
    low / (WEIGHT * (0.1 / (8.0 * YOUNG * inertia) + 1.0 / (2.0 * shear)))
}

#[test]
fn how_stiff_coarse_solids_are() {
    for (cells, cut, poisson, wanted) in [
        ([10, 2, 2], Cut::Six, 0.3, 0.35),
        ([10, 2, 2], Cut::Six, 0.45, 0.24),
        ([20, 2, 2], Cut::Six, 0.45, 0.30),
        ([10, 2, 2], Cut::Five, 0.45, 0.39),
        ([20, 2, 2], Cut::Five, 0.49, 0.58),
    ] {
        let found = sagging(cells, cut, poisson);
        assert!((found - wanted).abs() < 0.006, "{cells:?}, {cut:?}, {poisson}: {found}");
    }
}

/// How fast a block of 3 cells of so many metres along each axis moves at most after steps of a part of ρ h²/η, which it begins with 1 mm/s.
fn viscous(h: f64, part: f64) -> f64 {
    let (density, viscosity) = (1000.0, 100.0);
    let mesh = SolidMesh::block([3.0 * h; 3], [3; 3]).expect("a block");
    let solid = Solid::new("block", &mesh, Elastic::of_young(0.01, 0.3).expect("matter"), density)
        .viscosity(viscosity);
    let mut points = solid.points();
    (0..points.velocities.len()).for_each(|i| points.velocities[i] = [0.0, 0.0, 1e-3 * (i as f64).sin()]);
    let mut scene = still();
    scene.add_solid(solid, points);
    let model = Model::new(&scene).expect("a model");
    let dt = part * density * h * h / viscosity;
    let step = Step::new(&model, Scheme::new(Integrator::SemiImplicitEuler, dt)).expect("a step");
    let (state, params, mut most) = (model.state(), model.params(), f64::INFINITY);
    let mut rollout = Rollout::<f64>::new(&step, Options::new(400)).expect("a rollout");
    let see = |m: &Moment<'_>| {
        most = m.state[m.state.len() / 2..].iter().fold(0.0, |most: f64, v| most.max(v.abs()))
    };
    match rollout.watch(&Start::new(&state, &[], &params), see) {
        Ok(()) => most,
        Err(_) => f64::INFINITY,
    }
}

#[test]
fn steps_of_what_is_viscous() {
    for h in [0.1, 0.05] {
        assert!(viscous(h, 0.08) < 1e-3, "it comes to rest, but for how it moves as a whole");
        assert!(viscous(h, 0.15) > 1.0, "it blows up");
    }
}
