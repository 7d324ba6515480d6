//! Sheets that bend, against closed forms of elasticas and plates: equilibria by steps of backward Euler that are much longer than the
//! slowest period.

use pullback_engine::rollout::{Bars, Loss, Moment};
use pullback_engine::{Energy, Gradient, Integrator, Model, Options, Rollout, Scheme, Start, Step};
use pullback_scene::soft::{Diagonals, SheetMesh};
use pullback_scene::{Actuator, Elastic, Scene, Sheet, World};

/// The weighed sum of numbers of the last state.
struct Weighed(Vec<(usize, f64)>);

impl Loss for Weighed {
    fn value(&self, moment: &Moment<'_>) -> f64 {
        if moment.last { self.0.iter().map(|(i, weight)| weight * moment.state[*i]).sum() } else { 0.0 }
    }

    fn pullback(&self, moment: &Moment<'_>, bars: &mut Bars<'_>) {
        if moment.last {
            self.0.iter().for_each(|(i, weight)| bars.state[*i] += weight);
        }
    }
}

/// The exponent p and the limit of three values with errors c hᵖ, where the size h of cells is divided by r from one to the next.
fn richardson([coarse, middle, fine]: [f64; 3], r: f64) -> (f64, f64) {
    let ratio = (middle - coarse) / (fine - middle);
    (ratio.ln() / r.ln(), fine + (fine - middle) / (ratio - 1.0))
}

