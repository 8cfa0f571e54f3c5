// Days of operation in an hour: npm run soak -- --minutes 60 [--queue redis|postgres] [--seed n]
import { loadTypescript } from './load-typescript.mjs';

const { runSoak } = await loadTypescript('soak.ts');
process.exit(await runSoak(process.argv.slice(2)));
