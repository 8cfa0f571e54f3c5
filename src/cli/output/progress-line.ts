/**
 * One line on standard error that tells how far a long step is: rewritten in place on a terminal, a
 * new line every ten seconds elsewhere. Nothing is shown of what takes less than a second.
 */
export interface ProgressLine {
  update(text: string): void;
  /** Clears the line. */
  end(): void;
}

export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const intervalMs = stream.isTTY ? 200 : 10_000;
  let shownAt = performance.now() + 1000 - intervalMs;
  let isShown = false;
  return {
    update(text) {
      if (performance.now() - shownAt < intervalMs) return;
      shownAt = performance.now();
      isShown = true;
      stream.write(stream.isTTY ? `\r\u001B[K${text}` : `${text}\n`);
    },
    end() {
      if (isShown && stream.isTTY) stream.write('\r\u001B[K');
      isShown = false;
    },
  };
}
