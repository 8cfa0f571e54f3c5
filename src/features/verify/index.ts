import type { Feature } from '../../console/shell/console-parts.ts';
import { startVerification } from './verify.sql.ts';

export const verify: Feature = {
  name: 'verify',
  loops: (parts) => [startVerification(parts)],
};
