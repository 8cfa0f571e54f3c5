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
  ['split', /\/reader\/(title-stream|json-scanner|json-states|byte-capture|container-stack)\.js$/],
  ['fast reader', /\/reader\/(fast-reader|title-locator)\.js$/],
  ['parse', /\/reader\/exact-json\.js$/],
  ['check', /\/platform\/(title-[a-z]+|drift-log)\.js$|\/typebox\//],
  ['hash', /\/domain\/title\.js$/],
  ['COPY', /\/pg-copy-streams\//],
  ['encode', /\/reader\/stage\.js$/],
  ['receive', /\/platform\/(answer-body|http-origin)\.js$/],
  ['merge', /\/pull\/merge\/|\/dist\/(ledger|database)\/|\/@prisma\/|\/generated\//],
  ['pull, the rest', /\/dist\/(?!domain\/)/],
  ['database driver', /\/node_modules\/pg[-/]/],
];
/** @import { Measured } from './measure.mjs' */
/** @import { MeterReading } from './meter.mjs' */
/** @import { StatementTime } from './statement-times.mjs' */

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
 * @property {StatementTime[]} statements
 *
 * @typedef {object} CpuProfile the part of a .cpuprofile file that is read here; times in microseconds
 * @property {CallNode[]} nodes the first one is the root
 * @property {number[]} samples the id of the node that ran
 * @property {number[]} timeDeltas of each sample, since the one before
 * @property {number} startTime
 *
 * @typedef {{ id: number, callFrame: CallFrame, children?: number[] }} CallNode
 * @typedef {{ functionName: string, url: string, lineNumber: number }} CallFrame
 */

/**
 * @param {string} directory
 * @param {Measured} run that was profiled
 * @returns {ProfileSummary}
 */
export function summariseProfile(directory, run) {
  const { profiled, titles, elapsedMs } = run;
  if (profiled === undefined) throw new Error('the run was not profiled');
  /** @type {Map<string, number>} */
  const stages = new Map();
  /** @type {Map<string, number>} */
  const functions = new Map();
  for (const file of readdirSync(directory)) {
    /** @type {CpuProfile} */
    const profile = JSON.parse(readFileSync(join(directory, file), 'utf8'));
    const places = placeNodes(profile);
    for (const [id, ms] of selfTimes(profile, profiled.window)) {
      const { stage, name } = itemOf(places, id);
      stages.set(stage, (stages.get(stage) ?? 0) + ms);
      if (stage !== IDLE) functions.set(name, (functions.get(name) ?? 0) + ms);
    }
  }
  const sorted = (/** @type {Map<string, number>} */ times) =>
    [...times].sort(([, one], [, other]) => other - one);
  return {
    directory,
    elapsedMs,
    stages: sorted(stages).map(([stage, ms]) => ({
      stage,
      ms,
      microsecondsPerTitle: (1000 * ms) / titles,
    })),
    functions: sorted(functions)
      .slice(0, TOP_FUNCTIONS)
      .map(([name, ms]) => ({ name, ms })),
    statements: profiled.statements,
  };
}

/**
 * @template T
 * @param {Map<number, T>} nodes
 * @param {number} id
 */
function itemOf(nodes, id) {
  const node = nodes.get(id);
  if (node === undefined) throw new Error(`a CPU profile names node ${id} and lacks it`);
  return node;
}

/**
 * The stage and the printable name of every node of the call tree, by its id.
 *
 * @param {CpuProfile} profile
 */
function placeNodes({ nodes }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  /** @type {Map<number, { stage: string, name: string }>} */
  const places = new Map();
  const waiting = nodes.slice(0, 1).map(({ id }) => ({ id, callerStage: RUNTIME }));
  // Grows while it is read.
  for (const { id, callerStage } of waiting) {
    const { callFrame, children = [] } = itemOf(byId, id);
    const stage = stageOf(callFrame) ?? callerStage;
    places.set(id, { stage, name: nameOf(callFrame, stage) });
    for (const child of children) waiting.push({ id: child, callerStage: stage });
  }
  return places;
}

/** @param {CallFrame} frame */
function stageOf({ functionName, url }) {
  if (functionName === '(garbage collector)') return GARBAGE;
  if (functionName === '(idle)') return IDLE;
  return STAGES.find(([, files]) => files.test(url))?.[0];
}

/**
 * @param {CallFrame} frame
 * @param {string} stage
 */
function nameOf({ functionName, url, lineNumber }, stage) {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return `${name} [${stage}]`;
  const place = url.startsWith('node:') ? url : url.replace(/^.*\/(dist|node_modules)\//, '');
  return `${name} ${place}:${lineNumber + 1}`;
}

/**
 * Milliseconds by node, of the samples inside the window.
 *
 * @param {CpuProfile} profile
 * @param {MeterReading['window']} window
 */
function selfTimes({ samples, timeDeltas, startTime }, { fromUs, toUs }) {
  /** @type {Map<number, number>} */
  const times = new Map();
  let atUs = startTime;
  for (const [index, node] of samples.entries()) {
    atUs += timeDeltas[index] ?? 0;
    // A sample stands for the time until the next one.
    const lastsUs = timeDeltas[index + 1] ?? 0;
    if (atUs < fromUs || atUs > toUs) continue;
    times.set(node, (times.get(node) ?? 0) + lastsUs / 1000);
  }
  return times;
}
