// Lines of equal value on triangles.

/** Straight pieces x, y, x, y of the lines on which linear interpolation has one of the levels. */
export function contours(
  points: Float64Array,
  triangles: Uint32Array,
  values: Float64Array,
  levels: number[],
): Float64Array {
  const pieces: number[] = [];
  const sorted = [...levels].sort((a, b) => a - b);
  const cross = (i: number, j: number, level: number): void => {
    const t = (level - values[i]!) / (values[j]! - values[i]!);
    pieces.push(points[2 * i]! + t * (points[2 * j]! - points[2 * i]!));
    pieces.push(points[2 * i + 1]! + t * (points[2 * j + 1]! - points[2 * i + 1]!));
  };
  for (let t = 0; t < triangles.length; t += 3) {
    const [i, j, k] = [triangles[t]!, triangles[t + 1]!, triangles[t + 2]!];
    const [a, b, c] = [values[i]!, values[j]!, values[k]!];
    const low = Math.min(a, b, c);
    const high = Math.max(a, b, c);
    for (const level of sorted) {
      if (level > high) break;
      // A line goes in where one corner is below the level, and out where the next is not.
      if (!(level > low)) continue;
      if (a < level !== b < level) cross(i, j, level);
      if (b < level !== c < level) cross(j, k, level);
      if (c < level !== a < level) cross(k, i, level);
    }
  }
  return Float64Array.from(pieces);
}
