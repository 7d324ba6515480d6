//! Mistakes, and what is said of them.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{AccessError, BufferUse, BuildError, Builder, Lane, Operation, World};

use crate::kernels::{Law, energy, flow, law, link, stretch};

/// The message of the first mistake.
fn mistake(build: impl FnOnce(&mut Builder)) -> String {
    let mut p = Program::builder();
    build(&mut p);
    p.finish().err().map_or_else(|| "no mistake".to_owned(), |error: BuildError| error.to_string())
}

fn total(p: &mut Builder, x: Buffer<Vec3>, m: Buffer<f64>, g: Buffer<Vec3>) -> Buffer<f64> {
    p.reduce::<energy>("total", (x.own(), m.own(), g.shared()))
}

/// Writes `y` from `x`, both given.
struct Copy {
    x: Buffer<f64>,
    y: Buffer<f64>,
}

impl Operation for Copy {
    fn name(&self) -> String {
        "copy".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        vec![self.x.into()]
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.y.into()]
    }
    fn forward<S: Lane>(&self, world: &mut World<'_, S>) {
        let x = world.get(self.x, 0);
        world.set(self.y, 0, x);
    }
    fn pullback<S: Lane>(&self, world: &mut World<'_, S>) {
        let bar = world.bar(self.y, 0);
        world.add_bar(self.x, 0, bar);
    }
}

#[test]
fn one_name_one_buffer() {
    let message = mistake(|p| {
        p.input::<f64>("x", 2);
        p.parameter::<f64>("x", 3);
    });
    assert_eq!(message, "two buffers are named `x`: give each its own name");
}

#[test]
fn one_writer() {
    let message = mistake(|p| {
        let (x, y) = (p.input::<f64>("x", 1), p.computed::<f64>("y", 1));
        p.operation(Copy { x, y });
        p.operation(Copy { x, y });
    });
    assert_eq!(message, "buffer `y` is written by `copy` and by `copy`: a buffer has one writer");
    let message = mistake(|p| {
        let (x, y) = (p.input::<f64>("x", 1), p.parameter::<f64>("y", 1));
        p.operation(Copy { x, y });
    });
    assert_eq!(
        message,
        "buffer `y` is written by `its caller (Parameter)` and by `copy`: a buffer has one writer"
    );
}

#[test]
fn written_before_it_is_read() {
    let message = mistake(|p| {
        let (x, y) = (p.computed::<f64>("x", 1), p.computed::<f64>("y", 1));
        p.operation(Copy { x, y });
    });
    assert_eq!(message, "`copy` reads buffer `x`, which nothing has written before it");
    let message = mistake(|p| {
        let x = p.computed::<f64>("x", 1);
        p.operation(Copy { x, y: x });
    });
    assert_eq!(message, "`copy` reads buffer `x`, which nothing has written before it");
    // The value above the roots of a tree, too.
    let message = mistake(|p| {
        let (root, q, axis, s) = (
            p.computed::<Vec3>("root", 1),
            p.input::<f64>("q", 1),
            p.input::<Vec3>("axis", 1),
            p.input::<f64>("s", 1),
        );
        let tree = p.tree("tree", &[None]);
        p.tree_down::<link, _>("x", tree, root, (q.own(), axis.own(), s.shared()));
    });
    assert_eq!(message, "`x` reads buffer `root`, which nothing has written before it");
    // What the caller reads.
    let message = mistake(|p| {
        let x = p.computed::<f64>("x", 1);
        p.output(x);
    });
    assert_eq!(message, "`the caller` reads buffer `x`, which nothing has written before it");
}

