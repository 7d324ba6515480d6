"use strict";
// A picture with depth: triangles, thick lines and discs, of which the nearest is seen at each pixel. It needs no graphics
// card, so that pages look the same everywhere. Spots are [x, y, pixels per metre, depth] with x and y as the page counts
// them. What is kept of a depth is its inverse, which is linear across a triangle on the screen.
const newRaster = () => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  let width = 0, height = 0, ratio = 1, picture = null, pixels = null, nearness = null;
  // Starts anew. Fine screens show pixels as they are; on others four make one, so that edges are smooth.
  const clear = (w, h) => {
    const screen = window.devicePixelRatio || 1;
    ratio = screen < 1.5 ? 2 * screen : Math.min(screen, 2.5);
    w = Math.max(1, Math.round(w * ratio)); h = Math.max(1, Math.round(h * ratio));
    if (w !== width || h !== height) {
      width = canvas.width = w; height = canvas.height = h;
      picture = pen.createImageData(w, h);
      pixels = new Uint32Array(picture.data.buffer);
      nearness = new Float32Array(w * h);
    }
    pixels.fill(0); nearness.fill(0);
  };
  // Canvases hold red, green, blue and opacity as bytes in this order, which makes red the lowest on all machines that browsers run on.
  const pack = (r, g, b) => (255 << 24 | Math.min(b, 255) << 16 | Math.min(g, 255) << 8 | Math.min(r, 255)) >>> 0;
  // A colour over that of a pixel, which may be empty.
  const blend = (under, r, g, b, alpha) => {
    const below = (under >>> 24) / 255 * (1 - alpha), all = alpha + below;
    const mix = (c, shift) => Math.round((Math.min(c, 255) * alpha + (under >>> shift & 255) * below) / all);
    return (Math.round(255 * all) << 24 | mix(b, 16) << 16 | mix(g, 8) << 8 | mix(r, 0)) >>> 0;
  };
  // Where a line from p to q crosses a row, or NaN.
  const crossing = (px, py, qx, qy, y) => py <= y === qy <= y ? NaN : px + (y - py) * (qx - px) / (qy - py);
  // Three spots, how bright they are, a colour from 0 to 1, and its opacity. `rim` [pixels] darkens what is nearer to an edge; `flat` is
  // seen unless something is in front that comes later.
  const triangle = (a, b, c, brightness, color, alpha = 1, rim = 0, flat = false) => {
    const ax = a[0] * ratio, ay = a[1] * ratio, bx = b[0] * ratio, by = b[1] * ratio, cx = c[0] * ratio, cy = c[1] * ratio;
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    // Also where a corner is not finite.
    if (!(Math.abs(area) > 1e-6)) return;
    const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5)), bottom = Math.min(height - 1, Math.ceil(Math.max(ay, by, cy) - 0.5) - 1);
    const alongX = (p, q, r) => ((q - p) * (cy - ay) - (r - p) * (by - ay)) / area;
    const alongY = (p, q, r) => ((r - p) * (bx - ax) - (q - p) * (cx - ax)) / area;
    const na = 1 / a[3], nb = 1 / b[3], nc = 1 / c[3], nx = alongX(na, nb, nc), ny = alongY(na, nb, nc);
    const [sa, sb, sc] = brightness, sx = alongX(sa, sb, sc), sy = alongY(sa, sb, sc);
    // How far from each edge, in pixels: height above it, times the part of it.
    const edge = rim * ratio, size = Math.abs(area);
    const ha = size / Math.hypot(cx - bx, cy - by), hb = size / Math.hypot(ax - cx, ay - cy), hc = size / Math.hypot(bx - ax, by - ay);
    const bX = alongX(0, 1, 0), bY = alongY(0, 1, 0), cX = alongX(0, 0, 1), cY = alongY(0, 0, 1);
    const red = 255 * color[0], green = 255 * color[1], blue = 255 * color[2];
    const stain = blend(0, red, green, blue, alpha);
    for (let row = top; row <= bottom; row++) {
      const y = row + 0.5;
      // Two edges cross the row; the third gives NaN.
      const p = crossing(ax, ay, bx, by, y), q = crossing(bx, by, cx, cy, y), r = crossing(cx, cy, ax, ay, y);
      const one = p === p ? p : q, other = r === r ? r : q, left = Math.min(one, other), right = Math.max(one, other);
      const from = Math.max(0, Math.ceil(left - 0.5)), to = Math.min(width - 1, Math.ceil(right - 0.5) - 1);
      for (let column = from, at = row * width + from; column <= to; column++, at++) {
        const dx = column + 0.5 - ax, dy = y - ay, near = na + nx * dx + ny * dy;
        if (flat) { pixels[at] = stain; continue; }
        if (near <= nearness[at]) continue;
        let bright = sa + sx * dx + sy * dy;
        if (edge > 0) {
          const partB = bX * dx + bY * dy, partC = cX * dx + cY * dy;
          if (Math.min((1 - partB - partC) * ha, partB * hb, partC * hc) < edge) bright *= 0.86;
        }
        if (alpha < 1) { pixels[at] = blend(pixels[at], red * bright, green * bright, blue * bright, alpha); continue; }
        nearness[at] = near;
        pixels[at] = pack(red * bright, green * bright, blue * bright);
      }
    }
  };
  // A line between two spots: at each step along its longer side, as many pixels across as it is thick. It is a little nearer than it
  // should be, so that what lies on a surface is seen.
  const line = (a, b, thick, color) => {
    const steep = Math.abs(b[1] - a[1]) > Math.abs(b[0] - a[0]), [along, across] = steep ? [1, 0] : [0, 1];
    const [p, q] = a[along] < b[along] ? [a, b] : [b, a], [u0, u1, v0, v1] = [p[along], q[along], p[across], q[across]].map(c => c * ratio);
    if (!(u1 > u0)) return;
    const slope = (v1 - v0) / (u1 - u0), half = 0.5 * thick * ratio * Math.hypot(1, slope);
    const near = 1.002 / p[3], nearer = (1.002 / q[3] - near) / (u1 - u0), packed = pack(255 * color[0], 255 * color[1], 255 * color[2]);
    const [long, wide] = steep ? [height, width] : [width, height], [byU, byV] = steep ? [width, 1] : [1, width];
    const last = Math.min(long - 1, Math.ceil(u1 - 0.5) - 1);
    for (let u = Math.max(0, Math.ceil(u0 - 0.5)); u <= last; u++) {
      const d = u + 0.5 - u0, v = v0 + slope * d, here = near + nearer * d;
      const first = Math.round(v - half), to = Math.min(wide - 1, Math.max(Math.round(v + half) - 1, first));
      for (let k = Math.max(0, first), at = u * byU + k * byV; k <= to; k++, at += byV) {
        if (here > nearness[at]) { nearness[at] = here; pixels[at] = packed; }
      }
    }
  };
  // A disc that faces the camera, and is so deep.
  const disc = (spot, radius, depth, color) => {
    const x = spot[0] * ratio, y = spot[1] * ratio, r = radius * ratio, near = 1 / depth;
    if (!(near > 0)) return;
    const packed = pack(255 * color[0], 255 * color[1], 255 * color[2]);
    const top = Math.max(0, Math.ceil(y - r - 0.5)), bottom = Math.min(height - 1, Math.floor(y + r - 0.5));
    for (let row = top; row <= bottom; row++) {
      const half = Math.sqrt(Math.max(0, r * r - (row + 0.5 - y) ** 2));
      const from = Math.max(0, Math.ceil(x - half - 0.5)), to = Math.min(width - 1, Math.floor(x + half - 0.5));
      for (let column = from, at = row * width + from; column <= to; column++, at++) {
        if (near <= nearness[at]) continue;
        nearness[at] = near; pixels[at] = packed;
      }
    }
  };
  const show = (onto, w, h) => {
    pen.putImageData(picture, 0, 0);
    onto.globalAlpha = 1;
    onto.imageSmoothingQuality = "high";
    onto.drawImage(canvas, 0, 0, w, h);
  };
  return { clear, triangle, line, disc, show };
};
