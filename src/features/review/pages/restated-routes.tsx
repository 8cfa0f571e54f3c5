import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InputError } from '../../../base/runtime/errors.ts';
import { type Language, textOf } from '../../../base/texts/texts.ts';
import { type CivilDate, dateIn } from '../../../base/values/business-day.ts';
import { maySeePersonalData } from '../../../base/values/role.ts';
import type { ConsoleParts } from '../../../console/shell/console-parts.ts';
import { pageContext, textParameter } from '../../../console/shell/page-context.ts';
import { pagingOf } from '../../../console/shell/paging.tsx';
import { actorOf } from '../../../console/shell/path-parameters.ts';
import { EVERYBODY, forPeople } from '../../../console/shell/route-access.ts';
import { sendFile } from '../../../console/shell/send-file.ts';
import { sendPage } from '../../../console/shell/send-page.ts';
import { readMovedTitles } from '../moved-titles.sql.ts';
import { readRestatedDays, readRestatedTotals } from '../restated-days.sql.ts';
import { exportRestated, RESTATED_FILES, type RestatedFile } from './restated-export.ts';
import { RestatedPage } from './restated-page.tsx';

const DAYS_A_PAGE = 10;
const MOVED_A_DAY = 50;

/** Routes of the days that changed after their sign-off. */
export function addRestatedRoutes(server: FastifyInstance, parts: ConsoleParts): void {
  const { database, logger, timeZone } = parts;
  const filterOf = (request: FastifyRequest, isMine: boolean) => ({
    signedBy: isMine ? actorOf(request) : null,
    today: dateIn(timeZone, parts.now?.() ?? new Date()),
  });
  const isMasked = ({ principal }: FastifyRequest) =>
    !maySeePersonalData(principal?.role ?? 'viewer');

  server.get('/restated', forPeople(EVERYBODY), async (request, reply) => {
    const isMine = textParameter(request.query, 'mine') === 'true';
    const filter = filterOf(request, isMine);
    const [all, mine] = await Promise.all([
      readRestatedTotals(database, filterOf(request, false)),
      readRestatedTotals(database, filterOf(request, true)),
    ]);
    const totals = isMine ? mine : all;
    const paging = pagingOf(request.query, 'page', totals.days, DAYS_A_PAGE);
    const days = await readRestatedDays(database, filter, paging);
    const withMoved = await Promise.all(
      days.map(async (day) => ({
        ...day,
        moved: await readMovedTitles(database, day.date, BigInt(day.fence), MOVED_A_DAY),
      })),
    );
    const data = {
      isMine,
      counts: { all: all.days, mine: mine.days },
      totals,
      days: withMoved,
      paging,
      isMasked: isMasked(request),
    };
    return sendPage(request, reply, parts, (context) => ({
      title: context.text('restated.title'),
      active: '/restated',
      body: <RestatedPage data={data} />,
    }));
  });

  server.post('/restated', forPeople(EVERYBODY), async (request, reply) => {
    const wanted = textParameter(request.body, 'file');
    const file = RESTATED_FILES.find((known) => known === wanted);
    if (file === undefined) {
      throw new InputError(`file: expected one of ${RESTATED_FILES.join(', ')}`, {
        context: { fault: 'file_format' },
      });
    }
    const { language } = pageContext(request, timeZone);
    const filter = filterOf(request, textParameter(request.body, 'mine') === 'true');
    return sendFile(reply, logger, (signal, send) =>
      exportRestated(
        database,
        {
          file,
          filter,
          actor: actorOf(request),
          locale: language,
          isMasked: isMasked(request),
        },
        signal,
        (bytes) =>
          send({
            name: fileName(file, filter.today, language),
            type: 'text/csv; charset=utf-8',
            bytes,
          }),
      ),
    );
  });
}

function fileName(file: RestatedFile, today: CivilDate, language: Language): string {
  return `${textOf(language)(`fileNames.restated.${file}`)}-${today}.csv`;
}
