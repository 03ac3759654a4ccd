// Random workflows of waits: races in loops, several waits at once, branches, and callbacks that send events while they run.
// `play` runs one as a handler; model.ts says which results it must give.

import type { WorkflowArgs } from '@perdure/sdk'
import type { Seeded } from '../seeded.ts'

export const EVENT_NAMES = ['a', 'b', 'c'] as const

export type Leaf =
  /** `derived`: the handler races what `then` of the wait returns. */
  | { kind: 'wait'; event: string; since: 'run' | 'now'; derived: boolean }
  /** A callback that sends these events, and then waits for some turns of the event loop. */
  | { kind: 'run'; sends: string[]; turns: number }

export type Node =
  | { kind: 'race' | 'any' | 'all'; leaves: Leaf[] }
  /** A wait that is kept and raced against several callbacks in sequence. */
  | { kind: 'twice'; wait: Leaf; runs: [Leaf, Leaf] }
  | { kind: 'seq' | 'branches'; nodes: Node[] }
  | { kind: 'loop'; count: number; body: Node }

export function randomProgram(random: Seeded): Node {
  return { kind: 'seq', nodes: some(random, [2, 4], () => randomNode(random, 2)) }
}

function randomNode(random: Seeded, depth: number): Node {
  const kind = random.between(0, depth > 0 ? 8 : 4)
  if (kind <= 2) return { kind: kind === 2 ? 'any' : 'race', leaves: some(random, [1, 3], () => randomLeaf(random)) }
  if (kind === 3) return { kind: 'all', leaves: some(random, [1, 2], () => randomLeaf(random)) }
  if (kind === 4) return { kind: 'twice', wait: randomWait(random), runs: [randomRun(random), randomRun(random)] }
  if (kind <= 6) return { kind: 'loop', count: random.between(2, 3), body: randomNode(random, depth - 1) }
  const nodes = some(random, [2, 2], () => randomNode(random, depth - 1))
  return { kind: kind === 7 ? 'branches' : 'seq', nodes }
}

const randomLeaf = (random: Seeded) => (random.between(0, 3) === 0 ? randomRun(random) : randomWait(random))

function randomWait(random: Seeded): Leaf {
  const since = random.between(0, 7) === 0 ? 'now' : 'run'
  return { kind: 'wait', event: randomEvent(random), since, derived: random.between(0, 2) === 0 }
}

function randomRun(random: Seeded): Leaf {
  return { kind: 'run', sends: some(random, [0, 2], () => randomEvent(random)), turns: random.between(0, 4) }
}

export function randomEvent(random: Seeded): string {
  return EVENT_NAMES[random.between(0, EVENT_NAMES.length - 1)] as string
}

function some<T>(random: Seeded, [min, max]: [number, number], make: () => T): T[] {
  return Array.from({ length: random.between(min, max) }, make)
}

export interface Play extends Pick<WorkflowArgs, 'step'> {
  /** Events of this program have their own prefix. */
  prefix: string
  runCallback(leaf: Extract<Leaf, { kind: 'run' }>, path: string): Promise<string>
  /** The results that the handler got, in order. */
  trace: string[]
}

/** Runs a node as part of a handler. The name of every step is its path. */
export async function play(node: Node, path: string, on: Play): Promise<void> {
  switch (node.kind) {
    case 'race':
      on.trace.push(`${path} ${textOf(await Promise.race(callAll(node.leaves, path, on)))}`)
      return
    case 'any':
      on.trace.push(`${path} ${textOf(await Promise.any(callAll(node.leaves, path, on)))}`)
      return
    case 'all':
      on.trace.push(`${path} ${(await Promise.all(callAll(node.leaves, path, on))).map(textOf)}`)
      return
    case 'twice': {
      const kept = call(node.wait, `${path}.w`, on)
      for (const [i, run] of node.runs.entries())
        on.trace.push(`${path}.${i} ${textOf(await Promise.race([kept, call(run, `${path}.${i}`, on)]))}`)
      return
    }
    case 'branches':
      await Promise.all(node.nodes.map((one, i) => play(one, `${path}.${i}`, on)))
      return
    case 'seq':
      for (const [i, one] of node.nodes.entries()) await play(one, `${path}.${i}`, on)
      return
    case 'loop':
      for (let i = 0; i < node.count; i++) await play(node.body, `${path}.${i}`, on)
  }
}

const callAll = (leaves: Leaf[], path: string, on: Play) => leaves.map((leaf, i) => call(leaf, `${path}.${i}`, on))

function call(leaf: Leaf, path: string, { step, prefix, runCallback }: Play): Promise<unknown> {
  if (leaf.kind === 'run') return step.run(path, () => runCallback(leaf, path))
  const { event, since, derived } = leaf
  const wait = step.waitForEvent(path, { event: prefix + event, since })
  return derived ? wait.then(received => received?.id) : wait
}

/** The id of an event, or the path of a callback. */
function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? (value as { id: string }).id : String(value)
}
