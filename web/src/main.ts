// The page: text in the editor, solved in a worker, drawn here.

import { palettes, type Palettes } from "./colours.js";
import { drawCurve } from "./curve.js";
import { Editor } from "./editor.js";
import { examples } from "./examples.js";
import { handles, type Handle } from "./handles.js";
import { fragment, unpacked } from "./link.js";
import type { SolveReply } from "./messages.js";
import { replaced, rounded } from "./numbers.js";
import { bounds, draw, isSize, LABELS, type Options, type Shown, type Theme } from "./picture.js";
import type { View } from "./raster.js";
import { sliders } from "./sliders.js";
import { MistakeError, Solver, Stopped } from "./solver.js";
import { short } from "./ticks.js";

const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const input = (id: string): HTMLInputElement => byId<HTMLInputElement>(id);

const PAPER: Theme = { ink: "#1e1e1e", paper: "#ffffff" };
const NIGHT: Theme = { ink: "#e6e6e3", paper: "#16181b" };
/** Points of a cut. */
const SLICE = 801;
/** After a pause of so many milliseconds a text is solved. */
const PAUSE = 250;
/** A solve that takes longer than this is given up for a newer text. */
const PATIENCE = 1500;

const stage = byId("stage");
const canvas = byId<HTMLCanvasElement>("picture");
const figures = byId("figures");
const fieldChoice = byId<HTMLSelectElement>("field");
const memberChoice = byId<HTMLSelectElement>("member");
const exampleChoice = byId<HTMLSelectElement>("example");
const darkness = matchMedia("(prefers-color-scheme: dark)");

const solver = new Solver(`worker.js${location.search.includes("module=simd") ? "?module=simd" : ""}`);
const editor = new Editor(byId("editor"), byId("message"), () => {
  exampleChoice.value = "";
  showSliders();
  later();
});

let colours: Palettes;
let solved: SolveReply | undefined;
let view: View | undefined;
let frame: [number, number, number, number] | undefined;
let cut: [number, number, number, number] | null = null;
/** Which of several solutions was asked for; without a choice, the first eigenfunction or the last moment. */
let chosen: number | null = null;

// Solving: one at a time; what was asked for in the meantime, once.

let running: number | undefined;
let wanted: { quick: boolean } | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
/** How many solutions have been drawn: the tests wait for it. */
let drawn = 0;

function later(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void solve(false), PAUSE);
}

async function solve(quick: boolean): Promise<void> {
  clearTimeout(timer);
  if (running !== undefined) {
    // A full solve that is wanted is not forgotten for a quick one.
    wanted = { quick: quick && wanted?.quick !== false };
    if (performance.now() - running > PATIENCE) solver.restart();
    return;
  }
  running = performance.now();
  const patience = setTimeout(() => {
    stage.classList.add("waiting");
    byId("stop").hidden = false;
    figures.textContent = "solving …";
  }, 300);
  let answer: SolveReply | undefined;
  let failure: unknown;
  try {
    answer = await solver.ask({ kind: "solve", text: editor.text, quick, field: fieldChoice.value || "u", shown: chosen });
  } catch (error) {
    failure = error;
  }
  clearTimeout(patience);
  stage.classList.remove("waiting");
  byId("stop").hidden = true;
  running = undefined;
  const next = wanted;
  wanted = undefined;
  // The worker goes on while this one is drawn.
  if (next) void solve(next.quick);
  if (answer) show(answer, quick);
  else complain(failure, next !== undefined);
}

function show(answer: SolveReply, quick: boolean): void {
  solved = answer;
  editor.clear();
  showFigures(answer);
  showFields(answer);
  showMembers(answer);
  redraw();
  placeHandles();
  if (!quick) void refreshProbe();
  if (cut) void showCut();
  drawn++;
  document.body.dataset.drawn = String(drawn);
}

function complain(failure: unknown, more: boolean): void {
  if (failure instanceof MistakeError) {
    editor.show(failure.mistake);
    figures.textContent = "not solved: see the error at the problem";
  } else if (!(failure instanceof Stopped)) {
    figures.textContent = String(failure instanceof Error ? failure.message : failure);
  } else if (!more) figures.textContent = "stopped";
}

