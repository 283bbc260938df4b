// The examples: the problem files of `web/examples`, put in by the build.

export interface Example {
  /** The name of the file, without `.toml`. */
  name: string;
  /** The first line of the file. */
  title: string;
  text: string;
}

declare const EXAMPLES: Example[];

export const examples = EXAMPLES;
