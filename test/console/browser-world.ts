import { mkdir } from 'node:fs/promises';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ConsoleRole } from '../../src/base/values/role.ts';
import {
  expectNoOverflow,
  findViolations,
  launchBrowser,
  type PageWatch,
  watchPages,
} from './browser.ts';
import { type ConsoleStage, openStage } from './console-stage.ts';

export const PASSWORD = 'quatro palavras ao acaso';

export const textOf = async (locator: Locator) => (await locator.allInnerTexts()).join('\n');

type ContextOptions = Parameters<Browser['newContext']>[0];

interface OpenParts {
  readonly stage: ConsoleStage;
  readonly browser: Browser;
}

/**
 * The service and a browser in which a user of each role is signed in. The flows are registered before
 * any of it is there, and use it when they run.
 */
export class BrowserWorld {
  readonly #watches: PageWatch[] = [];
  readonly #people = new Map<ConsoleRole, Page>();
  #parts: OpenParts | null = null;

  async open(executable: string): Promise<void> {
    this.#parts = { stage: await openStage(), browser: await launchBrowser(executable) };
    this.#people.set('viewer', await this.enter('vera', 'viewer'));
    this.#people.set('reviewer', await this.enter('rita', 'reviewer'));
    this.#people.set('operator', await this.enter('otto', 'operator'));
    this.#people.set('admin', await this.enter('alma', 'admin'));
  }

  async close(): Promise<void> {
    await this.#parts?.browser.close();
    await this.#parts?.stage.close();
  }

  get stage(): ConsoleStage {
    return this.#opened.stage;
  }
  get viewer(): Page {
    return this.#personOf('viewer');
  }
  get reviewer(): Page {
    return this.#personOf('reviewer');
  }
  get operator(): Page {
    return this.#personOf('operator');
  }
  get admin(): Page {
    return this.#personOf('admin');
  }

  async openContext(options: ContextOptions = {}): Promise<BrowserContext> {
    const { browser, stage } = this.#opened;
    const context = await browser.newContext({
      baseURL: stage.url,
      locale: 'en',
      viewport: { width: 1280, height: 860 },
      ...options,
    });
    this.#watches.push(watchPages(context, stage.url));
    return context;
  }

  /** Adds a person, who chooses a password by the link and is signed in. */
  async enter(name: string, role: ConsoleRole): Promise<Page> {
    const page = await (await this.openContext()).newPage();
    await page.goto(await this.stage.invite(name, role));
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByLabel('Repeat the password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Save and sign in' }).click();
    await page.waitForURL(`${this.stage.url}/`);
    return page;
  }

  /** The errors of all pages since the last call. */
  takeProblems(): string[] {
    return this.#watches.flatMap((own) => own.problems.splice(0));
  }

  async checkPage(page: Page, name: string): Promise<void> {
    expect(await findViolations(page), name).toEqual([]);
    await expectNoOverflow(page);
  }

  /** A picture of the whole page, if pictures are requested. */
  async shoot(page: Page, name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined || folder === '') return;
    await mkdir(folder, { recursive: true });
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }

  /** A page that is only so for a moment, in light and dark. */
  async keep(name: string, path: string, context: BrowserContext): Promise<void> {
    if (!process.env['SCREENSHOTS']) return;
    for (const look of ['light', 'dark'] as const) {
      const own = await this.openContext({
        storageState: await context.storageState(),
        colorScheme: look,
      });
      const page = await own.newPage();
      await page.goto(path);
      await this.shoot(page, `${name}-${look}`);
      await own.close();
    }
  }

  get #opened(): OpenParts {
    if (this.#parts === null) throw new Error('the world is not open');
    return this.#parts;
  }

  #personOf(role: ConsoleRole): Page {
    const page = this.#people.get(role);
    if (page === undefined) throw new Error(`no user is signed in as ${role}`);
    return page;
  }
}
