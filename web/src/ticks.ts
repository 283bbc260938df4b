// Axes as in the program's own pictures: round numbers, powers of ten with raised exponents, a shared factor far from one.

export interface Ticks {
  major: [number, string][];
  factor: string | null;
}

export interface Scale {
  range: [number, number];
  log: boolean;
  /** Whether it is about zero, for values of both signs. */
  signs?: boolean;
}

/** A field changes its sign where the smaller of its two signs has this part of its range. */
const BOTH_SIGNS = 0.05;

/** Relative differences below this are rounding: a scale does not magnify them. */
const ROUNDING = 1e-8;

/** The scale of a field, from its smallest to its largest value; as far to both sides of zero where it changes its sign. */
export function scaleOfValues(values: ArrayLike<number>): Scale {
  let [min, max] = [Infinity, -Infinity];
  for (let k = 0; k < values.length; k++) {
    const v = values[k]!;
    if (v < min && v > -Infinity) min = v;
    if (v > max && v < Infinity) max = v;
  }
  const size = Math.max(Math.abs(min), Math.abs(max));
  if (Number.isFinite(size) && Math.min(-min, max) > BOTH_SIGNS * (max - min)) {
    return { range: [-size, size], log: false, signs: true };
  }
  if (max - min > ROUNDING * size) return { range: [min, max], log: false };
  const middle = Number.isFinite(size) ? 0.5 * (min + max) : 0;
  const room = Number.isFinite(size) && size > 0 ? 0.1 * size : 1;
  return { range: [middle - room, middle + room], log: false };
}

/** The scale of sizes of errors, logarithmic: whole decades, no more than six below the largest. */
export function scaleOfSizes(values: ArrayLike<number>): Scale {
  const sizes = Float64Array.from(values, Math.abs).filter((v) => v > 0 && v < Infinity);
  sizes.sort();
  const largest = sizes[sizes.length - 1] ?? 1;
  const smallest = sizes[Math.floor(sizes.length / 50)] ?? largest;
  const top = Math.ceil(Math.log10(largest));
  const bottom = Math.min(top - 1, Math.max(top - 6, Math.floor(Math.log10(smallest))));
  return { range: [10 ** bottom, 10 ** top], log: true };
}

/** Where a value lies on a scale: 0 at its start, 1 at its end. */
export function position({ range: [a, b], log }: Scale, value: number): number {
  return log ? Math.log(Math.max(Math.abs(value), a) / a) / Math.log(b / a) : (value - a) / (b - a);
}

/** About `count` ticks. */
export function ticks(scale: Scale, count: number): Ticks {
  if (scale.log) return decades(scale, count);
  let found = roundNumbers(scale, count);
  // An unlucky range has a round number or two in it: then take a finer step.
  for (let more = 1; more < 6 && found.major.length < 3; more++) found = roundNumbers(scale, count + more);
  return found;
}

function roundNumbers({ range: [a, b] }: Scale, count: number): Ticks {
  const least = (b - a) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= least * (1 - 1e-9)) ?? 10);
  const slack = 1e-9 * (b - a);
  const [first, last] = [Math.ceil((a - slack) / step), Math.floor((b + slack) / step)];
  if (!(step > 0) || !Number.isFinite(step) || last - first > 100) return { major: [], factor: null };
  const size = Math.max(Math.abs(a), Math.abs(b));
  const shared = size >= 1e-3 && size < 1e5 ? 0 : Math.floor(Math.log10(size));
  const unit = step / 10 ** shared;
  const decimals = Math.min(20, Math.max(0, -Math.floor(Math.log10(unit) + 1e-9)));
  const major: [number, string][] = [];
  for (let k = first; k <= last; k++) major.push([k * step, minus((k * unit + 0).toFixed(decimals))]);
  return { major, factor: shared ? `×${powerOfTen(shared)}` : null };
}

function decades({ range }: Scale, count: number): Ticks {
  const [first, last] = [Math.ceil(Math.log10(range[0]) - 1e-9), Math.floor(Math.log10(range[1]) + 1e-9)];
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
  const major: [number, string][] = [];
  for (let k = first; k <= last; k++) if (k % every === 0) major.push([10 ** k, powerOfTen(k)]);
  return { major, factor: null };
}

function powerOfTen(power: number): string {
  return `10${[...String(power)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("")}`;
}

/** A number with a minus sign instead of a hyphen. */
export function minus(number: string): string {
  return number.replace(/-/g, "−");
}

/** An error, in scientific notation with two digits: `6.8e-13`. */
export function short(value: number): string {
  return value.toExponential(1).replace("e+", "e");
}
