import { usePage } from '../../../console/shell/page-context.ts';
import { Instant } from '../../../console/shell/parts.tsx';
import type { LastRequest, ProviderRow } from './provider-list.sql.ts';

export function LastSent({ last }: { last: LastRequest }) {
  const { text } = usePage();
  return last.sentAt === null ? (
    <span class="quiet">{text('providers.neverSent')}</span>
  ) : (
    <Instant at={last.sentAt} />
  );
}

/** The answer to the last request: the status, and why the request decided nothing. */
export function LastAnswer({ last }: { last: LastRequest }) {
  const { text } = usePage();
  if (last.sentAt === null) return <span class="quiet">–</span>;
  if (last.isUnderWay) return <span class="quiet">{text('providers.underWay')}</span>;
  return (
    <>
      {last.httpStatus === null ? text('providers.noAnswer') : `HTTP ${last.httpStatus}`}
      {last.errorCode !== null && <span class="quiet small"> {last.errorCode}</span>}
    </>
  );
}

export function ProviderState(props: { readonly state: ProviderRow['state'] }) {
  const { text } = usePage();
  const looks = {
    pending: '',
    synced: 'is-inserted',
    rejected: 'is-withdrawn',
    invalid: 'is-withdrawn',
  } as const;
  return <span class={`tag ${looks[props.state]}`}>{text(`providers.state.${props.state}`)}</span>;
}
