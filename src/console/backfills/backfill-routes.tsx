import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  cancelBackfill,
  createBackfill,
  readBackfillProgress,
  readBackfills,
  requireConcurrency,
  resumeBackfill,
} from '../../backfills/backfill-ledger.sql.ts';
import {
  addDays,
  dateIn,
  daysBetween,
  lastClosedDate,
  parseCivilDate,
} from '../../domain/business-day.ts';
import type { DayState } from '../../domain/day-state.ts';
import { type BackfillRange, backfillRangeFault } from '../../domain/plan/backfill-plan.ts';
import { readLedgerDays } from '../../ledger/ledger-days.sql.ts';
import { InputError } from '../../runtime/errors.ts';
import { describeError } from '../../runtime/logger.ts';
import { readSession } from '../access/console-sessions.sql.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import { faultSentence } from '../shell/error-page.tsx';
import { SESSION_LIMITS } from '../shell/guard.ts';
import { pageContext, textParameter } from '../shell/page-context.ts';
import { actorOf, idOfPath } from '../shell/path-parameters.ts';
import { sendPage } from '../shell/send-page.ts';
import {
  type BackfillForm,
  BackfillPage,
  type BackfillPreview,
  BackfillPreviewPage,
  BackfillsPage,
  progressTexts,
} from './backfill-pages.tsx';

const DEFAULT_CONCURRENCY = '2';
const EVENT_INTERVAL_MS = 1_000;
/** After this time the stream ends and the browser reconnects. */
const MAX_STREAM_MS = 5 * 60_000;

/** Routes to preview, start, watch and cancel backfills. */
export function addBackfillRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database } = parts;
  const now = () => parts.now?.() ?? new Date();

  /** @param refused a form that cannot be carried out, which is shown again with its fault */
  const showBackfills = async (
    request: FastifyRequest,
    reply: FastifyReply,
    refused: { readonly form: unknown; readonly fault: InputError } | null,
  ) => {
    const backfills = await readBackfills(database, 50);
    const to = lastClosedDate(parts.timeZone, now());
    const form =
      refused === null
        ? { from: addDays(to, -6), to, concurrency: DEFAULT_CONCURRENCY }
        : writtenForm(refused.form);
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.backfills.title,
      active: '/backfills',
      status: refused === null ? 200 : 400,
      body: (
        <BackfillsPage
          backfills={backfills}
          form={form}
          fault={refused === null ? null : faultSentence(context, refused.fault)}
        />
      ),
    }));
  };

  server.get('/backfills', (request, reply) => showBackfills(request, reply, null));

  server.get('/backfills/new', async (request, reply) => {
    const preview = await previewBackfill(parts, request.query).catch(faultOnly);
    if (preview instanceof InputError) {
      return showBackfills(request, reply, { form: request.query, fault: preview });
    }
    return sendPage(request, reply, parts, (context) => ({
      title: context.text.backfills.previewTitle,
      active: '/backfills',
      body: <BackfillPreviewPage preview={preview} />,
    }));
  });

  server.post('/backfills', async (request, reply) => {
    const id = await startBackfill(parts, request.body, actorOf(request)).catch(faultOnly);
    if (id instanceof InputError) {
      return showBackfills(request, reply, { form: request.body, fault: id });
    }
    return reply.redirect(`/backfills/${id}`, 303);
  });

  server.get('/backfills/:id', async (request, reply) => {
    const id = idOfPath(request);
    const backfill = id === null ? null : await readBackfillProgress(database, id);
    if (backfill === null) return reply.callNotFound();
    return sendPage(request, reply, parts, (context) => ({
      title: `${context.text.backfills.number} ${backfill.id}`,
      active: '/backfills',
      body: <BackfillPage backfill={backfill} />,
    }));
  });

  const change = (
    path: string,
    notice: string,
    deed: (id: bigint, by: string) => Promise<void>,
  ) => {
    server.post(path, async (request, reply) => {
      const id = idOfPath(request);
      if (id === null) return reply.callNotFound();
      await deed(id, actorOf(request));
      parts.plan();
      return reply.redirect(`/backfills/${id}?notice=${notice}`, 303);
    });
  };
  change('/backfills/:id/cancel', 'backfill_cancelled', (id, by) =>
    cancelBackfill(database, id, by),
  );
  change('/backfills/:id/resume', 'backfill_resumed', (id, by) => resumeBackfill(database, id, by));

  server.get('/backfills/:id/events', async (request, reply) => {
    const id = idOfPath(request);
    const backfill = id === null ? null : await readBackfillProgress(database, id);
    if (id === null || backfill === null) return reply.callNotFound();
    const events = progressEvents(parts, request, id);
    return reply.type('text/event-stream').send(Readable.from(events));
  });
}

