//! Solids and sheets from files.

use pullback_scene::robot::Triangles;
use pullback_scene::soft::{SheetMesh, SolidMesh};

use crate::common::{close, good_sheet, good_solid};

/// A solid as Gmsh 2.2 writes it: tags from 10 up, a node that no element has first, and an edge and a triangle.
fn gmsh_2(solid: &SolidMesh) -> String {
    let mut text = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n");
    text += &format!("{}\n5 9 9 9\n", solid.points.len() + 1);
    for (at, [x, y, z]) in solid.points.iter().enumerate() {
        text += &format!("{} {x} {y} {z}\n", at + 10);
    }
    text +=
        &format!("$EndNodes\n$Elements\n{}\n1 1 2 0 1 10 11\n2 2 2 0 1 10 11 12\n", solid.elements.len() + 2);
    for (at, element) in solid.elements.iter().enumerate() {
        let [a, b, c, d] = element.map(|at| at + 10);
        text += &format!("{} 4 2 0 1 {a} {b} {c} {d}\n", at + 3);
    }
    text + "$EndElements\n"
}

/// The same as Gmsh 4.1 writes it.
fn gmsh_4(solid: &SolidMesh) -> String {
    let (points, elements) = (solid.points.len(), solid.elements.len());
    let mut text =
        format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {points} 1 {points}\n3 1 0 {points}\n");
    (0..points).for_each(|at| text += &format!("{}\n", at + 1));
    solid.points.iter().for_each(|[x, y, z]| text += &format!("{x} {y} {z}\n"));
    text += &format!("$EndNodes\n$Elements\n1 {elements} 1 {elements}\n3 1 4 {elements}\n");
    for (at, element) in solid.elements.iter().enumerate() {
        let [a, b, c, d] = element.map(|at| at + 1);
        text += &format!("{} {a} {b} {c} {d}\n", at + 1);
    }
    text + "$EndElements\n"
}

#[test]
fn tetrahedra_of_gmsh_come_back() {
    let ball = SolidMesh::icosphere(1.0, 1, 2).expect("it is small");
    for text in [gmsh_2(&ball), gmsh_4(&ball)] {
        let found = SolidMesh::parse(text.as_bytes(), "ball.msh").expect("it is good");
        assert_eq!(found, ball);
        good_solid(&found, 2);
        // The boundary of the same file, as robots read it.
        let triangles = Triangles::parse(text.as_bytes(), "ball.msh").expect("it is good");
        assert_eq!(SheetMesh::from(triangles), ball.surface().mesh);
    }
}

#[test]
fn inverted_tetrahedra_stay_and_can_be_mended() {
    let mut ball = SolidMesh::icosphere(1.0, 0, 1).expect("it is small");
    let good = ball.clone();
    ball.elements[4].swap(2, 3);
    let found = SolidMesh::parse(gmsh_4(&ball).as_bytes(), "ball.msh").expect("it is read");
    assert_eq!(found, ball);
    assert!(found.check().expect_err("it is inverted").what.starts_with("1 of 20 tetrahedra is inverted: 4"));
    assert_eq!(found.fixed_winding(), good);
    // The boundary goes outwards all the same.
    let triangles = Triangles::parse(gmsh_4(&ball).as_bytes(), "ball.msh").expect("it is good");
    close(SheetMesh::from(triangles).enclosed_volume(), good.volume(), 1e-14);
}

#[test]
fn sheets_of_obj_and_stl() {
    let obj = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 7 7 7\nf 1 2 3 4\n";
    let sheet = SheetMesh::parse(obj, "sheet.obj").expect("it is good");
    assert_eq!(sheet.elements, [[0, 1, 2], [0, 2, 3]]);
    good_sheet(&sheet, 1);
    let sphere = SheetMesh::icosphere(1.0, 2).expect("it is small");
    // Loose triangles, whose corners are merged again.
    let mut stl = vec![0u8; 80];
    stl.extend((sphere.elements.len() as u32).to_le_bytes());
    for element in 0..sphere.elements.len() {
        stl.extend([0u8; 12]);
        sphere.corners(element).iter().flatten().for_each(|&x| stl.extend((x as f32).to_le_bytes()));
        stl.extend([0u8; 2]);
    }
    let merged = SheetMesh::parse(&stl, "sphere.stl").expect("it is good");
    assert_eq!((merged.points.len(), merged.elements.len()), (162, 320));
    good_sheet(&merged, 2);
    close(merged.enclosed_volume(), sphere.enclosed_volume(), 1e-6);
    assert_eq!(SheetMesh::from(Triangles::from(merged.clone())), merged);
}

#[test]
fn files_that_are_refused() {
    let error = |bytes: &[u8], file: &str| SolidMesh::parse(bytes, file).expect_err("it is bad").to_string();
    let ball = SolidMesh::icosphere(1.0, 0, 1).expect("it is small");
    let good = gmsh_2(&ball);
    let surface = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 1 1 0\n$EndNodes\n\
                   $Elements\n1\n1 2 2 0 1 1 2 3\n$EndElements\n";
    for (bytes, file, wanted) in [
        (surface, "a.msh", "a.msh: the file has no tetrahedra\n  fix: mesh its volume too: `gmsh -3`"),
        (surface, "a.obj", "a.obj: only `.msh` files have tetrahedra\n  fix: use a `.msh` of Gmsh"),
        (surface, "a.vtk", "a.vtk: meshes of the kind `.vtk` are not supported"),
        ("", "a.msh", "a.msh: the file is empty\n  fix: write the mesh again"),
        (&good.replace("5 9 9 9", "5 9 9 nan"), "a.msh", "a.msh:6:1: the corner [9, 9, NaN] is not finite"),
        (&good.replace("5 9 9 9", "5 9 9 x"), "a.msh", "a.msh:6:1: a number is wanted, and `x` is found"),
        (&good[..good.len() / 2], "a.msh", "a.msh:"),
        (&good.replace("2.2 0 8", "2.2 1 8"), "a.msh", "a.msh:2:1: binary files of Gmsh are not supported"),
    ] {
        let found = error(bytes.as_bytes(), file);
        assert!(found.starts_with(wanted), "{found}");
    }
    let sheet = SheetMesh::parse(b"v 0 0 0\n", "a.obj").expect_err("it is empty").to_string();
    assert!(sheet.starts_with("a.obj: the file has no triangles"), "{sheet}");
}