/// The elastica: θ'' = -α cos θ along 1 m, θ = 0 where it is held, θ' = 0 at its end, with α = P L²/k. How far its end moves across
/// [m], where it is along [m], and its angle [rad].
fn elastica(alpha: f64) -> [f64; 3] {
    // Back from the end with that angle, by the midpoint's rule of order 4.
    let shape = |end: f64| {
        let steps = 1000;
        let h = 1.0 / f64::from(steps);
        let slope = |[theta, bend, ..]: [f64; 4]| [-bend, alpha * theta.cos(), theta.sin(), theta.cos()];
        let mut at = [end, 0.0, 0.0, 0.0];
        for _ in 0..steps {
            let moved = |by: [f64; 4], h: f64| std::array::from_fn(|i| at[i] + h * by[i]);
            let a = slope(at);
            let b = slope(moved(a, 0.5 * h));
            let c = slope(moved(b, 0.5 * h));
            let d = slope(moved(c, h));
            at = std::array::from_fn(|i| at[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
        at
    };
    let mut range = [0.0, 1.6];
    for _ in 0..60 {
        let middle = 0.5 * (range[0] + range[1]);
        range[usize::from(shape(middle)[0] > 0.0)] = middle;
    }
    let [_, _, across, along] = shape(range[0]);
    [across, along, range[0]]
}

/// Those of Bisshopp and Drucker.
const ELASTICAS: [(f64, [f64; 3]); 3] = [
    (0.5, [0.162144, 0.984081, 0.244534]),
    (1.0, [0.301721, 0.943567, 0.461352]),
    (3.0, [0.603253, 0.745580, 0.986017]),
];

/// A strip of so many cells along x, the first of which is held, with a load across it at its end. Its length counts from the middle of
/// that first cell: it is 1 m.
struct Strip {
    cells: usize,
    rows: usize,
    /// Length of cells over their width.
    aspect: f64,
    diagonals: Diagonals,
    /// By how much of a cell points are moved.
    shaken: f64,
}

/// Flexural rigidity [N·m].
const BENDING: f64 = 1.0;

/// What a strip does under a load of α.
struct Bent {
    /// Across, along, angle.
    end: [f64; 3],
    /// Derivative of the first by flexural rigidity [1/N].
    by_bending: f64,
}

impl Strip {
    fn new(cells: usize) -> Self {
        Strip { cells, rows: 1, aspect: 1.0, diagonals: Diagonals::Alternating, shaken: 0.0 }
    }

    fn cell(&self) -> f64 {
        1.0 / (self.cells as f64 - 0.5)
    }

    fn width(&self) -> f64 {
        self.cell() / self.aspect * self.rows as f64
    }

    /// Its mesh, from the middle of the first cell on.
    fn mesh(&self) -> SheetMesh {
        let (dx, n) = (self.cell(), self.cells);
        let sides = [dx * n as f64, self.width()];
        let mesh = SheetMesh::sheet(sides, [n, self.rows], self.diagonals).expect("a strip");
        let mut mesh = mesh.moved([0.5 * sides[0] - 0.5 * dx, 0.0, 0.0]);
        let noise = |i: usize| ((i as f64 + 1.0) * 12.9898).sin();
        for (i, point) in mesh.points.iter_mut().enumerate() {
            let (column, row) = (i % (n + 1), i / (n + 1));
            if (2..n).contains(&column) {
                point[0] += self.shaken * dx * noise(2 * i);
                if row > 0 && row < self.rows {
                    point[1] += self.shaken * dx / self.aspect * noise(2 * i + 1);
                }
            }
        }
        mesh
    }

    /// The points of a column, and the part of each of them in the width.
    fn column(&self, at: usize) -> Vec<(usize, f64)> {
        let part = |row: usize| if row == 0 || row == self.rows { 0.5 } else { 1.0 } / self.rows as f64;
        (0..=self.rows).map(|row| (at + row * (self.cells + 1), part(row))).collect()
    }

    /// Nearly inextensible: a load of 3 N/m makes it longer by less than 3e-6.
    fn bent(&self, alpha: f64) -> Bent {
        let elastic = Elastic::of_young_in_plane(1e9, 0.0).expect("matter");
        let strip = Sheet::new("strip", &self.mesh(), 1e-3, elastic, 1000.0).bending(BENDING);
        let held: Vec<u32> =
            [0, 1].iter().flat_map(|&at| self.column(at)).map(|(point, _)| point as u32).collect();
        let points = strip.points().fix_points(&held);
        let mut scene = still();
        scene.add_sheet(strip, points);
        let (end, before) = (self.column(self.cells), self.column(self.cells - 1));
        scene.actuators =
            end.iter().map(|&(point, _)| Actuator::new(format!("load{point}"), point)).collect();
        let model = Model::new(&scene).expect("a scene that makes sense");
        let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1e3)).expect("a step");
        let steps = 12;
        let mut rollout = Rollout::<f64>::new(&step, Options::new(steps)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        // It grows, and stays for two steps.
        let load = |at: usize, part: f64| {
            [0.0, 0.0, alpha * BENDING * self.width() * part * ((at + 1) as f64 / 10.0).min(1.0)]
        };
        let loads: Vec<f64> =
            (0..steps).flat_map(|at| end.iter().flat_map(move |&(_, part)| load(at, part))).collect();
        let start = Start::new(&state, &loads, &params);
        let across = Weighed(end.iter().map(|&(point, part)| (3 * point + 2, part)).collect());
        let gradient = rollout.gradient(&start, &across).expect("a gradient").clone();
        let mut last = Vec::new();
        rollout.watch(&start, |m| last = m.state.to_vec()).expect("it bends");
        let mean = |of: &[(usize, f64)], axis: usize| -> f64 {
            of.iter().map(|&(point, part)| part * last[3 * point + axis]).sum()
        };
        let [long, high] = [0, 2].map(|axis| mean(&end, axis) - mean(&before, axis));
        Bent {
            end: [mean(&end, 2), mean(&end, 0), high.atan2(long)],
            by_bending: gradient.params(0).expect("names").number("strip.bending").expect("a param"),
        }
    }
}

fn still() -> Scene {
    Scene { world: World { gravity: [0.0; 3], ..World::default() }, ..Scene::default() }
}

/// The chain of cells has the elastica's end in the limit of small ones, and errors with their square: deflection, place along, angle,
/// and the derivative of the deflection by the stiffness, -α/k dδ/dα. Long cells, several in the width and both kinds of diagonals are
/// nothing to it.
#[test]
fn a_strip_is_an_elastica() {
    for (alpha, published) in ELASTICAS {
        let wanted = elastica(alpha);
        for (found, published) in wanted.iter().zip(published) {
            assert!((found - published).abs() < 1e-6, "{alpha}: {wanted:?}, and not {published}");
        }
        let h = 1e-3;
        let slope = (elastica(alpha + h)[0] - elastica(alpha - h)[0]) / (2.0 * h);
        for aspect in [1.0, 4.0] {
            let found = [5, 14, 41].map(|cells| Strip { aspect, ..Strip::new(cells) }.bent(alpha));
            let name = format!("α = {alpha}, cells of 1:{aspect}");
            for (i, what) in ["across", "along", "angle"].into_iter().enumerate() {
                converges(&format!("{name}, {what}"), found.each_ref().map(|bent| bent.end[i]), wanted[i]);
            }
            let by_bending = found.each_ref().map(|bent| bent.by_bending);
            converges(&format!("{name}, by bending"), by_bending, -alpha / BENDING * slope);
        }
    }
}

fn converges(name: &str, found: [f64; 3], wanted: f64) {
    let (order, limit) = richardson(found, 3.0);
    let off = found.map(|found| found / wanted - 1.0);
    println!("{name}: {off:+.6?} off, order {order:.2}, limit {:+.1e} off", limit / wanted - 1.0);
    // Of the place along little is left at order 2 where the load is small, and the coarsest strip shows what comes next, of order 4.
    assert!((1.9..if off[0].abs() > 1e-4 { 2.1 } else { 2.5 }).contains(&order), "{name}: order {order}");
    // What it is longer by, and what is left of order 4.
    assert!((limit / wanted - 1.0).abs() < 1e-5, "{name}: {limit}, and not {wanted}");
}

/// How a strip is cut into triangles is nothing to it, as long as they are even: it is the same chain of rigid cells.
#[test]
fn any_even_strip_is_the_same() {
    let alone = Strip::new(8).bent(3.0);
    for (rows, aspect, diagonals) in [
        (1, 0.5, Diagonals::Alternating),
        (1, 1.0, Diagonals::One),
        (2, 1.0, Diagonals::Alternating),
        (2, 2.0, Diagonals::One),
    ] {
        let other = Strip { rows, aspect, diagonals, ..Strip::new(8) }.bent(3.0);
        let off = (0..3).map(|i| (other.end[i] / alone.end[i] - 1.0).abs()).fold(0.0, f64::max);
        println!("{rows} rows of 1:{aspect}, {diagonals:?}: {off:.1e} off");
        assert!(off < 1e-9, "{rows} rows of 1:{aspect}, {diagonals:?}: {:?}, {:?}", other.end, alone.end);
    }
}

/// Uneven triangles make a strip stiffer, not softer: by some hundredths where points are moved by up to 0.15 of a cell, and by a tenth
/// where it is 0.3.
#[test]
fn an_uneven_strip_is_stiffer() {
    let even = Strip { rows: 2, ..Strip::new(16) }.bent(0.5).end[0];
    for (shaken, most) in [(0.15, 0.05), (0.3, 0.15)] {
        let uneven = Strip { rows: 2, shaken, ..Strip::new(16) }.bent(0.5).end[0];
        println!("moved by {shaken} of a cell: {:+.4}", uneven / even - 1.0);
        assert!((1.0 - most..1.0).contains(&(uneven / even)), "{shaken}: {uneven}, even {even}");
    }
}

/// The middle of a square plate of 1 m that is clamped all around, under a pressure [N/m²], with so many cells between the middles of
/// those that hold it.
fn dent(cells: usize, diagonals: Diagonals, pressure: f64) -> f64 {
    let h = 1.0 / cells as f64;
    let n = cells + 1;
    let mesh = SheetMesh::sheet([h * n as f64; 2], [n; 2], diagonals).expect("a plate");
    let elastic = Elastic::of_young_in_plane(1e6, 0.0).expect("matter");
    let plate = Sheet::new("plate", &mesh, 1e-3, elastic, 1000.0).bending(BENDING);
    let free = |i: usize| [i % (n + 1), i / (n + 1)].iter().all(|at| (2..n - 1).contains(at));
    let (loaded, held): (Vec<usize>, Vec<usize>) = (0..mesh.points.len()).partition(|&i| free(i));
    let held: Vec<u32> = held.into_iter().map(|i| i as u32).collect();
    let points = plate.points().fix_points(&held);
    let mut scene = still();
    scene.forces =
        vec![pullback_scene::AppliedForce::constant("pressure", loaded, [0.0, 0.0, pressure * h * h])];
    scene.add_sheet(plate, points);
    let model = Model::new(&scene).expect("a scene that makes sense");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1e3)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(2)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    let mut last = Vec::new();
    rollout.watch(&Start::new(&state, &[], &params), |m| last = m.state.to_vec()).expect("it bends");
    last[..last.len() / 2].iter().skip(2).step_by(3).fold(0.0, |most, &z| f64::max(most, z))
}

/// 0.00126532 q a⁴/k (Timoshenko and Woinowsky-Krieger), for any Poisson's ratio. Where diagonals alternate, the sheet resists twist twice
/// as much as a plate does, and gives less by a fifth.
#[test]
fn a_clamped_plate() {
    let (pressure, wanted) = (1e-4, 0.00126532e-4);
    let found = [6, 12, 24].map(|cells| dent(cells, Diagonals::One, pressure));
    let (order, limit) = richardson(found, 2.0);
    let off = found.map(|found| found / wanted - 1.0);
    println!("plate: {off:+.6?} off, order {order:.2}, limit {:+.1e} off", limit / wanted - 1.0);
    assert!((1.7..2.3).contains(&order), "order {order}");
    assert!((limit / wanted - 1.0).abs() < 0.005, "{limit}, and not {wanted}");
    let alternating = dent(24, Diagonals::Alternating, pressure) / wanted;
    println!("plate with diagonals in both directions: {:+.3}", alternating - 1.0);
    assert!((0.75..0.85).contains(&alternating), "{alternating}");
}

/// A sheet that is folded about a line of hinges without stiffness, or about one that has no hinges, has no energy; others have.
#[test]
fn a_crease_folds_freely() {
    let mesh = SheetMesh::sheet([0.6, 0.4], [6, 3], Diagonals::Alternating).expect("a sheet");
    let elastic = Elastic::of_young_in_plane(1e4, 0.3).expect("matter");
    let sheet = Sheet::new("sheet", &mesh, 1e-3, elastic, 1000.0).bending(0.5);
    let on_line = |i: u32| sheet.rest[i as usize][0].abs() < 1e-9;
    let crease: Vec<bool> = sheet.hinges.iter().map(|hinge| hinge.edge.into_iter().all(on_line)).collect();
    assert_eq!(crease.iter().filter(|&&on| on).count(), 3);
    let potential = |sheet: Sheet| {
        let mut points = sheet.points();
        for x in &mut points.positions {
            let fold = if x[0] > 0.0 { 0.7f64 } else { 0.0 };
            *x = [x[0] * fold.cos(), x[1], x[0] * fold.sin()];
        }
        let mut scene = still();
        scene.add_sheet(sheet, points);
        let model = Model::new(&scene).expect("a scene that makes sense");
        let (state, params) = (model.state(), model.params());
        Energy::new(&model).expect("an energy").of(state.values(), params.values()).expect("an energy").1
    };
    let bending = crease.iter().map(|&on| if on { 0.0 } else { 0.5 }).collect();
    let soft = potential(Sheet { bending, ..sheet.clone() });
    let kept = sheet.hinges.iter().zip(&crease).filter(|(_, on)| !**on).map(|(hinge, _)| *hinge);
    let without = potential(Sheet { hinges: kept.collect(), ..sheet.clone() });
    let stiff = potential(sheet);
    println!("folded: {stiff:.3} J, with a crease {soft:.1e} J and {without:.1e} J");
    // ½ k θ² l/h, with a line of 0.4 m and cells of 0.1 m.
    assert!((stiff / (0.5 * 0.5 * 0.49 * 4.0) - 1.0).abs() < 1e-9, "{stiff}");
    assert!(soft.abs() < 1e-15 && without.abs() < 1e-15, "{soft}, {without}");
}

/// Numbers of the state of particle `point`, where `along` is a unit or any other vector.
fn along(point: usize, along: [f64; 3]) -> Vec<(usize, f64)> {
    (0..3).map(|a| (3 * point + a, along[a])).collect()
}

/// A square of 1 m whose front is up. Its first triangle is held, and the last corner, that of the second, is where the angle over the diagonal
/// says: turned about the diagonal, by 0 in the plane, and upwards, to the front, by what is positive.
struct Square {
    sheet: Sheet,
    held: Vec<u32>,
    free: usize,
    /// The middle of the diagonal, where the free corner turns about, and from there to it when the square is flat.
    middle: [f64; 3],
    out: [f64; 3],
}

impl Square {
    fn new() -> Self {
        let mesh = SheetMesh::sheet([1.0; 2], [1; 2], Diagonals::One).expect("a square");
        let elastic = Elastic::of_young_in_plane(1e3, 0.3).expect("matter");
        let sheet = Sheet::new("flap", &mesh, 1e-2, elastic, 1000.0).bending(0.5);
        assert_eq!(sheet.hinges.len(), 1);
        let [a, b] = sheet.hinges[0].edge.map(|i| sheet.rest[i as usize]);
        let free = sheet.hinges[0].opposite[1] as usize;
        let middle = std::array::from_fn(|i| 0.5 * (a[i] + b[i]));
        let out = std::array::from_fn(|i| sheet.rest[free][i] - middle[i]);
        // It goes round anticlockwise, seen from above.
        let [p, q, r] = sheet.elements[0].map(|i| sheet.rest[i as usize]);
        assert!((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) > 0.9);
        let held = sheet.elements[0].to_vec();
        assert!(!held.contains(&(free as u32)) && middle[2] == 0.0 && out[2] == 0.0);
        Square { sheet, held, free, middle, out }
    }

    /// Where the free corner is at an angle, and how it goes on when the angle grows [m/rad].
    fn corner(&self, angle: f64) -> [[f64; 3]; 2] {
        let half = (self.out[0] * self.out[0] + self.out[1] * self.out[1]).sqrt();
        let (sin, cos) = angle.sin_cos();
        let at = |across: f64, up: f64| [across * self.out[0], across * self.out[1], up * half];
        let turned = at(cos, sin);
        [std::array::from_fn(|i| self.middle[i] + turned[i]), at(-sin, cos)]
    }

    /// The sheet after steps that are much longer than anything swings: where its free corner is, and how that depends on params and on the
    /// controls of each step, along a direction.
    fn settled(&self, sheet: Sheet, controls: &[f64], along: Vec<(usize, f64)>) -> ([f64; 3], Gradient) {
        let points = sheet.points().fix_points(&self.held);
        let mut scene = still();
        scene.add_sheet(sheet, points);
        let model = Model::new(&scene).expect("a scene that makes sense");
        let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1e6)).expect("a step");
        let mut rollout = Rollout::<f64>::new(&step, Options::new(3)).expect("a rollout");
        let (state, params) = (model.state(), model.params());
        let start = Start::new(&state, controls, &params);
        let gradient = rollout.gradient(&start, &Weighed(along)).expect("a gradient").clone();
        let mut last = Vec::new();
        rollout.watch(&start, |m| last = m.state.to_vec()).expect("it turns");
        (std::array::from_fn(|a| last[3 * self.free + a]), gradient)
    }
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Nothing pushes the flap at θ = θ₀ + fold, where nothing is stretched either: it is found there, on the side that is documented, and goes
/// along its circle as either of them grows, whether θ₀ is given or is that of the mesh, and whether the fold is a param or a control.
#[test]
fn angles_at_rest_and_folds() {
    let square = Square::new();
    for (rest, fold) in [(0.3, 0.2), (0.3, -0.9), (-0.7, 0.1), (0.0, 0.6)] {
        let [wanted, slope] = square.corner(rest + fold);
        let half = apart(slope, [0.0; 3]);
        // The rate of the angle, when the corner goes along its circle.
        let turns = along(square.free, slope.map(|x| x / (half * half)));
        let given = Sheet { rest_angles: Some(vec![rest]), fold: vec![fold], ..square.sheet.clone() };
        let mut built = Sheet { fold: vec![fold], ..square.sheet.clone() };
        built.rest[square.free] = square.corner(rest)[0];
        for (name, sheet) in [("given", given), ("built", built)] {
            let by = |gradient: &Gradient, name: &str| gradient.params(0).expect("names").number(name).ok();
            let (place, gradient) = square.settled(sheet.clone(), &[], turns.clone());
            let of_params = [by(&gradient, "flap.fold"), by(&gradient, "flap.rest_angle")];

            let driven = Sheet { fold: vec![0.0], fold_controlled: true, ..sheet };
            let (again, gradient) = square.settled(driven, &[2.0 * fold, -fold, fold], turns.clone());
            let of_controls = &gradient.controls;
            println!(
                "{rest} {name} and {fold}: {:.1e} and {:.1e} off, by {of_params:?}, by controls {of_controls:?}",
                apart(place, wanted),
                apart(again, wanted)
            );
            assert!(apart(place, wanted) < 1e-9, "{name}: {place:?}, and not {wanted:?}");
            assert!(apart(again, wanted) < 1e-9, "{name}, by controls: {again:?}, and not {wanted:?}");
            let one = |found: f64| assert!((found - 1.0).abs() < 1e-9, "{name}: {found}");
            one(of_params[0].expect("a fold"));
            assert_eq!(of_params[1].is_some(), name == "given");
            of_params[1].into_iter().chain([of_controls[2]]).for_each(one);
            assert!(of_controls[..2].iter().all(|x| x.abs() < 1e-9), "it forgets: {of_controls:?}");
        }
    }
}