function showFigures({ report, shown, milliseconds }: SolveReply): void {
  const parts = [`${report.subdomains} subdomains`, `${report.interface.unknowns} unknowns`];
  const eigenvalue = report.eigenvalues?.[shown];
  if (eigenvalue?.estimate) parts.push(`eigenvalue within ${short(eigenvalue.estimate)}`);
  if (report.errors) parts.push(`error ${short(report.errors.l2)}`);
  if (report.estimate) parts.push(`estimate ${short(report.estimate.l2)}`);
  parts.push(`${(1e3 * report.seconds.total).toFixed(0)} ms to solve`, `${milliseconds.toFixed(0)} ms in all`);
  figures.textContent = parts.join(" · ");
  const list = byId("warnings");
  list.hidden = report.warnings.length === 0;
  list.replaceChildren(
    ...report.warnings.map((warning) => {
      const item = document.createElement("li");
      item.textContent = warning;
      return item;
    }),
  );
}

function showFields({ fields, field }: SolveReply): void {
  if (fields.join() !== [...fieldChoice.options].map((option) => option.value).join()) {
    fieldChoice.replaceChildren(...fields.map((name) => new Option(LABELS[name] ?? name, name)));
  }
  fieldChoice.value = field;
}

function showMembers({ names, shown, report }: SolveReply): void {
  byId("members").hidden = names.length === 0;
  byId("members").querySelector("span")!.textContent = report.eigenvalues?.length ? "Eigenvalue" : "Time";
  if (names.join() !== [...memberChoice.options].map((option) => option.text).join()) {
    memberChoice.replaceChildren(...names.map((name, k) => new Option(name, String(k))));
  }
  memberChoice.value = String(shown);
}

// Drawing.

function theme(): Theme {
  return darkness.matches ? NIGHT : PAPER;
}

function options(density: number, theme: Theme): Options {
  return { contours: input("contours").checked, borders: input("borders").checked, theme, density, cut };
}

function shown({ mesh, field, values, report }: SolveReply): Shown {
  return { mesh, field, values, title: `${LABELS[field] ?? field} on ${report.subdomains} subdomains` };
}

function redraw(): void {
  if (!solved || !colours) return;
  const box = stage.getBoundingClientRect();
  const density = Math.min(2, devicePixelRatio || 1);
  view = draw(canvas, [box.width, box.height], shown(solved), colours, options(density, theme()), frame);
  const label = LABELS[solved.field] ?? solved.field;
  canvas.setAttribute("aria-label", `${label} as colours over the domain. ${figures.textContent}`);
}

function toPlane(event: { clientX: number; clientY: number }): [number, number] | null {
  if (!view) return null;
  const box = stage.getBoundingClientRect();
  const { left, bottom, unit, x0, y0 } = view;
  return [x0 + (event.clientX - box.left - left) / unit, y0 + (bottom - (event.clientY - box.top)) / unit];
}

/** The length that a pixel shows, rounded to a power of ten. */
function step(): number {
  return 10 ** Math.floor(Math.log10(2 / (view?.unit ?? 100)));
}

// Handles: buttons over the picture, for the mouse, a finger and the keyboard.

let dragged: number | undefined;

function placeHandles(): void {
  if (!view) return;
  const { left, bottom, unit, x0, y0 } = view;
  const group = byId("handles");
  const found = handles(editor.text);
  while (group.children.length > found.length) group.lastElementChild!.remove();
  found.forEach((handle, k) => {
    const button = (group.children[k] as HTMLButtonElement | undefined) ?? group.appendChild(newHandle(k));
    button.style.left = `${left + unit * (handle.x - x0)}px`;
    button.style.top = `${bottom - unit * (handle.y - y0)}px`;
    button.classList.toggle("radius", handle.label.startsWith("radius"));
    button.setAttribute("aria-label", `${handle.label}: ${handle.x}, ${handle.y}`);
  });
}

function newHandle(k: number): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "handle";
  button.addEventListener("pointerdown", (event) => {
    button.setPointerCapture(event.pointerId);
    dragged = k;
    // The picture stays where it is while a point of it moves.
    frame = solved && bounds(solved.mesh.points);
    event.preventDefault();
    button.focus();
  });
  button.addEventListener("pointermove", (event) => {
    const place = dragged === k ? toPlane(event) : null;
    if (place) move(k, place, true);
  });
  const release = (): void => {
    if (dragged !== k) return;
    dragged = undefined;
    frame = undefined;
    void solve(false);
  };
  button.addEventListener("pointerup", release);
  button.addEventListener("pointercancel", release);
  button.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const handle = direction && handles(editor.text)[k];
    if (!handle) return;
    const by = step() * (event.shiftKey ? 10 : 1);
    move(k, [handle.x + by * direction[0]!, handle.y + by * direction[1]!], false);
    event.preventDefault();
  });
  return button;
}

