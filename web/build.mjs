// Puts the page together in dist/: scripts, style, and the two modules that scripts/build-web.sh compiled.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const bindings = join(here, "../target/web/bindings");
const dist = join(here, "dist");

/** The examples in the order of their names; the first line of each is its title. */
function examples() {
  const folder = join(here, "examples");
  return readdirSync(folder)
    .filter((file) => file.endsWith(".toml"))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      return { name: file.replace(/\.toml$/, ""), title: text.split("\n")[0].replace(/^#\s*/, "").replace(/\.$/, ""), text };
    });
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
await build({
  entryPoints: [join(here, "src/main.ts"), join(here, "src/worker.ts")],
  outdir: dist,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  define: { EXAMPLES: JSON.stringify(examples()) },
  logLevel: "warning",
});
for (const file of ["index.html", "style.css"]) cpSync(join(here, file), join(dist, file));
for (const module of ["relaxed", "simd"]) {
  const from = join(bindings, module);
  if (!existsSync(from)) throw new Error(`${module} is missing: run scripts/build-web.sh`);
  mkdirSync(join(dist, module));
  await build({ entryPoints: [join(from, "ddelm.js")], outfile: join(dist, module, "ddelm.js"), minify: true, format: "esm" });
  cpSync(join(from, "ddelm_bg.wasm"), join(dist, module, "ddelm_bg.wasm"));
}
const sizes = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .map((file) => [file.slice(dist.length + 1), gzipSync(readFileSync(file)).length]);
const total = sizes.reduce((sum, [, size]) => sum + size, 0);
writeFileSync(join(dist, "sizes.json"), JSON.stringify(Object.fromEntries(sizes), null, 2));
console.log(`web/dist: ${(total / 1e3).toFixed(0)} kB compressed, both modules together`);
