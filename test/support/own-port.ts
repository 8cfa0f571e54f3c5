import { findFreePort } from '../../src/base/embedded/embedded-postgres.ts';

/** Below the ports that Linux gives to outgoing connections, any of which may take a server's meanwhile. */
const FIRST_PORT = 12_000;
const PORTS = 20_000;

const taken = new Set<number>();

/**
 * A port of loopback that this process gives to no second caller until the first returns it. A server that is
 * killed and started again has its port free in between, and who asks at the same time may be told the
 * same one.
 */
export async function takePort(): Promise<number> {
  for (;;) {
    // At random: other processes of the tests look for theirs at the same time.
    const port = await findFreePort(FIRST_PORT + Math.floor(Math.random() * PORTS));
    if (taken.has(port)) continue;
    taken.add(port);
    return port;
  }
}

export function giveBackPort(port: number): void {
  taken.delete(port);
}
