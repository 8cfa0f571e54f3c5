import type { FastifyReply } from 'fastify';
import { maySeePersonalData } from '../../domain/role.ts';
import type { CsvLocale } from '../../export/csv.ts';
import { type DueRange, readScheduleSnapshot } from '../../schedule/read-schedule.sql.ts';
import {
  encodeSchedule,
  recordScheduleExport,
  SCHEDULE_TYPES,
  type ScheduleFormat,
} from '../../schedule/schedule-file.ts';
import { textOf } from '../../texts/texts.ts';
import type { ConsoleParts } from '../shell/console-parts.ts';
import type { Principal } from '../shell/guard.ts';
import { maskPayee } from '../shell/masking.ts';
import { sendFile } from '../shell/send-file.ts';

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
    readonly locale: CsvLocale;
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
