import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { UIConfig } from '@bull-board/api/typings/app';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { readAssets } from './assets.ts';
import { BOARD_PATH } from './board-path.ts';
import { type PageContext, pageContext } from './page-context.ts';

/** The page loads only files of this server. */
const BOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Registers Bull Board, read-only: the ledger decides which pulls are due, and the next tick of the
 * planner would undo a manual retry or removal of a job. The table of routes restricts this page
 * like every other one.
 */
export async function registerQueueBoard(
  server: FastifyInstance,
  queues: readonly Queue[],
  timeZone: string,
): Promise<void> {
  const { icon } = readAssets();
  const adapter = new FastifyAdapter().setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: adapter,
    options: { uiConfig: { hideDocsLink: true, favIcon: { default: icon, alternative: icon } } },
  });
  await server.register(
    async (board) => {
      board.addHook('onRequest', async (_request, reply) => {
        reply.header('content-security-policy', BOARD_POLICY);
      });
      board.addHook('onSend', async (request, reply, payload) => {
        const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
        return isPage && typeof payload === 'string'
          ? inConsoleLook(payload, pageContext(request, timeZone))
          : payload;
      });
      // After the hook that refuses other people.
      board.addHook('preValidation', async (request, reply) => {
        if (request.method !== 'GET' && request.method !== 'HEAD') {
          return reply.code(405).send({ code: 'READ_ONLY', message: 'the queue is shown only' });
        }
        return undefined;
      });
      // Bull Board answers with the messages of errors, including those of the driver.
      board.addHook('preSerialization', async (_request, reply, payload) =>
        reply.statusCode >= 500
          ? { code: 'QUEUE_UNAVAILABLE', message: 'the queue cannot be shown' }
          : payload,
      );
      await board.register(adapter.registerPlugin());
    },
    { prefix: BOARD_PATH },
  );
}

/** The colours of console.css, by the names of Bull Board. */
const PALETTE = {
  light: {
    background: '#f6f7f6',
    foreground: '#17201d',
    card: '#ffffff',
    popover: '#ffffff',
    primary: '#0f5c56',
    'primary-foreground': '#ffffff',
    secondary: '#eff2f0',
    'secondary-foreground': '#17201d',
    muted: '#eff2f0',
    'muted-foreground': '#55625c',
    accent: '#e0efec',
    'accent-foreground': '#17201d',
    destructive: '#ab1f2d',
    border: '#dde2df',
    input: '#8a9590',
    sidebar: '#eff2f0',
    'sidebar-foreground': '#17201d',
    'sidebar-border': '#dde2df',
    'status-failed': '#ab1f2d',
    'status-completed': '#1b6e3c',
    'status-waiting': '#8a5200',
    'status-delayed': '#5b3fa6',
  },
  dark: {
    background: '#101513',
    foreground: '#e6ebe8',
    card: '#181f1c',
    popover: '#181f1c',
    primary: '#5cc4b8',
    'primary-foreground': '#06211e',
    secondary: '#212926',
    'secondary-foreground': '#e6ebe8',
    muted: '#212926',
    'muted-foreground': '#a3afa9',
    accent: '#17332f',
    'accent-foreground': '#e6ebe8',
    destructive: '#ff9299',
    border: '#2f3935',
    input: '#75817b',
    sidebar: '#212926',
    'sidebar-foreground': '#e6ebe8',
    'sidebar-border': '#2f3935',
    'status-failed': '#ff9299',
    'status-completed': '#77cf95',
    'status-waiting': '#f0b75e',
    'status-delayed': '#b8a4f4',
  },
} as const;

const SYSTEM_FONTS = {
  'font-sans': 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  'font-mono': 'ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace',
};

/** The document of Bull Board in the language and the colours of the reader, with a way back. */
function inConsoleLook(html: string, context: PageContext): string {
  const { language, text, theme, assets } = context;
  const config: UIConfig = {
    boardTitle: text.nav.queue,
    boardLogo: { path: assets.icon },
    locale: { lng: language === 'en' ? 'en-GB' : language },
    theme: {
      light: { ...PALETTE[theme === 'dark' ? 'dark' : 'light'], ...SYSTEM_FONTS },
      dark: { ...PALETTE[theme === 'light' ? 'light' : 'dark'], ...SYSTEM_FONTS },
    },
  };
  return (
    html
      .replace('<html lang="en"', `<html lang="${language}" data-theme="${theme}"`)
      .replace(/<title>[^<]*<\/title>/, `<title>${text.nav.queue} · ${text.product}</title>`)
      // The fonts of another host; the policy of the page refuses them as well.
      .replace(/<link href="https:[^>]*>/g, `<link rel="stylesheet" href="${assets.board}">`)
      .replace(
        /(<script id="__UI_CONFIG__"[^>]*>)([\s\S]*?)(<\/script>)/,
        (_, open: string, json: string, close: string) =>
          open +
          JSON.stringify({ ...JSON.parse(json), ...config }).replaceAll('<', '\\u003c') +
          close,
      )
      // Without the sign of loading, which is dark and English.
      .replace(
        /<div id="root">[\s\S]*<\/div>(?=\s*<script defer)/,
        `<nav class="way-back"><a href="/">← ${text.product}</a></nav>` +
          `<noscript><p class="way-back">${text.nav.queueNeedsScript}</p></noscript><div id="root"></div>`,
      )
  );
}