#[test]
fn lengths() {
    let message = mistake(|p| {
        let (x, m, g) = (p.input::<Vec3>("x", 3), p.input::<f64>("m", 4), p.input::<Vec3>("g", 1));
        total(p, x, m, g);
    });
    let wanted = "`total`: argument `m` is buffer `m` with 4 values, and 3 are wanted (one for each element)";
    assert_eq!(message, wanted);
    let message = mistake(|p| {
        let (x, m, g) = (p.input::<Vec3>("x", 3), p.input::<f64>("m", 3), p.input::<Vec3>("gravities", 2));
        total(p, x, m, g);
    });
    let wanted =
        "`total`: argument `g` is buffer `gravities` with 2 values, and 1 are wanted (one for all elements)";
    assert_eq!(message, wanted);
    let message = mistake(|p| {
        let (t, w) = (p.input::<f64>("t", 3), p.input::<f64>("w", 1));
        let table = p.corners("edges", &[[0, 1]], 4);
        p.elements::<flow, _, 2>("q", table, (t.at(table), w.own()));
    });
    assert_eq!(
        message,
        "`q`: argument `t` is buffer `t` with 3 values, and 4 are wanted (one for each vertex)"
    );
    let message = mistake(|p| {
        let (t, w) = (p.input::<f64>("t", 4), p.input::<f64>("w", 1));
        let (table, other) = (p.corners("edges", &[[0, 1]], 4), p.corners("others", &[[0, 1], [2, 3]], 4));
        p.elements::<flow, _, 2>("q", table, (t.at(other), w.own()));
    });
    let wanted = "`q`: argument `t` is buffer `others` with 2 values, and 1 are wanted \
                  (one set of corners for each element)";
    assert_eq!(message, wanted);
    let message = mistake(|p| {
        let (root, q, axis, s) = (
            p.input::<Vec3>("root", 2),
            p.input::<f64>("q", 1),
            p.input::<Vec3>("axis", 1),
            p.input::<f64>("s", 1),
        );
        let tree = p.tree("tree", &[None]);
        p.tree_down::<link, _>("x", tree, root, (q.own(), axis.own(), s.shared()));
    });
    let wanted = "`x`: argument `the roots' parent` is buffer `root` with 2 values, and 1 are wanted \
                  (one for all roots)";
    assert_eq!(message, wanted);
    let message = mistake(|p| {
        let (x, w) = (p.input::<f64>("x", 3), p.input::<[f64; 3]>("w", 1));
        let (kinds, which) = (p.indices(&[Law::Wave; 3]), p.indices(&[0; 2]));
        p.map::<law>("y", (kinds.own(), which.own(), x.own(), w.shared()));
    });
    let wanted =
        "`y`: argument `i` is buffer `indices 1` with 2 values, and 3 are wanted (one for each element)";
    assert_eq!(message, wanted);
}

#[test]
fn lists_go_with_no_other_table() {
    // An element of a list that reads vertices of other elements.
    let message = mistake(|p| {
        let (x, k) = (p.input::<Vec3>("x", 4), p.input::<f64>("k", 1));
        let (contacts, table) = (p.list::<2>("contacts", 1, 4), p.corners("springs", &[[0, 1]], 4));
        p.map::<stretch>("first", (x.at(contacts.corners()), k.own()));
        p.map::<stretch>("second", (x.at(table), k.own()));
        p.pairs::<crate::kernels::spring, _, 2>(
            "f",
            contacts,
            (x.at(table), x.at(contacts.corners()), k.own(), k.own(), k.fixed().shared()),
        );
    });
    let wanted = "`f`: argument `x` reaches vertices through `springs`, and the operation runs over `contacts`: \
                  a list made at run time goes with no other table";
    assert_eq!(message, wanted);
    // Elements of a table that read vertices through a list.
    let message = mistake(|p| {
        let (t, w) = (p.input::<f64>("t", 4), p.input::<f64>("w", 1));
        let (contacts, table) = (p.list::<2>("contacts", 1, 4), p.corners("edges", &[[0, 1]], 4));
        p.elements::<flow, _, 2>("q", table, (t.at(contacts.corners()), w.own()));
    });
    let wanted = "`q`: argument `t` reaches vertices through `contacts`, and the operation runs over 1 elements: \
                  a list made at run time goes with no other table";
    assert_eq!(message, wanted);
}

#[test]
fn something_says_how_many() {
    let message = mistake(|p| {
        let x = p.input::<Vec3>("x", 1);
        p.map::<crate::kernels::identity>("y", (x.shared(),));
    });
    assert_eq!(message, "`y`: no argument says how many elements there are; bind one of them with `.own()`");
}

#[test]
fn vertices_and_forests() {
    let message = mistake(|p| {
        p.corners("edges", &[[0, 1], [1, 4]], 4);
    });
    assert_eq!(message, "`edges`: element 1 names vertex 4, and there are 4");
    for parents in [vec![Some(1), Some(0)], vec![None, Some(7)], vec![Some(0)], vec![None, Some(usize::MAX)]]
    {
        let message = mistake(|p| {
            p.tree("arm", &parents);
        });
        assert_eq!(message, "`arm`: the parents form a cycle, or name a node that does not exist");
    }
}

