// What the page and its worker say to each other.

/** What is wrong, where in the text, and what to do: as `ddelm` says it in a terminal. */
export interface Mistake {
  message: string;
  hint: string | null;
  from: number | null;
  to: number | null;
}

/** The part of the report that the page shows; the rest is there, too. */
export interface Report {
  status: string;
  subdomains: number;
  points: number;
  errors: { l2: number; max: number } | null;
  estimate: { l2: number; max: number } | null;
  interface: { unknowns: number };
  eigenvalues?: { value: number; estimate: number | null }[];
  seconds: { total: number; estimate: number };
  warnings: string[];
}

/** The arrays of a picture. Lines are x, y, x, y, ... with a pair of NaN after each. */
export interface Mesh {
  points: Float64Array;
  triangles: Uint32Array;
  borders: Float64Array;
  outline: Float64Array;
}

export type Request =
  | { kind: "solve"; text: string; quick: boolean; field: string; shown: number | null }
  | { kind: "choose"; number: number; field: string }
  | { kind: "field"; name: string }
  | { kind: "values"; name: string; x: Float64Array; y: Float64Array }
  | { kind: "save" };

export interface SolveReply {
  kind: "solve";
  report: Report;
  mesh: Mesh;
  fields: string[];
  field: string;
  values: Float64Array;
  /** What distinguishes the solutions where there are several, and the number of this one. */
  names: string[];
  shown: number;
  /** Milliseconds of the whole request, in the worker. */
  milliseconds: number;
}
export interface ChooseReply {
  kind: "choose";
  report: Report;
  shown: number;
  values: Float64Array;
}
export interface FieldReply {
  kind: "field";
  values: Float64Array;
}
export interface ValuesReply {
  kind: "values";
  values: Float64Array;
}
export interface SaveReply {
  kind: "save";
  bytes: Uint8Array;
}
export type Answer = SolveReply | ChooseReply | FieldReply | ValuesReply | SaveReply;

/** An answer, a mistake of the user, or the end of the module (`crash`), with the number of the request. */
export type Reply =
  | { id: number; answer: Answer }
  | { id: number; mistake: Mistake }
  | { id: number; crash: string }
  | { id: -1; ready: { relaxed: boolean; viridis: Uint8Array; magma: Uint8Array } };
