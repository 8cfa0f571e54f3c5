/**
 * Cuts one stretch out of a stream of chunks: call `begin`, then `endChunk` at the end of every chunk in
 * which the stretch does not end, then `finish`. At most the first `limit` bytes of the stretch are kept.
 * A stretch within one chunk is not copied.
 */
export class ByteCapture {
  readonly #limit: number;
  /** Grows with the stretches that cross the end of a chunk, up to the limit. */
  #held = Buffer.alloc(0);
  #heldLength = 0;
  #byteLength = 0;
  /** The start of the stretch in the current chunk; null: nothing is captured. */
  #from: number | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isActive(): boolean {
    return this.#from !== null;
  }

  /** Whether the current chunk has all of the stretch so far. */
  get isWhole(): boolean {
    return this.#byteLength === 0;
  }

  begin(index: number): void {
    this.#from = index;
    this.#heldLength = 0;
    this.#byteLength = 0;
  }

  /** Copies the chunk's part of the stretch, so that the chunk can be freed. */
  endChunk(chunk: Uint8Array): void {
    if (this.#from === null) return;
    this.#hold(chunk.subarray(this.#from));
    this.#from = 0;
  }

  /** Ends the stretch before index `end` of the chunk. `byteLength` includes the bytes beyond the limit. */
  finish(chunk: Uint8Array, end: number): { bytes: Buffer; byteLength: number } {
    const from = this.#from ?? end;
    this.#from = null;
    if (this.#byteLength === 0) {
      const length = Math.min(end - from, this.#limit);
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset + from, length);
      return { bytes, byteLength: end - from };
    }
    this.#hold(chunk.subarray(from, end));
    const bytes = Buffer.from(this.#held.subarray(0, this.#heldLength));
    return { bytes, byteLength: this.#byteLength };
  }

  #hold(part: Uint8Array): void {
    this.#byteLength += part.length;
    const kept = part.subarray(0, this.#limit - this.#heldLength);
    const needed = this.#heldLength + kept.length;
    if (needed > this.#held.length) {
      const grown = Buffer.alloc(Math.min(this.#limit, Math.max(needed, 2 * this.#held.length)));
      grown.set(this.#held.subarray(0, this.#heldLength));
      this.#held = grown;
    }
    this.#held.set(kept, this.#heldLength);
    this.#heldLength = needed;
  }
}
