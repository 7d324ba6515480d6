for (const figure of document.querySelectorAll(".pb-player")) {
  const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const bytes = Uint8Array.from(atob(data.positions), c => c.charCodeAt(0));
  const packed = new DataView(bytes.buffer);
  const canvas = figure.querySelector("canvas"), pen = canvas.getContext("2d"), raster = newRaster();
  const [play, slider, clock, speed, reset] =
    [".pb-play", "input", ".pb-time", "select", ".pb-reset"].map(s => figure.querySelector(s));
  const { times, particles, low, high, lines, ground, targets, names, radii, bodies, forms, solids, surfaces } = data;
  const turns = new DataView(Uint8Array.from(atob(data.turns), c => c.charCodeAt(0)).buffer);
  const last = times.length - 1, start = times[0], end = times[last];

  // Coordinates of a particle between two frames; NaN where it is not finite.
  const coordinate = (frame, particle, i) => {
    const step = packed.getInt16(2 * (3 * (frame * particles + particle) + i), true);
    return step < 0 ? NaN : low[i] + (high[i] - low[i]) * step / 32767;
  };
  const frameAt = t => {
    let a = 0, b = last;
    while (b - a > 1) { const m = (a + b) >> 1; if (times[m] <= t) a = m; else b = m; }
    return last === 0 ? 0 : a + Math.min(Math.max((t - times[a]) / (times[b] - times[a] || 1), 0), 1);
  };
  const position = (frame, particle) => {
    const a = Math.min(Math.floor(frame), last), b = Math.min(a + 1, last), part = frame - a;
    const mixed = i => coordinate(a, particle, i) * (1 - part) + coordinate(b, particle, i) * part;
    return [mixed(0), mixed(1), mixed(2)];
  };
  // How a body is turned between two frames, the shorter way, as the columns of its rotation.
  const axesOf = (frame, body) => {
    const a = Math.min(Math.floor(frame), last), b = Math.min(a + 1, last), part = frame - a;
    const at = f => [0, 1, 2, 3].map(i => turns.getInt16(2 * (4 * (f * bodies.length + body) + i), true));
    const [p, q] = [at(a), at(b)], sign = p.reduce((sum, x, i) => sum + x * q[i], 0) < 0 ? -1 : 1;
    const mixed = p.map((x, i) => x * (1 - part) + sign * q[i] * part), length = Math.hypot(...mixed) || 1;
    const [w, x, y, z] = mixed.map(c => c / length);
    return [
      [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
      [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
      [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
    ];
  };
  for (const form of forms) {
    const flat = form.corners.map(c => c * form.unit);
    form.points = Array.from({ length: flat.length / 3 }, (_, i) => flat.slice(3 * i, 3 * i + 3));
    const ends = f => [0, 1, 2].map(i => form.points.reduce((end, p) => f(end, p[i]), form.points[0][i]));
    const [least, most] = [ends(Math.min), ends(Math.max)];
    form.box = [0, 1, 2, 3, 4, 5, 6, 7].map(k => least.map((l, i) => k >> i & 1 ? most[i] : l));
    // Faces as fans of triangles; corners at one place are one, as at the poles of a ball.
    const fans = form.faces.flatMap(face => face.slice(2).flatMap((c, i) => [face[0], face[i + 1], c])), places = new Map();
    const same = form.points.map((p, i) => { const key = p.join(); if (!places.has(key)) places.set(key, i); return places.get(key); });
    form.skin = newSkin(fans, form.points, same, false);
  }
  for (const solid of solids) for (const key of ["points", "box", "skin"]) solid[key] = forms[solid.form][key];
  const place = (frame, solid, points) => {
    const [ox, oy, oz] = position(frame, bodies[solid.body]), [x, y, z] = axesOf(frame, solid.body);
    return points.map(p => [
      ox + x[0] * p[0] + y[0] * p[1] + z[0] * p[2], oy + x[1] * p[0] + y[1] * p[1] + z[1] * p[2], oz + x[2] * p[0] + y[2] * p[1] + z[2] * p[2],
    ]);
  };
  const rare = Math.max(1, Math.floor((last + 1) * solids.length / 400)), corners = [];
  for (let k = 0; k < (last + 1) * solids.length; k += rare) {
    const solid = solids[k % solids.length];
    corners.push(...place(Math.floor(k / solids.length), solid, solid.box).filter(p => p.every(c => c === c)));
  }

  // Where solids go much further than they are large, the camera goes with their middle.
  const moving = [...new Set(solids.map(s => bodies[s.body]))];
  const middle = frame => moving.map(p => position(frame, p)).reduce((sum, x) => sum.map((s, i) => s + x[i] / moving.length), [0, 0, 0]);
  const reach = points => Math.hypot(...[0, 1, 2].map(i => Math.max(...points.map(p => p[i])) - Math.min(...points.map(p => p[i]))));
  const first = solids.flatMap(s => place(0, s, s.box)), follows = solids.length > 0 && reach(corners) > 5 * reach(first);
  const begin = follows ? middle(0) : null;
  let shift = [0, 0, 0];

  // What the camera looks at: the box around everything, ground and targets included.
  const from = follows ? [...first[0]] : [...low], to = follows ? [...first[0]] : [...high];
  for (const p of follows ? first : [...corners, ...targets]) {
    for (let i = 0; i < 3; i++) { from[i] = Math.min(from[i], p[i]); to[i] = Math.max(to[i], p[i]); }
  }
  if (ground !== null && !follows) { from[2] = Math.min(from[2], ground); to[2] = Math.max(to[2], ground); }
  const centre = from.map((f, i) => (f + to[i]) / 2);
  const size = Math.max(Math.hypot(...from.map((f, i) => to[i] - f)), ...radii.map(r => 4 * r)) || 1;
  const home = { turn: -0.9, lift: 0.35, zoom: 1 };
  let view = { ...home }, time = start, playing = false, before = 0, colours = {};

  // A point in space to [x, y, pixels per metre, depth], z up, with a little perspective.
  const distance = 3 * size;
  const camera = ({ turn, lift }) => {
    const [ct, st, cl, sl] = [Math.cos(turn), Math.sin(turn), Math.cos(lift), Math.sin(lift)];
    return point => {
      const x = point[0] - centre[0] - shift[0], y = point[1] - centre[1] - shift[1], z = point[2] - centre[2] - shift[2];
      const away = -(ct * x + st * y), depth = Math.max(distance + cl * away - sl * z, 0.01 * distance);
      return [(ct * y - st * x) / depth, -(sl * away + cl * z) / depth, 1 / depth, depth];
    };
  };
  // What the first view has to show, in the middle: where particles, their shadows and targets are at some time.
  const seldom = Math.max(1, Math.floor((last + 1) * particles / 3000)), visited = follows ? [...first] : [...targets, ...corners];
  for (let k = 0; k < (last + 1) * particles && !follows; k += seldom) visited.push(position(Math.floor(k / particles), k % particles));
  for (const x of [...visited]) if (ground !== null && !follows) visited.push([x[0], x[1], ground]);
  const seen = visited.map(camera(home)).filter(s => s[0] === s[0]);
  const [left, top] = [0, 1].map(i => Math.min(...seen.map(s => s[i])));
  const [right, bottom] = [0, 1].map(i => Math.max(...seen.map(s => s[i])));
  let project;
  const aim = (width, height) => {
    const unit = view.zoom * 0.76 * Math.min(width / (right - left || 1), height / (bottom - top || 1), 8 * height);
    const look = camera(view), [mx, my] = [(left + right) / 2, (top + bottom) / 2];
    project = point => {
      const [x, y, scale, depth] = look(point);
      return [width / 2 + unit * (x - mx), height / 2 + unit * (y - my), unit * scale, depth];
    };
  };
  const path = points => {
    let open = false;
    pen.beginPath();
    for (const p of points) {
      const [x, y] = project(p);
      if (!(x === x)) { open = false; continue; }
      if (open) pen.lineTo(x, y); else pen.moveTo(x, y);
      open = true;
    }
    pen.stroke();
  };

  const rgb = colour => {
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = colour; probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3).map(c => c / 255);
  };
  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "muted", "line", "ground", "paper"]) colours[name] = style.getPropertyValue("--" + name).trim();
    colours.series = [0, 1, 2, 3, 4, 5, 6].map(i => style.getPropertyValue("--c" + i).trim());
    colours.rgb = { series: colours.series.map(rgb), ink: rgb(colours.ink), paper: rgb(colours.paper) };
  };

  // Particles that lines join are one thing and have one colour (union-find).
  const parent = Array.from({ length: particles }, (_, p) => p);
  const root = p => { while (parent[p] !== p) p = parent[p] = parent[parent[p]]; return p; };
  const join = (a, b) => { parent[root(a)] = root(b); };
  for (let i = 0; i < lines.length; i += 2) join(lines[i], lines[i + 1]);
  const every = parent.map((_, p) => p), beginning = surfaces.length ? every.map(p => position(0, p)) : [];
  for (const s of surfaces) {
    s.triangles.forEach((p, i) => join(p, s.triangles[i - i % 3]));
    s.skin = newSkin(s.triangles, beginning, every, s.two_sided);
  }
  const things = new Map(), members = new Map();
  for (let p = 0; p < particles; p++) {
    if (!things.has(root(p))) things.set(root(p), things.size);
    members.set(root(p), (members.get(root(p)) || 0) + 1);
  }
  const colourOf = p => things.size > 60 ? 0 : things.get(root(p)) % 7;
  // Bodies with solids need no dots, points of surfaces neither, nor what nothing is to be seen of.
  const solid = new Set(solids.map(s => bodies[s.body])), bare = bodies.filter(p => solid.has(p) || members.get(root(p)) === 1);
  const hidden = new Set([...bare, ...surfaces.flatMap(s => s.triangles)]);
  const trailed = every.filter(p => members.get(root(p)) <= 4 && (!hidden.has(p) || solid.has(p) && solids.length <= 8)).slice(0, 60);
  const labelled = names.filter((name, p) => name && !hidden.has(p)).length <= 20;

  const drawGround = () => {
    if (ground === null) return;
    const rough = size / 10, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(n => n * power >= rough);
    const ends = [from[0] + shift[0], to[0] + shift[0], from[1] + shift[1], to[1] + shift[1]];
    const [x0, x1, y0, y1] = ends.map((v, i) => (i % 2 ? Math.ceil(v / step) + 1 : Math.floor(v / step) - 1));
    pen.strokeStyle = colours.ground;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.45;
    for (let x = x0; x <= x1; x++) path([[x * step, y0 * step, ground], [x * step, y1 * step, ground]]);
    for (let y = y0; y <= y1; y++) path([[x0 * step, y * step, ground], [x1 * step, y * step, ground]]);
  };
  // A colour as if it were this transparent; what has depth is not, or its order would show.
  const pale = (color, opacity) => color.map((c, i) => c * opacity + colours.rgb.paper[i] * (1 - opacity));
  // The whole path of a particle, faint, and its last part, strong; not of nets and bodies, whose paths would hide all.
  const drawTrails = frame => {
    const stride = Math.max(1, Math.ceil(last * trailed.length / 20000)), recent = Math.max(0, frame - Math.max(last / 8, 2));
    // What is strong is nearer than what is faint.
    const drawn = (points, thick, color, nearer) => {
      const spots = points.map(p => { const spot = project(p); spot[3] *= nearer; return spot; });
      for (let i = 1; i < spots.length; i++) raster.line(spots[i - 1], spots[i], thick, color);
    };
    for (const p of trailed) {
      const whole = [], tail = [position(recent, p)], color = colours.rgb.series[colourOf(p)];
      for (let f = 0; f <= last; f += stride) whole.push(position(f, p));
      for (let f = Math.floor(recent) + 1; f < frame; f += stride) tail.push(position(f, p));
      tail.push(position(frame, p));
      drawn(whole, 1, pale(color, 0.25), 1);
      drawn(tail, 2, pale(color, 0.9), 0.999);
    }
  };
  // What is drawn of bodies and of soft things at a frame: their skins, points and colours.
  const skinsAt = (now, frame) => [
    ...solids.map(s => {
      const color = s.color || colours.rgb.series[colourOf(bodies[s.body])];
      const points = place(frame, s, s.points), axes = axesOf(frame, s.body);
      return { skin: s.skin, points, axes, color: color.slice(0, 3), alpha: color.length > 3 ? color[3] : 1 };
    }),
    ...surfaces.map(s => ({ skin: s.skin, points: now, color: colours.rgb.series[colourOf(s.triangles[0])], alpha: 1, soft: true })),
  ];
  // Shadows are no darker where they overlap.
  const drawShadows = (now, skins) => {
    if (ground === null || view.lift <= 0) return;
    const ink = colours.rgb.ink, onGround = points => points.map(p => project([p[0], p[1], ground]));
    const stain = (a, b, c) => raster.triangle(a, b, c, [1, 1, 1], ink, 0.18, 0, true);
    const spots = surfaces.length ? onGround(now) : [];
    for (const { skin, points } of skins) skin.shadow(points === now ? spots : onGround(points), stain);
    if (particles > 2000) return;
    const flat = Math.abs(Math.sin(view.lift));
    now.forEach((x, p) => {
      if (hidden.has(p)) return;
      const spot = project([x[0], x[1], ground]), r = Math.max((radii[p] || 0) * spot[2], 2);
      const rim = k => [spot[0] + r * Math.cos(k * Math.PI / 8), spot[1] + r * flat * Math.sin(k * Math.PI / 8), spot[2], spot[3]];
      for (let k = 0; k < 16; k++) stain(spot, rim(k), rim(k + 1));
    });
  };
  // Edges of triangles are seen where they are not too small.
  const rimOf = skin => {
    const long = skin.edge * project(centre)[2];
    return long > 7 ? Math.min(0.6, long / 40) : 0;
  };
  // Light comes from above, and a little from the left.
  const light = [0.35, -0.35, 0.87];
  const drawSkins = (skins, spots) => {
    const { turn, lift } = view, eye = [Math.cos(turn) * Math.cos(lift), Math.sin(turn) * Math.cos(lift), Math.sin(lift)];
    const seenFrom = (axes, v) => axes ? axes.map(axis => axis[0] * v[0] + axis[1] * v[1] + axis[2] * v[2]) : v;
    const clear = [];
    for (const { skin, points, axes, color, alpha, soft } of skins) {
      const rim = soft ? rimOf(skin) : 0;
      if (soft) skin.update(points);
      skin.each(soft ? spots : points.map(project), seenFrom(axes, light), seenFrom(axes, eye), color, colours.rgb.paper, (a, b, c, bright, seen) => {
        if (alpha < 1) clear.push([a[3] + b[3] + c[3], a, b, c, [...bright], seen, alpha]);
        else raster.triangle(a, b, c, bright, seen, 1, rim);
      });
    }
    // What is transparent is drawn over what is behind it, the furthest first.
    return () => clear.sort((a, b) => b[0] - a[0]).forEach(([, ...face]) => raster.triangle(...face));
  };
  const drawThings = (now, frame) => {
    const spots = now.map(project), skins = skinsAt(now, frame);
    raster.clear(canvas.clientWidth, canvas.clientHeight);
    drawShadows(now, skins);
    const drawTransparent = drawSkins(skins, spots), thick = particles > 500 ? 0.7 : 1.5;
    for (let i = 0; i < lines.length; i += 2) {
      raster.line(spots[lines[i]], spots[lines[i + 1]], thick, pale(colours.rgb.series[colourOf(lines[i])], 0.6));
    }
    drawTrails(frame);
    spots.forEach((s, p) => hidden.has(p) || drawDot(p, s));
    drawTransparent();
    raster.show(pen, canvas.clientWidth, canvas.clientHeight);
  };
  const labels = [];
  const drawDot = (p, [x, y, scale, depth]) => {
    // In a large mesh the lines say more than dots.
    if (particles > 500 && members.get(root(p)) > 4 && !radii[p]) return;
    const radius = Math.max((radii[p] || 0) * scale, radii[p] || particles > 500 ? 1.5 : 4);
    // As near as the front of a ball, and a hair nearer than its border.
    const front = depth - radius / scale, spot = [x, y], border = particles > 500 ? 0 : 0.5;
    if (border) raster.disc(spot, radius + border, front, colours.rgb.paper);
    raster.disc(spot, radius - border, 0.9999 * front, colours.rgb.series[colourOf(p)]);
    if (names[p] && labelled) labels.push([names[p], x + radius + 4, y + 4]);
  };
  // Names go over everything.
  const drawLabels = () => {
    pen.globalAlpha = 1; pen.fillStyle = colours.ink;
    for (const [name, x, y] of labels.splice(0)) pen.fillText(name, x, y);
  };
  const drawTargets = () => {
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.ink; pen.lineWidth = 1.5;
    for (const target of targets) {
      const [x, y] = project(target);
      pen.beginPath(); pen.arc(x, y, 6, 0, 7);
      pen.moveTo(x - 10, y); pen.lineTo(x + 10, y); pen.moveTo(x, y - 10); pen.lineTo(x, y + 10);
      pen.stroke();
    }
  };
  const draw = () => {
    const ratio = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
    if (canvas.width !== Math.round(width * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif"; pen.lineJoin = "round";
    aim(width, height);
    const frame = frameAt(time);
    if (follows) shift = middle(frame).map((c, i) => c - begin[i]);
    const now = Array.from({ length: particles }, (_, p) => position(frame, p));
    drawGround(); drawThings(now, frame); drawTargets(); drawLabels();
    pen.globalAlpha = 1;
    slider.value = end > start ? 1000 * (time - start) / (end - start) : 0;
    clock.textContent = time.toFixed(end - start < 1 ? 3 : 2) + " s";
  };

  const tick = stamp => {
    if (!playing) return;
    time += Math.min((stamp - before) / 1000, 0.1) * Number(speed.value);
    before = stamp;
    if (time >= end) { time = end; setPlaying(false); }
    draw();
    requestAnimationFrame(tick);
  };
  const setPlaying = on => {
    playing = on && end > start;
    if (playing && time >= end) time = start;
    play.textContent = playing ? "\u275a\u275a" : "\u25b6";
    play.setAttribute("aria-label", playing ? "pause" : "play");
    if (playing) requestAnimationFrame(stamp => { before = stamp; tick(stamp); });
  };
  const turn = (turned, lifted, zoomed) => {
    view.turn += turned;
    view.lift = Math.min(Math.max(view.lift + lifted, -1.5), 1.5);
    view.zoom = Math.min(Math.max(view.zoom * zoomed, 0.1), 50);
    draw();
  };
  const step = by => { setPlaying(false); time = times[Math.min(Math.max(Math.round(frameAt(time)) + by, 0), last)]; draw(); };

  play.addEventListener("click", () => { setPlaying(!playing); draw(); });
  slider.addEventListener("input", () => { setPlaying(false); time = start + (end - start) * slider.value / 1000; draw(); });
  const goHome = () => { view = { ...home }; draw(); };
  reset.addEventListener("click", goHome);
  const keys = {
    " ": () => { setPlaying(!playing); draw(); }, ArrowLeft: () => turn(0.1, 0, 1), ArrowRight: () => turn(-0.1, 0, 1),
    ArrowUp: () => turn(0, 0.1, 1), ArrowDown: () => turn(0, -0.1, 1), "+": () => turn(0, 0, 1.15), "=": () => turn(0, 0, 1.15),
    "-": () => turn(0, 0, 1 / 1.15), ",": () => step(-1), ".": () => step(1), Home: goHome,
  };
  canvas.addEventListener("keydown", event => { if (keys[event.key] && !event.ctrlKey && !event.metaKey) { keys[event.key](); event.preventDefault(); } });
  canvas.addEventListener("pointerdown", event => { canvas.setPointerCapture(event.pointerId); canvas.focus({ preventScroll: true }); });
  canvas.addEventListener("pointermove", event => { if (event.buttons) turn(-0.008 * event.movementX, 0.008 * event.movementY, 1); });
  // Only once the canvas has the focus, so that rolling down the page does not stop here.
  canvas.addEventListener("wheel", event => {
    if (document.activeElement !== canvas) return;
    turn(0, 0, Math.exp(-0.0015 * event.deltaY));
    event.preventDefault();
  }, { passive: false });
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
  readColours();
  draw();
}
