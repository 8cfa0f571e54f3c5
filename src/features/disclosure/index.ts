import type { Feature } from '../../console/shell/console-parts.ts';
import { DISCLOSURE } from './pages/disclosure-page.tsx';

export const disclosure: Feature = { name: 'disclosure', lists: [DISCLOSURE] };
