//! What soft solids and sheets come to rest at, by steps of backward Euler that are much longer than anything swings: an affine map
//! between borders that are held, with the stress of its closed form, and the size that actuations ask for.

mod elastic;

use elastic::{Point, Soft, accelerations, affine, block, cloth, noise, norm, root, run};
use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::{Elastic, Sheet, Solid, SolidMaterial};

/// Its three columns.
type Matrix = [Point; 3];

fn cross(a: Point, b: Point) -> Point {
    elastic::cross(a, b)
}

fn dot(a: Point, b: Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cofactors([a, b, c]: Matrix) -> Matrix {
    [cross(b, c), cross(c, a), cross(a, b)]
}

/// p A + q B
fn combined<const N: usize>((p, a): (f64, [Point; N]), (q, b): (f64, [Point; N])) -> [Point; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| p * a[i][j] + q * b[i][j]))
}

/// The turn of F = R S, by Newton's method for R = R⁻ᵀ (Higham 1986).
fn turn(f: Matrix) -> Matrix {
    let mut r = f;
    for _ in 0..30 {
        let cof = cofactors(r);
        r = combined((0.5, r), (0.5 / dot(r[0], cof[0]), cof));
    }
    r
}

/// The nominal stress of a solid: the derivatives of the energies in docs/soft.md by F, where nothing is actuated.
fn solid_stress(material: SolidMaterial, Elastic { mu, lambda }: Elastic, f: Matrix) -> Matrix {
    let cof = cofactors(f);
    let j = dot(f[0], cof[0]);
    match material {
        SolidMaterial::NeoHookean => {
            let (m, l) = (4.0 / 3.0 * mu, lambda + 5.0 / 6.0 * mu);
            let i: f64 = f.iter().map(|&column| dot(column, column)).sum();
            combined((m * (1.0 - 1.0 / (i + 1.0)), f), (l * (j - 1.0) - mu, cof))
        }
        SolidMaterial::StVenantKirchhoff => {
            let e: Matrix = std::array::from_fn(|a| {
                std::array::from_fn(|b| 0.5 * (dot(f[a], f[b]) - if a == b { 1.0 } else { 0.0 }))
            });
            let trace = e[0][0] + e[1][1] + e[2][2];
            // F (2 μ E + λ tr E)
            let times = |a: usize, i: usize| {
                (0..3).map(|b| 2.0 * mu * f[b][i] * e[a][b]).sum::<f64>() + lambda * trace * f[a][i]
            };
            std::array::from_fn(|a| std::array::from_fn(|i| times(a, i)))
        }
        SolidMaterial::Corotated => {
            let strain = combined((1.0, f), (-1.0, turn(f)));
            combined((2.0 * mu, strain), (lambda * (j - 1.0), cof))
        }
    }
}

/// The same of a sheet, whose F has two columns.
fn sheet_stress(Elastic { mu, lambda }: Elastic, [a, b]: [Point; 2]) -> [Point; 2] {
    let (m, l) = (1.5 * mu, lambda + 2.0 / 3.0 * mu);
    let normal = cross(a, b);
    let j = norm(&normal);
    let normal = normal.map(|x| x / j);
    let shear = m * (1.0 - 1.0 / (dot(a, a) + dot(b, b) + 1.0));
    combined((shear, [a, b]), (l * (j - 1.0) - mu, [cross(b, normal), cross(normal, a)]))
}

/// The columns of the map of [`affine`].
fn columns() -> Matrix {
    let origin = affine([0.0; 3]);
    std::array::from_fn(|a| {
        let end = affine(std::array::from_fn(|i| if i == a { 1.0 } else { 0.0 }));
        std::array::from_fn(|i| end[i] - origin[i])
    })
}

/// The border is where an affine map has it, and held; the points inside start somewhere within a tenth of a cell of that, in a mesh without
/// a pattern. They come to rest where the map has them. The stress there is that of the closed form: of forces f on points that are at X in
/// the shape at rest, Σ f ⊗ X = -V P, as the divergence of the stress is zero within.
#[test]
fn affine_between_borders() {
    let f = columns();
    for material in SolidMaterial::ALL {
        let elastic = Elastic::of_young(1.0, 0.3).expect("matter");
        let mesh = block([1.0, 0.8, 0.9], [3; 3], 0.15);
        let solid = Solid::new("block", &mesh, elastic, 1000.0).material(material);
        let inside = |i: usize| [i % 4, i / 4 % 4, i / 16].iter().all(|&at| at == 1 || at == 2);
        let wanted = solid_stress(material, elastic, f).map(|p| p.map(|p| p * mesh.volumes().sum::<f64>()));
        between(material.name(), Soft::Solid(solid), (0.1 / 3.0, [1.0, 0.8, 0.9]), inside, wanted);
    }
    let elastic = Elastic::of_young_in_plane(1.0, 0.3).expect("matter");
    let mesh = cloth([1.0, 0.8], [4, 4], 0.15);
    let sheet = Sheet::new("sheet", &mesh, 0.01, elastic, 1000.0);
    let inside = |i: usize| [i % 5, i / 5].iter().all(|&at| at > 0 && at < 4);
    let volume = 0.01 * mesh.areas().sum::<f64>();
    let [a, b] = sheet_stress(elastic, [f[0], f[1]]).map(|p| p.map(|p| p * volume));
    between("sheet", Soft::Sheet(sheet), (0.1 / 4.0, [1.0, 0.8, 0.0]), inside, [a, b, [0.0; 3]]);
}

