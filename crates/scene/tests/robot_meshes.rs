//! Meshes of every format, and the solids that they enclose, against closed forms.

use pullback_scene::robot::{Amount, Geometry, Inertial, MeshShape, Placement, Triangles};

fn close(found: &[f64], wanted: &[f64], tolerance: f64) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < tolerance;
    assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(near), "{found:?}, {wanted:?}");
}

fn parse(bytes: &[u8], file: &str) -> Triangles {
    Triangles::parse(bytes, file).expect("the mesh is good")
}

fn error(bytes: &[u8], file: &str) -> String {
    Triangles::parse(bytes, file).expect_err("the mesh is bad").to_string()
}

/// A box of these sides, its least corner at the origin.
fn cuboid([x, y, z]: [f64; 3]) -> Triangles {
    let cube = std::fs::read("tests/urdf/good/arm_description/meshes/cube.obj").expect("it is there");
    parse(&cube, "cube.obj").scaled([x, y, z])
}

/// Corners (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1).
fn tetrahedron() -> Triangles {
    Triangles {
        vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        faces: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    }
}

/// A ball of triangles: an icosahedron whose triangles are cut into four, again and again.
fn icosphere(cuts: usize) -> Triangles {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        vertices.extend([[a, b, 0.0], [0.0, a, b], [b, 0.0, a]]);
    }
    let unit = |v: [f64; 3]| {
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.map(|x| x / length)
    };
    let distance2 = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>();
    let mut faces: Vec<[u32; 3]> = Vec::new();
    // Corners of a triangle are neighbours: 2 apart.
    for a in 0..12usize {
        for b in a + 1..12 {
            for c in b + 1..12 {
                let near = |i: usize, j: usize| distance2(vertices[i], vertices[j]) < 4.1;
                if near(a, b) && near(b, c) && near(a, c) {
                    let [p, q, r] = [vertices[a], vertices[b], vertices[c]];
                    let outwards = p[0] * (q[1] * r[2] - q[2] * r[1])
                        + p[1] * (q[2] * r[0] - q[0] * r[2])
                        + p[2] * (q[0] * r[1] - q[1] * r[0]);
                    faces.push([a, b, c].map(|at| at as u32));
                    if outwards < 0.0 {
                        faces.last_mut().expect("it was pushed").swap(1, 2);
                    }
                }
            }
        }
    }
    assert_eq!(faces.len(), 20);
    vertices.iter_mut().for_each(|vertex| *vertex = unit(*vertex));
    for _ in 0..cuts {
        let mut cut = Vec::new();
        for &[a, b, c] in &faces {
            let mut middle = |i: u32, j: u32| {
                let (p, q) = (vertices[i as usize], vertices[j as usize]);
                vertices.push(unit([p[0] + q[0], p[1] + q[1], p[2] + q[2]]));
                vertices.len() as u32 - 1
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            cut.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        faces = cut;
    }
    Triangles { vertices, faces }
}

#[test]
fn a_box_of_triangles_is_a_box() {
    let sides = [0.3, 0.5, 0.7];
    let found = cuboid(sides).inertial(800.0).expect("it is closed");
    let exact = Geometry::Box { half_sides: sides.map(|side| 0.5 * side) }
        .inertial(Amount::Density(800.0))
        .expect("it has a volume");
    close(&[found.mass], &[800.0 * 0.105], 1e-11);
    close(&found.center, &[0.15, 0.25, 0.35], 1e-15);
    close(&found.inertia, &exact.inertia, 1e-13);
}

/// Of the corner tetrahedron: volume 1/6, centre 1/4, and about the origin ∫ x² = 1/60, ∫ x y = 1/120.
#[test]
fn a_tetrahedron_has_its_textbook_inertia() {
    let found = tetrahedron().inertial(1.0).expect("it is closed");
    close(&[found.mass], &[1.0 / 6.0], 1e-16);
    close(&found.center, &[0.25; 3], 1e-16);
    let about_origin = found.about([0.0; 3]);
    let (square, mixed) = (1.0 / 60.0, 1.0 / 120.0);
    let wanted = [2.0 * square, 2.0 * square, 2.0 * square, -mixed, -mixed, -mixed];
    close(&about_origin, &wanted, 1e-16);
    assert!(found.check().is_ok());
}

/// Where the mesh is, and how it is turned, changes nothing but the frame.
#[test]
fn moved_meshes_have_moved_inertia() {
    let placement = Placement::from_xyz_rpy([10.0, -20.0, 30.0], [0.4, -0.7, 1.2]);
    let still = cuboid([0.3, 0.5, 0.7]);
    let moved =
        Triangles { vertices: still.vertices.iter().map(|&v| placement.apply(v)).collect(), ..still.clone() };
    let found = moved.inertial(1.0).expect("it is closed");
    let wanted = still.inertial(1.0).expect("it is closed").moved(&placement);
    close(&found.center, &wanted.center, 1e-12);
    close(&found.inertia, &wanted.inertia, 1e-13);
}

/// Triangles with sides of length h miss a ball by h²: each cut leaves a quarter of the error.
#[test]
fn balls_of_triangles_become_balls() {
    let density = 3.0;
    let exact = Geometry::Sphere { radius: 1.0 }.inertial(Amount::Density(density)).expect("it has a volume");
    let errors: Vec<[f64; 2]> = (2..6)
        .map(|cuts| {
            let found = icosphere(cuts).inertial(density).expect("it is closed");
            close(&found.center, &[0.0; 3], 1e-13);
            close(&found.inertia[3..], &[0.0; 3], 1e-13);
            [1.0 - found.mass / exact.mass, 1.0 - found.inertia[0] / exact.inertia[0]]
        })
        .collect();
    for pair in errors.windows(2) {
        for (coarse, fine) in pair[0].iter().zip(pair[1]) {
            assert!((3.8..4.2).contains(&(coarse / fine)), "{errors:?}");
        }
    }
    assert!(errors[3][0] < 2e-3 && errors[3][1] < 3e-3, "{errors:?}");
}

#[test]
fn shapes_of_meshes_have_mass() {
    let triangles = Some(std::sync::Arc::new(cuboid([1.0, 2.0, 3.0])));
    let mesh = |triangles| Geometry::Mesh(MeshShape { file: "cube.obj".into(), scale: [1.0; 3], triangles });
    let found = mesh(triangles).inertial(Amount::Mass(12.0)).expect("it is closed");
    let wanted = Inertial { mass: 12.0, center: [0.5, 1.0, 1.5], inertia: [13.0, 10.0, 5.0, 0.0, 0.0, 0.0] };
    close(&[found.mass], &[wanted.mass], 1e-13);
    close(&found.center, &wanted.center, 1e-14);
    close(&found.inertia, &wanted.inertia, 1e-13);
    assert!(mesh(None).inertial(Amount::Mass(1.0)).is_err());
}

#[test]
fn open_and_inverted_surfaces_have_no_mass() {
    let what = |mesh: &Triangles| mesh.inertial(1.0).expect_err("it encloses nothing").what;
    let mut open = cuboid([1.0; 3]);
    open.faces.pop();
    assert_eq!(what(&open), "the surface is open: it encloses no volume");
    let mut inverted = cuboid([1.0; 3]);
    inverted.faces.iter_mut().for_each(|face| face.swap(0, 1));
    assert_eq!(what(&inverted), "the surface is flat or inside out: it encloses no volume");
    assert!(cuboid([1.0, -1.0, 1.0]).inertial(1.0).is_ok(), "mirrored, and turned round again");
    let flat = Triangles {
        vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        faces: vec![[0, 1, 2], [0, 2, 1]],
    };
    assert_eq!(what(&flat), "the surface is flat or inside out: it encloses no volume");
    let huge = cuboid([1e150; 3]);
    assert!(huge.inertial(1.0).is_err());
}

/// Both ways of writing STL, from the same triangles.
#[test]
fn binary_stl_is_text_stl() {
    let text = std::fs::read("tests/urdf/good/arm_description/meshes/tetrahedron.stl").expect("it is there");
    let from_text = parse(&text, "tetrahedron.stl");
    // Some programs write "solid" at the start of binary files too.
    for header in ["solid by a program", "by a program"] {
        let mut bytes = header.as_bytes().to_vec();
        bytes.resize(80, b' ');
        bytes.extend((from_text.faces.len() as u32).to_le_bytes());
        for face in &from_text.faces {
            let corners = face.iter().flat_map(|&at| from_text.vertices[at as usize]);
            [0.0; 3].into_iter().chain(corners).for_each(|x| bytes.extend((x as f32).to_le_bytes()));
            bytes.extend([0, 0]);
        }
        assert_eq!(parse(&bytes, "tetrahedron.STL"), from_text);
        bytes.pop();
        if header.starts_with("by") {
            assert!(
                error(&bytes, "a.stl").starts_with("a.stl: this is no STL"),
                "{}",
                error(&bytes, "a.stl")
            );
        }
    }
    close(&[from_text.inertial(6.0).expect("it is closed").mass], &[1.0], 1e-15);
    let cut = &text[..text.len() - 80];
    assert_eq!(
        error(cut, "a.stl"),
        "a.stl:26:1: the file ends too early\n  fix: the file is damaged: write it again"
    );
}

/// Two tetrahedra on one face, once with Gmsh's numbers out of order, once turned inside out.
#[test]
fn gmsh_files_give_the_boundary_of_their_solids() {
    let second = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n\
                  $Nodes\n5\n10 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n7 1 1 1\n$EndNodes\n\
                  $Elements\n4\n1 15 2 0 1 10\n2 2 2 0 1 10 2 3\n3 4 2 0 1 10 2 3 4\n4 4 2 0 1 3 2 4 7\n$EndElements\n";
    let fourth = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 5 1 7\n2 1 1 1\n4\n0 0 1 0.5 0.5\n\
                  3 1 0 4\n1\n2\n3\n7\n0 0 0\n1 0 0\n0 1 0\n1 1 1\n$EndNodes\n\
                  $Elements\n2 3 1 3\n2 1 2 1\n1 1 2 3\n3 1 4 2\n2 1 2 3 4\n3 2 3 4 7\n$EndElements\n";
    // 1/6 and the tetrahedron on its large face, whose volume is |((1,1,1) - (1,0,0)) · ...| / 6 = 1/3.
    for text in [second, fourth] {
        let mesh = parse(text.as_bytes(), "body.msh");
        assert_eq!((mesh.vertices.len(), mesh.faces.len()), (5, 6));
        close(&[mesh.inertial(1.0).expect("it is closed").mass], &[0.5], 1e-15);
    }
    let only_surface = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n\
                        $Elements\n1\n1 3 2 0 1 1 2 3 4\n$EndElements\n";
    let mesh = parse(only_surface.as_bytes(), "sheet.msh");
    assert_eq!(mesh.faces, [[0, 1, 2], [0, 2, 3]]);

    let binary = error(b"$MeshFormat\n4.1 1 8\n\x01\0\0\0\n$EndMeshFormat\n", "a.msh");
    assert!(binary.starts_with("a.msh:2:1: binary files of Gmsh are not supported"), "{binary}");
    let old = error(b"$MeshFormat\n1.0 0 8\n$EndMeshFormat\n", "a.msh");
    assert!(old.starts_with("a.msh:2:1: version `1.0` of Gmsh's format is not supported"), "{old}");
    let node = error(second.replace("3 2 4 7", "3 2 4 8").as_bytes(), "a.msh");
    assert!(node.starts_with("a.msh:21:1: there is no node 8"), "{node}");
}

#[test]
fn binary_msh_of_mujoco() {
    let mesh = tetrahedron();
    let mut bytes: Vec<u8> = [4i32, 1, 2, 4].iter().flat_map(|count| count.to_le_bytes()).collect();
    let corners = mesh.vertices.iter().flatten().copied();
    corners.chain([0.0; 3 + 4]).for_each(|x| bytes.extend((x as f32).to_le_bytes()));
    mesh.faces.iter().flatten().for_each(|at| bytes.extend((*at as i32).to_le_bytes()));
    let found = parse(&bytes, "a.msh");
    close(&[found.inertial(6.0).expect("it is closed").mass], &[1.0], 1e-15);
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&(-1i32).to_le_bytes());
    assert!(error(&bytes, "a.msh").contains("a face has the corner"));
    bytes.pop();
    assert!(error(&bytes, "a.msh").starts_with("a.msh: this is no MSH file"));
}