#[test]
fn what_can_be_carried() {
    let wanted = "`y` cannot become `x` of the next step: that must be an input of the same length, \
                  made by an operation, and each is carried once";
    let message = mistake(|p| {
        let (x, y) = (p.input::<f64>("x", 1), p.computed::<f64>("y", 2));
        p.carry(x, y);
    });
    assert_eq!(message, wanted);
    let message = mistake(|p| {
        let (x, y) = (p.parameter::<f64>("x", 1), p.computed::<f64>("y", 1));
        p.carry(x, y);
    });
    assert_eq!(message, wanted);
    // Exchanging two inputs would copy one over the other.
    let message = mistake(|p| {
        let (x, y) = (p.input::<f64>("x", 1), p.input::<f64>("y", 1));
        p.carry(x, y);
        p.carry(y, x);
    });
    assert_eq!(message, wanted);
    // Back, the cotangent of an output would be that of the last input alone.
    let message = mistake(|p| {
        let (w, x, y) = (p.input::<f64>("w", 1), p.input::<f64>("x", 1), p.computed::<f64>("y", 1));
        p.operation(Copy { x, y });
        p.carry(w, y);
        p.carry(x, y);
    });
    assert_eq!(message, wanted);
}

#[test]
fn too_large() {
    let most = "entries: at most 1073741759 fit";
    let n = u32::MAX as usize;
    assert_eq!(mistake(|p| _ = p.input::<f64>("x", n)), format!("`x` has 4294967295 {most}"));
    assert_eq!(mistake(|p| _ = p.list::<2>("l", n / 2, 3)), format!("`l` has 4294967297 {most}"));
    assert_eq!(mistake(|p| _ = p.list::<1>("l", 1, n)), format!("`l` has 4294967296 {most}"));
    assert_eq!(mistake(|p| _ = p.list::<2>("l", usize::MAX, 1)), format!("`l` has {} {most}", usize::MAX));
    assert_eq!(mistake(|p| _ = p.corners::<1>("c", &[], n)), format!("`c` has 4294967295 {most}"));
}

#[test]
fn access() {
    let mut p = Program::builder();
    let (x, w) = (p.input::<f64>("x", 2), p.parameter::<f64>("w", 3));
    let edges = p.list::<2>("edges", 3, 2);
    let q = p.pairs::<flow, _, 2>("q", edges, (x.at(edges.corners()), w.own()));
    p.output(q);
    let program = p.finish().expect("a program");
    let mut workspace = program.workspace::<f64>(RunOptions::default());
    let message = |result: Result<(), AccessError>| result.expect_err("a mistake").to_string();
    assert_eq!(message(workspace.write(x, &[1.0])), "buffer `x` has 2 values, and 1 were given");
    assert_eq!(message(workspace.seed(q, &[1.0; 3])), "buffer `q` has 2 values, and 3 were given");
    let computed = "buffer `q` is computed by the program: only inputs and parameters can be set";
    assert_eq!(message(workspace.write(q, &[1.0; 2])), computed);
    assert_eq!(message(workspace.write_numbers(0, q, &[1.0; 2])), computed);
    let no_output = "buffer `x` is no output: declare it with `output` when the program is built";
    assert_eq!(message(workspace.seed(x, &[1.0; 2])), no_output);
    assert_eq!(message(workspace.seed_numbers(0, x, &[1.0; 2])), no_output);
    assert_eq!(message(workspace.set_list(1, edges, &[])), "world 1 of 1");
    assert_eq!(message(workspace.write_in(1, x, &[1.0; 2])), "world 1 of 1");
    assert_eq!(message(workspace.seed_in(1, q, &[1.0; 2])), "world 1 of 1");
    assert_eq!(message(workspace.read_in(1, q).map(|_| ())), "world 1 of 1");
    assert_eq!(message(workspace.bars_in(1, q).map(|_| ())), "world 1 of 1");
    assert_eq!(
        message(workspace.set_list(0, edges, &[[0, 1]; 4])),
        "list `edges` holds at most 3 elements, and 4 were given: build it with a larger capacity"
    );
    assert_eq!(
        message(workspace.set_list(0, edges, &[[0, 1], [1, 2]])),
        "list `edges`: element 1 names vertex 2, and there are 2"
    );
    let mut batch = program.batch::<f64>(18, RunOptions::default());
    assert_eq!(message(batch.write_in(18, x, &[1.0; 2])), "world 18 of 18");
    batch.write_in(17, x, &[1.0; 2]).expect("the last world");
}

