// A field as colours over the domain, with axes, contours, subdomains and a colour bar: the program's own picture.

import { paletteOf, type Palettes } from "./colours.js";
import { contours } from "./contour.js";
import type { Mesh } from "./messages.js";
import { raster, type View } from "./raster.js";
import { position, scaleOfSizes, scaleOfValues, ticks, type Scale } from "./ticks.js";

export interface Theme {
  ink: string;
  paper: string;
}

export interface Options {
  contours: boolean;
  borders: boolean;
  theme: Theme;
  /** Device pixels per CSS pixel. */
  density: number;
  /** A line across the field, if there is one. */
  cut: [number, number, number, number] | null;
}

export interface Shown {
  mesh: Mesh;
  field: string;
  values: Float64Array;
  title: string;
}

/** What is measured in decades. */
const SIZES = new Set(["residual", "error", "estimate"]);

export const LABELS: Record<string, string> = {
  u: "u",
  ux: "∂u/∂x",
  uy: "∂u/∂y",
  flux: "|flux|",
  residual: "|residual|",
  error: "|u − exact|",
  estimate: "estimated error",
};

const SMALL = 11;
const NORMAL = 13;
const TICK = 4;
const FONT = "'DejaVu Sans', Verdana, Arial, sans-serif";

export function isSize(field: string): boolean {
  return SIZES.has(field);
}

export function scaleOf(field: string, values: Float64Array): Scale {
  return isSize(field) ? scaleOfSizes(values) : scaleOfValues(values);
}

/** The smallest box around points: x0, x1, y0, y1. */
export function bounds(points: Float64Array): [number, number, number, number] {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k < points.length; k += 2) {
    x0 = Math.min(x0, points[k]!);
    x1 = Math.max(x1, points[k]!);
    y0 = Math.min(y0, points[k + 1]!);
    y1 = Math.max(y1, points[k + 1]!);
  }
  return [x0, x1, y0, y1];
}

/** Draws, and returns where the plane lies on the canvas, in CSS pixels. `frame` is a box to keep in view, if not the domain's. */
export function draw(
  canvas: HTMLCanvasElement,
  size: [number, number],
  shown: Shown,
  palettes: Palettes,
  options: Options,
  frame = bounds(shown.mesh.points),
): View {
  const context = canvas.getContext("2d")!;
  const { density } = options;
  const [pixelWidth, pixelHeight] = size.map((s) => Math.round(s * density)) as [number, number];
  if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
    canvas.width = pixelWidth;
    canvas.height = pixelHeight;
  }
  const scale = scaleOf(shown.field, shown.values);
  const colours = paletteOf(scale, palettes);
  const [x0, x1, y0, y1] = frame;
  const margin = { left: 58, right: 104, top: 40, bottom: 50 };
  const room = [size[0] - margin.left - margin.right, size[1] - margin.top - margin.bottom] as const;
  const unit = Math.min(room[0] / (x1 - x0), room[1] / (y1 - y0));
  const [width, height] = [unit * (x1 - x0), unit * (y1 - y0)];
  const left = margin.left + 0.5 * (room[0] - width);
  const top = margin.top + 0.5 * (room[1] - height);
  const view: View = { left, bottom: top + height, unit, x0, y0 };

  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = options.theme.paper;
  context.fillRect(0, 0, pixelWidth, pixelHeight);
  // The field is coloured pixel by pixel, in a picture of its own that leaves the rest transparent.
  const [imageLeft, imageTop] = [Math.floor(left * density), Math.floor(top * density)];
  const image = context.createImageData(
    Math.max(1, Math.ceil(width * density) + 1),
    Math.max(1, Math.ceil(height * density) + 1),
  );
  const inImage: View = {
    left: left * density - imageLeft,
    bottom: view.bottom * density - imageTop,
    unit: unit * density,
    x0,
    y0,
  };
  new Uint32Array(image.data.buffer).fill(pixel(options.theme.paper));
  raster(image, inImage, shown.mesh.points, shown.mesh.triangles, shown.values, scale, colours);
  context.putImageData(image, imageLeft, imageTop);

  context.setTransform(density, 0, 0, density, 0, 0);
  context.lineJoin = "round";
  const at = (x: number, y: number): [number, number] => [left + unit * (x - x0), view.bottom - unit * (y - y0)];
  if (options.borders) {
    // White is the middle of the colours for both signs.
    context.strokeStyle = scale.signs ? "rgba(60, 60, 60, 0.35)" : "rgba(255, 255, 255, 0.43)";
    context.lineWidth = 0.7;
    strokeLines(context, shown.mesh.borders, at);
  }
  if (options.contours) {
    const levels = ticks(scale, 12).major.map(([level]) => level);
    const heights = scale.log ? shown.values.map(Math.abs) : shown.values;
    const pieces = contours(shown.mesh.points, shown.mesh.triangles, heights, levels);
    context.strokeStyle = "#000";
    context.lineWidth = 0.8;
    context.beginPath();
    for (let k = 0; k + 3 < pieces.length; k += 4) {
      context.moveTo(...at(pieces[k]!, pieces[k + 1]!));
      context.lineTo(...at(pieces[k + 2]!, pieces[k + 3]!));
    }
    context.stroke();
  }
  context.strokeStyle = options.theme.ink;
  context.lineWidth = 1.2;
  strokeLines(context, shown.mesh.outline, at);
  if (options.cut) drawCut(context, options.cut, at);
  drawAxes(context, options.theme, { left, top, width, height }, frame);
  drawBar(context, options.theme, { left: left + width + 16, top, height }, scale, shown.field, colours);
  context.textAlign = "center";
  context.font = `${NORMAL}px ${FONT}`;
  context.fillText(shown.title, left + 0.5 * width, top - 14, size[0] - 8);
  return view;
}