#[test]
fn meshes_that_are_refused() {
    for (bytes, file, start) in [
        (&b""[..], "a.obj", "a.obj: the file is empty"),
        (b"v 0 0 0\nf 1 1 1\n", "a.obj", "a.obj: the file has no triangles"),
        (b"v 0 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 9\n", "a.obj", "a.obj:4:1: there is no corner 9: there are 3"),
        (b"v 0 0 0\nf 1 2 0\n", "a.obj", "a.obj:2:1: there is no corner 0: there are 1 so far"),
        (b"v 0 0 0\nf 1 2 -2\n", "a.obj", "a.obj:2:1: there is no corner -2: there are 1 so far"),
        (b"v 0 0 0\nf 1 2 x\n", "a.obj", "a.obj:2:1: `x` is no corner of a face"),
        (
            b"v 0 0 inf\nv 0 0 1\nv 0 1 0\nf 1 2 3\n",
            "a.obj",
            "a.obj:1:1: the corner [0, 0, inf] is not finite",
        ),
        (b"\xff\xfe\0", "a.stl", "a.stl: this is no STL"),
        (
            b"solid a\nfacet\nouter loop\nvertex 0 0\nendloop",
            "a.stl",
            "a.stl:5:1: a number is wanted, and `endloop` is found",
        ),
        (b"", "a.msh", "a.msh: the file is empty"),
        (b"\x01", "a.msh", "a.msh: this is no MSH file"),
        (b"<COLLADA/>", "a.dae", "a.dae: meshes of the kind `.dae` are not supported"),
        (b"", "a", "a: the mesh has no ending that says what it is"),
    ] {
        let found = error(bytes, file);
        assert!(found.starts_with(start), "{found}, {start}");
    }
}
