import type { InputError } from '../../runtime/errors.ts';
import { faultSentence } from './faults-text.ts';
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
    400: [message === null ? errors.badRequest : errors.refused, null],
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
