// Handles: the points of a domain that can be dragged, and what a drag changes in the text.

import { numbers, replaced, rounded, type Leaf } from "./numbers.js";

export interface Handle {
  /** What it is, for a screen reader. */
  label: string;
  x: number;
  y: number;
  /** The text after a move, with coordinates rounded to a step. */
  moved(x: number, y: number, step: number): string;
}

/** The handles of a problem file: corners of rectangles, vertices of polygons, centres and radii of circles. */
export function handles(text: string): Handle[] {
  const leaves = new Map(numbers(text).map((leaf) => [leaf.path, leaf]));
  const edit = (changes: [Leaf, number][], step: number): string =>
    replaced(text, changes.map(([leaf, value]) => ({ leaf, value: rounded(value, step) })));

  const point = (label: string, x: Leaf, y: Leaf): Handle => ({
    label,
    x: x.value,
    y: y.value,
    moved: (px, py, step) => edit([[x, px], [y, py]], step),
  });

  const found: Handle[] = [];
  for (const owner of owners(leaves.keys())) {
    const get = (path: string): Leaf | undefined => leaves.get(`${owner}.${path}`);
    const name = owner.replace("domain.", "").replace("domain", "").replace(/\[(\d+)\]/, (_, k) => ` ${Number(k) + 1}`).trim();
    const of = name ? ` of ${name}` : "";

    const [x0, x1, y0, y1] = [get("x[0]"), get("x[1]"), get("y[0]"), get("y[1]")];
    if (x0 && x1 && y0 && y1) {
      const corners: [string, Leaf, Leaf][] = [
        ["lower left corner", x0, y0],
        ["lower right corner", x1, y0],
        ["upper right corner", x1, y1],
        ["upper left corner", x0, y1],
      ];
      for (const [label, x, y] of corners) found.push(point(label + of, x, y));
    }

    for (let k = 0; get(`polygon[${k}][0]`); k++) {
      const [x, y] = [get(`polygon[${k}][0]`), get(`polygon[${k}][1]`)];
      if (x && y) found.push(point(`vertex ${k + 1}${of}`, x, y));
    }

    for (const kind of ["circle", "ellipse"]) {
      const [x, y] = [get(`${kind}.center[0]`), get(`${kind}.center[1]`)];
      if (!x || !y) continue;
      found.push(point(`centre${of}`, x, y));
      const radius = get(`${kind}.radius`);
      if (radius) {
        found.push({
          label: `radius${of}`,
          x: x.value + radius.value,
          y: y.value,
          moved: (px, py, step) => edit([[radius, Math.max(step, Math.hypot(px - x.value, py - y.value))]], step),
        });
      }
    }
  }
  return found;
}

/** The tables that have a shape: the domain, its holes and regions. */
function owners(paths: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const owner = /^(domain(?:\.(?:hole|region)\[\d+\])?)\.(?:x|y|polygon|circle|ellipse)\b/.exec(path)?.[1];
    if (owner) found.add(owner);
  }
  return [...found];
}
