// What the product is made of, and whether it comes from who published it:
//
//   node scripts/supply-chain.mjs sbom         writes sbom.cdx.json (CycloneDX), what is installed in production
//   node scripts/supply-chain.mjs signatures   checks the registry's signatures of what is installed
//
// A mirror may serve no signatures, and a closed network not the keys to check them with. Then nothing is
// proved: it says so, and fails only with REQUIRE_SIGNATURES=1. A signature that is wrong always fails.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const SBOM = new URL('../sbom.cdx.json', import.meta.url);
const MANIFEST = new URL('../package.json', import.meta.url);

/**
 * @typedef {object} Component of the SBOM, as far as it is read here
 * @property {string} bom-ref
 * @property {string} [group]
 * @property {string} name
 * @property {string} version
 * @property {Property[]} [properties]
 *
 * @typedef {{ name: string, value: string }} Property
 *
 * @typedef {object} Bom
 * @property {{ component: Component }} metadata
 * @property {Component[]} components
 * @property {{ ref: string, dependsOn?: string[] }[]} dependencies
 */

/** @param {string[]} args */
function npm(...args) {
  const run = spawnSync('npm', [...args, '--loglevel', 'error'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (run.error) throw run.error;
  return run;
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function writeSbom() {
  const { status, stdout, stderr } = npm('sbom', '--sbom-format', 'cyclonedx');
  if (status !== 0) fail(`npm sbom failed:\n${stderr}`);
  /** @type {Bom} */
  const bom = JSON.parse(stdout);
  // Not --omit dev: npm then also leaves out what production and development share.
  bom.components = bom.components.filter(({ properties }) => !properties?.some(isDevelopment));
  const kept = new Set([
    bom.metadata.component['bom-ref'],
    ...bom.components.map((part) => part['bom-ref']),
  ]);
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn = [] }) => ({
      ref,
      dependsOn: dependsOn.filter((part) => kept.has(part)),
    }));
  const listed = new Set(bom.components.map((part) => `${fullName(part)}@${part.version}`));
  /** @type {Record<'dependencies' | 'devDependencies', Record<string, string>>} */
  const { dependencies, devDependencies } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  const missing = Object.entries(dependencies).filter((part) => !listed.has(part.join('@')));
  if (missing.length > 0) {
    fail(`the SBOM lacks ${missing.map((part) => part.join('@')).join(', ')}`);
  }
  const extra = Object.entries(devDependencies).filter((part) => listed.has(part.join('@')));
  writeFileSync(SBOM, `${JSON.stringify(bom, null, 2)}\n`);
  console.log(
    `sbom.cdx.json: ${bom.components.length} packages${extra.length === 0 ? '' : `, of development as well: ${extra.map(([name]) => name).join(', ')}`}.`,
  );
}

const isDevelopment = (/** @type {Property} */ { name, value }) =>
  name === 'cdx:npm:package:development' && value === 'true';

/** @param {Component} component */
function fullName({ group, name }) {
  return group === undefined ? name : `${group}/${name}`;
}

function auditSignatures() {
  const { status, stdout, stderr } = npm('audit', 'signatures', '--fetch-retries', '0');
  const said = `${stdout}${stderr}`;
  if (status === 0 && /verified registry signatures?/.test(said)) return console.log(stdout.trim());
  if (/invalid (registry signature|attestation)|missing registry signature/i.test(said)) {
    fail(`Signatures of packages are wrong:\n${said}`);
  }
  const reason =
    stderr
      .split('\n')
      .map((line) => /^npm error (.*)/.exec(line)?.[1] ?? '')
      .find((line) => line.includes(' ') && !/^(?:code|syscall|errno) /.test(line)) ??
    'npm did not say why';
  const message = `SIGNATURES NOT CHECKED: neither the registry nor its keys could be asked (${reason}).`;
  if (process.env['REQUIRE_SIGNATURES'] === '1') fail(message);
  process.stderr.write(`${message}\n`);
}

const commands = new Map([
  ['sbom', writeSbom],
  ['signatures', auditSignatures],
]);
const command = commands.get(process.argv[2] ?? '');
if (command === undefined) fail('usage: node scripts/supply-chain.mjs sbom|signatures');
command();
