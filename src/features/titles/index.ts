import type { Feature } from '../../console/shell/console-parts.ts';
import { TITLES_API } from './pages/api.ts';
import { TITLE } from './pages/title-page.tsx';
import { TITLES } from './pages/titles-page.tsx';

export const titles: Feature = {
  name: 'titles',
  pages: [TITLE],
  lists: [TITLES],
  api: TITLES_API,
};
