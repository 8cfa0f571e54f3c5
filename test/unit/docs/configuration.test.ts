import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../src/base/config/config.ts';
import { ConfigError } from '../../../src/base/runtime/errors.ts';
import { codeIn, documentedVariables, readDocument, tableRowsOf } from './documents.ts';

interface Variable {
  readonly name: string;
  readonly defaultCell: string;
  readonly takesCell: string;
}

const variables: Variable[] = tableRowsOf(readDocument('docs/configuration.md')).map(
  ([nameCell = '', defaultCell = '', takesCell = '']) => ({
    name: codeIn(nameCell)[0] ?? '',
    defaultCell,
    takesCell,
  }),
);
const names = variables.map(({ name }) => name);
/** Those that may also be given as a file. */
const secrets = documentedVariables()
  .filter((name) => !names.includes(name))
  .map((name) => name.replace(/_FILE$/, ''));

const REQUIRED = { PLATFORM_BASE_URL: 'https://platform.example', PLATFORM_TOKEN: 'secret' };

function configWith(environment: Record<string, string>) {
  return readConfig({ ...REQUIRED, ...environment }, { platform: true });
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    configWith(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return [error.message];
    throw error;
  }
}

/** The settings of a configuration, for any grouping into objects; a list is one entry for each item. */
function leavesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(leavesOf)
    : [value];
}

/** The variables that `readConfig` asks an environment for. */
function variablesRead(environment: Record<string, string>): Set<string> {
  const read = new Set<string>();
  const observed = new Proxy(environment, {
    get(target, name) {
      if (typeof name === 'string') read.add(name);
      return Reflect.get(target, name);
    },
  });
  try {
    readConfig(observed, { platform: true });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  return read;
}

test('every variable that the program reads is documented once, and no other', () => {
  const read = new Set([
    ...variablesRead({}),
    ...variablesRead({ OIDC_ISSUER_URL: 'https://id.example' }),
  ]);
  expect(documentedVariables().toSorted()).toEqual([...read].sort());
});

test('.env.example has every documented variable', () => {
  const example = readDocument('.env.example').matchAll(/^#?([A-Z_]+)=/gm);
  const documented = names.filter((name) => name !== 'NODE_TLS_REJECT_UNAUTHORIZED');
  const given = [...example].map(([, name = '']) => {
    const secret = name.replace(/_FILE$/, '');
    return secrets.includes(secret) ? secret : name;
  });
  expect(given.toSorted()).toEqual(documented.toSorted());
});

describe('a documented default is the default', () => {
  const withDefault = variables.filter(({ defaultCell }) => /^`[^`]+`$/.test(defaultCell));

  test.each(withDefault)('$name is $defaultCell', ({ name, defaultCell }) => {
    // These two are read with OIDC_ISSUER_URL only.
    const company = name.startsWith('OIDC_')
      ? {
          OIDC_ISSUER_URL: 'https://id.example',
          OIDC_CLIENT_ID: 'conciliation',
          CONSOLE_PUBLIC_URL: 'https://conciliation.example',
        }
      : {};
    expect(configWith({ ...company, [name]: defaultCell.slice(1, -1) })).toEqual(
      configWith(company),
    );
  });

  test('the other variables have none: each is null or empty unless it is set', () => {
    const { platform: _, checkSeverities: __, ...settings } = configWith({});
    const ofOthers = withDefault.filter(({ name }) => !/^(PLATFORM|OIDC)_/.test(name));
    expect(leavesOf(settings).filter((value) => value !== null)).toHaveLength(ofOthers.length);
  });
});

test('the documented bounds of a number are taken, and what lies beyond is refused', () => {
  const bounded = variables.flatMap(({ name, takesCell }) => {
    const [, min, max] = /^(\d+) to (\d+)$/.exec(takesCell) ?? [];
    return min === undefined || max === undefined
      ? []
      : [{ name, min: BigInt(min), max: BigInt(max) }];
  });
  const numbers = variables.filter(({ defaultCell }) => /^`\d+`$/.test(defaultCell));
  expect(bounded.map(({ name }) => name)).toEqual(numbers.map(({ name }) => name));
  for (const { name, min, max } of bounded) {
    for (const value of [min, max]) {
      expect(problemsOf({ [name]: String(value) }), `${name}=${value}`).toEqual([]);
    }
    for (const value of [min - 1n, max + 1n]) {
      expect(problemsOf({ [name]: String(value) }), `${name}=${value}`).toEqual([
        expect.stringContaining(`${name}:`),
      ]);
    }
  }
});

test('every documented choice is taken', () => {
  const chosen = variables.filter(({ takesCell }) => /^`[^`]+`(, `[^`]+`)+$/.test(takesCell));
  expect(chosen.map(({ name }) => name)).toEqual([
    'PLAUSIBILITY',
    'CONSOLE_SECOND_FACTOR',
    'SIGN_OFF_FOUR_EYES',
    'AUTO_SIGN_OFF',
    'ALERT_LANGUAGE',
    'DIGEST',
    'LOG_LEVEL',
  ]);
  // What AUTO_SIGN_OFF and DIGEST need.
  const NEEDED = { BOOKINGS_FROM: '2026-03-01', ALERT_SLACK_URL: 'https://hooks.example' };
  for (const { name, takesCell } of chosen) {
    for (const choice of codeIn(takesCell)) {
      expect(problemsOf({ ...NEEDED, [name]: choice }), `${name}=${choice}`).toEqual([]);
    }
    const [problem = ''] = problemsOf({ [name]: 'neither' });
    expect(problem).toContain(`expected one of ${codeIn(takesCell).join(', ')}`);
  }
});

test('a variable that is documented as required is refused when it is missing', () => {
  const required = variables.filter(({ defaultCell }) => defaultCell.startsWith('required'));
  expect(required.map(({ name }) => name)).toEqual(['PLATFORM_BASE_URL', 'PLATFORM_TOKEN']);
  for (const { name } of required) {
    expect(() => readConfig({}, { platform: true })).toThrow(name);
  }
});
