import type { Feature } from '../../console/shell/console-parts.ts';
import { FIELDS, PROMOTE } from './pages/fields-page.tsx';

export const fields: Feature = {
  name: 'fields',
  pages: [FIELDS],
  actions: [PROMOTE],
};
