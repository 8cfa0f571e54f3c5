/** The answer of a console; null while the console does not answer, also if the port's forwarder accepts connections. */
export async function askConsole(
  baseUrl: string,
  path: string,
): Promise<{ readonly status: number; readonly text: string } | null> {
  try {
    const answer = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(5_000) });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
}
