// Any number of runs: npm run faults -- --runs 2000 [--seed n] [--point p] [--fault f] [--queue q]
import { loadTypescript } from './load-typescript.mjs';

const { runMany } = await loadTypescript('run-many.ts');
process.exit(await runMany(process.argv.slice(2)));
