//! Forces on the degrees of freedom: damping, dry friction, springs, limits, and motors.

use pullback_kernel::prelude::*;
use pullback_kernel::program::{BufferUse, Lane, Operation, View, World};

use super::kinematics::{quaternion, vector};
use super::manifold::{add_quaternion, add_vector};

/// Against the velocity: -c v
#[kernel]
fn damper<R: Real>(v: R, c: R) -> R {
    -(c * v)
}

/// Dry friction, smooth over a width of velocities: -f v / √(v² + w²)
#[kernel]
fn dry_friction<R: Real>(v: R, f: R, w: R) -> R {
    -(f * v / sqrt(v * v + w * w))
}

/// A spring: -k (q - rest)
#[kernel]
fn spring<R: Real>(q: R, k: R, rest: R) -> R {
    -(k * (q - rest))
}

/// Beyond a limit the slope of the force grows from 0 to 1 over so much of the range, and at most so many rad or m.
const RAMP: f64 = 0.01;

/// Beyond a range: k r(d) and a damper c v r'(d), with the depth d and a ramp r: d² / 2w, then d - w/2, where the width w is
/// a hundredth of the range, and at most 0.01.
#[kernel]
fn limits<R: Real>(q: R, v: R, lower: R, upper: R, k: R, c: R) -> R {
    let w = ramp_width(upper - lower);
    let (r0, s0) = ramp(lower - q, w);
    let (r1, s1) = ramp(q - upper, w);
    k * (r0 - r1) - c * v * (s0 + s1)
}

/// A ball joint that has turned too far: the same along the axis about which it has turned.
#[kernel]
fn ball_limit<R: Real>(turn: Quat<R>, v: Vec3<R>, upper: R, k: R, c: R) -> Vec3<R> {
    let turned = quat_log(turn);
    let n = normalize(turned);
    let (r, s) = ramp(length(turned) - upper, ramp_width(upper));
    n * -(k * r + c * s * dot(n, v))
}

/// A spring at a ball joint: -k times the rotation vector.
#[kernel]
fn ball_spring<R: Real>(turn: Quat<R>, k: R) -> Vec3<R> {
    quat_log(turn) * -k
}

#[kernel]
fn ramp_width<R: Real>(range: R) -> R {
    RAMP * clamp(range, 1e-6, 1.0)
}

/// r and r'
#[kernel]
fn ramp<R: Real>(d: R, w: R) -> (R, R) {
    let inside = clamp(d, 0.0, w);
    let beyond = max(d - w, 0.0);
    (0.5 * inside * inside / w + beyond, inside / w)
}

/// The energy of a limit of unit stiffness at a depth: the integral of the ramp, d³ / 6w, then (d - w/2)² / 2 + w² / 24.
pub(crate) fn limit_energy(depth: f64, range: f64) -> f64 {
    let w = ramp_width(range);
    match depth.max(0.0) {
        d if d < w => d.powi(3) / (6.0 * w),
        d => 0.5 * (d - 0.5 * w).powi(2) + w * w / 24.0,
    }
}

/// The angle by which a quaternion turns [rad].
pub(crate) fn angle(turn: [f64; 4]) -> f64 {
    let [w, x, y, z] = turn;
    length(quat_log(quat(w, vec3(x, y, z))))
}

/// A motor's force, before its gear: (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l', control and force within their ranges
#[kernel]
fn motor<R: Real>(
    control: R,
    length: R,
    rate: R,
    gain: Vec3<R>,
    bias: Vec3<R>,
    control_range: [R; 2],
    force_range: [R; 2],
) -> R {
    let u = clamp(control, control_range[0], control_range[1]);
    let g = gain.x + gain.y * length + gain.z * rate;
    clamp(g * u + (bias.x + bias.y * length + bias.z * rate), force_range[0], force_range[1])
}

/// Where a degree of freedom lies. Where its joint follows another, its position is scale · q + offset and its rate scale · v,
/// and a force on it counts by that scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub position: usize,
    pub velocity: usize,
    pub param: usize,
    pub scale: f64,
    pub offset: f64,
}

impl Place {
    #[inline(always)]
    fn position<L: Lane>(&self, q: &View<'_, f64, L>) -> L {
        q.get(self.position).mul_add(L::from_f64(self.scale), L::from_f64(self.offset))
    }
    #[inline(always)]
    fn rate<L: Lane>(&self, v: &View<'_, f64, L>) -> L {
        v.get(self.velocity) * L::from_f64(self.scale)
    }
    /// Adds a force, or a cotangent of the position or the rate.
    #[inline(always)]
    fn add<L: Lane>(&self, to: &View<'_, f64, L>, at: usize, value: L) {
        to.add(at, value * L::from_f64(self.scale));
    }
    #[inline(always)]
    fn bar<L: Lane>(&self, bars: &View<'_, f64, L>) -> L {
        bars.get(self.velocity) * L::from_f64(self.scale)
    }
}

