import type { Feature } from '../../console/shell/console-parts.ts';
import { eraseErased } from './erased-parties.sql.ts';

export const privacy: Feature = { name: 'privacy', engine: { beforePlan: eraseErased } };
