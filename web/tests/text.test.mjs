// What the page does with the text of a problem file, and with numbers: no browser needed.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { module } from "./modules.mjs";

const { numbers, replaced, rounded } = await module("numbers");
const { handles } = await module("handles");
const { sliders } = await module("sliders");
const { blueRed } = await module("colours");
const { position, scaleOfSizes, scaleOfValues, short, ticks } = await module("ticks");
const { contours } = await module("contour");
const { fragment, unpacked } = await module("link");

const SHAPES = `
preset = "fast"   # 1 is not a number here
[domain]
polygon = [
  [0, 0], [2.5, 0],   # a comment, [7, 7]
  [2, 1e0],
]
[[domain.hole]]
circle = { center = [0.5, 0.25], radius = 0.1 }
name = "hole [1, 2]"
[[domain.hole]]
polygon = [[1, 0.2], [1.2, 0.2], [1.1, 0.4]]
[domain.other]
x = 1979-05-27
[parameters]
k = 2             # 0.5 to 8
speed = -3
"quoted name" = 1_000
zero = 0
[equation]
source = "k*x + 3"
`;

test("numbers are found with their paths and places", () => {
  const found = Object.fromEntries(numbers(SHAPES).map((leaf) => [leaf.path, leaf]));
  assert.equal(found["domain.polygon[1][0]"].value, 2.5);
  assert.equal(found["domain.polygon[2][1]"].value, 1);
  assert.equal(found["domain.hole[0].circle.radius"].value, 0.1);
  assert.equal(found["domain.hole[1].polygon[2][1]"].value, 0.4);
  assert.equal(found["parameters.k"].comment, "0.5 to 8");
  assert.equal(found["parameters.quoted name"].value, 1000);
  assert.equal(found["domain.other.x"], undefined, "a date is no number");
  for (const { value, from, to } of Object.values(found)) {
    assert.equal(Number(SHAPES.slice(from, to).replace("_", "")), value);
  }
  for (const broken of ["[", "x = [1, ", 'x = "', "x = { a = ", "= 1", "[[a", "x = [1 2]\ny = 3"]) numbers(broken);
});

test("a change leaves the rest of the text alone", () => {
  const leaf = numbers(SHAPES).find(({ path }) => path === "domain.polygon[1][0]");
  assert.equal(replaced(SHAPES, [{ leaf, value: "2.75" }]), SHAPES.replace("2.5, 0", "2.75, 0"));
  assert.equal(rounded(0.123456, 0.01), "0.12");
  assert.equal(rounded(-0.0001, 0.01), "0.00");
  assert.equal(rounded(1234.5, 10), "1235");
});

test("vertices, centres and radii are handles", () => {
  const found = handles(SHAPES);
  assert.deepEqual(
    found.map(({ label }) => label),
    ["vertex 1", "vertex 2", "vertex 3", "centre of hole 1", "radius of hole 1", "vertex 1 of hole 2", "vertex 2 of hole 2", "vertex 3 of hole 2"],
  );
  assert.ok(found[3].moved(0.7, 0.3, 0.01).includes("center = [0.70, 0.30], radius = 0.1"));
  assert.ok(found[4].moved(0.5, 0.55, 0.01).includes("center = [0.5, 0.25], radius = 0.30"));
  const rectangle = "[domain]\nx = [0, 1]\ny = [2, 3]\n";
  const corners = handles(rectangle);
  assert.deepEqual(corners.map(({ x, y }) => [x, y]), [[0, 2], [1, 2], [1, 3], [0, 3]]);
  assert.equal(corners[2].moved(1.5, 3.5, 0.1), "[domain]\nx = [0, 1.5]\ny = [2, 3.5]\n");
});

test("parameters have sliders with ranges", () => {
  const found = sliders(SHAPES);
  assert.deepEqual(
    found.map(({ name, min, max }) => [name, min, max]),
    [["k", 0.5, 8], ["speed", -6, 0], ["quoted name", 0, 2000], ["zero", -1, 1]],
  );
});

test("every example can be dragged or slid", () => {
  const folder = join(dirname(fileURLToPath(import.meta.url)), "../examples");
  const files = readdirSync(folder).filter((file) => file.endsWith(".toml"));
  assert.ok(files.length >= 10);
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    assert.ok(handles(text).length + sliders(text).length > 0, file);
  }
});

test("ticks are those of the program's pictures", () => {
  const labels = (range, count, log = false) => ticks({ range, log }, count).major.map(([, label]) => label);
  assert.deepEqual(labels([0, 1], 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  assert.deepEqual(labels([-1, 2], 3), ["−1", "0", "1", "2"]);
  assert.deepEqual(labels([0.03, 0.97], 4), ["0.2", "0.4", "0.6", "0.8"]);
  assert.deepEqual(labels([0, 3e-7], 3), ["0", "1", "2", "3"]);
  assert.equal(ticks({ range: [0, 3e-7], log: false }, 3).factor, "×10⁻⁷");
  assert.deepEqual(labels([1e-11, 1e-8], 4, true), ["10⁻¹¹", "10⁻¹⁰", "10⁻⁹", "10⁻⁸"]);
  assert.equal(short(6.84e-13), "6.8e-13");
});

test("scales span their values", () => {
  assert.deepEqual(scaleOfValues([-0.1, NaN, 3]).range, [-0.1, 3]);
  assert.deepEqual(scaleOfValues([-1, NaN, 3]), { range: [-3, 3], log: false, signs: true });
  const flat = scaleOfValues([2, 2]).range;
  assert.ok(flat[0] < 2 && flat[1] > 2);
  const sizes = scaleOfSizes([-3e-9, 2e-10, 0, 5e-11]);
  assert.ok(Math.abs(Math.log10(sizes.range[0]) + 11) < 1e-9 && Math.abs(Math.log10(sizes.range[1]) + 8) < 1e-9);
  assert.equal(position(sizes, 0), 0);
  assert.equal(position(sizes, -1e-8), 1);
});

test("contours of a plane are straight, and meet at the sides of triangles", () => {
  const points = Float64Array.of(0, 0, 1, 0, 1, 1, 0, 1);
  const triangles = Uint32Array.of(0, 1, 2, 0, 2, 3);
  const pieces = contours(points, triangles, Float64Array.of(0, 1, 1, 0), [0.25, 2]);
  assert.deepEqual([...pieces], [0.25, 0, 0.25, 0.25, 0.25, 0.25, 0.25, 1]);
});

test("a link holds any text", async () => {
  const text = `# ∇·(k ∇u) = 0, "quotes" & more\n${"x = [0, 1]\n".repeat(500)}`;
  const hash = await fragment(text, "ux");
  assert.ok(hash.length < 500, "it is compressed");
  assert.deepEqual(await unpacked(hash), { text, field: "ux" });
  assert.equal(await unpacked("#elsewhere"), null);
  await assert.rejects(unpacked("#problem=AAAA"));
});

test("colours of both signs are those of the program", () => {
  const colours = blueRed(5);
  assert.deepEqual([...colours.slice(0, 3)], [5, 48, 97]);
  assert.deepEqual([...colours.slice(12)], [103, 0, 31]);
  const [r, g, b] = colours.slice(6, 9);
  assert.ok(Math.min(r, g, b) > 235 && Math.max(r, g, b) - Math.min(r, g, b) < 10, "white in the middle");
});
