//! A ground that pushes back: the penalty model of contact.

use pullback_kernel::Once;
use pullback_kernel::prelude::*;
use pullback_scene::{Ground, Scene, Surface, Touch};

use crate::error::Error;
use crate::force::{Force, Site};
use crate::names::{Block, Quantity};
use pullback_collide::friction_per_speed;

/// Force of the ground z = h on a particle [N], where depth = h - z > 0:
///
/// - upwards  n = max(0, ke depth - kd v_z): it never pulls,
/// - along the ground  -min(mu n, kf |s|) s/|s|,  s = (v_x, v_y): sticking like a damper up to Coulomb's limit.
#[kernel]
fn ground<R: Real>(x: Vec3<R>, v: Vec3<R>, height: R, ke: R, kd: R, kf: R, mu: R) -> Vec3<R> {
    let depth = height - x.z;
    let mut f = vec3(0.0, 0.0, 0.0);
    if depth > 0.0 {
        let n = max(ke * depth - kd * v.z, 0.0);
        let slide = vec3(v.x, v.y, 0.0);
        let per_speed = friction_per_speed(n, length(slide), kf, mu);
        f = vec3(-(per_speed * slide.x), -(per_speed * slide.y), n);
    }
    f
}

/// Force of the ground on a ball with a radius [N]: as on its lowest point.
#[kernel]
fn ground_under<R: Real>(
    x: Vec3<R>,
    v: Vec3<R>,
    radius: R,
    height: R,
    ke: R,
    kd: R,
    kf: R,
    mu: R,
) -> Vec3<R> {
    ground(x, v, height + radius, ke, kd, kf, mu)
}

/// Energy of the ground under a particle [J]:  E = ½ ke depth²
#[kernel]
fn ground_energy<R: Real>(x: Vec3<R>, height: R, ke: R) -> R {
    let depth = max(height - x.z, 0.0);
    0.5 * ke * depth * depth
}

/// The same of a ball.
#[kernel]
fn ground_energy_under<R: Real>(x: Vec3<R>, radius: R, height: R, ke: R) -> R {
    ground_energy(x, height + radius, ke)
}

/// What the ground of a scene has of its own: its height; numbers of its surface that it says itself, and where there are particles,
/// which feel no other, all of them.
#[derive(Debug)]
pub(crate) struct OwnGround {
    height: f64,
    surface: Surface,
}

impl OwnGround {
    pub fn new(scene: &Scene, ground: &Ground) -> Self {
        let Touch { mu, ke, kd, kf, .. } = scene.touch_of_ground(ground);
        let all = Surface { mu: Some(mu), restitution: None, ke: Some(ke), kd: Some(kd), kf: Some(kf) };
        let surface = if scene.particles.is_empty() { ground.surface() } else { all };
        OwnGround { height: ground.height, surface }
    }

    /// The numbers that are its own.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }
}

impl Force for OwnGround {
    fn name(&self) -> String {
        "Ground".into()
    }

    fn params(&self) -> Vec<Block> {
        let Surface { ke, kd, kf, mu, .. } = self.surface;
        let height = Block::scalar("ground.height", self.height, Quantity::new("m", "height of the ground"));
        let own = [
            ("ground.ke", ke, "N/m", "elastic stiffness of the ground"),
            ("ground.kd", kd, "N·s/m", "damping of the ground"),
            ("ground.kf", kf, "N·s/m", "friction per sliding speed, below Coulomb's limit"),
            ("ground.mu", mu, "1", "coefficient of friction"),
        ];
        let block = |(name, value, unit, doc): (&str, Option<f64>, _, _)| {
            value.map(|value| Block::scalar(name, value, Quantity::new(unit, doc).at_least(0.0)))
        };
        std::iter::once(height).chain(own.into_iter().filter_map(block)).collect()
    }

    fn force(&self, site: &mut Site<'_>) -> Result<Buffer<Vec3>, Error> {
        let [height, ke, kd, kf, mu] = ["height", "ke", "kd", "kf", "mu"].map(|f| format!("ground.{f}"));
        let (x, v, name) = (site.x.own(), site.v.own(), site.name("ground"));
        let height = site.param::<f64>(&height)?.shared();
        let (ke, kd) = (site.param::<f64>(&ke)?.shared(), site.param::<f64>(&kd)?.shared());
        let (kf, mu) = (site.param::<f64>(&kf)?.shared(), site.param::<f64>(&mu)?.shared());
        Ok(match site.inputs.radii {
            None => site.program.map::<ground>(&name, (x, v, height, ke, kd, kf, mu)),
            Some(radius) => {
                site.program.map::<ground_under>(&name, (x, v, radius.own(), height, ke, kd, kf, mu))
            }
        })
    }

    fn energy(&self, site: &mut Site<'_>) -> Result<Option<Buffer<f64>>, Error> {
        let (height, ke) = (site.param::<f64>("ground.height")?, site.param::<f64>("ground.ke")?);
        let (x, name) = (site.x.own(), site.name("energy of the ground"));
        let (height, ke) = (height.shared(), ke.shared());
        Ok(Some(match site.inputs.radii {
            None => site.program.reduce::<Once<ground_energy>>(&name, (x, height, ke)),
            Some(radius) => {
                site.program.reduce::<Once<ground_energy_under>>(&name, (x, radius.own(), height, ke))
            }
        }))
    }
}