/// z = sin(x³ + 1) for 20 values, by two operations; `x[17]` of the last world is given.
fn wave_of_cube(worlds: Option<usize>, x17: f64) -> (Workspace<f64>, Buffer<f64>) {
    let mut p = Program::builder();
    let (x, w) = (p.input::<f64>("x", 20), p.parameter::<[f64; 3]>("w", 1));
    let (cubic, which) = (p.indices(&[Law::Cubic; 20]), p.indices(&[1; 20]));
    let y = p.map::<law>("y", (cubic.own(), which.own(), x.own(), w.shared()));
    let wave = p.indices(&[Law::Wave; 20]);
    let z = p.map::<law>("z", (wave.own(), which.own(), y.own(), w.shared()));
    p.output(z);
    let program = p.finish().expect("a program");
    let mut workspace = match worlds {
        None => program.workspace::<f64>(RunOptions::default()),
        Some(worlds) => program.batch::<f64>(worlds, RunOptions::default()),
    };
    for world in 0..workspace.worlds() {
        workspace.write_in(world, w, &[[1.0; 3]]).expect("w");
        let mut values = [0.5; 20];
        if world + 1 == workspace.worlds() {
            values[17] = x17;
        }
        workspace.write_in(world, x, &values).expect("x");
    }
    workspace.forward();
    (workspace, z)
}

#[test]
fn numbers_that_are_none_are_named() {
    let message = |workspace: &Workspace<f64>| workspace.check_values().expect_err("not finite").to_string();
    // The cube is too large in element 17.
    let (workspace, _) = wave_of_cube(None, 1e120);
    assert_eq!(message(&workspace), "operation `y` made the value of `y[17]` not finite (world 0)");
    let (workspace, _) = wave_of_cube(Some(19), 1e120);
    assert_eq!(message(&workspace), "operation `y` made the value of `y[17]` not finite (world 18)");
    let (workspace, _) = wave_of_cube(None, f64::NAN);
    assert_eq!(message(&workspace), "operation `the caller` made the value of `x[17]` not finite (world 0)");
    let (mut workspace, z) = wave_of_cube(Some(2), 1e60);
    assert_eq!(workspace.check_values(), Ok(()));
    // Its derivative is not, times the seed.
    for world in 0..2 {
        workspace.seed_in(world, z, &[1e200; 20]).expect("z");
    }
    workspace.pullback();
    let error = workspace.check_bars().expect_err("not finite").to_string();
    assert_eq!(error, "operation `y` made the cotangent of `x[17]` not finite (world 1)");
    // Where several operations add up, it was one of them.
    let (mut workspace, z) = wave_of_cube(Some(2), 0.5);
    workspace.seed_in(1, z, &[-1e308; 20]).expect("z");
    workspace.pullback();
    let error = workspace.check_bars().expect_err("not finite").to_string();
    assert_eq!(error, "operation `z` or `y` made the cotangent of `w[0]` not finite (world 1)");
    workspace.seed_in(0, z, &[f64::INFINITY; 20]).expect("z");
    let error = workspace.check_bars().expect_err("not finite").to_string();
    assert_eq!(error, "operation `the caller` made the cotangent of `z[0]` not finite (world 0)");
    let (mut workspace, z) = wave_of_cube(None, 0.5);
    workspace.seed(z, &[1.0; 20]).expect("z");
    workspace.pullback();
    assert_eq!(workspace.check_bars(), Ok(()));
}

#[test]
fn a_root_with_a_cotangent_that_is_none_is_named() {
    let mut p = Program::builder();
    let root = p.input::<Vec3>("root", 1);
    let (q, axis, s) = (p.input::<f64>("q", 2), p.input::<Vec3>("axis", 2), p.input::<f64>("s", 1));
    let tree = p.tree("tree", &[None, None]);
    let x = p.tree_down::<link, _>("x", tree, root, (q.own(), axis.own(), s.shared()));
    p.output(x);
    let mut workspace = p.finish().expect("a program").workspace::<f64>(RunOptions::default());
    workspace.forward();
    // Each root's is finite, their sum is not.
    workspace.seed(x, &[Vec3 { x: 0.0, y: f64::MAX, z: 0.0 }; 2]).expect("x");
    workspace.pullback();
    workspace.seed(x, &[Vec3 { x: 0.0, y: 0.0, z: 0.0 }; 2]).expect("x");
    assert_eq!(workspace.check_bars(), Ok(()), "f64::MAX / 2 twice is finite");
    workspace.write(axis, &[Vec3 { x: 9.0, y: 0.0, z: 0.0 }; 2]).expect("axis");
    workspace.seed(x, &[Vec3 { x: 0.0, y: f64::MAX, z: 0.0 }; 2]).expect("x");
    workspace.pullback();
    let error = workspace.check_bars().expect_err("not finite").to_string();
    assert_eq!(error, "operation `x` made the cotangent of `root[0]` not finite (world 0)");
}
