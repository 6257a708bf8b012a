"use strict";
// Colours of groups and of numbers; the styles of the page define them for both themes.
const GROUP_COLOURS = 12;
const OTHER = -1;

const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const natural = new Intl.Collator("en", { numeric: true }).compare;
const thousands = (value) => value.toLocaleString("en");

// A scheme has the entries of the legend and, for each node, the number of its entry or OTHER.
const groupScheme = (values, name) => {
  const sizes = new Map();
  for (const value of values) if (value >= 0) sizes.set(value, (sizes.get(value) || 0) + 1);
  const shown = [...sizes.keys()]
    .sort((a, b) => sizes.get(b) - sizes.get(a) || a - b)
    .slice(0, GROUP_COLOURS)
    .sort((a, b) => natural(name(a), name(b)));
  const place = new Map(shown.map((value, at) => [value, at]));
  const entries = shown.map((value, at) => ({ colour: `--s${at}`, name: name(value), size: sizes.get(value) }));
  const of = Int16Array.from(values, (value) => place.get(value) ?? OTHER);
  return withOther({ entries, of, named: true });
};

const rangeScheme = (values, limits, text) => {
  const of = Int16Array.from(values, (value) => {
    let at = OTHER;
    while (at + 1 < limits.length && value >= limits[at + 1]) at++;
    return at;
  });
  const sizes = new Array(limits.length).fill(0);
  for (const at of of) if (at !== OTHER) sizes[at]++;
  const entries = limits.map((_, at) => ({ ramp: at / (limits.length - 1), name: text(at), size: sizes[at] }));
  return withOther({ entries, of, named: false });
};

const withOther = (scheme) => {
  const rest = scheme.of.reduce((sum, at) => sum + (at === OTHER), 0);
  return { ...scheme, other: { colour: "--other", name: "other or unknown", size: rest } };
};

const COUNTS = [0, 1, 2, 4, 8, 16, 32, 64, 128];
const countScheme = (values) => {
  const text = (at) => at === COUNTS.length - 1 ? `${COUNTS[at]} or more`
    : COUNTS[at + 1] - COUNTS[at] === 1 ? `${COUNTS[at]}` : `${COUNTS[at]} to ${COUNTS[at + 1] - 1}`;
  return rangeScheme(values, COUNTS, text);
};

const PERCENTS = [0, 20, 40, 60, 80, 100];
const percentScheme = (values) => {
  const text = (at) => at === PERCENTS.length - 1 ? "100 %" : `${PERCENTS[at]} to below ${PERCENTS[at + 1]} %`;
  return rangeScheme(values, PERCENTS, text);
};

// Light to dark, and dark to light on a dark page: readable by lightness alone.
const entryColour = (entry) => {
  if (entry.ramp === undefined) return rgb(cssColour(entry.colour));
  const stops = ["--ramp-0", "--ramp-1", "--ramp-2"].map((name) => rgb(cssColour(name)));
  const at = entry.ramp * 2, low = Math.min(1, Math.floor(at));
  return stops[low].map((value, channel) => Math.round(value + (stops[low + 1][channel] - value) * (at - low)));
};
const entryCss = (entry) => entry.ramp === undefined ? `var(${entry.colour})` : `rgb(${entryColour(entry).join(" ")})`;
