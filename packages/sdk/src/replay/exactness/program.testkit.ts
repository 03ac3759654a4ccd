// Random workflows: any nesting of steps with `Promise.all`, `race`, `any`, `allSettled`, loops and catches. Runs them as
// a handler, and computes without an engine which results they may have.

import type { Opcode } from '@perdure/protocol'
import { type Arbitrary, array, boolean, constant, constantFrom, integer, letrec, oneof, record } from 'fast-check'
import type { WorkflowArgs } from '../../workflow/workflow.ts'

/** The call of each kind of opcode. A kind of the wire protocol without an entry does not compile. */
interface CallOfOpcode {
  StepRun: 'run' | 'now'
  Sleep: 'sleep'
  SleepUntil: 'sleepUntil'
  WaitForEvent: 'wait'
  WaitForSignal: 'signal'
  ReplyToUpdate: 'reply'
  WaitForCallback: 'callback'
  RunWorkflow: 'child'
  Emit: 'emit'
  Webhook: 'webhook'
}
/** Programs do not wait for turns, runs or signals, and do not start or cancel runs directly. */
type StepOp = CallOfOpcode[Exclude<
  Opcode['op'],
  'StepLimit' | 'WaitForRun' | 'WaitForSignal' | 'ReplyToUpdate' | 'StartRun' | 'CancelRun'
>]
export interface StepNode {
  kind: 'step'
  op: StepOp
  /** One of a few names, so that branches share names: the step's id then depends on which branch calls first. */
  name: string
  /** How many attempts of the callback fail. With `ALWAYS` the step fails; a child fails too. */
  failures: number
  /** Whether the callback is synchronous. */
  quick: boolean
}
interface MapNode {
  kind: 'map'
  name: string
  nodes: StepNode[]
  concurrency: number
}
export type Node =
  | StepNode
  | MapNode
  | { kind: 'seq' | 'all' | 'allSettled' | 'race' | 'stepRace' | 'any'; nodes: Node[] }
  | { kind: 'loop'; count: number; body: Node }
  | { kind: 'catch'; body: Node }

const ALWAYS = 99

/** How often a step makes each call. */
const OFTEN: Record<StepOp, number> = {
  run: 4,
  sleep: 1,
  sleepUntil: 1,
  wait: 1,
  callback: 1,
  child: 1,
  emit: 1,
  webhook: 1,
  now: 1,
}
const STEP_OPS = (Object.keys(OFTEN) as StepOp[]).flatMap(op => Array<StepOp>(OFTEN[op]).fill(op))

const step: Arbitrary<StepNode> = record({
  kind: constant('step' as const),
  op: constantFrom(...STEP_OPS),
  name: constantFrom('a', 'b', 'a:1'),
  failures: constantFrom(0, 0, 0, 0, 1, 2, ALWAYS),
  quick: boolean(),
})

const branches = constantFrom('seq' as const, 'seq', 'all', 'all', 'allSettled', 'race', 'stepRace', 'any')
const callbacks = step.map((one): StepNode => ({ ...one, op: 'run' }))

