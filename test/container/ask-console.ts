/** What a console answers; null while it does not, whatever the port's forwarder does meanwhile. */
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
