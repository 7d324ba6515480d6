//! The scene of `tets`: a block of stable neo-Hookean tetrahedra, fixed at one face, falling above a ground.
//!
//! The same as `bench/peers/tets.py`, number for number.

use pullback_kernel::prelude::*;
use pullback_kernel::program::BuildError;

const SPACING: f64 = 0.1;
const HEIGHT: f64 = 0.5;
const MASS: f64 = 0.1;
const TIME_STEP: f64 = 1.0 / 60.0 / 32.0;

const MU: f64 = 1000.0;
const LAMBDA: f64 = 1000.0;
const DAMPING: f64 = 1.0;

const GROUND: f64 = 0.01;
const GROUND_STIFFNESS: f64 = 1.0e3;
const FRICTION_STIFFNESS: f64 = 1.0e3;
const FRICTION: f64 = 0.5;
const GRAVITY: f64 = -9.8;

/// A vertex: where it is [m], and how fast it moves [m/s]. In one value, so that elements reach both at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Value)]
#[repr(C)]
pub struct Particle<R = f64> {
    /// Position.
    pub x: Vec3<R>,
    /// Velocity.
    pub v: Vec3<R>,
}

/// Corner forces [N] of a stable neo-Hookean tetrahedron (Smith, de Goes, Kim 2018), with B the inverse of its rest
/// edges [1/m] and `volume` its rest volume [m³]:
/// P = μ (1 - 1/(I_C + 1)) F + λ (J - α) cof F + damping dF/dt,  α = 1 + 3μ/(4λ);  forces are columns of -volume P Bᵀ
#[kernel]
pub fn tet_force<R: Real>(
    p: [Particle<R>; 4],
    b: Mat3<R>,
    volume: R,
    mu: R,
    lambda: R,
    damping: R,
) -> [Vec3<R>; 4] {
    let f = mat3(p[1].x - p[0].x, p[2].x - p[0].x, p[3].x - p[0].x) * b;
    let f_dot = mat3(p[1].v - p[0].v, p[2].v - p[0].v, p[3].v - p[0].v) * b;
    let cof = cofactors(f);
    let j = dot(f.x, cof.x);
    let alpha = 1.0 + 0.75 * mu / lambda;
    // -volume P: the volume scales three numbers instead of nine.
    let shear = mu * (1.0 - 1.0 / (contract(f, f) + 1.0));
    let stress = f * (-volume * shear) + f_dot * (-volume * damping) + cof * (-volume * lambda * (j - alpha));
    let h = stress * transpose(b);
    [-(h.x + h.y + h.z), h.x, h.y, h.z]
}

/// Ground contact, then v' = v + dt (f/m + g), x' = x + dt v'. An inverse mass of zero holds a vertex still.
#[kernel]
pub fn advance<R: Real>(p: Particle<R>, f: Vec3<R>, inverse_mass: R, dt: R) -> Particle<R> {
    let (x, v) = (p.x, p.v);
    let depth = min(x.y - GROUND, 0.0);
    let mut force = f;
    if depth < 0.0 {
        let normal = -GROUND_STIFFNESS * depth;
        let limit = FRICTION * normal;
        let along_x = clamp(-FRICTION_STIFFNESS * v.x, -limit, limit);
        let along_z = clamp(-FRICTION_STIFFNESS * v.z, -limit, limit);
        force += vec3(along_x, normal, along_z);
    }
    let gravity = if inverse_mass > 0.0 { GRAVITY } else { 0.0 };
    let v_next = v + (force * inverse_mass + vec3(0.0, gravity, 0.0)) * dt;
    Particle { x: x + v_next * dt, v: v_next }
}

/// A block of cells, each split into five tetrahedra.
pub struct Mesh {
    /// Where the vertices are at rest.
    pub vertices: Vec<Vec3>,
    /// The vertices of each tetrahedron.
    pub corners: Vec<[usize; 4]>,
}

impl Mesh {
    /// The vertices at rest, as particles in single precision.
    #[must_use]
    pub fn at_rest(&self) -> Vec<Particle<f32>> {
        let still = Vec3::default();
        let single = |v: &Vec3| Vec3 { x: v.x as f32, y: v.y as f32, z: v.z as f32 };
        self.vertices.iter().map(|v| Particle { x: single(v), v: still }).collect()
    }

