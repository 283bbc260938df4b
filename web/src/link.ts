// A link that holds the whole problem: its text, compressed, in the fragment, which no browser sends anywhere.

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** The fragment of a text and the field that is shown, with its `#`. */
export async function fragment(text: string, field: string): Promise<string> {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const letters = btoa(String.fromCharCode(...packed)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  return `#problem=${letters}&field=${encodeURIComponent(field)}`;
}

/** What a fragment holds, or nothing. Throws where it is damaged. */
export async function unpacked(hash: string): Promise<{ text: string; field: string } | null> {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const letters = parameters.get("problem");
  if (!letters) return null;
  const packed = Uint8Array.from(atob(letters.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = new TextDecoder("utf-8", { fatal: true }).decode(
    await through(packed, new DecompressionStream("deflate-raw")),
  );
  return { text, field: parameters.get("field") ?? "u" };
}
