// The editor: a text area with line numbers, and a mistake marked at its place.

import type { Mistake } from "./messages.js";

export class Editor {
  private readonly area: HTMLTextAreaElement;
  private readonly gutter: HTMLElement;
  private readonly backdrop: HTMLElement;
  private readonly message: HTMLElement;

  constructor(root: HTMLElement, message: HTMLElement, onInput: () => void) {
    this.area = root.querySelector("textarea")!;
    this.gutter = root.querySelector(".gutter")!;
    this.backdrop = root.querySelector(".backdrop")!;
    this.message = message;
    this.area.addEventListener("input", () => {
      this.number();
      this.clear();
      onInput();
    });
    this.area.addEventListener("scroll", () => this.follow());
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    if (this.area.value === text) return;
    this.area.value = text;
    this.number();
    this.clear();
  }

  private number(): void {
    const lines = this.area.value.split("\n").length;
    this.gutter.textContent = Array.from({ length: lines }, (_, k) => String(k + 1)).join("\n");
    this.follow();
  }

  private follow(): void {
    this.gutter.scrollTop = this.area.scrollTop;
    this.backdrop.scrollTop = this.area.scrollTop;
    this.backdrop.scrollLeft = this.area.scrollLeft;
  }

  /** Forgets the mistake. */
  clear(): void {
    this.backdrop.textContent = "";
    this.message.hidden = true;
    this.message.textContent = "";
    this.area.removeAttribute("aria-invalid");
  }

  /** Shows a mistake: marked in the text, and below it as the terminal shows it. */
  show(mistake: Mistake): void {
    const text = this.area.value;
    const { from, to } = mistake;
    const lines = [`error: ${mistake.message}`];
    if (from !== null && to !== null && from <= text.length) {
      const end = Math.max(from + 1, to);
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, end);
      this.backdrop.replaceChildren(text.slice(0, from), mark, `${text.slice(end)}\n`);
      const number = text.slice(0, from).split("\n").length;
      const start = text.lastIndexOf("\n", from - 1) + 1;
      const stop = text.indexOf("\n", from);
      const line = text.slice(start, stop < 0 ? undefined : stop);
      const margin = " ".repeat(String(number).length);
      const carets = "^".repeat(Math.max(1, Math.min(end, start + line.length) - from));
      lines.push(`${margin} --> line ${number}`, `${number} | ${line}`, `${margin} | ${" ".repeat(from - start)}${carets}`);
    }
    if (mistake.hint) lines.push(`hint: ${mistake.hint}`);
    this.message.textContent = lines.join("\n");
    this.message.hidden = false;
    this.area.setAttribute("aria-invalid", "true");
    this.follow();
  }
}