    /// `nx` × `ny` × `nz` cells.
    #[must_use]
    pub fn block([nx, ny, nz]: [usize; 3]) -> Mesh {
        let mut vertices = Vec::new();
        for z in 0..=nz {
            for y in 0..=ny {
                for x in 0..=nx {
                    vertices.push(Vec3 {
                        x: x as f64 * SPACING,
                        y: HEIGHT + y as f64 * SPACING,
                        z: z as f64 * SPACING,
                    });
                }
            }
        }
        // Two mirrored ways to split a cell, so that the faces of neighbours match.
        const ODD: [[usize; 4]; 5] = [[0, 1, 4, 3], [2, 3, 6, 1], [5, 4, 1, 6], [7, 6, 3, 4], [4, 1, 6, 3]];
        const EVEN: [[usize; 4]; 5] = [[1, 2, 5, 0], [3, 0, 7, 2], [4, 7, 0, 5], [6, 5, 2, 7], [5, 2, 7, 0]];
        let at = |x: usize, y: usize, z: usize| (nx + 1) * (ny + 1) * z + (nx + 1) * y + x;
        let mut corners = Vec::new();
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let cell = [
                        at(x, y, z),
                        at(x + 1, y, z),
                        at(x + 1, y, z + 1),
                        at(x, y, z + 1),
                        at(x, y + 1, z),
                        at(x + 1, y + 1, z),
                        at(x + 1, y + 1, z + 1),
                        at(x, y + 1, z + 1),
                    ];
                    for tet in if (x ^ y ^ z) & 1 == 1 { ODD } else { EVEN } {
                        let mut tet = tet.map(|k| cell[k]);
                        if determinant(edges(&vertices, tet)) < 0.0 {
                            tet.swap(1, 2);
                        }
                        corners.push(tet);
                    }
                }
            }
        }
        Mesh { vertices, corners }
    }
}

fn edges(vertices: &[Vec3], tet: [usize; 4]) -> Mat3 {
    let [a, b, c, d] = tet.map(|k| vertices[k]);
    mat3(b - a, c - a, d - a)
}

/// One step as a program.
pub struct Tets {
    /// The program.
    pub program: Program,
    /// The vertices.
    pub particles: Buffer<Particle>,
    /// The vertices after the step.
    pub next: Buffer<Particle>,
}

/// One semi-implicit step of the mesh.
pub fn step(mesh: &Mesh) -> Result<Tets, BuildError> {
    let n = mesh.vertices.len();
    let rest: Vec<Mat3> = mesh.corners.iter().map(|tet| inverse(edges(&mesh.vertices, *tet))).collect();
    let volumes: Vec<f64> = rest.iter().map(|b| 1.0 / (6.0 * determinant(*b))).collect();
    let inverse_masses: Vec<f64> =
        mesh.vertices.iter().map(|v| if v.x == 0.0 { 0.0 } else { 1.0 / MASS }).collect();

    let mut p = Program::builder();
    let particles = p.input::<Particle>("particles", n);
    let rest = p.constant::<Mat3>("rest inverse", &rest);
    let volume = p.constant::<f64>("volume", &volumes);
    let inverse_mass = p.constant::<f64>("inverse mass", &inverse_masses);
    let mu = p.constant::<f64>("mu", &[MU]);
    let lambda = p.constant::<f64>("lambda", &[LAMBDA]);
    let damping = p.constant::<f64>("damping", &[DAMPING]);
    let dt = p.constant::<f64>("dt", &[TIME_STEP]);
    let tets = p.corners("tets", &mesh.corners, n);

    let force = p.elements::<tet_force, Vec3, 4>(
        "force",
        tets,
        (particles.at(tets), rest.own(), volume.own(), mu.shared(), lambda.shared(), damping.shared()),
    );
    let next = p.map::<advance>("next", (particles.own(), force.own(), inverse_mass.own(), dt.shared()));
    p.carry(particles, next);
    Ok(Tets { program: p.finish()?, particles, next })
}

#[cfg(test)]
mod tests {
    use pullback_kernel::cuda::check;
    use pullback_kernel::gradcheck;

    use super::*;

    fn corners(shift: f64) -> [Vec3; 4] {
        let at = |k: usize| (0.7 * k as f64 + shift).sin();
        [0, 1, 2, 3].map(|k| Vec3 { x: at(3 * k), y: at(3 * k + 1), z: at(3 * k + 2) })
    }

    #[test]
    fn gradients_of_the_kernels() {
        let b = Mat3 {
            x: Vec3 { x: 1.1, y: 0.2, z: -0.1 },
            y: Vec3 { x: 0.1, y: 0.9, z: 0.3 },
            z: Vec3 { x: -0.2, y: 0.1, z: 1.2 },
        };
        let (x, v) = (corners(0.3), corners(1.1));
        let particles = [0, 1, 2, 3].map(|k| Particle { x: x[k], v: v[k] });
        gradcheck::kernel::<tet_force>(&(particles, b, 0.4, 3.0, 2.0, 0.5)).expect("tet_force");
        let (v, f) = (Vec3 { x: 1e-4, y: 0.2, z: -1e-4 }, Vec3 { x: 1.0, y: 2.0, z: 3.0 });
        // Above the ground, in it with friction below its limit, and above its limit.
        for (height, scale) in [(0.5, 1.0), (-0.2, 1.0), (-0.2, 1e4)] {
            let x = Vec3 { x: 0.1, y: height, z: 0.2 };
            let v = Vec3 { x: v.x * scale, z: v.z * scale, ..v };
            gradcheck::kernel::<advance>(&(Particle { x, v }, f, 10.0, 0.01)).expect("advance");
        }
    }

    #[test]
    fn the_cuda_text_of_the_kernels_is_right() {
        println!("{}", check::all().expect("the kernels' CUDA text"));
    }
}
