// Modules of the page that need no browser, compiled for Node.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const source = join(dirname(fileURLToPath(import.meta.url)), "../src");

export async function module(name) {
  const { outputFiles } = await build({
    entryPoints: [join(source, `${name}.ts`)],
    bundle: true,
    write: false,
    format: "esm",
    target: "node20",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
