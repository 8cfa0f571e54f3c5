import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IMAGE } from '../support/container-setup.ts';
import { outputOf } from '../support/program.ts';
import { describeContainer } from './describe-container.ts';

interface PackageFile {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly optionalDependencies: Record<string, string>;
}

interface LockFile {
  readonly packages: Record<
    string,
    { readonly dev?: boolean; readonly dependencies?: Record<string, string> }
  >;
}

const readProjectFile = (name: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', name), 'utf8'));
const packageFile = readProjectFile('package.json') as PackageFile;
const lockFile = readProjectFile('package-lock.json') as LockFile;

function inImage(program: string, ...args: readonly string[]) {
  return outputOf('docker', ['run', '--rm', '--entrypoint', program, IMAGE, ...args]);
}

describeContainer('the image', () => {
  test('has what the program needs, and neither the Prisma command line, nor development packages, nor a PostgreSQL', async () => {
    const folders = await inImage('find', 'node_modules', '-name', 'package.json');
    const installed = new Set(
      folders.split('\n').map((path) => path.replace(/.*node_modules\/(.*)\/package\.json$/, '$1')),
    );
    const missing = Object.keys(packageFile.dependencies).filter((name) => !installed.has(name));
    expect(missing).toEqual([]);

    // Typings that dependencies ask for come along, as empty packages; so does what development and
    // a dependency both use.
    const shared = new Set(
      Object.values(lockFile.packages)
        .filter(({ dev }) => dev !== true)
        .flatMap(({ dependencies = {} }) => Object.keys(dependencies)),
    );
    const isForDevelopmentOnly = (name: string) => !name.startsWith('@types/') && !shared.has(name);
    const unwanted = [
      ...Object.keys(packageFile.devDependencies).filter(isForDevelopmentOnly),
      ...Object.keys(packageFile.optionalDependencies),
      '@prisma/engines',
      '@prisma/dev',
      '@prisma/studio-core',
    ];
    expect(unwanted.filter((name) => installed.has(name))).toEqual([]);
  });

  test('has the query compiler of PostgreSQL and no other, and no file that only tools read', async () => {
    const compilers = await inImage('find', 'node_modules', '-name', 'query_compiler_*');
    expect(compilers).toContain('.postgresql.');
    expect(compilers).not.toMatch(/sqlserver|cockroachdb|mysql|sqlite/);
    const forTools = ['-name', '*.map', '-o', '-name', '*.d.ts', '-o', '-name', '*.d.mts'];
    expect(await inImage('find', 'node_modules', ...forTools)).toBe('');
    const ownSources = ['-path', './node_modules', '-prune', '-o', '-name', '*.ts', '-print'];
    expect(await inImage('find', '.', ...ownSources)).toBe('');
  });

  test('belongs to root and runs as another user', async () => {
    expect(await inImage('id', '-u')).not.toBe('0');
    expect(await inImage('find', '/app', '!', '-user', 'root')).toBe('');
    expect(await inImage('find', '/app', '-perm', '-o=w', '!', '-type', 'l')).toBe('');
  });
});
