"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // Arrays come as base64 of little-endian numbers.
  const decode = (text, Kind) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Kind(bytes.buffer);
  };
  const nodes = data.nodes;
  const count = nodes.ids.length;
  const numbers = (text) => (text === null ? null : decode(text, Int32Array));
  const degree = numbers(nodes.degree);
  const component = numbers(nodes.component);
  const label = numbers(nodes.label);
  const runs = data.runs.map((run) => ({
    k: run.k,
    x: decode(run.x, Uint16Array),
    y: decode(run.y, Uint16Array),
    neighbours: decode(run.neighbours, Int32Array),
    cosines: decode(run.cosines, Int16Array),
    clusters: decode(run.clusters, Int32Array),
  }));

  // Theme: the system's, until the user chooses one.
  const theme = byId("theme");
  const dark = () =>
    (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    updateThemeButton();
    draw();
  });
  const updateThemeButton = () => (theme.textContent = dark() ? "Light theme" : "Dark theme");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { updateThemeButton(); draw(); });
  updateThemeButton();

  // Colours: the eight largest groups have one each, all others share a grey.
  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const COLOURS = 8;
  const groups = (of, name) => {
    const sizes = new Map();
    for (let i = 0; i < count; i++) if (of[i] >= 0) sizes.set(of[i], (sizes.get(of[i]) || 0) + 1);
    const largest = [...sizes.keys()].sort((a, b) => sizes.get(b) - sizes.get(a) || a - b).slice(0, COLOURS);
    const place = new Map(largest.map((key, i) => [key, i]));
    const entries = largest.map((key, i) => ({ colour: `--s${i}`, text: `${name(key)} (${sizes.get(key).toLocaleString("en")})` }));
    let rest = count;
    largest.forEach((key) => (rest -= sizes.get(key)));
    if (rest) entries.push({ colour: "--other", text: `other or unknown (${rest.toLocaleString("en")})` });
    return { entries, pick: (i) => (place.has(of[i]) ? place.get(of[i]) : COLOURS) };
  };
  const ranges = (of) => {
    const limits = [0, 1, 2, 4, 8, 16, 32, 64];
    const place = (value) => { let j = 0; while (j + 1 < limits.length && value >= limits[j + 1]) j++; return j; };
    const sizes = new Array(limits.length).fill(0);
    for (let i = 0; i < count; i++) sizes[place(of[i])]++;
    const text = (j) => (j === limits.length - 1 ? `${limits[j]} or more` : limits[j + 1] === limits[j] + 1 ? `${limits[j]}` : `${limits[j]} to ${limits[j + 1] - 1}`);
    const entries = limits.map((_, j) => ({ colour: `ramp-${j}`, text: `${text(j)} (${sizes[j].toLocaleString("en")})` })).filter((_, j) => sizes[j]);
    return { entries, pick: (i) => place(of[i]), ramp: true };
  };
  const ramp = (j) => {  // light to dark (dark to light on a dark page), readable by lightness alone
    const at = j / 7;
    const light = dark() ? 32 + 50 * at : 78 - 52 * at;
    return `hsl(${210 - 10 * at} ${55 + 20 * at}% ${light}%)`;
  };
  const schemes = {
    label: label && (() => groups(label, (key) => nodes.classes[key])),
    cluster: (run) => groups(run.clusters, (key) => `cluster ${key + 1}`),
    component: component && (() => groups(component, (key) => `component ${key + 1}`)),
    degree: degree && (() => ranges(degree)),
  };

  // Maps
  let selected = -1;
  const view = { scale: 1, x: 0.5, y: 0.5 };
  const maps = runs.map((run, r) => {
    const canvas = byId(`map-${r}`);
    const tip = byId(`tip-${r}`);
    const cells = new Map();  // a grid, to find the node under the pointer
    const GRID = 128;
    for (let i = 0; i < count; i++) {
      const key = ((run.x[i] * GRID) >> 16) * GRID + ((run.y[i] * GRID) >> 16);
      const cell = cells.get(key);
      if (cell) cell.push(i); else cells.set(key, [i]);
    }
    return { run, canvas, tip, cells, GRID, scheme: null };
  });
  const MARGIN = 0.04;
  const place = (canvas, x, y) => {
    const side = Math.min(canvas.width, canvas.height) * (1 - 2 * MARGIN) * view.scale;
    return [canvas.width / 2 + (x / 65535 - view.x) * side, canvas.height / 2 - (y / 65535 - view.y) * side];
  };
  const unplace = (canvas, px, py) => {
    const side = Math.min(canvas.width, canvas.height) * (1 - 2 * MARGIN) * view.scale;
    return [(px - canvas.width / 2) / side + view.x, view.y - (py - canvas.height / 2) / side];
  };
  const drawMap = (map) => {
    const { canvas, run } = map;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, width, height);
    const size = Math.max(1.5, Math.min(8, 110 / Math.sqrt(count) + 1.3)) * ratio * Math.min(2, Math.sqrt(view.scale));
    const scheme = map.scheme;
    const layers = Array.from({ length: COLOURS + 1 }, () => []);
    for (let i = 0; i < count; i++) layers[scheme.pick(i)].push(i);
    const order = scheme.ramp ? [0, 1, 2, 3, 4, 5, 6, 7, 8] : [8, 0, 1, 2, 3, 4, 5, 6, 7];
    pen.globalAlpha = count > 5000 ? 0.7 : 0.85;
    for (const layer of order) {
      pen.fillStyle = scheme.ramp ? ramp(Math.min(layer, 7)) : style(layer === COLOURS ? "--other" : `--s${layer}`);
      for (const i of layers[layer]) {
        const [px, py] = place(canvas, run.x[i], run.y[i]);
        if (px < -size || py < -size || px > width + size || py > height + size) continue;
        if (count > 3000) pen.fillRect(px - size / 2, py - size / 2, size, size);
        else { pen.beginPath(); pen.arc(px, py, size / 1.6, 0, 7); pen.fill(); }
      }
    }
    pen.globalAlpha = 1;
    if (selected >= 0) {
      pen.strokeStyle = style("--ring");
      const [sx, sy] = place(canvas, run.x[selected], run.y[selected]);
      pen.lineWidth = 1 * ratio;
      for (let j = 0; j < run.k; j++) {
        const other = run.neighbours[selected * run.k + j];
        const [px, py] = place(canvas, run.x[other], run.y[other]);
        pen.beginPath(); pen.moveTo(sx, sy); pen.lineTo(px, py); pen.stroke();
        pen.beginPath(); pen.arc(px, py, size + 2 * ratio, 0, 7); pen.stroke();
      }
      pen.lineWidth = 3 * ratio;
      pen.beginPath(); pen.arc(sx, sy, size + 5 * ratio, 0, 7); pen.stroke();
    }
  };
  let waiting = false;
  const draw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; maps.forEach(drawMap); });
  };

  const under = (map, event) => {
    const box = map.canvas.getBoundingClientRect();
    const ratio = map.canvas.width / box.width;
    const px = (event.clientX - box.left) * ratio, py = (event.clientY - box.top) * ratio;
    const [x, y] = unplace(map.canvas, px, py);
    const gx = Math.floor(x * map.GRID), gy = Math.floor(y * map.GRID);
    let best = -1, nearest = 14 * ratio;
    for (let a = gx - 2; a <= gx + 2; a++) for (let b = gy - 2; b <= gy + 2; b++) {
      for (const i of map.cells.get(a * map.GRID + b) || []) {
        const [ix, iy] = place(map.canvas, map.run.x[i], map.run.y[i]);
        const away = Math.hypot(ix - px, iy - py);
        if (away < nearest) { nearest = away; best = i; }
      }
    }
    return best;
  };
  const describe = (i) => {
    const parts = [nodes.ids[i]];
    if (label) parts.push(label[i] >= 0 ? `label ${nodes.classes[label[i]]}` : "no label");
    if (degree) parts.push(`${degree[i]} neighbour${degree[i] === 1 ? "" : "s"} in the graph`);
    return parts.join(" · ");
  };
  const zoom = (factor, x, y) => {
    const scale = Math.min(200, Math.max(1, view.scale * factor));
    if (x !== undefined) { view.x = x + (view.x - x) * view.scale / scale; view.y = y + (view.y - y) * view.scale / scale; }
    view.scale = scale;
    if (scale === 1) { view.x = 0.5; view.y = 0.5; }
    draw();
  };
  maps.forEach((map) => {
    const { canvas, tip } = map;
    let from = null, moved = false;
    const hide = () => (tip.hidden = true);
    canvas.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY, view.x, view.y]; moved = false; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      if (from) {
        const ratio = canvas.width / canvas.clientWidth;
        const side = Math.min(canvas.width, canvas.height) * (1 - 2 * MARGIN) * view.scale;
        if (Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 4) moved = true;
        if (moved) { view.x = from[2] - (event.clientX - from[0]) * ratio / side; view.y = from[3] + (event.clientY - from[1]) * ratio / side; hide(); draw(); }
        return;
      }
      const i = under(map, event);
      if (i < 0) return hide();
      tip.textContent = describe(i);
      tip.hidden = false;
      const box = canvas.getBoundingClientRect();
      tip.style.left = `${Math.min(event.clientX - box.left + 12, box.width - 160)}px`;
      tip.style.top = `${event.clientY - box.top + 14}px`;
    });
    canvas.addEventListener("pointerup", (event) => { if (!moved) { const i = under(map, event); if (i >= 0) select(i); } from = null; });
    canvas.addEventListener("pointercancel", () => (from = null));
    canvas.addEventListener("pointerleave", hide);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
      const [x, y] = unplace(canvas, (event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio);
      zoom(event.deltaY < 0 ? 1.25 : 0.8, x, y);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const step = 0.1 / view.scale;
      const keys = {
        "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": () => zoom(1e-9),
        ArrowLeft: () => (view.x -= step), ArrowRight: () => (view.x += step), ArrowUp: () => (view.y += step), ArrowDown: () => (view.y -= step),
        Escape: () => select(-1),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
      draw();
    });
  });
  new ResizeObserver(draw).observe(byId("maps"));

  // Colouring
  const colouring = byId("colour");
  const legend = byId("map-legend");
  const recolour = () => {
    maps.forEach((map) => (map.scheme = schemes[colouring.value](map.run)));
    const entries = maps[0].scheme.entries;
    legend.replaceChildren(...entries.map((entry) => {
      const item = document.createElement("li");
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = entry.colour.startsWith("ramp-") ? ramp(+entry.colour.slice(5)) : `var(${entry.colour})`;
      item.append(swatch, entry.text);
      return item;
    }));
    byId("cluster-note").hidden = !(colouring.value === "cluster" && runs.length > 1);
    draw();
  };
  for (const [name, scheme] of Object.entries(schemes)) {
    if (!scheme) continue;
    const option = document.createElement("option");
    option.value = option.textContent = name;
    colouring.append(option);
  }
  colouring.addEventListener("change", recolour);

  // Selection and neighbours
  const select = (i) => {
    selected = i;
    byId("selected").textContent = i < 0 ? "No node is selected: click on one, or search." : describe(i);
    runs.forEach((run, r) => {
      const list = byId(`neighbours-${r}`);
      list.replaceChildren();
      if (i < 0) return;
      for (let j = 0; j < run.k; j++) {
        const other = run.neighbours[i * run.k + j];
        const item = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = `${describe(other)} · cosine ${(run.cosines[i * run.k + j] / 32767).toFixed(3)}`;
        button.addEventListener("click", () => select(other));
        item.append(button);
        list.append(item);
      }
    });
    draw();
  };

  // Search
  const search = byId("search");
  const results = byId("results");
  const status = byId("search-status");
  const MAX_RESULTS = 8;
  const lower = nodes.ids.map((id) => id.toLowerCase());
  const find = () => {
    const text = search.value.trim().toLowerCase();
    results.replaceChildren();
    if (!text) { status.textContent = ""; return []; }
    const exact = [], starts = [], inside = [];
    for (let i = 0; i < count && exact.length + starts.length < 200; i++) {
      const at = lower[i].indexOf(text);
      if (at < 0) continue;
      (lower[i] === text ? exact : at === 0 ? starts : inside).push(i);
    }
    const all = [...exact, ...starts, ...inside].slice(0, MAX_RESULTS);
    status.textContent = all.length ? "" : "No id contains this text.";
    results.replaceChildren(...all.map((i) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = describe(i);
      button.addEventListener("click", () => { select(i); results.replaceChildren(); search.value = nodes.ids[i]; });
      item.append(button);
      return item;
    }));
    return all;
  };
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); const all = find(); if (all.length) { select(all[0]); results.replaceChildren(); } }
    if (event.key === "ArrowDown") { const first = results.querySelector("button"); if (first) { event.preventDefault(); first.focus(); } }
    if (event.key === "Escape") { search.value = ""; results.replaceChildren(); status.textContent = ""; }
  });
  byId("zoom-in").addEventListener("click", () => zoom(1.5));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  byId("zoom-reset").addEventListener("click", () => zoom(1e-9));

  recolour();
  select(-1);
  root.dataset.ready = "yes";
})();
