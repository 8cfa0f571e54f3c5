import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { documentedVariables, ROOT } from '../docs/documents.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

const FOLDER = join(ROOT, 'ops/kubernetes');
/** The version of YAML that kubectl reads: a mode such as 0440 is octal. */
const YAML_OF_KUBECTL = { version: '1.1' } as const;

const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

const kustomization = parse(read('kustomization.yaml'), YAML_OF_KUBECTL);
const manifests: Manifest[] = kustomization.resources.flatMap((name: string) =>
  parseAllDocuments(read(name), YAML_OF_KUBECTL).map((document) => document.toJS()),
);

test('the kustomization names every file of the folder', () => {
  const named = [
    'kustomization.yaml',
    ...kustomization.resources,
    ...kustomization.configMapGenerator.flatMap(({ envs }: { envs: string[] }) => envs),
  ];
  expect(named.toSorted()).toEqual(readdirSync(FOLDER).toSorted());
});

test('the program knows every variable that the manifests set', () => {
  const known = documentedVariables();
  const set = [
    ...read('conciliation.env').matchAll(/^(\w+)=/gm),
    ...JSON.stringify(manifests).matchAll(/"name":"([A-Z][A-Z_]+)"/g),
  ].map(([, name = '']) => name);
  expect(set).toContain('PLATFORM_TOKEN_FILE');
  expect(set.filter((name) => !known.includes(name))).toEqual([]);
});

test('every pod runs without root, without rights and on a read-only file system', () => {
  const pods = manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
    .map((manifest) => manifest['spec']);
  expect(pods).toHaveLength(2);
  for (const pod of pods) {
    expect(pod).toMatchObject({
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              securityContext: {
                readOnlyRootFilesystem: true,
                allowPrivilegeEscalation: false,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
          volumes: [{ secret: { defaultMode: 0o440 } }],
        },
      },
    });
  }
});
