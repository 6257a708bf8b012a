"use strict";
// The page: data, theme, colouring, selection, search, lasso and export. The maps are in map.js.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const element = (tag, className, ...children) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  };

  // Arrays come as base64 of little-endian numbers.
  const decode = (text, Kind) => new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const numbers = (text) => (text === null ? null : decode(text, Int32Array));
  const { ids, names, classes, columns } = data.nodes;
  const [degree, component, label] = ["degree", "component", "label"].map((name) => numbers(data.nodes[name]));
  const runs = data.runs.map((run) => ({
    ...run,
    x: decode(run.x, Uint16Array),
    y: decode(run.y, Uint16Array),
    neighbours: decode(run.neighbours, Int32Array),
    cosines: decode(run.cosines, Int16Array),
    linked: run.linked && decode(run.linked, Uint16Array),
    clusters: decode(run.clusters, Int32Array),
  }));

  const state = { view: { scale: 1, x: 0.5, y: 0.5 }, selected: -1, lassoed: null, group: null, lassoing: false };

  // Theme: the system's, until the user chooses one.
  const theme = byId("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const updateTheme = () => { theme.textContent = dark() ? "Light theme" : "Dark theme"; recolour(); };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; updateTheme(); });
  system.addEventListener("change", () => updateTheme());

  // Words about a node
  const nameOf = (i) => (names ? names[i] : ids[i]);
  const labelOf = (i) => (label[i] >= 0 ? `label ${classes[label[i]]}` : "no label");
  const facts = (i) => {
    const parts = [];
    if (names) parts.push(ids[i]);
    if (label) parts.push(labelOf(i));
    if (degree) parts.push(`${thousands(degree[i])} neighbour${degree[i] === 1 ? "" : "s"} in the graph`);
    return parts;
  };
  const describe = (i) => [nameOf(i), ...facts(i)].join(" · ");
  const nearest = (run, i) => Array.from({ length: run.k }, (_, j) => {
    const at = i * run.k + j;
    return { node: run.neighbours[at], cosine: run.cosines[at] / 32767, linked: Boolean(run.linked && run.linked[i] >> j & 1) };
  });
  const figure = (value) => value.toFixed(3).replace("-", "−");
  const swatch = (colour) => { const made = element("span", "swatch"); made.style.background = colour; return made; };
  const card = (i, run) => [
    element("strong", "", nameOf(i)),
    element("div", "", facts(i).join(" · ")),
    element("div", "near", "Nearest: ", nearest(run, i).slice(0, 5).map((other) => nameOf(other.node)).join(", ")),
  ];

  // Maps
  let waiting = false;
  const draw = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; maps.forEach((map) => map.draw()); });
  };
  const zoom = (factor, x, y) => {
    const { view } = state, scale = Math.min(200, Math.max(1, view.scale * factor));
    if (x !== undefined) {
      view.x = x + (view.x - x) * view.scale / scale;
      view.y = y + (view.y - y) * view.scale / scale;
    }
    view.scale = scale;
    if (scale === 1) view.x = view.y = 0.5;
    draw();
  };
  const select = (i) => {
    state.selected = i;
    const shown = byId("selected");
    if (i < 0) shown.textContent = "No node is selected: click on one, or search.";
    else shown.replaceChildren(element("strong", "", nameOf(i)), ` · ${facts(i).join(" · ")}`);
    byId("lists").hidden = i < 0;
    runs.forEach((run, r) => byId(`neighbours-${r}`).replaceChildren(...(i < 0 ? [] : nearest(run, i).map(nearItem))));
    draw();
  };
  const nearItem = ({ node, cosine, linked }) => {
    const facts = [label && labelOf(node), linked && "linked in the graph"].filter(Boolean).join(" · ");
    const similarity = element("span", "cosine", `cosine ${figure(cosine)}`);
    const button = element("button", "", element("span", "who", nameOf(node)), similarity, element("span", "facts", facts));
    const at = scheme().of[node];
    button.prepend(swatch(at === OTHER ? "var(--other)" : entryCss(scheme().entries[at])));
    button.type = "button";
    button.addEventListener("click", () => select(node));
    return element("li", "", button);
  };
  const lassoed = (inside) => { state.lassoed = inside; showLassoed(); recolour(); };
  const clear = () => { state.group = null; lassoed(null); select(-1); };
  const actions = { draw, zoom, select, card, lassoed, clear };
  const maps = runs.map((run, r) => makeMap(run, byId(`map-${r}`), byId(`tip-${r}`), state, actions));
  const startPainter = (kind) => { root.dataset.painter = kind.kind; return kind; };
  let painter = startPainter(makePainter(() => { painter = startPainter(pixelPainter()); recolour(); }));
  new ResizeObserver(draw).observe(byId("maps"));

  // Colouring
  const colouring = byId("colour");
  const schemes = {};
  if (label) schemes.label = () => groupScheme(label, (key) => (/^\d+$/.test(classes[key]) ? `label ${classes[key]}` : classes[key]));
  schemes.cluster = (run) => groupScheme(run.clusters, (key) => `cluster ${key + 1}`);
  if (component) schemes.component = () => groupScheme(component, (key) => `component ${key + 1}`);
  if (degree) schemes.degree = () => countScheme(degree);
  for (const { name, groups, values } of columns || []) {
    const decoded = numbers(values);
    schemes[name] = () => (groups ? groupScheme(decoded, (key) => groups[key]) : percentScheme(decoded));
  }
  const known = new Map();  // schemes that were computed
  const scheme = (run = runs[0]) => {
    const name = colouring.value, of = name === "cluster" ? run : runs[0];
    const key = `${name} ${runs.indexOf(of)}`;
    if (!known.has(key)) known.set(key, schemes[name](of));
    return known.get(key);
  };
  const recolour = () => {
    maps.forEach((map) => map.recolour(painter, scheme(map.run)));
    draw();
  };
  const showLegend = () => {
    const { entries, other } = scheme();
    const item = (entry, at) => {
      const button = element("button", "", swatch(entryCss(entry)), `${entry.name} (${thousands(entry.size)})`);
      button.type = "button";
      button.setAttribute("aria-pressed", String(state.group === at));
      button.addEventListener("click", () => { state.group = state.group === at ? null : at; showLegend(); recolour(); });
      return element("li", "", button);
    };
    const items = entries.map(item).filter((_, at) => entries[at].size);
    if (other.size) items.push(item(other, OTHER));
    byId("map-legend").replaceChildren(...items);
    byId("cluster-note").hidden = !(colouring.value === "cluster" && runs.length > 1);
  };
  for (const name of Object.keys(schemes)) colouring.append(new Option(name, name));
  colouring.addEventListener("change", () => { state.group = null; showLegend(); recolour(); showLassoed(); select(state.selected); });

  // Lasso: its nodes, what they are, and their ids as text
  const lasso = byId("lasso");
  lasso.addEventListener("click", () => {
    state.lassoing = !state.lassoing;
    lasso.setAttribute("aria-pressed", String(state.lassoing));
    byId("maps").classList.toggle("lassoing", state.lassoing);
  });
  const chosenIds = () => ids.filter((_, i) => state.lassoed[i]);
  const showLassoed = () => {
    byId("lassoed").hidden = !state.lassoed;
    if (!state.lassoed) return;
    const { entries, of, other, named } = scheme(), sizes = new Map();
    let total = 0;
    for (let i = 0; i < of.length; i++) if (state.lassoed[i]) { total++; sizes.set(of[i], (sizes.get(of[i]) || 0) + 1); }
    byId("lasso-count").textContent = `${thousands(total)} node${total === 1 ? "" : "s"} in the lasso`;
    const largest = [...sizes.keys()].sort((a, b) => sizes.get(b) - sizes.get(a)).slice(0, 4);
    byId("lasso-groups").replaceChildren(...largest.map((at) => {
      const entry = at === OTHER ? other : entries[at];
      const share = Math.round(100 * sizes.get(at) / total);
      return element("li", "", swatch(entryCss(entry)), `${named || at === OTHER ? "" : `${colouring.value} `}${entry.name}: ${thousands(sizes.get(at))} (${share} %)`);
    }));
  };
  byId("lasso-copy").addEventListener("click", async () => {
    const text = chosenIds().join("\n");
    try { await navigator.clipboard.writeText(text); byId("lasso-copy").textContent = "Copied"; }
    catch { save(text); }
    setTimeout(() => (byId("lasso-copy").textContent = "Copy ids"), 1500);
  });
  const save = (text) => {
    const link = document.createElement("a"), address = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/plain" }));
    link.setAttribute("href", address);
    link.download = "ids.txt";
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  byId("lasso-save").addEventListener("click", () => save(chosenIds().join("\n")));
  byId("lasso-clear").addEventListener("click", () => lassoed(null));

  // Search
  const search = byId("search"), results = byId("results"), status = byId("search-status");
  const MAX_RESULTS = 8;
  const lower = ids.map((id, i) => (names ? `${names[i]}\n${id}` : id).toLowerCase());
  const find = () => {
    const text = search.value.trim().toLowerCase();
    results.replaceChildren();
    status.textContent = "";
    if (!text) return [];
    const exact = [], starts = [], inside = [];
    for (let i = 0; i < ids.length && exact.length + starts.length < 200; i++) {
      const at = lower[i].indexOf(text);
      if (at < 0) continue;
      (lower[i].split("\n").includes(text) ? exact : at === 0 ? starts : inside).push(i);
    }
    const all = [...exact, ...starts, ...inside].slice(0, MAX_RESULTS);
    status.textContent = all.length ? "" : names ? "No name or id contains this text." : "No id contains this text.";
    results.replaceChildren(...all.map((i) => {
      const button = element("button", "", describe(i));
      button.type = "button";
      button.addEventListener("click", () => choose(i));
      return element("li", "", button);
    }));
    return all;
  };
  const choose = (i) => { select(i); results.replaceChildren(); search.value = nameOf(i); };
  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); const all = find(); if (all.length) { select(all[0]); results.replaceChildren(); } }
    if (event.key === "ArrowDown") { const first = results.querySelector("button"); if (first) { event.preventDefault(); first.focus(); } }
    if (event.key === "Escape") { search.value = ""; results.replaceChildren(); status.textContent = ""; }
  });
  byId("zoom-in").addEventListener("click", () => zoom(1.5));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  byId("zoom-reset").addEventListener("click", () => zoom(0));

  // A table or chart that is wider than its box says so.
  const hint = (box) => box.classList.toggle("cut", box.scrollWidth > box.clientWidth + 1 && box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  const boxes = [...document.querySelectorAll(".scroll")];
  boxes.forEach((box) => box.addEventListener("scroll", () => hint(box)));
  new ResizeObserver(() => boxes.forEach(hint)).observe(document.body);

  updateTheme();
  showLegend();
  select(-1);
  root.dataset.ready = "yes";
})();
