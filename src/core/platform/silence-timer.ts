/** Calls back once if nothing was received for `timeoutMs` after the last `arm`. */
export class SilenceTimer {
  readonly #timeoutMs: number;
  readonly #onSilence: () => void;
  #timeout: NodeJS.Timeout | null = null;
  #immediate: NodeJS.Immediate | null = null;

  constructor(timeoutMs: number, onSilence: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onSilence = onSilence;
  }

  arm(): void {
    this.clear();
    this.#timeout = setTimeout(() => {
      // After a pause of the whole process, the timer is due before the bytes in the kernel are
      // read. An immediate runs after them and is cleared if they arrive.
      this.#immediate = setImmediate(this.#onSilence);
    }, this.#timeoutMs);
  }

  clear(): void {
    if (this.#timeout !== null) clearTimeout(this.#timeout);
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    this.#timeout = null;
    this.#immediate = null;
  }
}
