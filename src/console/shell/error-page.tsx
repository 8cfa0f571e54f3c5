import { renderPage } from './layout.tsx';
import type { PageContext } from './page-context.ts';

export interface ErrorAnswer {
  readonly status: number;
  /** A sentence of the console for the person; null: the sentence for the status. */
  readonly message: string | null;
  /** For status 503: the service is overloaded, and the database answers. */
  readonly isBusy?: boolean;
}

export function renderErrorPage(
  context: PageContext,
  { status, message, isBusy = false }: ErrorAnswer,
): string {
  const { errors } = context.text;
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
