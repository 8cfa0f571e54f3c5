import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import {
  addDays,
  dateIn,
  lastClosedDate,
  parseCivilDate,
} from '../../../base/values/business-day.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { faultSentence } from '../../../console/shell/error-page.tsx';
import { textParameter } from '../../../console/shell/page-context.ts';
import { actorOf, idOfPath } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople, OPERATE } from '../../../console/shell/route-access.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import {
  cancelBackfill,
  createBackfill,
  readBackfillProgress,
  readBackfills,
  resumeBackfill,
} from '../backfill-ledger.sql.ts';
import type { BackfillRange } from '../backfill-plan.ts';
import { type BackfillForm, BackfillPage, BackfillsPage } from './backfill-pages.tsx';

const DEFAULT_CONCURRENCY = '2';
/** After so many seconds a browser asks for the page of a running backfill again. */
const REFRESH_SECONDS = 5;

/** Routes to start, watch and cancel backfills. */
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
      title: context.text('backfills.title'),
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

  server.get('/backfills', forPeople(EVERYBODY), (request, reply) =>
    showBackfills(request, reply, null),
  );

  server.post('/backfills', forPeople(OPERATE), async (request, reply) => {
    const id = await startBackfill(parts, request.body, actorOf(request)).catch(faultOnly);
    if (id instanceof InputError) {
      return showBackfills(request, reply, { form: request.body, fault: id });
    }
    return reply.redirect(`/backfills/${id}`, 303);
  });

  server.get('/backfills/:id', forPeople(EVERYBODY), async (request, reply) => {
    const id = idOfPath(request);
    const backfill = id === null ? null : await readBackfillProgress(database, id);
    if (backfill === null) return reply.callNotFound();
    return sendPage(request, reply, parts, (context) => ({
      title: `${context.text('backfills.number')} ${backfill.id}`,
      active: '/backfills',
      ...(backfill.state === 'running' && { refreshSeconds: REFRESH_SECONDS }),
      body: <BackfillPage backfill={backfill} />,
    }));
  });

  const change = (
    path: string,
    notice: string,
    deed: (id: bigint, by: string) => Promise<void>,
  ) => {
    server.post(path, forPeople(OPERATE), async (request, reply) => {
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
