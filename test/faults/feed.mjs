// The promise of the feed under load and faults: npm run feed -- --minutes 10 [--seed n]
import { loadTypescript } from './load-typescript.mjs';

const { runFeed } = await loadTypescript('feed.ts');
process.exit(await runFeed(process.argv.slice(2)));
