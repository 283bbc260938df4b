// The page in a real browser, against the command line (the environment's DDELM is its program).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { count, newPage, open, solved, type, value } from "./browser.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const program = process.env.DDELM ?? join(here, "../../target/debug/ddelm");
const folder = mkdtempSync(join(tmpdir(), "ddelm-web-"));
const examples = readdirSync(join(here, "../examples")).filter((file) => file.endsWith(".toml")).sort();
const pictures = process.env.PICTURES;

let site;
before(async () => {
  site = await open();
});
after(async () => {
  await site.close();
  rmSync(folder, { recursive: true });
});

/** Clicks, and returns the bytes of the file that comes. */
async function download(page, id) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(id)]);
  return readFileSync(await file.path());
}

/** Points beside interface nodes of a saved solution, which holds them after its header. */
function pointsOf(bytes) {
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString("utf8", 8, 8 + length));
  const { shape, data_offsets } = header.interface_points;
  const at = (k) => [0, 1].map((c) => bytes.readDoubleLE(8 + length + data_offsets[0] + 8 * (2 * k + c)));
  return [0.13, 0.29, 0.47, 0.61, 0.83].map((t, k) => {
    const [a, b] = [at(Math.floor(t * shape[0])), at(Math.floor(((t + 0.37 + 0.1 * k) % 1) * shape[0]))];
    return [0, 1].map((c) => 0.96 * a[c] + 0.04 * b[c]);
  });
}

/** The file of the solution that the page shows first: of several, the first eigenfunction or the last moment. */
function shownFirst(out) {
  const number = (file) => Number(/\d+/.exec(file)?.[0] ?? 0);
  const files = readdirSync(out).filter((file) => file.endsWith(".safetensors")).sort((a, b) => number(a) - number(b));
  return join(out, existsSync(join(out, "solution.pvd")) ? files.at(-1) : files[0]);
}

test("each example solves to the figures of the command line", async (t) => {
  assert.ok(examples.length >= 10);
  const page = await newPage(site);
  for (const file of examples) {
    await t.test(file, async () => {
      const path = join(here, "../examples", file);
      const seen = await count(page);
      if ((await page.inputValue("#example")) !== file.replace(".toml", "")) {
        await page.selectOption("#example", file.replace(".toml", ""));
        await solved(page, seen + 1);
      }
      const saved = await download(page, "#save-solution");
      const points = pointsOf(saved);
      const out = join(folder, file);
      const report = JSON.parse(execFileSync(program, ["solve", path, "--json", "--out", out]));
      const table = join(folder, "points.csv");
      writeFileSync(table, `x,y\n${points.map((p) => p.join()).join("\n")}\n`);
      const rows = execFileSync(program, ["eval", shownFirst(out), table, "--outside", "nan"]).toString().trim().split("\n");
      const column = rows[0].split(",").indexOf("u");
      const native = rows.slice(1).map((row) => Number(row.split(",")[column]));
      const largest = Math.max(...native.filter(Number.isFinite).map(Math.abs));
      assert.ok(native.filter(Number.isFinite).length >= 3, "some of the points lie in the domain");
      for (const [k, [x, y]] of points.entries()) {
        const found = await value(page, x, y);
        const same = Number.isNaN(native[k]) ? Number.isNaN(found) : Math.abs(found - native[k]) <= 1e-10 * largest;
        assert.ok(same, `u(${x}, ${y}) = ${found} in the browser, ${native[k]} in the terminal`);
      }
      const figures = await page.textContent("#figures");
      assert.match(figures, new RegExp(`^${report.subdomains} subdomains · ${report.interface.unknowns} unknowns · `));
      if (pictures) await page.screenshot({ path: join(pictures, `${file}.png`) });
    });
  }
  assert.deepEqual(page.complaints, []);
});

const SMALL = `# small
[domain]
x = [0.0, 1.0]
y = [0.0, 1.0]
[equation]
source = "1 + x"
[boundary]
dirichlet = "0"
[discretization]
subdomains = [2, 2]
points = 10
`;

test("a mistake is shown at its line, and goes away", async () => {
  const page = await newPage(site);
  await page.fill("#text", SMALL.replace("1 + x", "1 + sinn(x)"));
  await page.waitForSelector("#message:not([hidden])");
  const message = await page.textContent("#message");
  assert.match(message, /^error: equation\.source: .*sinn/);
  assert.match(message, /--> line 6\n6 \| source = "1 \+ sinn\(x\)"\n\s+\| {15}\^+\nhint: /);
  assert.equal(await page.textContent(".backdrop mark"), "sinn");
  assert.equal(await page.getAttribute("#text", "aria-invalid"), "true");
  if (pictures) await page.screenshot({ path: join(pictures, "mistake.png") });
  await type(page, SMALL);
  assert.ok(await page.isHidden("#message"));
  assert.deepEqual(page.complaints, []);
});