/** Generates programs of a few steps, sometimes a dozen. Their errors are caught at the top. */
export const programs: Arbitrary<Node> = letrec<{ node: Node; group: Node }>(tie => ({
  group: record({ kind: branches, nodes: array(tie('node'), { minLength: 1, maxLength: 3 }) }),
  node: oneof(
    { depthSize: 'max', withCrossShrink: true, maxDepth: 3 },
    { weight: 5, arbitrary: step as Arbitrary<Node> },
    { weight: 4, arbitrary: tie('group') },
    {
      weight: 1,
      arbitrary: record({
        kind: constant('map' as const),
        name: constantFrom('a', 'm'),
        nodes: array(callbacks, { minLength: 1, maxLength: 4 }),
        concurrency: integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: record({
        kind: constant('loop' as const),
        count: integer({ min: 1, max: 3 }),
        body: tie('node'),
      }),
    },
    { weight: 1, arbitrary: record({ kind: constant('catch' as const), body: tie('node') }) },
  ),
})).group.map(body => ({ kind: 'catch', body }))

/** Runs callbacks for a handler: each resolves with `path`, sooner or later, or throws. */
type RunCallback = (path: string, node: StepNode) => string | Promise<string>

interface Play extends Pick<WorkflowArgs, 'step' | 'ctx'> {
  runCallback: RunCallback
  /** Undoes a step, by its path. */
  rollback: RunCallback
  /** Called for every step call, and for every result. */
  note(line: string): void
}

/** Runs a node as part of a handler. Each step returns its path, which is unique in the program. */
export async function play(node: Node, path: string, on: Play): Promise<unknown> {
  switch (node.kind) {
    case 'step':
      return playStep(node, path, on)
    case 'seq':
    case 'loop': {
      const values: unknown[] = []
      for (const [i, one] of inOrder(node).entries()) values.push(await play(one, `${path}.${i}`, on))
      return values
    }
    case 'catch':
      return play(node.body, `${path}.0`, on).catch(() => 'caught')
    case 'map':
      return playMap(node, path, on)
    case 'stepRace': {
      const branches = node.nodes.map((one, i) => [i, () => play(one, `${path}.${i}`, on)] as const)
      return on.step.race(Object.fromEntries(branches)).then(({ value }) => value)
    }
    default:
      return together(
        node.kind,
        node.nodes.map((one, i) => play(one, `${path}.${i}`, on)),
      )
  }
}

async function together(kind: 'all' | 'allSettled' | 'race' | 'any', branches: Promise<unknown>[]) {
  if (kind === 'all') return Promise.all(branches)
  if (kind === 'race') return Promise.race(branches)
  if (kind === 'any') return Promise.any(branches)
  const settled = await Promise.allSettled(branches)
  return settled.map(one => (one.status === 'fulfilled' ? one.value : 'rejected'))
}

/** Notes the results of all items in one line, because the handler gets them together. */
async function playMap({ name, nodes, concurrency }: MapNode, path: string, on: Play): Promise<unknown> {
  const rollback = (done: string) => on.rollback(done, nodes[Number(done.split('.').at(-1))] as StepNode)
  const callback = (one: StepNode, i: number) => on.runCallback(`${path}.${i}`, one)
  try {
    const given = await on.step.map(name, nodes, callback, { concurrency, rollback })
    on.note(`${given} gave ${given}`)
    return given
  } catch (error) {
    const { message } = error as Error
    on.note(`${message.replace(/ fails$/, '')} threw ${message}`)
    throw error
  }
}

async function playStep(node: StepNode, path: string, on: Play): Promise<string> {
  on.note(`call ${path}`)
  try {
    const given = await callStep(node, path, on)
    on.note(`${path} gave ${given}`)
    return given
  } catch (error) {
    on.note(`${path} threw ${(error as Error).message}`)
    throw error
  }
}

async function callStep(node: StepNode, path: string, { step, ctx, runCallback, rollback }: Play): Promise<string> {
  const { name } = node
  const does = {
    run: () => step.run(name, () => runCallback(path, node), { rollback: done => rollback(done, node) }),
    sleep: () => step.sleep(name, 1000).then(() => path),
    sleepUntil: () => step.sleepUntil(name, 1000).then(() => path),
    wait: () => step.waitForEvent(name, { event: path }).then(event => event?.name ?? 'nothing'),
    callback: () =>
      ctx
        .callback(name)
        .wait()
        .then(posted => (posted === null ? 'nothing' : path)),
    child: () => step.runWorkflow<string>(name, { workflow: 'child', data: { path, fails: node.failures === ALWAYS } }),
    emit: () => step.emit(name, { event: path }).then(() => path),
    webhook: () => ctx.webhook.send(name, { url: `https://example.com/${path}` }).then(() => path),
    now: () => ctx.now().then(time => (typeof time === 'number' ? path : 'nothing')),
  }
  return does[node.op]()
}

function inOrder(node: Exclude<Node, { kind: 'step' | 'catch' }>): Node[] {
  return node.kind === 'loop' ? Array.from({ length: node.count }, () => node.body) : node.nodes
}

/** Returns the kind of every step, by its path. */
export function opsOf(node: Node, path = '0'): Map<string, StepNode['op']> {
  if (node.kind === 'step') return new Map([[path, node.op]])
  const inner = node.kind === 'catch' ? [node.body] : inOrder(node)
  return new Map(inner.flatMap((one, i) => [...opsOf(one, `${path}.${i}`)]))
}

/** Returns the paths of the steps that `step.race` or `step.map` may cut off. */
export function mayBeCutOff(node: Node, path = '0', isWithin = false): Set<string> {
  if (node.kind === 'step') return new Set(isWithin ? [path] : [])
  const inner = node.kind === 'catch' ? [node.body] : inOrder(node)
  const cuts = isWithin || node.kind === 'stepRace' || node.kind === 'map'
  return new Set(inner.flatMap((one, i) => [...mayBeCutOff(one, `${path}.${i}`, cuts)]))
}

/** The outcome of a node: its value, or that it threw. */
type Ending = { value: unknown } | 'threw'

/** Whether a node may have this outcome for some order of settling. Without race and any, only one outcome is possible. */
export function admits(node: Node, path: string, ending: Ending): boolean {
  const child = (one: Node, i: number, end: Ending) => admits(one, `${path}.${i}`, end)
  const threw = ending === 'threw'
  switch (node.kind) {
    case 'step':
      return failsForGood(node) ? threw : !threw && ending.value === path
    case 'catch':
      return !threw && (child(node.body, 0, ending) || (ending.value === 'caught' && child(node.body, 0, 'threw')))
    case 'allSettled':
      return (
        !threw &&
        everyValue(node.nodes, ending.value, (one, i, value) => {
          return child(one, i, { value }) || (value === 'rejected' && child(one, i, 'threw'))
        })
      )
    case 'race':
    case 'stepRace':
      return node.nodes.some((one, i) => child(one, i, ending))
    case 'any':
      return threw
        ? node.nodes.every((one, i) => child(one, i, 'threw'))
        : node.nodes.some((one, i) => child(one, i, ending))
    default:
      return threw
        ? inOrder(node).some((one, i) => child(one, i, 'threw'))
        : everyValue(inOrder(node), ending.value, (one, i, value) => child(one, i, { value }))
  }
}

function everyValue(nodes: Node[], values: unknown, holds: (n: Node, i: number, v: unknown) => boolean): boolean {
  if (!Array.isArray(values) || values.length !== nodes.length) return false
  return nodes.every((one, i) => holds(one, i, values[i]))
}

function failsForGood({ op, failures }: StepNode): boolean {
  return failures === ALWAYS && (op === 'run' || op === 'child')
}

/** Returns the paths of the callbacks that must have run; undefined when that depends on the order of settling. */
export function mustRun(node: Node, path = '0'): { paths: string[]; threw: boolean } | undefined {
  if (node.kind === 'step') return { paths: node.op === 'run' ? [path] : [], threw: failsForGood(node) }
  if (node.kind === 'race' || node.kind === 'stepRace' || node.kind === 'any') return undefined
  const paths: string[] = []
  for (const [i, one] of (node.kind === 'catch' ? [node.body] : inOrder(node)).entries()) {
    const inner = mustRun(one, `${path}.${i}`)
    if (!inner || (inner.threw && (node.kind === 'all' || node.kind === 'map'))) return undefined
    paths.push(...inner.paths)
    if (inner.threw && (node.kind === 'seq' || node.kind === 'loop')) return { paths, threw: true }
  }
  return { paths, threw: false }
}
