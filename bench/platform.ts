/** The platform. It can answer with bodies that were rendered in advance, so that it takes as little as possible of the CPUs. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { CivilDate } from '#dist/base/values/business-day.js';
import { bytesAnswer, createPlatform } from '#dist/demo/sandbox.js';
import { SyntheticTitles } from '#dist/demo/synthetic-titles.js';

export const synthetic = new SyntheticTitles({ seed: 'bench', titlesPerDay: 1, restate: false });

export type Platform = Awaited<ReturnType<typeof startPlatform>>;

export async function startPlatform() {
  /** Of each date a file with the body, or the number of synthetic titles. */
  const answers = new Map<string, string | number>();
  const app = createPlatform({
    isAuthorized: () => true,
    days: {
      titlesOn: (date) => synthetic.titlesOn(date, 0, Number(answers.get(date))),
      titlesSince: () => [],
    },
    receive: () => bytesAnswer(200, '{}'),
    exchange(request, reply, regular) {
      const { conciliationDate } = request.query as { conciliationDate: CivilDate };
      const answer = answers.get(conciliationDate);
      reply.type('application/json');
      if (typeof answer === 'string') return reply.send(createReadStream(answer));
      return reply.send(Readable.from(regular().body, { objectMode: false }));
    },
  });
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  return { baseUrl, answers, close: () => app.close() };
}