/// Cells of a strip stay flat and of the same size where the hinges between them alone are folded: its columns are corners of a chain on a
/// circle of the radius h/(2 sin(fold/2)). The end turns about a hinge whose fold grows.
#[test]
fn a_folded_strip_is_an_arc() {
    const CELLS: usize = 9;
    const STEPS: usize = 8;
    let (cell, fold) = (0.1, 0.4);
    let mesh =
        SheetMesh::sheet([cell * CELLS as f64, 0.15], [CELLS, 1], Diagonals::Alternating).expect("a strip");
    let elastic = Elastic::of_young_in_plane(1e6, 0.3).expect("matter");
    let strip = Sheet::new("strip", &mesh, 1e-3, elastic, 1000.0).bending(0.2);
    let column = |point: u32| point as usize % (CELLS + 1);
    let rungs: Vec<Option<usize>> = strip
        .hinges
        .iter()
        .map(|hinge| (column(hinge.edge[0]) == column(hinge.edge[1])).then(|| column(hinge.edge[0])))
        .collect();
    assert_eq!(rungs.iter().flatten().count(), CELLS - 1);
    let count = strip.hinges.len();
    let strip = Sheet { fold: vec![0.0; count], fold_controlled: true, ..strip };
    let held: Vec<u32> = [0, 1].iter().flat_map(|&at| [at, at + CELLS as u32 + 1]).collect();
    let points = strip.points().fix_points(&held);
    let mut scene = still();
    scene.add_sheet(strip, points);
    let model = Model::new(&scene).expect("a scene that makes sense");
    let step = Step::new(&model, Scheme::new(Integrator::BackwardEuler, 1e4)).expect("a step");
    let mut rollout = Rollout::<f64>::new(&step, Options::new(STEPS)).expect("a rollout");
    let (state, params) = (model.state(), model.params());
    // Folds grow, and stay for three steps.
    let part = |at: usize| ((at + 1) as f64 / (STEPS - 2) as f64).min(1.0);
    let folds = |at: usize| rungs.iter().map(move |rung| if rung.is_some() { fold * part(at) } else { 0.0 });
    let controls: Vec<f64> = (0..STEPS).flat_map(folds).collect();
    let start = Start::new(&state, &controls, &params);
    let mut last = Vec::new();
    rollout.watch(&start, |m| last = m.state.to_vec()).expect("it folds");

    // Cell by cell, each turned up against the one before.
    let mut wanted = vec![[state.values()[0], 0.0]];
    for at in 0..CELLS {
        let [x, z] = wanted[at];
        let (sin, cos) = (fold * at as f64).sin_cos();
        wanted.push([x + cell * cos, z + cell * sin]);
    }
    let radius = 0.5 * cell / (0.5 * fold).sin();
    let middle = [wanted[0][0] + 0.5 * cell, radius * (0.5 * fold).cos()];
    for (at, &[x, z]) in wanted.iter().enumerate() {
        let off = ((x - middle[0]).hypot(z - middle[1]) / radius - 1.0).abs();
        assert!(off < 1e-12, "an arc: {off:e}");
        for point in [at, at + CELLS + 1] {
            let found: [f64; 3] = std::array::from_fn(|a| last[3 * point + a]);
            let off = apart(found, [x, mesh.points[point][1], z]);
            assert!(off < 1e-9, "column {at}: {found:?}, and not {x}, {z}: {off:e}");
        }
    }
    // The end goes at right angles to the line from the hinge.
    let end = wanted[CELLS];
    for (axis, name) in [(0, "x"), (2, "z")] {
        let places = [CELLS, 2 * CELLS + 1].map(|point| (3 * point + axis, 0.5)).to_vec();
        let gradient = rollout.gradient(&start, &Weighed(places)).expect("a gradient");
        let by = &gradient.controls[(STEPS - 1) * count..];
        for (by, rung) in by.iter().zip(&rungs).filter_map(|(by, rung)| rung.map(|rung| (by, rung))) {
            let hinge = wanted[rung];
            let lever = if axis == 0 { hinge[1] - end[1] } else { end[0] - hinge[0] };
            assert!((by - lever).abs() < 1e-8, "{name} by the fold of column {rung}: {by}, and not {lever}");
        }
    }
}
