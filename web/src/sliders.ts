// Sliders for the numbers of `[parameters]`.

import { numbers, type Leaf } from "./numbers.js";

export interface Slider {
  name: string;
  leaf: Leaf;
  min: number;
  max: number;
  step: number;
}

const RANGE = /(-?[\d.]+(?:e[+-]?\d+)?)\s*(?:to|\.\.|–)\s*(-?[\d.]+(?:e[+-]?\d+)?)/i;

/** The sliders of a text. A comment such as `# 0.1 to 4` gives the range; else it is about twice the number. */
export function sliders(text: string): Slider[] {
  return numbers(text)
    .filter((leaf) => /^parameters\.[^.[]+$/.test(leaf.path))
    .map((leaf) => {
      const [min, max] = range(leaf);
      const step = 10 ** Math.floor(Math.log10((max - min) / 100));
      return { name: leaf.path.slice("parameters.".length), leaf, min, max, step };
    });
}

function range({ value, comment }: Leaf): [number, number] {
  const given = RANGE.exec(comment);
  const [a, b] = given ? [Number(given[1]), Number(given[2])] : [NaN, NaN];
  if (a < b) return [Math.min(a, value), Math.max(b, value)];
  if (value === 0) return [-1, 1];
  return value > 0 ? [0, 2 * value] : [2 * value, 0];
}
