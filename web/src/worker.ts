// The worker: the library as a WebAssembly module, one request at a time.

import type { Answer, Mesh, Mistake, Reply, Request } from "./messages.js";

type Library = typeof import("../../target/web/bindings/simd/ddelm.js");
type Solved = ReturnType<Library["solve"]>;

// A function of one relaxed instruction, f64x2.relaxed_madd: browsers without them refuse it.
const RELAXED = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 19, 1, 17, 0, 65, 1, 253, 15, 65, 1, 253, 15, 65, 1,
  253, 15, 253, 135, 2, 11,
]);

const scope = self as unknown as { postMessage(reply: Reply, transfer?: Transferable[]): void };

async function load(): Promise<Library> {
  const asked = new URL(self.location.href).searchParams.get("module");
  const relaxed = asked ? asked === "relaxed" : WebAssembly.validate(RELAXED);
  const folder = new URL(relaxed ? "./relaxed/" : "./simd/", self.location.href);
  const script = new URL("ddelm.js", folder).href;
  const library = (await import(script)) as Library;
  await library.default({ module_or_path: new URL("ddelm_bg.wasm", folder) });
  scope.postMessage({ id: -1, ready: { relaxed, viridis: library.colours(false), magma: library.colours(true) } });
  return library;
}

const library = load();
let solved: Solved | undefined;

function meshOf(solution: Solved): Mesh {
  return {
    points: solution.points(),
    triangles: solution.triangles(),
    borders: solution.borders(),
    outline: solution.outline(),
  };
}

async function answer(request: Request): Promise<Answer> {
  const { solve } = await library;
  if (request.kind === "solve") {
    const start = performance.now();
    const next = solve(request.text, [], request.quick);
    solved?.free();
    solved = next;
    const names = next.names();
    if (names.length && request.shown !== null) next.choose(request.shown);
    const fields = next.fields();
    const field = fields.includes(request.field) ? request.field : "u";
    const values = next.field(field);
    const report = JSON.parse(next.report());
    const mesh = meshOf(next);
    const milliseconds = performance.now() - start;
    return { kind: "solve", report, mesh, fields, field, values, names, shown: next.shown(), milliseconds };
  }
  if (!solved) throw new Error("nothing is solved yet");
  switch (request.kind) {
    case "choose":
      solved.choose(request.number);
      return { kind: "choose", report: JSON.parse(solved.report()), shown: solved.shown(), values: solved.field(request.field) };
    case "field":
      return { kind: "field", values: solved.field(request.name) };
    case "values":
      return { kind: "values", values: solved.values(request.name, request.x, request.y) };
    case "save":
      return { kind: "save", bytes: solved.safetensors() };
  }
}

/** Arrays are handed over, not copied. */
function transfers(answer: Answer): Transferable[] {
  if (answer.kind === "save") return [answer.bytes.buffer];
  if (answer.kind !== "solve") return [answer.values.buffer];
  const { points, triangles, borders, outline } = answer.mesh;
  return [answer.values, points, triangles, borders, outline].map((array) => array.buffer);
}

self.addEventListener("message", (event: MessageEvent<{ id: number; request: Request }>) => {
  const { id, request } = event.data;
  answer(request).then(
    (answer) => scope.postMessage({ id, answer }, transfers(answer)),
    // The library throws text, a mistake as JSON. Anything else is the end of the module.
    (thrown: unknown) => {
      if (typeof thrown === "string") scope.postMessage({ id, mistake: JSON.parse(thrown) as Mistake });
      else scope.postMessage({ id, crash: String(thrown) });
    },
  );
});