function strokeLines(
  context: CanvasRenderingContext2D,
  lines: Float64Array,
  at: (x: number, y: number) => [number, number],
): void {
  // One path and one stroke: a line that is there twice is no darker.
  context.beginPath();
  let begins = true;
  for (let k = 0; k < lines.length; k += 2) {
    const x = lines[k]!;
    if (Number.isNaN(x)) begins = true;
    else {
      const place = at(x, lines[k + 1]!);
      if (begins) context.moveTo(...place);
      else context.lineTo(...place);
      begins = false;
    }
  }
  context.stroke();
}

function drawCut(
  context: CanvasRenderingContext2D,
  [ax, ay, bx, by]: [number, number, number, number],
  at: (x: number, y: number) => [number, number],
): void {
  for (const [colour, width] of [["#fff", 4], ["#d62728", 2]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(...at(ax, ay));
    context.lineTo(...at(bx, by));
    context.stroke();
  }
}

function drawAxes(
  context: CanvasRenderingContext2D,
  theme: Theme,
  area: { left: number; top: number; width: number; height: number },
  [x0, x1, y0, y1]: [number, number, number, number],
): void {
  const bottom = area.top + area.height;
  context.strokeStyle = context.fillStyle = theme.ink;
  context.lineWidth = 0.8;
  context.strokeRect(area.left, area.top, area.width, area.height);
  context.font = `${SMALL}px ${FONT}`;
  context.beginPath();
  context.textAlign = "center";
  const below = ticks({ range: [x0, x1], log: false }, Math.max(2, Math.floor(area.width / 75)));
  let free = -Infinity;
  for (const [value, label] of below.major) {
    const x = area.left + (area.width * (value - x0)) / (x1 - x0);
    context.moveTo(x, bottom);
    context.lineTo(x, bottom + TICK);
    const half = 0.5 * context.measureText(label).width;
    if (x - half > free) {
      context.fillText(label, x, bottom + TICK + SMALL + 1);
      free = x + half + 3;
    }
  }
  context.textAlign = "end";
  const beside = ticks({ range: [y0, y1], log: false }, Math.max(2, Math.floor(area.height / 55)));
  let widest = 0;
  for (const [value, label] of beside.major) {
    const y = bottom - (area.height * (value - y0)) / (y1 - y0);
    context.moveTo(area.left - TICK, y);
    context.lineTo(area.left, y);
    context.fillText(label, area.left - TICK - 3, y + 0.36 * SMALL);
    widest = Math.max(widest, context.measureText(label).width);
  }
  context.stroke();
  context.font = `${NORMAL}px ${FONT}`;
  const withFactor = (name: string, factor: string | null): string => (factor ? `${name}  (${factor})` : name);
  context.fillText(withFactor("y", beside.factor), area.left - TICK - 10 - widest, area.top + 0.5 * area.height + 4);
  context.textAlign = "center";
  context.fillText(withFactor("x", below.factor), area.left + 0.5 * area.width, bottom + TICK + 2 * SMALL + 10);
}

function drawBar(
  context: CanvasRenderingContext2D,
  theme: Theme,
  bar: { left: number; top: number; height: number },
  scale: Scale,
  field: string,
  colours: Uint32Array,
): void {
  const width = 14;
  // A flat domain gets a bar that is higher than itself, so that it has room for labels.
  const height = Math.max(bar.height, 120);
  const top = Math.max(28, bar.top + 0.5 * (bar.height - height));
  const gradient = context.createLinearGradient(0, top + height, 0, top);
  colours.forEach((c, k) => {
    gradient.addColorStop(k / (colours.length - 1), `rgb(${c & 255}, ${(c >> 8) & 255}, ${(c >> 16) & 255})`);
  });
  context.fillStyle = gradient;
  context.fillRect(bar.left, top, width, height);
  context.strokeStyle = context.fillStyle = theme.ink;
  context.lineWidth = 0.8;
  context.strokeRect(bar.left, top, width, height);
  const marks = ticks(scale, Math.max(2, Math.floor(height / 45)));
  context.font = `${SMALL}px ${FONT}`;
  context.textAlign = "start";
  context.beginPath();
  let widest = 0;
  for (const [value, label] of marks.major) {
    const y = top + height * (1 - position(scale, value));
    context.moveTo(bar.left + width, y);
    context.lineTo(bar.left + width + TICK, y);
    context.fillText(label, bar.left + width + TICK + 3, y + 0.36 * SMALL);
    widest = Math.max(widest, context.measureText(label).width);
  }
  context.stroke();
  if (marks.factor) context.fillText(marks.factor, bar.left, top - 6);
  const label = LABELS[field] ?? field;
  const x = bar.left + width + TICK + 10 + widest;
  context.font = `${NORMAL}px ${FONT}`;
  if (label.length === 1) {
    context.fillText(label, x + 2, top + 0.5 * height + 4);
  } else {
    context.save();
    context.translate(x + NORMAL, top + 0.5 * height);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(label, 0, 0);
    context.restore();
  }
}

/** A colour `#rrggbb` as a pixel. */
function pixel(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return ((255 << 24) | (b! << 16) | (g! << 8) | r!) >>> 0;
}
