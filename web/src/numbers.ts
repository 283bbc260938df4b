// The numbers of a problem file with their places, so that a slider or a handle can change one and leave the rest of the
// text, comments included, as it is. This is no TOML reader: what is wrong with a file is for the library to say.

export interface Leaf {
  /** For example `domain.polygon[0][1]` or `domain.hole[0].circle.radius`. */
  path: string;
  value: number;
  from: number;
  to: number;
  /** The comment at the end of its line, without `#`. */
  comment: string;
}

const NUMBER = /[+-]?(?:\d[\d_]*\.?[\d_]*)(?:[eE][+-]?\d+)?/y;
const KEY = /[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*'/y;

/** All plain numbers of a text, in order. */
export function numbers(text: string): Leaf[] {
  const found: Leaf[] = [];
  const counts = new Map<string, number>();
  let at = 0;
  let table = "";

  const skip = (newlines: boolean): void => {
    while (at < text.length) {
      const c = text[at]!;
      if (c === "#") while (at < text.length && text[at] !== "\n") at++;
      else if (c === " " || c === "\t" || c === "\r" || (newlines && c === "\n")) at++;
      else break;
    }
  };
  const nextLine = (): void => {
    while (at < text.length && text[at] !== "\n") at++;
    at++;
  };
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match?.[0];
  };
  /** `a.b."c"`. */
  const key = (): string | undefined => {
    const parts: string[] = [];
    do {
      skip(false);
      const part = take(KEY);
      if (part === undefined) return undefined;
      parts.push(part.replace(/^["']|["']$/g, ""));
      skip(false);
    } while (text[at] === "." && ++at);
    return parts.join(".");
  };
  const comment = (from: number): string => {
    const line = text.slice(from, text.indexOf("\n", from) < 0 ? undefined : text.indexOf("\n", from));
    return /#\s*(.*?)\s*$/.exec(line)?.[1] ?? "";
  };
  /** Reads a value; false where it is not understood. */
  const value = (path: string): boolean => {
    const c = text[at];
    if (c === "[") {
      at++;
      for (let k = 0; ; k++) {
        skip(true);
        if (text[at] === "]") return ++at > 0;
        if (!value(`${path}[${k}]`)) return false;
        skip(true);
        if (text[at] === ",") at++;
        else if (text[at] !== "]") return false;
      }
    }
    if (c === "{") {
      at++;
      for (;;) {
        skip(true);
        if (text[at] === "}") return ++at > 0;
        const name = key();
        if (name === undefined || text[at] !== "=") return false;
        at++;
        skip(false);
        if (!value(`${path}.${name}`)) return false;
        skip(true);
        if (text[at] === ",") at++;
        else if (text[at] !== "}") return false;
      }
    }
    if (c === '"' || c === "'") {
      const long = c.repeat(3);
      if (text.startsWith(long, at)) {
        const end = text.indexOf(long, at + 3);
        at = end < 0 ? text.length : end + 3;
        return true;
      }
      for (at++; at < text.length && text[at] !== c && text[at] !== "\n"; at++) if (c === '"' && text[at] === "\\") at++;
      at++;
      return true;
    }
    const from = at;
    const number = take(NUMBER);
    if (number === undefined) return take(/[A-Za-z]+/y) !== undefined;
    // Dates, and numbers in other bases, are left alone.
    if (/[\w:.-]/.test(text[at] ?? "")) return take(/[\w:.+-]+/y) !== undefined;
    found.push({ path, value: Number(number.replace(/_/g, "")), from, to: at, comment: comment(at) });
    return true;
  };

  while (at < text.length) {
    skip(true);
    if (at >= text.length) break;
    if (text[at] === "[") {
      const list = text[at + 1] === "[";
      at += list ? 2 : 1;
      const name = key() ?? "";
      // `[domain.hole.x]` after `[[domain.hole]]` belongs to the last of them: nobody needs that here.
      const count = counts.get(name) ?? 0;
      if (list) counts.set(name, count + 1);
      table = list ? `${name}[${count}]` : name;
      nextLine();
      continue;
    }
    const name = key();
    if (name !== undefined && text[at] === "=") {
      at++;
      skip(false);
      value(table ? `${table}.${name}` : name);
    }
    nextLine();
  }
  return found;
}

/** A text with other numbers at some places. */
export function replaced(text: string, changes: { leaf: Leaf; value: string }[]): string {
  const sorted = [...changes].sort((a, b) => b.leaf.from - a.leaf.from);
  return sorted.reduce((text, { leaf, value }) => text.slice(0, leaf.from) + value + text.slice(leaf.to), text);
}

/** A number for a text, with as many digits as a step asks for. */
export function rounded(value: number, step: number): string {
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  const text = value.toFixed(digits);
  // TOML tells 1 from 1.0; a coordinate may be either.
  return Number(text) === 0 ? (0).toFixed(digits) : text;
}
