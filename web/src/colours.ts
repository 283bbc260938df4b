// The colours of the program's pictures: values, sizes of errors, and values of both signs.

import type { Scale } from "./ticks.js";

export interface Palettes {
  values: Uint32Array;
  sizes: Uint32Array;
  signs: Uint32Array;
}

/** ColorBrewer's RdBu from blue to red; between these colours runs a uniform cubic B-spline, as in the program. */
const BLUE_RED = [
  [5, 48, 97], [33, 102, 172], [67, 147, 195], [146, 197, 222], [209, 229, 240], [247, 247, 247],
  [253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43], [103, 0, 31],
];

/** The palettes, from the module's colours for values and sizes: red, green, blue, red, ... */
export function palettes(values: Uint8Array, sizes: Uint8Array): Palettes {
  return { values: pixels(values), sizes: pixels(sizes), signs: pixels(blueRed(values.length / 3)) };
}

/** The palette of a scale. */
export function paletteOf(scale: Scale, palettes: Palettes): Uint32Array {
  return scale.log ? palettes.sizes : scale.signs ? palettes.signs : palettes.values;
}

function pixels(bytes: Uint8Array): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 3 }, (_, k) => {
    const [r, g, b] = bytes.subarray(3 * k, 3 * k + 3);
    return ((255 << 24) | (b! << 16) | (g! << 8) | r!) >>> 0;
  });
}

/** So many colours from blue to red. */
export function blueRed(count: number): Uint8Array {
  const pieces = BLUE_RED.length - 1;
  return Uint8Array.from({ length: 3 * count }, (_, k) => {
    const at = (pieces * Math.floor(k / 3)) / (count - 1);
    const i = Math.min(pieces - 1, Math.floor(at));
    const t = at - i;
    // Beyond the ends the colours go on along a straight line.
    const knot = (j: number): number =>
      j < 0 ? 2 * knot(0) - knot(1) : j > pieces ? 2 * knot(pieces) - knot(pieces - 1) : BLUE_RED[j]![k % 3]!;
    const sum =
      (1 - t) ** 3 * knot(i - 1) +
      (3 * t ** 3 - 6 * t ** 2 + 4) * knot(i) +
      (-3 * t ** 3 + 3 * t ** 2 + 3 * t + 1) * knot(i + 1) +
      t ** 3 * knot(i + 2);
    return Math.min(255, Math.max(0, Math.round(sum / 6)));
  });
}