/// What acts on degrees of freedom, and where its params lie.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passive {
    /// Every degree of freedom, with the joint whose param it takes.
    pub dofs: Vec<Place>,
    /// Hinges and slides.
    pub numbers: Vec<Place>,
    /// Hinges and slides with limits.
    pub limited: Vec<Place>,
    /// Ball joints: where the quaternion lies, the velocity, and the param; of those with springs, and of those with limits.
    pub balls: Vec<Place>,
    pub limited_balls: Vec<Place>,
    pub damping: Option<Buffer<f64>>,
    /// Friction and its width.
    pub friction: Option<[Buffer<f64>; 2]>,
    /// Stiffness and where the spring is at rest.
    pub springs: Option<[Buffer<f64>; 2]>,
    /// Lower, upper, stiffness and damping.
    pub limits: Option<[Buffer<f64>; 4]>,
}

/// A motor or a tendon: a length that is a sum over joints.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// (position or none, velocity, coefficient).
    pub joints: Vec<(Option<usize>, usize, f64)>,
    /// Its length when these are zero: of joints that follow others.
    pub offset: f64,
    pub control_range: [f64; 2],
    pub force_range: [f64; 2],
}

/// Motors: their controls and params.
#[derive(Clone, Debug)]
pub(crate) struct Motors {
    pub lines: Vec<Line>,
    pub control: Buffer<f64>,
    pub gear: Buffer<f64>,
    pub gain: Buffer<Vec3>,
    pub bias: Buffer<Vec3>,
}

/// Tendons: springs and dampers along sums over joints.
#[derive(Clone, Debug)]
pub(crate) struct Tendons {
    pub lines: Vec<Line>,
    /// Between these lengths the spring is at rest.
    pub rest: Vec<[f64; 2]>,
    pub stiffness: Buffer<f64>,
    pub damping: Buffer<f64>,
}

/// A tendon's force: a spring outside its range of rest, and a damper.
#[kernel]
fn tendon<R: Real>(length: R, rate: R, stiffness: R, damping: R, rest: [R; 2]) -> R {
    let stretch = length - clamp(length, rest[0], rest[1]);
    -(stiffness * stretch) - damping * rate
}

/// All of them.
pub(crate) struct JointForces {
    pub q: Buffer<f64>,
    pub v: Buffer<f64>,
    pub passive: Passive,
    pub motors: Option<Motors>,
    pub tendons: Option<Tendons>,
    pub len: usize,
    pub out: Buffer<f64>,
}

/// Length and rate of a line.
#[inline(always)]
fn measure<L: Lane>(line: &Line, q: &View<'_, f64, L>, v: &View<'_, f64, L>, gear: L) -> (L, L) {
    let (mut length, mut rate) = (L::from_f64(line.offset), L::from_f64(0.0));
    for &(position, velocity, coefficient) in &line.joints {
        let coefficient = L::from_f64(coefficient);
        if let Some(position) = position {
            length = q.get(position).mul_add(coefficient, length);
        }
        rate = v.get(velocity).mul_add(coefficient, rate);
    }
    (length * gear, rate * gear)
}

#[inline(always)]
fn range<L: Lane>([low, high]: [f64; 2]) -> [L; 2] {
    [L::from_f64(low), L::from_f64(high)]
}

impl Operation for JointForces {
    fn name(&self) -> String {
        "joint forces".to_owned()
    }
    fn reads(&self) -> Vec<BufferUse> {
        let mut reads: Vec<BufferUse> = vec![self.q.into(), self.v.into()];
        let p = &self.passive;
        reads.extend(p.damping.map(BufferUse::from));
        reads.extend(p.friction.iter().flatten().map(|b| BufferUse::from(*b)));
        reads.extend(p.springs.iter().flatten().map(|b| BufferUse::from(*b)));
        reads.extend(p.limits.iter().flatten().map(|b| BufferUse::from(*b)));
        if let Some(m) = &self.motors {
            reads.extend::<[BufferUse; 4]>([m.control.into(), m.gear.into(), m.gain.into(), m.bias.into()]);
        }
        if let Some(t) = &self.tendons {
            reads.extend::<[BufferUse; 2]>([t.stiffness.into(), t.damping.into()]);
        }
        reads
    }
    fn writes(&self) -> Vec<BufferUse> {
        vec![self.out.into()]
    }

