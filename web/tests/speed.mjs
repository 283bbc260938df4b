// How fast the page is: `node tests/speed.mjs`, on a quiet machine, after `cargo build --release` and scripts/build-web.sh.
//
// A solve of 4 x 4 subdomains with 16 points in the browser against the same on one thread of the command line, both with a
// new reference basis; and the frames of a second in which a point of the default example is dragged.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { count, newPage, open } from "./browser.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const program = process.env.DDELM ?? join(here, "../../target/release/ddelm");
const example = join(here, "../../examples/poisson.toml");
const RUNS = 9;

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Milliseconds of a solve; each seed has a basis of its own. */
function native() {
  const run = (seed) => JSON.parse(execFileSync(program, ["solve", example, "--json", "--threads", "1", "--set", `network.seed=${seed}`]));
  return median(Array.from({ length: RUNS }, (_, seed) => 1e3 * run(seed).seconds.total));
}

const site = await open();
for (const module of ["relaxed", "simd"]) {
  const page = await newPage(site, {}, `?module=${module}`);
  const solve = async (seed) =>
    page.evaluate(
      async ([address, module, text, quick]) => {
        const library = (window.library ??= await import(`${address}${module}/ddelm.js`));
        await (window.ready ??= library.default({ module_or_path: `${address}${module}/ddelm_bg.wasm` }));
        const solved = library.solve(text, [], quick);
        const { total } = JSON.parse(solved.report()).seconds;
        solved.free();
        return 1e3 * total;
      },
      [site.address, module, `${readFileSync(example, "utf8")}\n[network]\nseed = ${seed}\n`, true],
    );
  await solve(100);
  const fresh = [];
  for (let seed = 0; seed < RUNS; seed++) fresh.push(await solve(seed));
  const kept = [];
  for (let k = 0; k < RUNS; k++) kept.push(await solve(RUNS - 1));
  const [ours, theirs] = [median(fresh), native()];
  console.log(
    `${module}: 4x4, 16 points ${ours.toFixed(1)} ms, native ${theirs.toFixed(1)} ms, ratio ${(ours / theirs).toFixed(1)}; ` +
      `with the basis kept ${median(kept).toFixed(1)} ms`,
  );

  const slider = page.getByRole("slider").first();
  for (const [what, moved, steps] of [
    ["a parameter", slider, [[0.3, 0], [0.7, 0]]],
    ["a corner", page.locator(".handle").first(), [[0, 0], [60, -40]]],
  ]) {
    const box = await moved.boundingBox();
    const [w, h] = moved === slider ? [box.width, box.height] : [1, 1];
    const [x, y] = moved === slider ? [box.x, box.y + box.height / 2] : [box.x + 12, box.y + 12];
    const at = (t) => [0, 1].map((c) => [x, y][c] + [w, h][c] * (steps[0][c] + t * (steps[1][c] - steps[0][c])));
    await page.mouse.move(...at(0));
    await page.mouse.down();
    await page.mouse.move(...at(0.1));
    await page.waitForTimeout(1000);
    const [from, start] = [await count(page), Date.now()];
    for (let k = 0; Date.now() - start < 3000; k++) await page.mouse.move(...at((k % 50) / 50));
    const frames = ((await count(page)) - from) / ((Date.now() - start) / 1000);
    await page.mouse.up();
    console.log(`${module}: a drag of ${what} of the default example runs at ${frames.toFixed(0)} solutions a second`);
    await page.waitForTimeout(1000);
  }
  await page.context().close();
}
await site.close();