fn between(
    name: &str,
    soft: Soft,
    (by, sides): (f64, Point),
    inside: impl Fn(usize) -> bool,
    wanted: Matrix,
) {
    let (rest, masses) = (soft.rest(), soft.masses());
    let mut scene = soft.still();
    let count = rest.len();
    let off = |i: usize| std::array::from_fn(|a| by * sides[a] * noise(3 * i + a + 500));
    for (i, &x) in rest.iter().enumerate() {
        let off: Point = if inside(i) { off(i) } else { [0.0; 3] };
        scene.particles[0].positions[i] = affine(std::array::from_fn(|a| x[a] + off[a]));
        scene.particles[0].fixed[i] = [!inside(i); 3];
    }
    let model = Model::new(&scene).expect("a scene that makes sense");
    let states = run(&model, Integrator::BackwardEuler, 1e6, 4);
    let most = |state: &[f64]| {
        let off = |(i, &x): (usize, &Point)| {
            let at = affine(x);
            norm(&[0, 1, 2].map(|a| state[3 * i + a] - at[a]))
        };
        rest.iter().enumerate().map(off).fold(0.0, f64::max)
    };
    let (first, last) = (most(&states[0]), most(&states[4]));
    println!("{name}: {first:.1e} m off, and at rest {last:.1e}");
    assert!(first > 0.02 && last < 1e-12, "{name}: {first:e}, then {last:e}");
    // What its points feel there, if they all are free.
    for i in 0..count {
        scene.particles[0].positions[i] = std::array::from_fn(|a| states[4][3 * i + a]);
        scene.particles[0].fixed[i] = [false; 3];
    }
    let free = accelerations(&Model::new(&scene).expect("a scene that makes sense"));
    let size = wanted.iter().map(|p| norm(p)).fold(0.0, f64::max);
    for (k, wanted) in wanted.iter().enumerate() {
        let moment: Point =
            std::array::from_fn(|a| (0..count).map(|i| -masses[i] * free[i][a] * rest[i][k]).sum());
        let off = norm(&[0, 1, 2].map(|a| moment[a] - wanted[a])) / size;
        assert!(off < 1e-12, "{name}, column {k}: {moment:?}, and not {wanted:?}: {off:e}");
    }
}

/// By how much something free grows in every direction, with an actuation a.
///
/// Stretched by s in n directions, F = s 1, I = n s², J = sⁿ, the neo-Hookean law of docs/soft.md has the nominal stress
/// m (1 - 1/(I + 1)) s + (l (J - 1 - a) - μ) sⁿ⁻¹ in each of them: m = 4/3 μ and l = λ + 5/6 μ in three, 3/2 μ and λ + 2/3 μ in two.
/// The other laws know F over ∛(1 + a) only, which is 1 where there is no stress.
fn grown(material: Option<SolidMaterial>, Elastic { mu, lambda }: Elastic, a: f64) -> f64 {
    let (n, m, l) = match material {
        Some(SolidMaterial::NeoHookean) => (3, 4.0 / 3.0 * mu, lambda + 5.0 / 6.0 * mu),
        Some(SolidMaterial::StVenantKirchhoff | SolidMaterial::Corotated) => return (1.0 + a).cbrt(),
        None => (2, 1.5 * mu, lambda + 2.0 / 3.0 * mu),
    };
    let shear = |s: f64| m * (1.0 - 1.0 / (f64::from(n) * s * s + 1.0)) * s;
    root(|s| shear(s) + (l * (s.powi(n) - 1.0 - a) - mu) * s.powi(n - 1), [0.3, 3.0])
}

/// Σ of numbers of the last state, weighed.
struct Weighed(Vec<f64>);

impl Loss for Weighed {
    fn value(&self, m: &Moment<'_>) -> f64 {
        if m.last { self.0.iter().zip(m.state).map(|(w, x)| w * x).sum() } else { 0.0 }
    }