function move(k: number, [x, y]: [number, number], quick: boolean): void {
  const handle: Handle | undefined = handles(editor.text)[k];
  if (!handle) return;
  editor.text = handle.moved(x, y, step());
  exampleChoice.value = "";
  placeHandles();
  void solve(quick);
}

// Sliders.

function showSliders(): void {
  const found = sliders(editor.text);
  const set = byId("parameters");
  set.hidden = found.length === 0;
  const known = [...set.querySelectorAll("input")];
  if (found.map((slider) => slider.name).join() === known.map((slider) => slider.name).join()) {
    // The same sliders: their ranges stay, so that a drag does not change what it moves on.
    found.forEach((slider, k) => setSlider(known[k]!, slider.leaf.value));
    return;
  }
  set.replaceChildren(set.querySelector("legend")!);
  for (const { name, min, max, step, leaf } of found) {
    const label = document.createElement("label");
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", name, min: String(min), max: String(max), step: String(step) });
    label.append(name, slider, document.createElement("output"));
    set.append(label);
    setSlider(slider, leaf.value);
    slider.addEventListener("input", () => slide(slider, true));
    slider.addEventListener("change", () => slide(slider, false));
  }
}

function setSlider(slider: HTMLInputElement, value: number): void {
  if (Number(slider.value) !== value) slider.value = String(value);
  slider.nextElementSibling!.textContent = String(value);
}

function slide(slider: HTMLInputElement, quick: boolean): void {
  const found = sliders(editor.text).find(({ name }) => name === slider.name);
  if (!found) return;
  const value = rounded(Number(slider.value), Number(slider.step));
  editor.text = replaced(editor.text, [{ leaf: found.leaf, value }]);
  slider.nextElementSibling!.textContent = value;
  exampleChoice.value = "";
  void solve(quick);
}

// Values at a point.

let probing = false;

async function refreshProbe(): Promise<void> {
  const [x, y] = [input("probe-x").value, input("probe-y").value].map((text) => (text.trim() === "" ? NaN : Number(text)));
  if (!solved || probing || !Number.isFinite(x) || !Number.isFinite(y)) return;
  probing = true;
  const { field } = solved;
  try {
    const at = { x: Float64Array.of(x!), y: Float64Array.of(y!) };
    const { values } = await solver.ask({ kind: "values", name: field, ...at });
    const value = values[0]!;
    byId("probe-value").textContent = Number.isNaN(value) ? "outside the domain" : `${field} = ${value}`;
  } catch {
    // The next one will tell.
  } finally {
    probing = false;
  }
}

// A cut.

async function showCut(): Promise<void> {
  if (!cut || !solved) return;
  const [ax, ay, bx, by] = cut;
  const along = (a: number, b: number): Float64Array =>
    Float64Array.from({ length: SLICE }, (_, k) => a + ((b - a) * k) / (SLICE - 1));
  const { field } = solved;
  try {
    const { values } = await solver.ask({ kind: "values", name: field, x: along(ax, bx), y: along(ay, by) });
    const curve = byId<HTMLCanvasElement>("curve");
    curve.hidden = false;
    const box = curve.getBoundingClientRect();
    const label = LABELS[field] ?? field;
    const length = Math.hypot(bx - ax, by - ay);
    drawCurve(curve, [box.width, 220], values, length, label, isSize(field), theme(), Math.min(2, devicePixelRatio || 1));
    const inside = values.filter((v) => Number.isFinite(v));
    const range = inside.length ? `from ${Math.min(...inside)} to ${Math.max(...inside)}` : "nothing: it lies outside the domain";
    curve.setAttribute("aria-label", `${label} along the cut: ${range}`);
  } catch {
    // The next one will tell.
  }
}

function setCut(next: [number, number, number, number] | null): void {
  cut = next;
  ["cut-ax", "cut-ay", "cut-bx", "cut-by"].forEach((id, k) => {
    input(id).value = next ? String(Number(rounded(next[k]!, step()))) : "";
  });
  if (!next) byId("curve").hidden = true;
  redraw();
}

let cutting: [number, number] | undefined;

canvas.addEventListener("pointerdown", (event) => {
  const place = toPlane(event);
  if (!place || event.button !== 0) return;
  cutting = place;
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  const place = toPlane(event);
  if (!place) return;
  if (cutting) {
    if (Math.hypot(place[0] - cutting[0], place[1] - cutting[1]) * view!.unit > 6) setCut([...cutting, ...place]);
    return;
  }
  const digits = step() / 10;
  input("probe-x").value = rounded(place[0], digits);
  input("probe-y").value = rounded(place[1], digits);
  void refreshProbe();
});
const endCut = (): void => {
  if (cutting && cut) void showCut();
  cutting = undefined;
};
canvas.addEventListener("pointerup", endCut);
canvas.addEventListener("pointercancel", endCut);

