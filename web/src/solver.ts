// The solver as the page sees it: requests with promises, and a new worker where one is lost.

import type { Answer, Mistake, Reply, Request } from "./messages.js";

/** A mistake of the user, on its way to the editor. */
export class MistakeError extends Error {
  constructor(readonly mistake: Mistake) {
    super(mistake.message);
  }
}

/** The worker was stopped before it answered. */
export class Stopped extends Error {}

export interface Colours {
  viridis: Uint8Array;
  magma: Uint8Array;
}

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void };

export class Solver {
  private worker!: Worker;
  private next = 0;
  private waiting = new Map<number, Waiting>();
  private announce!: (colours: Colours) => void;
  /** The colours of the program's pictures, once the module is there. */
  readonly colours = new Promise<Colours>((resolve) => (this.announce = resolve));
  relaxed: boolean | undefined;

  constructor(private readonly address: string) {
    this.start();
  }

  private start(): void {
    this.worker = new Worker(this.address, { type: "module" });
    this.worker.addEventListener("message", (event: MessageEvent<Reply>) => this.receive(event.data));
    this.worker.addEventListener("error", (event) => this.lose(new Error(event.message || "the solver cannot be loaded")));
  }

  private receive(reply: Reply): void {
    if ("ready" in reply) {
      this.relaxed = reply.ready.relaxed;
      this.announce(reply.ready);
      return;
    }
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if ("answer" in reply) waiting?.resolve(reply.answer);
    else if ("mistake" in reply) waiting?.reject(new MistakeError(reply.mistake));
    else {
      waiting?.reject(new Error(`the solver stopped (${reply.crash}); the problem may need more memory than a page has`));
      this.restart();
    }
  }

  private lose(error: Error): void {
    const lost = [...this.waiting.values()];
    this.waiting.clear();
    for (const waiting of lost) waiting.reject(error);
  }

  /** Ends whatever is going on. */
  restart(): void {
    this.worker.terminate();
    this.lose(new Stopped());
    this.start();
  }

  ask<K extends Request["kind"]>(request: Extract<Request, { kind: K }>): Promise<Extract<Answer, { kind: K }>> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as Waiting["resolve"], reject });
      this.worker.postMessage({ id, request });
    });
  }
}