    fn pullback(&self, m: &Moment<'_>, bars: &mut Bars<'_>) {
        if m.last {
            self.0.iter().zip(bars.state.iter_mut()).for_each(|(w, bar)| *bar += w);
        }
    }
}

/// Something of a material, or a sheet, with an actuation, and the three points that keep it where it is: at corners of the block or the
/// rectangle, others are anywhere.
fn actuated(
    material: Option<SolidMaterial>,
    elastic: Elastic,
    a: f64,
    controlled: bool,
) -> (Soft, [usize; 3]) {
    let corners = |z: f64| [[-0.5, -0.4, z], [0.5, -0.4, z], [-0.5, 0.4, z]];
    match material {
        Some(material) => {
            let (mut mesh, held) = (block([1.0, 0.8, 0.9], [2; 3], 0.15), [0, 2, 6]);
            held.into_iter().zip(corners(-0.45)).for_each(|(i, x)| mesh.points[i] = x);
            mesh.check().expect("nothing is inside out");
            let solid = Solid::new("thing", &mesh, elastic, 1000.0).material(material);
            (Soft::Solid(Solid { actuation: vec![a], controlled, ..solid }), held)
        }
        None => {
            let (mut mesh, held) = (cloth([1.0, 0.8], [3, 3], 0.15), [0, 3, 12]);
            held.into_iter().zip(corners(0.0)).for_each(|(i, x)| mesh.points[i] = x);
            mesh.check().expect("nothing is inside out");
            let sheet = Sheet::new("thing", &mesh, 0.01, elastic, 1000.0).bending(0.1);
            (Soft::Sheet(Sheet { actuation: vec![a], controlled, ..sheet }), held)
        }
    }
}

/// What is free, but for turns and places, takes the size that its actuation asks for: every point is as far from the first as the root of
/// the stress says, and so is the derivative of that by the actuation, as a param and as a control. Three points keep the whole where it is:
/// one stays, one stays on a line, and one in a plane through it.
#[test]
fn actuations_of_what_is_free() {
    const STEPS: usize = 4;
    let elastic = Elastic::of_young(1.0, 0.3).expect("matter");
    for material in SolidMaterial::ALL.map(Some).into_iter().chain([None]) {
        let name = material.map_or("sheet", SolidMaterial::name);
        for (a, controlled) in [(0.4, false), (-0.3, false), (1.5, true), (-0.2, true)] {
            let s = grown(material, elastic, a);
            let h = 1e-5;
            let by_a = (grown(material, elastic, a + h) - grown(material, elastic, a - h)) / (2.0 * h);
            let (soft, held) = actuated(material, elastic, a, controlled);
            let rest = soft.rest();
            let mut scene = soft.still();
            let free = [[false; 3], [true, false, false], [true, true, false]];
            for (i, free) in held.into_iter().zip(free) {
                scene.particles[0].fixed[i] = free.map(|free| !free);
            }
            let model = Model::new(&scene).expect("a scene that makes sense");
            let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1e6)).expect("a step");
            let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
            let (state, params, controls) = (model.state(), model.params(), model.controls(STEPS));
            let start = Start::new(&state, &controls, &params);
            let mut last = Vec::new();
            rollout.watch(&start, |m| last = m.state.to_vec()).expect("it grows");
            let origin = rest[held[0]];
            let wanted = |x: Point| -> Point { std::array::from_fn(|a| origin[a] + s * (x[a] - origin[a])) };
            let off = |(i, &x): (usize, &Point)| {
                let wanted = wanted(x);
                norm(&[0, 1, 2].map(|a| last[3 * i + a] - wanted[a]))
            };
            let off = rest.iter().enumerate().map(off).fold(0.0, f64::max);

            let weights: Vec<f64> = (0..3 * rest.len()).map(noise).collect();
            let sum = weights.iter().zip(rest.iter().flatten()).zip(origin.iter().cycle());
            let sum: f64 = sum.map(|((w, x), o)| w * (x - o)).sum();
            let gradient = rollout.gradient(&start, &Weighed(weights)).expect("a gradient");
            let found = match controlled {
                true => gradient.controls[STEPS - 1],
                false => gradient.params(0).expect("names").number("thing.actuation").expect("a param"),
            };
            let rate_off = found / (sum * by_a) - 1.0;
            println!(
                "{name}, actuation {a}: grown by {s:.4}, {off:.1e} off; derivative {by_a:.4}, {rate_off:.1e} off"
            );
            assert!((s - 1.0).abs() > 0.05 && off < 1e-9, "{name}, {a}: {off:e} off {s}");
            assert!(
                (sum * by_a).abs() > 0.01 && rate_off.abs() < 1e-8,
                "{name}, {a}: {found}, {sum}, {by_a}"
            );
        }
    }
}
