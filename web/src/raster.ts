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
  const shade = Float64Array.from(values, (v) => last * Math.min(1, Math.max(0, position(scale, v))));
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
    const first = Math.max(0, Math.ceil(Math.min(yi, py[j]!, py[k]!) - SLACK));
    const end = Math.min(height - 1, Math.floor(Math.max(yi, py[j]!, py[k]!) + SLACK));
    const start = Math.max(0, Math.ceil(Math.min(xi, px[j]!, px[k]!) - SLACK));
    const stop = Math.min(width - 1, Math.floor(Math.max(xi, px[j]!, px[k]!) + SLACK));
    for (let y = first; y <= end; y++) {
      for (let x = start; x <= stop; x++) {
        const [dx, dy] = [x - xi, y - yi];
        const u = (dx * by - bx * dy) / area;
        const v = (ax * dy - dx * ay) / area;
        if (u >= -SLACK && v >= -SLACK && u + v <= 1 + SLACK) {
          const at = fi + u * fj + v * fk;
          if (at === at) pixels[y * width + x] = colours[(at + 0.5) | 0] ?? colours[last]!;
        }
      }
    }
  }
}
