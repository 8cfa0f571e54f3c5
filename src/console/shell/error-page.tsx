import { parseCivilDate } from '../../domain/business-day.ts';
import type { InputError } from '../../runtime/errors.ts';
import { renderPage } from './layout.tsx';
import type { PageContext } from './page-context.ts';

export interface ErrorAnswer {
  readonly status: number;
  /** An error with a sentence for the user; null: the sentence for the status. */
  readonly fault: InputError | null;
  /** For status 503: the service is overloaded, and the database answers. */
  readonly isBusy?: boolean;
}

export function renderErrorPage(
  context: PageContext,
  { status, fault, isBusy = false }: ErrorAnswer,
): string {
  const { errors } = context.text;
  const message = fault === null ? null : faultSentence(context, fault);
  const [title, help] = {
    400: message === null ? [errors.badRequest, errors.badRequestHelp] : [errors.refused, null],
    403: [errors.forbidden, errors.forbiddenHelp],
    404: [errors.notFound, errors.notFoundHelp],
    503: [isBusy ? errors.busy : errors.unavailable, errors.unavailableHelp],
  }[status] ?? [errors.internal, errors.internalHelp];
  return renderPage(context, {
    title: title ?? errors.internal,
    active: null,
    body: (
      <div class="narrow">
        <section class="card">
          <h1>{title}</h1>
          {message !== null && <p>{message}</p>}
          {help !== null && <p class="quiet">{help}</p>}
          <p>
            <a href="/" data-back>
              {errors.back}
            </a>
          </p>
        </section>
      </div>
    ),
  });
}

/**
 * Returns the sentence of an error in the language of the reader. Its dates and numbers are those of
 * the error's context. An error without a known fault keeps its English message.
 */
export function faultSentence({ text, formats }: PageContext, error: InputError): string {
  const { fault, ...values } = error.context;
  const sentence = Object.entries(text.faults).find(([name]) => name === fault)?.[1];
  if (sentence === undefined) return error.message;
  return sentence(
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const date = typeof value === 'string' ? parseCivilDate(value) : null;
        if (date !== null) return [name, formats.date(date)];
        if (name === 'month') return [name, formats.month(String(value))];
        return [name, typeof value === 'number' ? formats.count(value) : String(value)];
      }),
    ),
  );
}
