import type { FastifyReply } from 'fastify';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import type { Principal } from '../../../console/shell/guard.ts';
import { maskPayee } from '../../../console/shell/masking.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { type DueRange, readScheduleSnapshot } from '../read-schedule.sql.ts';
import {
  encodeSchedule,
  recordScheduleExport,
  SCHEDULE_TYPES,
  type ScheduleFormat,
} from '../schedule-file.ts';

/**
 * Streams the payment schedule as a file. The audit log records the export before the first byte. Readers without
 * the right to see identifiers receive masked ones.
 */
export function sendScheduleFile(
  reply: FastifyReply,
  { database, logger }: ConsoleParts,
  principal: Principal,
  request: {
    readonly range: DueRange;
    readonly format: ScheduleFormat;
    readonly locale: Language;
  },
): Promise<FastifyReply> {
  const { range, format, locale } = request;
  const isMasked = !maySeePersonalData(principal.role);
  return sendFile(reply, logger, (signal, send) =>
    readScheduleSnapshot(database, range, signal, async (snapshot) => {
      await recordScheduleExport(database, principal.name, { range, format, snapshot });
      const lines = isMasked ? masked(snapshot.lines) : snapshot.lines;
      const bytes = encodeSchedule({ ...snapshot, lines }, { format, locale });
      const name = textOf(locale)('fileNames.schedule');
      await send({
        name: `${name}-${range.from}-${range.to}.${format}`,
        type: SCHEDULE_TYPES[format],
        bytes,
      });
    }),
  );
}

async function* masked(
  batches: Parameters<typeof encodeSchedule>[0]['lines'],
): Parameters<typeof encodeSchedule>[0]['lines'] {
  for await (const lines of batches) {
    yield lines.map((line) => ({ ...line, payee: maskPayee(line.payee) }));
  }
}
