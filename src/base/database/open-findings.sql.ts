import { Prisma } from '../../generated/prisma/client.ts';

/** True for a row `finding` of `check_finding` that keeps its day in attention until a person resolves it. */
export const IS_OPEN_FINDING = Prisma.sql`
  (finding.severity = 'review' AND finding.closed_at IS NULL AND finding.resolved_at IS NULL)`;

/** Whether a row of `day` has such a finding. */
export const HAS_OPEN_FINDINGS = Prisma.sql`
  EXISTS (SELECT FROM conciliation.check_finding AS finding
          WHERE finding.accepted_date = day.date AND ${IS_OPEN_FINDING})`;
