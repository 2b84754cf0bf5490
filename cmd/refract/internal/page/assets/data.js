// The data of the page: blocks of gzip in base64. The header and the columns of
// numbers are read at once, a block of texts when one of its segments is shown.

const blocksOf = (kind) => [...document.querySelectorAll(`script[data-block="${kind}"]`)];

const bytesOf = (base64) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

/** Unpacks a block, and drops its text, which is not needed again. */
const unpack = (block) => {
  const packed = new Blob([bytesOf(block.textContent)]);
  block.textContent = "";
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")));
};

/** The sums of all counts before each, and at the end of all of them. */
const startsOf = (counts) => {
  const starts = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) starts[i + 1] = starts[i] + counts[i];
  return starts;
};

/** The last index at which starts is not above n. */
const lastNotAbove = (starts, n) => {
  let low = 0;
  let high = starts.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= n) low = middle;
    else high = middle;
  }
  return low;
};

const openData = async () => {
  const header = await unpack(blocksOf("header")[0]).json();
  const buffer = await unpack(blocksOf("columns")[0]).arrayBuffer();
  const chunkStart = startsOf(header.chunks);
  const segments = chunkStart[header.chunks.length];

  let at = 0;
  const take = (kind, length) => {
    const column = new kind(buffer, at, length);
    at += length * kind.BYTES_PER_ELEMENT;
    return column;
  };
  const human = header.humans.map(() => take(Float32Array, header.outputs));
  const scores = header.settings.map(() => take(Float32Array, header.outputs));
  const decided = header.settings.map(() => take(Uint16Array, header.outputs));
  const system = take(Uint16Array, header.outputs);
  const outputStart = startsOf(take(Uint16Array, segments));
  const referenceStart = startsOf(take(Uint16Array, segments));
  const domain = take(Uint16Array, segments);
  const prompt = take(Uint16Array, header.references);
  const flags = take(Uint8Array, header.outputs);
  const segmentOf = new Uint32Array(header.outputs);
  for (let s = 0; s < segments; s++) segmentOf.fill(s, outputStart[s], outputStart[s + 1]);

  const blocks = blocksOf("segments");
  const pending = new Array(blocks.length);
  const ready = new Array(blocks.length);
  const chunk = (c) => {
    pending[c] ??= unpack(blocks[c]).json().then((list) => (ready[c] = list));
    return pending[c];
  };
  return {
    ...header, segments, human, scores, decided, system, outputStart, referenceStart, domain, prompt, flags, segmentOf,
    /** The texts of a segment where they have been read, else undefined. */
    now: (s) => {
      const c = lastNotAbove(chunkStart, s);
      return ready[c]?.[s - chunkStart[c]];
    },
    segment: async (s) => {
      const c = lastNotAbove(chunkStart, s);
      return (await chunk(c))[s - chunkStart[c]];
    },
    /** Calls back with every segment in order, a block at a time. */
    each: async (use, going) => {
      for (let c = 0; c < blocks.length && going(); c++) {
        (await chunk(c)).forEach((segment, i) => use(chunkStart[c] + i, segment));
        await breathe();
      }
    },
    /** The prompt of a reference: 0 for an original, else one more than its index. */
    promptOf: (s, reference) => prompt[referenceStart[s] + reference],
  };
};

const errorFlag = 1;