/** @throws InputError for an invalid range or concurrency */
export async function startBackfill(
  parts: ConsoleParts,
  source: unknown,
  by: string,
): Promise<bigint> {
  const today = dateIn(parts.timeZone, parts.now?.() ?? new Date());
  const id = await createBackfill(parts.database, { ...parseBackfill(source), by }, today);
  parts.plan();
  return id;
}

function parseBackfill(source: unknown): { range: BackfillRange; concurrency: number } {
  const from = parseCivilDate(textParameter(source, 'from') ?? '');
  const to = parseCivilDate(textParameter(source, 'to') ?? '');
  if (from === null || to === null) {
    throw new InputError('from and to: expected two dates as YYYY-MM-DD', {
      context: { fault: 'range_missing' },
    });
  }
  const concurrency = textParameter(source, 'concurrency') ?? DEFAULT_CONCURRENCY;
  return {
    range: { from, to },
    concurrency: /^\d{1,3}$/.test(concurrency) ? Number(concurrency) : 0,
  };
}

/** The form as it was written, also where it cannot be read. */
function writtenForm(source: unknown): BackfillForm {
  return {
    from: textParameter(source, 'from') ?? '',
    to: textParameter(source, 'to') ?? '',
    concurrency: textParameter(source, 'concurrency') ?? DEFAULT_CONCURRENCY,
  };
}

/** Returns an error about the request, and throws any other. */
function faultOnly(error: unknown): InputError {
  if (error instanceof InputError) return error;
  throw error;
}

/** @throws InputError for an invalid range or concurrency */
async function previewBackfill(
  { database, timeZone, now }: ConsoleParts,
  source: unknown,
): Promise<BackfillPreview> {
  const { range, concurrency } = parseBackfill(source);
  const today = dateIn(timeZone, now?.() ?? new Date());
  const fault = backfillRangeFault(range, today);
  if (fault !== null) throw new InputError(fault.message, { context: fault.context });
  requireConcurrency(concurrency);
  const days = await readLedgerDays(database, range, today);
  const counts = new Map<DayState, number>();
  for (const { state } of days) counts.set(state, (counts.get(state) ?? 0) + 1);
  const dates = daysBetween(range.from, range.to) + 1;
  const never = dates - days.length;
  return {
    range,
    concurrency,
    dates,
    signedOff: days.filter(({ signedOffAt }) => signedOffAt !== null).length,
    states: [
      ...[...counts].map(([state, number]) => ({ state, days: number })),
      ...(never > 0 ? [{ state: null, days: never }] : []),
    ],
  };
}

/** Ends with the backfill, and with the session of the reader. If the reader disconnects, the stream that reads this generator is destroyed. */
async function* progressEvents(
  { database, logger, timeZone }: ConsoleParts,
  request: FastifyRequest,
  id: bigint,
): AsyncGenerator<string> {
  const { text, formats } = pageContext(request, timeZone);
  const startedMs = performance.now();
  try {
    while (performance.now() - startedMs < MAX_STREAM_MS) {
      if ((await readSession(database, request.visit, SESSION_LIMITS)) === null) return;
      const backfill = await readBackfillProgress(database, id);
      if (backfill === null) return;
      const ended = backfill.done + backfill.failed + backfill.held;
      const texts = progressTexts(backfill, text, formats);
      const data = JSON.stringify({ state: backfill.state, ended, texts });
      yield `event: progress\ndata: ${data}\n\n`;
      if (backfill.state !== 'running') return;
      await sleep(EVENT_INTERVAL_MS, undefined, { ref: false });
    }
  } catch (error) {
    // The browser reconnects.
    logger.warn({ err: describeError(error) }, 'the progress of a backfill could not be read');
  }
}
