"use strict";
// One map: a canvas with the points of a run, its view, hover card, lasso and keyboard.
// `state` is shared by all maps: view, scheme, selected node, lassoed nodes, mode of the pointer.
const MARGIN = 0.04;  // of the shorter side
const GRID = 128;     // cells a side, to find the node under the pointer
const REACH = 14;     // pixels around the pointer

const makeMap = (run, canvas, tip, state, actions) => {
  const pen = canvas.getContext("2d");
  const count = run.x.length;
  const points = { x: run.x, y: run.y, count };
  const cells = new Map();
  for (let i = 0; i < count; i++) {
    const key = ((run.x[i] * GRID) >> 16) * GRID + ((run.y[i] * GRID) >> 16);
    const cell = cells.get(key);
    if (cell) cell.push(i); else cells.set(key, [i]);
  }
  let handle = null, painter = null, scheme = null, centres = [], lasso = null;
  let styles = {};

  const ratio = () => window.devicePixelRatio || 1;
  const frame = () => {
    const side = Math.min(canvas.width, canvas.height) * (1 - 2 * MARGIN) * state.view.scale;
    return { left: canvas.width / 2 - state.view.x * side, top: canvas.height / 2 - (1 - state.view.y) * side, side };
  };
  const place = (i, { left, top, side }) => [left + run.x[i] / 65535 * side, top + (1 - run.y[i] / 65535) * side];
  const unplace = (px, py) => {
    const { left, top, side } = frame();
    return [(px - left) / side, 1 - (py - top) / side];
  };
  const pointer = (event) => {
    const box = canvas.getBoundingClientRect(), zoomed = canvas.width / box.width;
    return [(event.clientX - box.left) * zoomed, (event.clientY - box.top) * zoomed];
  };

  // Colours of all points; what is not in the lasso or the highlighted group fades.
  const recolour = (nextPainter, nextScheme) => {
    [painter, scheme] = [nextPainter, nextScheme];
    styles = Object.fromEntries(["paper", "ink", "soft", "ring"].map((name) => [name, cssColour(`--${name}`)]));
    const palette = scheme.entries.map(entryColour), other = rgb(cssColour("--other"));
    const opaque = count > 30000 ? 150 : count > 5000 ? 190 : 235;
    const colours = new Uint8Array(4 * count);
    for (let i = 0; i < count; i++) {
      const at = scheme.of[i], [red, green, blue] = at === OTHER ? other : palette[at];
      const faded = (state.lassoed && !state.lassoed[i]) || (state.group !== null && state.group !== at);
      colours[4 * i] = red; colours[4 * i + 1] = green; colours[4 * i + 2] = blue;
      colours[4 * i + 3] = faded ? 26 : opaque;
    }
    handle = painter.load(points, colours);
    centres = scheme.named ? groupCentres() : [];
  };

  // The place of a group's name: where most of its points are, on a coarse grid.
  const groupCentres = () => {
    const COARSE = 20, sums = scheme.entries.map(() => new Map());
    for (let i = 0; i < count; i++) {
      if (scheme.of[i] === OTHER) continue;
      const key = ((run.x[i] * COARSE) >> 16) * COARSE + ((run.y[i] * COARSE) >> 16);
      const cell = sums[scheme.of[i]].get(key) || [0, 0, 0];
      cell[0]++; cell[1] += run.x[i]; cell[2] += run.y[i];
      sums[scheme.of[i]].set(key, cell);
    }
    return sums
      .map((cellsOf, at) => {
        let best = null, most = -1;
        for (const [key, cell] of cellsOf) {
          let near = cell[0];
          for (const step of [1, -1, COARSE, -COARSE]) near += (cellsOf.get(key + step) || [0])[0];
          if (near > most) { most = near; best = cell; }
        }
        return best && { at, x: best[1] / best[0] / 65535, y: best[2] / best[0] / 65535, size: scheme.entries[at].size };
      })
      .filter((centre) => centre)
      .sort((a, b) => b.size - a.size);
  };

  const draw = () => {
    const width = Math.round(canvas.clientWidth * ratio()), height = Math.round(canvas.clientHeight * ratio());
    if (!width || !handle) return;
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    const square = frame();
    const crowd = count > 30000 ? 2 : count > 5000 ? 3 : count > 500 ? 4.5 : 7;
    const size = crowd * Math.min(3, state.view.scale ** 0.4) * ratio();
    painter.paint(handle, pen, square, size);
    if (centres.length > 1) drawNames(square);
    if (state.selected >= 0) drawSelected(square, size);
    if (lasso && lasso.length > 1) drawLasso(square);
  };
  const drawNames = (square) => {
    const taken = [];
    pen.font = `700 ${13.5 * ratio()}px system-ui, sans-serif`;
    pen.textAlign = "center"; pen.textBaseline = "middle"; pen.lineJoin = "round";
    for (const centre of centres) {
      if (state.group !== null && state.group !== centre.at) continue;
      const full = scheme.entries[centre.at].name, text = full.length > 28 ? `${full.slice(0, 27)}…` : full;
      const half = pen.measureText(text).width / 2 + 3 * ratio(), rise = 9 * ratio();
      const x = square.left + centre.x * square.side, y = square.top + (1 - centre.y) * square.side;
      if (x < half || x > canvas.width - half || y < rise || y > canvas.height - rise) continue;
      if (taken.some(([ox, oy, o]) => Math.abs(x - ox) < half + o && Math.abs(y - oy) < 2 * rise)) continue;
      taken.push([x, y, half]);
      pen.lineWidth = 5 * ratio(); pen.strokeStyle = styles.paper; pen.strokeText(text, x, y);
      pen.fillStyle = styles.ink; pen.fillText(text, x, y);
    }
  };
  const drawSelected = (square, size) => {
    const [sx, sy] = place(state.selected, square);
    const circle = (x, y, radius) => { pen.beginPath(); pen.arc(x, y, radius, 0, 7); pen.stroke(); };
    pen.strokeStyle = styles.ring; pen.lineWidth = ratio();
    for (let j = 0; j < run.k; j++) {
      const [px, py] = place(run.neighbours[state.selected * run.k + j], square);
      pen.beginPath(); pen.moveTo(sx, sy); pen.lineTo(px, py); pen.stroke();
      circle(px, py, size / 2 + 2 * ratio());
    }
    pen.lineWidth = 3 * ratio();
    circle(sx, sy, size / 2 + 4 * ratio());
  };
  const drawLasso = ({ left, top, side }) => {
    pen.beginPath();
    for (const [x, y] of lasso) pen.lineTo(left + x * side, top + (1 - y) * side);
    pen.closePath();
    pen.lineWidth = 1.5 * ratio(); pen.strokeStyle = styles.ink; pen.setLineDash([5 * ratio(), 4 * ratio()]);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 0.08; pen.fillStyle = styles.ink; pen.fill(); pen.globalAlpha = 1;
  };

  const under = (px, py) => {
    const square = frame(), [x, y] = unplace(px, py);
    const reach = Math.min(12, Math.ceil(REACH * ratio() / square.side * GRID));
    const gx = Math.floor(x * GRID), gy = Math.floor(y * GRID);
    let best = -1, nearest = REACH * ratio();
    for (let a = gx - reach; a <= gx + reach; a++) for (let b = gy - reach; b <= gy + reach; b++) {
      for (const i of (a >= 0 && b >= 0 && a < GRID && b < GRID && cells.get(a * GRID + b)) || []) {
        const [ix, iy] = place(i, square), away = Math.hypot(ix - px, iy - py);
        if (away < nearest) { nearest = away; best = i; }
      }
    }
    return best;
  };
  const enclosed = () => {  // even-odd rule
    const inside = new Uint8Array(count);
    const xs = lasso.map(([x]) => x * 65535), ys = lasso.map(([, y]) => y * 65535);
    const [low, high] = [Math.min(...xs), Math.max(...xs)], [bottom, top] = [Math.min(...ys), Math.max(...ys)];
    for (let i = 0; i < count; i++) {
      const x = run.x[i], y = run.y[i];
      if (x < low || x > high || y < bottom || y > top) continue;
      for (let a = 0, b = xs.length - 1; a < xs.length; b = a++) {
        if (ys[a] > y !== ys[b] > y && x < (xs[b] - xs[a]) * (y - ys[a]) / (ys[b] - ys[a]) + xs[a]) inside[i] ^= 1;
      }
    }
    return inside;
  };

  let from = null, moved = false;
  const hide = () => (tip.hidden = true);
  const hover = (event) => {
    const i = under(...pointer(event));
    if (i < 0) return hide();
    tip.replaceChildren(...actions.card(i, run));
    tip.hidden = false;
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const left = x + 14 + tip.offsetWidth > box.width ? x - tip.offsetWidth - 14 : x + 14;
    const above = y + 14 + tip.offsetHeight > box.height ? y - tip.offsetHeight - 10 : y + 14;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${Math.max(0, above)}px`;
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = { x: event.clientX, y: event.clientY, view: { ...state.view } };
    moved = false;
    if (state.lassoing || event.shiftKey) lasso = [unplace(...pointer(event))];
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return hover(event);
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > 4) moved = true;
    if (!moved) return;
    hide();
    if (lasso) lasso.push(unplace(...pointer(event)));
    else {
      const side = frame().side * canvas.clientWidth / canvas.width;
      state.view.x = from.view.x - (event.clientX - from.x) / side;
      state.view.y = from.view.y + (event.clientY - from.y) / side;
    }
    actions.draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (lasso && moved) actions.lassoed(enclosed());
    else if (!moved) { const i = under(...pointer(event)); if (i >= 0) actions.select(i); }
    from = lasso = null;
    actions.draw();
  });
  canvas.addEventListener("pointercancel", () => (from = lasso = null));
  canvas.addEventListener("pointerleave", hide);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    hide();
    actions.zoom(event.deltaY < 0 ? 1.25 : 0.8, ...unplace(...pointer(event)));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const { view } = state, step = 0.1 / view.scale;
    const keys = {
      "+": () => actions.zoom(1.25), "=": () => actions.zoom(1.25), "-": () => actions.zoom(0.8), "0": () => actions.zoom(0),
      ArrowLeft: () => (view.x -= step), ArrowRight: () => (view.x += step),
      ArrowUp: () => (view.y += step), ArrowDown: () => (view.y -= step),
      Escape: () => actions.clear(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
    actions.draw();
  });
  return { run, draw, recolour };
};