/** The colours of the picture, as one number per pixel of a coarse grid. */
function colours(page) {
  return page.evaluate(() => {
    const canvas = document.getElementById("picture");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return Array.from({ length: 400 }, (_, k) => data.slice(4 * Math.floor((k * data.length) / 1600)).slice(0, 3).join());
  });
}

test("a drag changes the text and the picture, and ends with a full solve", async () => {
  const page = await newPage(site);
  await type(page, SMALL);
  const [start, picture] = [await count(page), await colours(page)];
  const corner = page.getByRole("button", { name: /^upper right corner: 1, 1/ });
  const box = await corner.boundingBox();
  await page.mouse.move(box.x + 12, box.y + 12);
  await page.mouse.down();
  for (let k = 1; k <= 10; k++) {
    await page.mouse.move(box.x + 12 - 10 * k, box.y + 12 + 5 * k);
    await page.waitForTimeout(30);
  }
  await page.waitForFunction((start) => Number(document.body.dataset.drawn) > start, start);
  await page.mouse.up();
  await page.waitForFunction(() => /estimate/.test(document.getElementById("figures").textContent));
  const text = await page.inputValue("#text");
  const found = /x = \[0\.0, (0\.\d+)\]\ny = \[0\.0, (0\.\d+)\]/.exec(text);
  assert.ok(found && Number(found[1]) < 0.95 && Number(found[2]) < 0.98, text);
  assert.notDeepEqual(await colours(page), picture);
  assert.ok((await value(page, 0.3, 0.3)) > 0);
  assert.ok(Number.isNaN(await value(page, 0.99, 0.99)), "that corner is gone");

  await corner.or(page.getByRole("button", { name: /^upper right corner/ })).focus();
  const before = await count(page);
  await page.keyboard.press("ArrowLeft");
  await solved(page, before + 1);
  assert.notEqual(await page.inputValue("#text"), text, "so does the keyboard");
  assert.deepEqual(page.complaints, []);
});

