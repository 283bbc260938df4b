// Triangles with values as pixels.

import { position, type Scale } from "./ticks.js";

/** Where the plane lies on a picture: pixel = offset + unit * coordinate, y upwards. */
export interface View {
  left: number;
  bottom: number;
  unit: number;
  x0: number;
  y0: number;
}

/** How far a pixel's centre may lie outside a triangle, so that no cracks are left between two of them. */
const SLACK = 1e-6;

/** Colours pixels by the value at their centre, with linear interpolation on triangles. */
export function raster(
  image: ImageData,
  view: View,
  points: Float64Array,
  triangles: Uint32Array,
  values: Float64Array,
  scale: Scale,
  colours: Uint32Array,
): void {
  const { width, height } = image;
  const pixels = new Uint32Array(image.data.buffer);
  const last = colours.length - 1;
  // The fraction of the scale is what is interpolated: on a logarithmic scale that of the logarithm.
  const shade = new Float64Array(values.length);
  for (let k = 0; k < values.length; k++) shade[k] = last * Math.min(1, Math.max(0, position(scale, values[k]!)));
  const count = points.length / 2;
  const px = new Float64Array(count);
  const py = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    px[k] = view.left + view.unit * (points[2 * k]! - view.x0) - 0.5;
    py[k] = view.bottom - view.unit * (points[2 * k + 1]! - view.y0) - 0.5;
  }
  for (let t = 0; t < triangles.length; t += 3) {
    const [i, j, k] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    const [xi, yi] = [px[i]!, py[i]!];
    const [ax, ay, bx, by] = [px[j]! - xi, py[j]! - yi, px[k]! - xi, py[k]! - yi];
    const area = ax * by - bx * ay;
    if (area === 0) continue;
    const [fi, fj, fk] = [shade[i]!, shade[j]! - shade[i]!, shade[k]! - shade[i]!];
    if (fi + fj + fk !== fi + fj + fk) continue;
    const first = Math.max(0, Math.ceil(Math.min(yi, py[j]!, py[k]!) - SLACK));
    const end = Math.min(height - 1, Math.floor(Math.max(yi, py[j]!, py[k]!) + SLACK));
    const start = Math.max(0, Math.ceil(Math.min(xi, px[j]!, px[k]!) - SLACK));
    const stop = Math.min(width - 1, Math.floor(Math.max(xi, px[j]!, px[k]!) + SLACK));
    // The coordinates u, v and 1 - u - v in the triangle are linear along a row: each of them bounds the pixels inside.
    const [du, dv] = [by / area, -ay / area];
    const slope = du * fj + dv * fk;
    for (let y = first; y <= end; y++) {
      const dy = (y - yi) / area;
      const [u, v] = [-du * xi - bx * dy, -dv * xi + ax * dy];
      let [from, to] = [start, stop];
      for (let side = 0; side < 3; side++) {
        const at = SLACK + (side === 0 ? u : side === 1 ? v : 1 - u - v);
        const by = side === 0 ? du : side === 1 ? dv : -du - dv;
        if (by > 0) from = Math.max(from, Math.ceil(-at / by));
        else if (by < 0) to = Math.min(to, Math.floor(-at / by));
        else if (at < 0) to = -1;
      }
      let at = fi + u * fj + v * fk + from * slope + 0.5;
      for (let pixel = y * width + from; pixel <= y * width + to; pixel++, at += slope) {
        // The slack may lead a little beyond the scale.
        pixels[pixel] = colours[at < 0 ? 0 : at > last ? last : at | 0]!;
      }
    }
  }
}
