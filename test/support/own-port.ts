import { findFreePort } from '../../src/embedded/free-port.ts';

const taken = new Set<number>();

/**
 * A port of loopback that nobody else in this process is given until it is given back. A server that is
 * killed and started again has its port free in between, and who asks at the same time may be told the
 * same one.
 */
export async function takePort(): Promise<number> {
  for (;;) {
    const port = await findFreePort();
    if (taken.has(port)) continue;
    taken.add(port);
    return port;
  }
}

export function giveBackPort(port: number): void {
  taken.delete(port);
}
