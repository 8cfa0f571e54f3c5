/**
 * One line on standard error with the progress of a long step. On a terminal the line is rewritten
 * in place, starting after one second; elsewhere a new line is printed every ten seconds.
 */
export interface ProgressLine {
  update(text: string): void;
  /** Clears the line. */
  end(): void;
}

export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  const intervalMs = stream.isTTY ? 200 : 10_000;
  let shownAt = performance.now() + (stream.isTTY ? 1000 - intervalMs : 0);
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
