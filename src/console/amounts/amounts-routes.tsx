import type { FastifyInstance } from 'fastify';
import { addDays, lastClosedDate, parseCivilDate } from '../../domain/business-day.ts';
import { readAmountEvidence } from '../../ledger/amount-evidence.sql.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { textParameter } from '../shell/page-context.ts';
import { sendPage } from '../shell/send-page.ts';
import { AmountsPage } from './amounts-page.tsx';

const DAYS_SHOWN = 31;

/** The page about the meaning of the amounts. */
export function addAmountsRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  server.get('/amount-meaning', async (request, reply) => {
    const closed = lastClosedDate(parts.timeZone, parts.now?.() ?? new Date());
    const to = parseCivilDate(textParameter(request.query, 'to') ?? '') ?? closed;
    const from =
      parseCivilDate(textParameter(request.query, 'from') ?? '') ?? addDays(to, 1 - DAYS_SHOWN);
    const range = { from, to };
    const evidence = await readAmountEvidence(parts.database, range);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.amountMeaning.title,
      active: null,
      body: <AmountsPage meanings={parts.amountMeanings} range={range} evidence={evidence} />,
    }));
  });
}