// Files and links.

function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function say(text: string): void {
  byId("done").textContent = text;
  setTimeout(() => (byId("done").textContent = ""), 4000);
}

byId("save-problem").addEventListener("click", () => {
  download("problem.toml", new Blob([editor.text], { type: "application/toml" }));
});
byId("save-solution").addEventListener("click", async () => {
  try {
    const { bytes } = await solver.ask({ kind: "save" });
    download("solution.safetensors", new Blob([bytes as BlobPart]));
  } catch (error) {
    say(error instanceof MistakeError ? error.mistake.message : "nothing is solved yet");
  }
});
byId("save-picture").addEventListener("click", () => {
  if (!solved) return;
  // On white paper and twice as fine, whatever the screen is.
  const paper = document.createElement("canvas");
  const [x0, x1, y0, y1] = bounds(solved.mesh.points);
  const unit = Math.min(460 / (x1 - x0), 380 / (y1 - y0));
  const size: [number, number] = [unit * (x1 - x0) + 162, Math.max(210, unit * (y1 - y0) + 90)];
  draw(paper, size, shown(solved), colours, options(2, PAPER));
  const name = `${solved.field}.png`;
  paper.toBlob((blob) => blob && download(name, blob), "image/png");
});
byId("copy-link").addEventListener("click", async () => {
  history.replaceState(null, "", await fragment(editor.text, fieldChoice.value || "u"));
  try {
    await navigator.clipboard.writeText(location.href);
    say("the link is copied");
  } catch {
    say("the link is in the address bar");
  }
});

async function restore(): Promise<boolean> {
  try {
    const found = await unpacked(location.hash);
    if (!found) return false;
    fieldChoice.replaceChildren(new Option(found.field, found.field));
    open(found.text);
    return true;
  } catch {
    say("the link is damaged");
    return false;
  }
}

function open(text: string): void {
  editor.text = text;
  exampleChoice.value = "";
  chosen = null;
  setCut(null);
  showSliders();
  void solve(false);
}

// All controls.

exampleChoice.append(new Option("…", ""), ...examples.map(({ name, title }) => new Option(title, name)));
exampleChoice.options[0]!.hidden = true;
exampleChoice.addEventListener("change", () => {
  const example = examples.find(({ name }) => name === exampleChoice.value);
  if (!example) return;
  history.replaceState(null, "", location.pathname + location.search);
  open(example.text);
  exampleChoice.value = example.name;
});
fieldChoice.addEventListener("change", async () => {
  if (!solved) return;
  const name = fieldChoice.value;
  const { values } = await solver.ask({ kind: "field", name });
  Object.assign(solved, { field: name, values });
  redraw();
  void refreshProbe();
  void showCut();
});
memberChoice.addEventListener("change", async () => {
  if (!solved) return;
  chosen = Number(memberChoice.value);
  const { report, shown, values } = await solver.ask({ kind: "choose", number: chosen, field: solved.field });
  Object.assign(solved, { report, shown, values });
  showFigures(solved);
  redraw();
  void refreshProbe();
  void showCut();
});
for (const id of ["contours", "borders"]) byId(id).addEventListener("change", redraw);
for (const id of ["probe-x", "probe-y"]) byId(id).addEventListener("input", () => void refreshProbe());
byId("cut").addEventListener("submit", (event) => {
  event.preventDefault();
  const ends = ["cut-ax", "cut-ay", "cut-bx", "cut-by"].map((id) => Number(input(id).value || NaN));
  if (!ends.every(Number.isFinite)) return;
  cut = ends as [number, number, number, number];
  redraw();
  void showCut();
});
byId("cut-clear").addEventListener("click", () => setCut(null));
byId("stop").addEventListener("click", () => solver.restart());
darkness.addEventListener("change", () => {
  redraw();
  void showCut();
});
new ResizeObserver(() => {
  redraw();
  placeHandles();
}).observe(stage);
addEventListener("hashchange", () => void restore());

const { viridis, magma } = await solver.colours;
colours = palettes(viridis, magma);
document.body.dataset.module = solver.relaxed ? "relaxed" : "simd";
if (!(await restore())) {
  const first = examples[0]!;
  open(first.text);
  exampleChoice.value = first.name;
}
