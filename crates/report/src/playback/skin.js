// Triangles over points: surfaces of soft things, whose normals want an `update` when points have moved, and solids of bodies, which turn as a
// whole. They are smooth, but for edges that are sharp at rest.
// `triangles` are indices of points, three for each. Points that `same` gives one number are one where normals are concerned.
const newSkin = (triangles, rest, same, twoSided) => {
  const count = triangles.length / 3, sharp = Math.cos(0.7);
  // Normals of triangles, as long as twice their areas, so that the larger count more where they meet.
  const normalOf = (points, t) => {
    const p = points[triangles[3 * t]], q = points[triangles[3 * t + 1]], r = points[triangles[3 * t + 2]];
    const ux = q[0] - p[0], uy = q[1] - p[1], uz = q[2] - p[2], vx = r[0] - p[0], vy = r[1] - p[1], vz = r[2] - p[2];
    return [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
  };
  const atRest = Array.from({ length: count }, (_, t) => normalOf(rest, t));
  const isSmooth = (t, u) => {
    const [a, b] = [atRest[t], atRest[u]];
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] > sharp * Math.hypot(...a) * Math.hypot(...b);
  };
  // Corners that share a normal (union-find): those at one point whose triangles meet at an edge that is not sharp.
  const parent = triangles.map((_, corner) => corner);
  const root = c => { while (parent[c] !== c) c = parent[c] = parent[parent[c]]; return c; };
  const edges = new Map();
  let lengths = 0;
  for (let corner = 0; corner < triangles.length; corner++) {
    const next = corner % 3 === 2 ? corner - 2 : corner + 1, [a, b] = [same[triangles[corner]], same[triangles[next]]];
    const key = a < b ? `${a} ${b}` : `${b} ${a}`, here = a < b ? [corner, next] : [next, corner], other = edges.get(key);
    const t = Math.floor(corner / 3);
    if (other && isSmooth(Math.floor(other[0] / 3), t)) here.forEach((c, i) => { parent[root(c)] = root(other[i]); });
    else edges.set(key, here);
    lengths += Math.hypot(...rest[triangles[corner]].map((c, i) => c - rest[triangles[next]][i]));
  }
  const normalAt = triangles.map((_, corner) => root(corner)), normals = new Float64Array(3 * triangles.length);
  const update = points => {
    normals.fill(0);
    for (let corner = 0; corner < triangles.length; corner += 3) {
      const n = normalOf(points, corner / 3);
      for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) normals[3 * normalAt[corner + k] + i] += n[i] || 0;
    }
    for (let at = 0; at < normals.length; at += 3) {
      const long = Math.hypot(normals[at], normals[at + 1], normals[at + 2]) || 1;
      for (let i = 0; i < 3; i++) normals[at + i] /= long;
    }
  };
  update(rest);
  // Each triangle that is to be seen: its spots, how bright they are, and its colour. The page counts y downwards, so that what is seen from
  // outside has a negative area. The inside of what has two sides is paler. What looks at the `light` is bright, and what looks at the `eye`.
  const bright = [0, 0, 0];
  const each = (spots, light, eye, color, paper, found) => {
    const inside = color.map((c, i) => 0.75 * c + 0.25 * paper[i]), [lx, ly, lz] = light.map((c, i) => 0.3 * c + 0.14 * eye[i]);
    for (let corner = 0; corner < triangles.length; corner += 3) {
      const a = spots[triangles[corner]], b = spots[triangles[corner + 1]], c = spots[triangles[corner + 2]];
      const area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
      if (!(twoSided ? area !== 0 : area < 0)) continue;
      const side = area < 0 ? 1 : -1;
      for (let k = 0; k < 3; k++) {
        const at = 3 * normalAt[corner + k];
        bright[k] = 0.64 + side * (lx * normals[at] + ly * normals[at + 1] + lz * normals[at + 2]);
      }
      found(a, b, c, bright, side > 0 ? color : inside);
    }
  };
  // Triangles as their spots on the ground: of what is closed, half of them are enough.
  const shadow = (spots, found) => {
    for (let corner = 0; corner < triangles.length; corner += 3) {
      const a = spots[triangles[corner]], b = spots[triangles[corner + 1]], c = spots[triangles[corner + 2]];
      if (twoSided || (b[0] - a[0]) * (c[1] - a[1]) < (c[0] - a[0]) * (b[1] - a[1])) found(a, b, c);
    }
  };
  return { update, each, shadow, edge: lengths / (triangles.length || 1) };
};
