// Files written once from front to back, and read again piece by piece.
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

const BUFFER_BYTES = 1024 * 1024;

/** Buffers what is appended: a system call a title would take longer than the title. */
export class ByteFile {
  #file;
  #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #buffered = 0;
  #flushed = 0;

  /** @param {string} path */
  constructor(path) {
    this.#file = openSync(path, 'w+');
  }

  get length() {
    return this.#flushed + this.#buffered;
  }

  /** @param {string | Uint8Array} content */
  append(content) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    if (bytes.length > BUFFER_BYTES - this.#buffered) this.#flush();
    if (bytes.length > BUFFER_BYTES) throw new RangeError('a piece is larger than the buffer');
    this.#buffer.set(bytes, this.#buffered);
    this.#buffered += bytes.length;
  }

  /**
   * The bytes from `start` up to `end`, in memory that the next call overwrites.
   *
   * @param {number} start
   * @param {number} end
   */
  read(start, end) {
    if (this.#buffered > 0) this.#flush();
    const piece = this.#buffer.subarray(0, end - start);
    readSync(this.#file, piece, 0, piece.length, start);
    return piece;
  }

  close() {
    this.#flush();
    closeSync(this.#file);
  }

  #flush() {
    writeSync(this.#file, this.#buffer, 0, this.#buffered);
    this.#flushed += this.#buffered;
    this.#buffered = 0;
  }
}