    #[inline(always)]
    fn forward<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, v, out) = (world.values(self.q), world.values(self.v), world.values(self.out));
        let p = &self.passive;
        for i in 0..self.len {
            out.set(i, L::from_f64(0.0));
        }
        if let Some(damping) = p.damping {
            let c = world.values(damping);
            for at in &p.dofs {
                at.add(&out, at.velocity, damper(at.rate(&v), c.get(at.param)));
            }
        }
        if let Some([friction, width]) = p.friction {
            let (f, w) = (world.values(friction), world.values(width));
            for at in &p.dofs {
                at.add(&out, at.velocity, dry_friction(at.rate(&v), f.get(at.param), w.get(at.param)));
            }
        }
        if let Some([stiffness, rest]) = p.springs {
            let (k, rest) = (world.values(stiffness), world.values(rest));
            for at in &p.numbers {
                at.add(&out, at.velocity, spring(at.position(&q), k.get(at.param), rest.get(at.param)));
            }
            for at in &p.balls {
                let turn = quaternion(&q, at.position as u32);
                add_vector(&out, at.velocity, ball_spring(turn, k.get(at.param)));
            }
        }
        if let Some(params) = p.limits {
            let [lower, upper, k, c] = [0, 1, 2, 3].map(|i| world.values(params[i]));
            for at in &p.limited {
                let (q, v, j) = (at.position(&q), at.rate(&v), at.param);
                at.add(&out, at.velocity, limits(q, v, lower.get(j), upper.get(j), k.get(j), c.get(j)));
            }
            for at in &p.limited_balls {
                let (turn, rate, j) =
                    (quaternion(&q, at.position as u32), vector(&v, at.velocity as u32), at.param);
                add_vector(&out, at.velocity, ball_limit(turn, rate, upper.get(j), k.get(j), c.get(j)));
            }
        }
        if let Some(m) = &self.motors {
            let (control, gear) = (world.values(m.control), world.values(m.gear));
            let (gain, bias) = (world.values(m.gain), world.values(m.bias));
            for (j, line) in m.lines.iter().enumerate() {
                let (length, rate) = measure(line, &q, &v, gear.get(j));
                let (controls, forces) = (range(line.control_range), range(line.force_range));
                let force = motor(control.get(j), length, rate, gain.get(j), bias.get(j), controls, forces);
                for &(_, i, coefficient) in &line.joints {
                    out.add(i, force * gear.get(j) * L::from_f64(coefficient));
                }
            }
        }
        if let Some(t) = &self.tendons {
            let (k, c) = (world.values(t.stiffness), world.values(t.damping));
            for (j, line) in t.lines.iter().enumerate() {
                let (length, rate) = measure(line, &q, &v, L::from_f64(1.0));
                let force = tendon(length, rate, k.get(j), c.get(j), range(t.rest[j]));
                for &(_, i, coefficient) in &line.joints {
                    out.add(i, force * L::from_f64(coefficient));
                }
            }
        }
    }

    #[inline(always)]
    fn pullback<L: Lane>(&self, world: &mut World<'_, L>) {
        let (q, v) = (world.values(self.q), world.values(self.v));
        let (q_bar, v_bar, bar) = (world.bars(self.q), world.bars(self.v), world.bars(self.out));
        let p = &self.passive;
        if let Some(damping) = p.damping {
            let (c, c_bar) = (world.values(damping), world.bars(damping));
            for at in &p.dofs {
                let (v_part, c_part) = damper::pullback(at.rate(&v), c.get(at.param), at.bar(&bar));
                at.add(&v_bar, at.velocity, v_part);
                c_bar.add(at.param, c_part);
            }
        }
        if let Some([friction, width]) = p.friction {
            let (f, w) = (world.values(friction), world.values(width));
            let (f_bar, w_bar) = (world.bars(friction), world.bars(width));
            for at in &p.dofs {
                let j = at.param;
                let (v_part, f_part, w_part) =
                    dry_friction::pullback(at.rate(&v), f.get(j), w.get(j), at.bar(&bar));
                at.add(&v_bar, at.velocity, v_part);
                f_bar.add(j, f_part);
                w_bar.add(j, w_part);
            }
        }
        if let Some([stiffness, rest]) = p.springs {
            let (k, r) = (world.values(stiffness), world.values(rest));
            let (k_bar, r_bar) = (world.bars(stiffness), world.bars(rest));
            for at in &p.numbers {
                let j = at.param;
                let (q_part, k_part, r_part) =
                    spring::pullback(at.position(&q), k.get(j), r.get(j), at.bar(&bar));
                at.add(&q_bar, at.position, q_part);
                k_bar.add(j, k_part);
                r_bar.add(j, r_part);
            }
            for at in &p.balls {
                let turn = quaternion(&q, at.position as u32);
                let bar = vector(&bar, at.velocity as u32);
                let (q_part, k_part) = ball_spring::pullback(turn, k.get(at.param), bar);
                add_quaternion(&q_bar, at.position, q_part);
                k_bar.add(at.param, k_part);
            }
        }
        if let Some(params) = p.limits {
            let [lower, upper, k, c] = [0, 1, 2, 3].map(|i| world.values(params[i]));
            let bars = [0, 1, 2, 3].map(|i| world.bars(params[i]));
            for at in &p.limited {
                let (q, v, j) = (at.position(&q), at.rate(&v), at.param);
                let (l, u) = (lower.get(j), upper.get(j));
                let parts = limits::pullback(q, v, l, u, k.get(j), c.get(j), at.bar(&bar));
                at.add(&q_bar, at.position, parts.0);
                at.add(&v_bar, at.velocity, parts.1);
                bars[0].add(j, parts.2);
                bars[1].add(j, parts.3);
                bars[2].add(j, parts.4);
                bars[3].add(j, parts.5);
            }
            for at in &p.limited_balls {
                let (turn, rate, j) =
                    (quaternion(&q, at.position as u32), vector(&v, at.velocity as u32), at.param);
                let bar = vector(&bar, at.velocity as u32);
                let parts = ball_limit::pullback(turn, rate, upper.get(j), k.get(j), c.get(j), bar);
                add_quaternion(&q_bar, at.position, parts.0);
                add_vector(&v_bar, at.velocity, parts.1);
                bars[1].add(j, parts.2);
                bars[2].add(j, parts.3);
                bars[3].add(j, parts.4);
            }
        }
        self.pull_motors(world);
        self.pull_tendons(world);
    }
}

