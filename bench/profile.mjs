// Where the time of a pull goes: the samples of V8's CPU profiles, put together by stage.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Which stage a file belongs to. A function of any other file, of Node or of V8 counts for the stage
 * that called it: what `JSON.parse` costs the parser is the parser's.
 *
 * @type {[string, RegExp][]}
 */
const STAGES = [
  ['split', /\/pull\/(title-stream|json-scanner|json-states|byte-capture|container-stack)\.js$/],
  ['fast reader', /\/pull\/(fast-reader|title-locator)\.js$/],
  ['parse', /\/pull\/exact-json\.js$/],
  ['check', /\/platform\/(title-[a-z]+|drift-log)\.js$|\/typebox\//],
  ['hash', /\/domain\/title\.js$/],
  ['COPY', /\/pg-copy-streams\//],
  ['encode', /\/staging\/stage\.js$/],
  ['receive', /\/platform\/(answer-body|http-origin)\.js$/],
  ['merge', /\/staging\/(merge|day-ledger|pull-|rejects|in-staging)|\/@prisma\/|\/generated\//],
  ['pull, the rest', /\/dist\/(?!domain\/)/],
  ['database driver', /\/node_modules\/pg[-/]/],
];
const GARBAGE = 'garbage collection';
const IDLE = 'idle, waiting';
const RUNTIME = 'Node: sockets, streams, timers';

const TOP_FUNCTIONS = 20;

/**
 * @typedef {object} ProfileSummary
 * @property {string} directory of the .cpuprofile files, one a thread
 * @property {number} elapsedMs under the profiler
 * @property {{ stage: string, ms: number, microsecondsPerTitle: number }[]} stages
 * @property {{ name: string, ms: number }[]} functions by self time
 * @property {{ statement: string, count: number, ms: number }[]} statements
 */

/**
 * @param {string} directory
 * @param {any} run as `measure` returns it
 * @returns {ProfileSummary}
 */
export function summariseProfile(directory, run) {
  const stages = new Map();
  const functions = new Map();
  for (const file of readdirSync(directory)) {
    const profile = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    const places = placeNodes(profile);
    for (const [id, ms] of selfTimes(profile, run.profiled.window)) {
      const { stage, name } = places.get(id);
      stages.set(stage, (stages.get(stage) ?? 0) + ms);
      if (stage !== IDLE) functions.set(name, (functions.get(name) ?? 0) + ms);
    }
  }
  const sorted = (times) => [...times].sort(([, one], [, other]) => other - one);
  return {
    directory,
    elapsedMs: run.elapsedMs,
    stages: sorted(stages).map(([stage, ms]) => ({
      stage,
      ms,
      microsecondsPerTitle: (1000 * ms) / run.titles,
    })),
    functions: sorted(functions)
      .slice(0, TOP_FUNCTIONS)
      .map(([name, ms]) => ({ name, ms })),
    statements: run.profiled.statements,
  };
}

/** The stage and the printable name of every node of the call tree, by its id. */
function placeNodes({ nodes }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const places = new Map();
  const [root] = nodes;
  const waiting = [{ id: root.id, callerStage: RUNTIME }];
  while (waiting.length > 0) {
    const { id, callerStage } = waiting.pop();
    const { callFrame, children = [] } = byId.get(id);
    const stage = stageOf(callFrame) ?? callerStage;
    places.set(id, { stage, name: nameOf(callFrame, stage) });
    for (const child of children) waiting.push({ id: child, callerStage: stage });
  }
  return places;
}

function stageOf({ functionName, url }) {
  if (functionName === '(garbage collector)') return GARBAGE;
  if (functionName === '(idle)') return IDLE;
  return STAGES.find(([, files]) => files.test(url))?.[0];
}

function nameOf({ functionName, url, lineNumber }, stage) {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return `${name} [${stage}]`;
  const place = url.startsWith('node:') ? url : url.replace(/^.*\/(dist|node_modules)\//, '');
  return `${name} ${place}:${lineNumber + 1}`;
}

/** Milliseconds by node, of the samples inside the window. */
function selfTimes({ samples, timeDeltas, startTime }, { fromUs, toUs }) {
  const times = new Map();
  let atUs = startTime;
  for (let index = 0; index < samples.length; index++) {
    atUs += timeDeltas[index];
    // A sample stands for the time until the next one.
    const lastsUs = timeDeltas[index + 1] ?? 0;
    if (atUs < fromUs || atUs > toUs) continue;
    times.set(samples[index], (times.get(samples[index]) ?? 0) + lastsUs / 1000);
  }
  return times;
}
