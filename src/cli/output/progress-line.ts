/**
 * One line on standard error that shows the progress of a long step: rewritten in place on a terminal
 * from the first second on, a new line every ten seconds elsewhere.
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
