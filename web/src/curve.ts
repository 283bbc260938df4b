// A field along a line, as a curve with axes.

import type { Theme } from "./picture.js";
import { minus, ticks, type Scale } from "./ticks.js";

const FONT = "'DejaVu Sans', Verdana, Arial, sans-serif";
const BLUE = "#1f77b4";

/** Draws values at equal steps along a line of a length; not a number leaves a gap. */
export function drawCurve(
  canvas: HTMLCanvasElement,
  size: [number, number],
  values: Float64Array,
  length: number,
  label: string,
  log: boolean,
  theme: Theme,
  density: number,
): void {
  canvas.width = Math.round(size[0] * density);
  canvas.height = Math.round(size[1] * density);
  const context = canvas.getContext("2d")!;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, ...size);
  const shown = log ? values.map(Math.abs) : values;
  const scale = scaleOver(shown, log);
  const area = { left: 66, top: 26, width: size[0] - 82, height: size[1] - 70 };
  const bottom = area.top + area.height;
  const map = log ? Math.log10 : (v: number): number => v;
  const [a, b] = [map(scale.range[0]), map(scale.range[1])];
  const y = (v: number): number => bottom - (area.height * (map(v) - a)) / (b - a);

  context.strokeStyle = context.fillStyle = theme.ink;
  context.lineWidth = 0.8;
  context.strokeRect(area.left, area.top, area.width, area.height);
  context.font = `11px ${FONT}`;
  context.beginPath();
  context.textAlign = "center";
  for (const [value, text] of ticks({ range: [0, length], log: false }, Math.max(2, Math.floor(area.width / 75))).major) {
    const x = area.left + (area.width * value) / length;
    context.moveTo(x, bottom);
    context.lineTo(x, bottom + 4);
    context.fillText(text, x, bottom + 16);
  }
  context.textAlign = "end";
  const beside = ticks(scale, Math.max(2, Math.floor(area.height / 40)));
  for (const [value, text] of beside.major) {
    context.moveTo(area.left - 4, y(value));
    context.lineTo(area.left, y(value));
    context.fillText(text, area.left - 7, y(value) + 4);
  }
  context.stroke();
  context.font = `13px ${FONT}`;
  context.textAlign = "center";
  context.fillText("distance along the cut", area.left + 0.5 * area.width, bottom + 36);
  context.textAlign = "start";
  context.fillText(minus(label) + (beside.factor ? `  (${beside.factor})` : ""), area.left, area.top - 9);

  context.strokeStyle = BLUE;
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  context.beginPath();
  let begins = true;
  shown.forEach((v, k) => {
    if (!Number.isFinite(v) || (log && v <= 0)) begins = true;
    else {
      const x = area.left + (area.width * k) / (values.length - 1);
      if (begins) context.moveTo(x, y(v));
      else context.lineTo(x, y(v));
      begins = false;
    }
  });
  context.stroke();
}

/** A scale over values, with a little room at both ends. */
function scaleOver(values: Float64Array, log: boolean): Scale {
  const shown = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  const [min, max] = shown.length ? [Math.min(...shown), Math.max(...shown)] : [1, 1];
  if (log) {
    const [a, b] = [Math.log10(min), Math.log10(max)];
    const room = Math.max(0.15, 0.06 * (b - a));
    return { range: [10 ** (a - room), 10 ** (b + room)], log };
  }
  const size = Math.max(Math.abs(min), Math.abs(max));
  const room = max - min > 1e-8 * size ? 0.05 * (max - min) : size > 0 ? 0.1 * size : 1;
  return { range: [min - room, max + room], log };
}
