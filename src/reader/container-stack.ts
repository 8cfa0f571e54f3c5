/**
 * The open containers, one bit each: a document with a million open brackets takes 125 kB, and no depth of
 * nesting overflows the call stack.
 */
export class ContainerStack {
  #depth = 0;
  /** Bit n: the n-th open container is an object (1) or an array (0). */
  #objectBits = new Uint8Array(8);

  get depth(): number {
    return this.#depth;
  }

  push(isObject: boolean): void {
    const index = this.#depth >>> 3;
    if (index === this.#objectBits.length) {
      const grown = new Uint8Array(index * 2);
      grown.set(this.#objectBits);
      this.#objectBits = grown;
    }
    const bit = 1 << (this.#depth & 7);
    const bits = this.#objectBits[index] ?? 0;
    this.#objectBits[index] = isObject ? bits | bit : bits & ~bit;
    this.#depth++;
  }

  /** Closes the innermost container. Returns whether the container around it is an object. */
  pop(): boolean {
    this.#depth--;
    const top = this.#depth - 1;
    return top >= 0 && ((this.#objectBits[top >>> 3] ?? 0) & (1 << (top & 7))) !== 0;
  }
}