impl JointForces {
    #[inline(always)]
    fn pull_motors<L: Lane>(&self, world: &World<'_, L>) {
        let Some(m) = &self.motors else { return };
        let (q, v, bar) = (world.values(self.q), world.values(self.v), world.bars(self.out));
        let (q_bar, v_bar) = (world.bars(self.q), world.bars(self.v));
        let (control, gear) = (world.values(m.control), world.values(m.gear));
        let (gain, bias) = (world.values(m.gain), world.values(m.bias));
        let (control_bar, gear_bar) = (world.bars(m.control), world.bars(m.gear));
        let (gain_bar, bias_bar) = (world.bars(m.gain), world.bars(m.bias));
        for (j, line) in m.lines.iter().enumerate() {
            let geared = gear.get(j);
            let (raw_length, raw_rate) = measure(line, &q, &v, L::from_f64(1.0));
            let (length, rate) = (raw_length * geared, raw_rate * geared);
            let (controls, forces) = (range(line.control_range), range(line.force_range));
            let u = control.get(j);
            let force = motor(u, length, rate, gain.get(j), bias.get(j), controls, forces);
            // The force on a joint is force · gear · coefficient.
            let mut joints_bar = L::from_f64(0.0);
            for &(_, i, coefficient) in &line.joints {
                joints_bar = bar.get(i).mul_add(L::from_f64(coefficient), joints_bar);
            }
            let parts = motor::pullback(
                u,
                length,
                rate,
                gain.get(j),
                bias.get(j),
                controls,
                forces,
                joints_bar * geared,
            );
            control_bar.add(j, parts.0);
            gain_bar.add(j, parts.3);
            bias_bar.add(j, parts.4);
            gear_bar.add(j, force * joints_bar + parts.1 * raw_length + parts.2 * raw_rate);
            for &(position, i, coefficient) in &line.joints {
                let factor = geared * L::from_f64(coefficient);
                if let Some(position) = position {
                    q_bar.add(position, parts.1 * factor);
                }
                v_bar.add(i, parts.2 * factor);
            }
        }
    }

    #[inline(always)]
    fn pull_tendons<L: Lane>(&self, world: &World<'_, L>) {
        let Some(t) = &self.tendons else { return };
        let (q, v, bar) = (world.values(self.q), world.values(self.v), world.bars(self.out));
        let (q_bar, v_bar) = (world.bars(self.q), world.bars(self.v));
        let (k, c) = (world.values(t.stiffness), world.values(t.damping));
        let (k_bar, c_bar) = (world.bars(t.stiffness), world.bars(t.damping));
        for (j, line) in t.lines.iter().enumerate() {
            let (length, rate) = measure(line, &q, &v, L::from_f64(1.0));
            let mut joints_bar = L::from_f64(0.0);
            for &(_, i, coefficient) in &line.joints {
                joints_bar = bar.get(i).mul_add(L::from_f64(coefficient), joints_bar);
            }
            let parts = tendon::pullback(length, rate, k.get(j), c.get(j), range(t.rest[j]), joints_bar);
            k_bar.add(j, parts.2);
            c_bar.add(j, parts.3);
            for &(position, i, coefficient) in &line.joints {
                let coefficient = L::from_f64(coefficient);
                if let Some(position) = position {
                    q_bar.add(position, parts.0 * coefficient);
                }
                v_bar.add(i, parts.1 * coefficient);
            }
        }
    }
}