test("a slider changes its number, and the solution with it", async () => {
  const page = await newPage(site);
  const before = await value(page, 0.5, 0.5);
  const slider = page.getByRole("slider", { name: "power" });
  await slider.focus();
  for (let k = 0; k < 5; k++) {
    const seen = await count(page);
    await page.keyboard.press("ArrowRight");
    await solved(page, seen + 1);
  }
  const text = await page.inputValue("#text");
  const power = Number(/^power = (\S+)/m.exec(text)[1]);
  assert.ok(power > 20 && /^power = \S+\s+# 0 to 50$/m.test(text), text);
  await page.waitForFunction(() => /estimate/.test(document.getElementById("figures").textContent));
  assert.ok(Math.abs((await value(page, 0.5, 0.5)) / before - power / 20) < 1e-9, "the problem is linear");
  assert.deepEqual(page.complaints, []);
});

test("a corner of a polygon and a hole are dragged", async () => {
  const page = await newPage(site);
  for (const [example, handle, [x, y]] of [
    ["03-l-shape", /^vertex 4: 1, 1/, [1.1, 1.1]],
    ["04-pipe", /^centre of hole 1: 0.3, 0.1/, [0.3, 0.1]],
  ]) {
    const start = await count(page);
    await page.selectOption("#example", example);
    await solved(page, start + 1);
    assert.ok(Number.isNaN(await value(page, x, y)), "this point lies outside");
    const box = await page.getByRole("button", { name: handle }).boundingBox();
    const [seen, by] = [await count(page), example === "04-pipe" ? -90 : 45];
    await page.mouse.move(box.x + 12, box.y + 12);
    await page.mouse.down();
    for (let k = 1; k <= 5; k++) await page.mouse.move(box.x + 12 + (by * k) / 5, box.y + 12 - (by * k) / 5);
    await page.mouse.up();
    await solved(page, seen + 1);
    await page.waitForFunction(() => /estimate|error/.test(document.getElementById("figures").textContent));
    assert.ok(Number.isFinite(await value(page, x, y)), "and now inside");
    if (pictures) await page.screenshot({ path: join(pictures, `${example}-dragged.png`) });
  }
  assert.deepEqual(page.complaints, []);
});

test("several solutions are shown one by one", async () => {
  const page = await newPage(site);
  assert.ok(await page.isHidden("#members"), "there is one solution as a rule");
  const start = await count(page);
  await page.selectOption("#example", "11-drum");
  await solved(page, start + 1);
  const picture = await colours(page);
  const names = await page.locator("#member option").allTextContents();
  assert.equal(names.length, 6);
  assert.ok(names.every((name, k) => k === 0 || Number(name) >= Number(names[k - 1])), names.join());
  assert.ok(!(await page.locator("#field option").allTextContents()).includes("|residual|"));
  const first = await value(page, 0.4, 0.3);
  await page.selectOption("#member", "4");
  await page.waitForFunction((first) => !document.getElementById("probe-value").textContent.includes(first), String(first));
  assert.notDeepEqual(await colours(page), picture);
  if (pictures) await page.screenshot({ path: join(pictures, "eigenfunction.png") });
  assert.deepEqual(page.complaints, []);
});

test("a link restores the problem", async () => {
  const page = await newPage(site);
  await type(page, SMALL.replace("small", "gradients: ∇u"));
  await page.selectOption("#field", "ux");
  const there = await value(page, 0.3, 0.4);
  await page.click("#copy-link");
  await page.waitForFunction(() => location.hash.length > 10);
  const hash = await page.evaluate(() => location.hash);
  const other = await newPage(site, {}, hash);
  assert.equal(await other.inputValue("#text"), await page.inputValue("#text"));
  assert.equal(await other.inputValue("#field"), "ux");
  assert.equal(await value(other, 0.3, 0.4), there);
  assert.deepEqual([...page.complaints, ...other.complaints], []);
});

test("a browser without relaxed instructions gets a module that works", async () => {
  const [relaxed, plain] = [await newPage(site), await newPage(site, {}, "?module=simd")];
  assert.equal(await relaxed.evaluate(() => document.body.dataset.module), "relaxed");
  assert.equal(await plain.evaluate(() => document.body.dataset.module), "simd");
  // A smooth problem: where corners are singular, the last bits decide about more digits.
  const smooth = readFileSync(join(here, "../examples/02-known-solution.toml"), "utf8");
  for (const page of [relaxed, plain]) await type(page, smooth);
  const exact = Math.sin(0.6 * Math.PI) * Math.exp(0.4);
  for (const page of [relaxed, plain]) assert.ok(Math.abs((await value(page, 0.3, 0.4)) - exact) < 1e-10);
});

test("a cut is drawn with the mouse, and files are what they should be", async () => {
  const page = await newPage(site);
  await type(page, SMALL);
  const box = await page.locator("#picture").boundingBox();
  await page.mouse.move(box.x + 0.3 * box.width, box.y + 0.3 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 0.6 * box.height);
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.7 * box.height);
  await page.mouse.up();
  await page.waitForSelector("#curve:not([hidden])");
  assert.match(await page.getAttribute("#curve", "aria-label"), /^u along the cut: from -?[\d.e-]+ to [\d.e-]+$/);
  if (pictures) await page.screenshot({ path: join(pictures, "cut.png"), fullPage: true });
  assert.equal((await download(page, "#save-problem")).toString(), SMALL);
  const picture = await download(page, "#save-picture");
  assert.equal(picture.subarray(1, 4).toString(), "PNG");
  if (pictures) writeFileSync(join(pictures, "picture.png"), picture);
  const solution = join(folder, "downloaded.safetensors");
  writeFileSync(solution, await download(page, "#save-solution"));
  const table = join(folder, "one.csv");
  writeFileSync(table, "x,y\n0.3,0.4\n");
  const row = execFileSync(program, ["eval", solution, table]).toString().trim().split("\n").pop().split(",");
  // The terminal rounds tanh otherwise than a browser, which large coefficients magnify (docs/web.md).
  const [there, here] = [Number(row[2]), await value(page, 0.3, 0.4)];
  assert.ok(Math.abs(there - here) < 1e-8 * here, `${there} and ${here}`);
  assert.deepEqual(page.complaints, []);
});

test("a phone, the dark, and a screen reader", async () => {
  const page = await newPage(site, { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true, isMobile: true });
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, "nothing sticks out");
  const corner = await page.evaluate(() => [
    ...document.getElementById("picture").getContext("2d").getImageData(1, 1, 1, 1).data,
  ]);
  assert.ok(Math.max(...corner.slice(0, 3)) < 60, "the picture has dark paper");
  if (pictures) await page.screenshot({ path: join(pictures, "phone.png"), fullPage: true });
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("input, select, textarea, button, canvas")]
      .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
      .map((e) => e.outerHTML),
  );
  assert.deepEqual(nameless, []);
  assert.deepEqual(page.complaints, []);
});

test("what is loaded is small, and the policy is strict", () => {
  const sizes = JSON.parse(readFileSync(join(here, "../dist/sizes.json"), "utf8"));
  // A browser loads one of the two modules, and only this one is optimised for the tests.
  const loaded = Object.entries(sizes).filter(([name]) => !name.startsWith("simd/"));
  assert.ok(loaded.length > 4 && loaded.reduce((sum, [, size]) => sum + size, 0) < 1.5e6, JSON.stringify(sizes));
  const policy = /Content-Security-Policy"\s+content="([^"]*)"/.exec(readFileSync(join(here, "../dist/index.html"), "utf8"))[1];
  assert.ok(policy.startsWith("default-src 'none'") && !policy.includes("unsafe-inline") && !policy.includes("'unsafe-eval'"));
});
