import type { Database } from '../../src/base/database/database.ts';
import { eraseParty } from '../../src/features/privacy/erase-party.sql.ts';

type Erasure = Parameters<typeof eraseParty>[1];

/** Erases the party of this tax identifier or external identifier. */
export const erase = (
  database: Database,
  party: { readonly taxId: string } | { readonly externalId: string },
  more: Partial<Erasure> = {},
) =>
  eraseParty(database, {
    party: 'taxId' in party ? { ...party, externalId: null } : { ...party, taxId: null },
    ...{ by: 'test', reason: 'a test', isDryRun: false, ...more },
  });
