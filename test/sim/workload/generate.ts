// Generates the workflows of a seed: random trees of every kind of step, bounded in depth and in the runs they can start.

import type { Extra } from '../core/extras.ts'
import type { Rng } from '../core/random.ts'
import { APPS, eventsOfLevel, HOOK_URL, LEVELS, RUN_SIGNALS, SIGNALS, START_KEYS, STARTING_SIGNAL } from './names.ts'
import type { Node, RunNode, Sequence, StartKey, StepKind, WorkflowSpec } from './program.ts'

const DEPTH_MAX = 2

export function generateWorkflows(rng: Rng, extras: ReadonlySet<Extra>): WorkflowSpec[] {
  const specs: WorkflowSpec[] = []
  const generate = (own: Rng, self: Pick<WorkflowSpec, 'app' | 'name' | 'level'>) => {
    const spec = { ...generateWorkflow(own, self), ...extrasOfWorkflow(own.fork('extras'), extras) }
    const waiting = extras.has('runWaits') ? withRunWait(spec, own.fork('run wait')) : spec
    const signalled = extras.has('signals') ? withSignalWaits(waiting, own.fork('signal waits')) : waiting
    const starting = extras.has('starts') ? withStarts(signalled, own.fork('starts')) : signalled
    return extras.has('singletons') ? asSingleton(starting, own.fork('singleton')) : starting
  }
  for (let level = 0; level < LEVELS; level++) {
    const count = rng.int(1, 3)
    for (let i = 0; i < count; i++) {
      const name = `flow-${level}-${i}`
      const apps = rng.chance(0.25) ? APPS : [rng.pick(APPS)]
      for (const app of apps) specs.push(generate(rng.fork(`${app}/${name}`), { app, name, level }))
    }
  }
  // The last level starts nothing, so it may listen to the events of all levels.
  const listener = { app: rng.pick(APPS), name: 'listener', level: LEVELS }
  specs.push({
    ...generate(rng.fork('listener'), listener),
    triggers: [{ event: STARTING_SIGNAL }],
  })
  return specs
}

/** The event names that start the workflow. */
export function triggeringEvents({ triggers, level, name }: WorkflowSpec): string[] {
  const [trigger] = triggers ?? []
  if (!trigger) return [name]
  return trigger.event.endsWith('*') ? eventsOfLevel(level) : [trigger.event]
}

function generateWorkflow(rng: Rng, self: { app: string; name: string; level: number }): WorkflowSpec {
  const grower = new Grower(rng, self.level)
  const triggers = rng.weighted<'name' | 'exact' | 'wildcard'>({ name: 2, exact: 4, wildcard: 2 })
  return {
    ...self,
    ...(triggers === 'name'
      ? {}
      : {
          triggers: [{ event: triggers === 'exact' ? rng.pick(eventsOfLevel(self.level)) : `go.${self.level}.*` }],
        }),
    retry: {
      maxAttempts: rng.int(1, 4),
      initialMs: rng.pick([0, 50, 1000]),
      factor: rng.pick([1, 2]),
      maxMs: 5000,
      jitter: rng.pick([0, 0.2]),
    },
    onFailure: rng.chance(0.4),
    ...(rng.chance(0.3) ? { invokeTimeoutMs: rng.pick([2000, 10_000]) } : {}),
    body: grower.sequence(rng.int(1, 5), 0),
    failureBody: grower.sequence(rng.int(0, 2), DEPTH_MAX),
    throwsOften: rng.chance(0.15) ? 0.1 : 0,
    throwsFatallyOften: rng.fork('fatal').chance(0.1) ? 0.05 : 0,
    ...(rng.fork('exhausted').chance(0.3) ? { whenExhausted: 'pause' as const } : {}),
  }
}

function extrasOfWorkflow(
  rng: Rng,
  extras: ReadonlySet<Extra>,
): Pick<WorkflowSpec, 'undoes' | 'keeps' | 'links' | 'spends' | 'limits'> {
  const [undoes, keeps, links, spends] = [rng.chance(0.7), rng.chance(0.5), rng.chance(0.5), rng.chance(0.5)]
  return {
    ...(extras.has('cleanup') && undoes ? { undoes: true } : {}),
    ...(extras.has('slots') && keeps ? { keeps: rng.int(1, 2) } : {}),
    ...(extras.has('budgets') && spends ? { spends: true } : {}),
    ...(extras.has('limits') ? { limits: true } : {}),
    ...(extras.has('links') && links ? { links: rng.int(1, 2) } : {}),
  }
}

/** Some workflows wait for another run once. */
function withRunWait(spec: WorkflowSpec, rng: Rng): WorkflowSpec {
  if (rng.chance(0.4)) return spec
  const wait: Node = { kind: 'runWait', id: 'run wait', name: 'run wait', timeoutMs: rng.pick([0, 100, 5000, 60_000]) }
  return { ...spec, body: spec.body.toSpliced(rng.int(0, spec.body.length), 0, wait) }
}

/** Most workflows wait for signals, one after the other, and answer the updates among them. */
function withSignalWaits(spec: WorkflowSpec, rng: Rng): WorkflowSpec {
  let body = spec.body
  for (let i = rng.int(0, 4); i > 0; i--) {
    const id = `signal wait ${i}`
    const timeoutMs = rng.pick([0, 100, 5000, 60_000])
    const wait: Node = { kind: 'signalWait', id, name: id, signal: rng.pick(RUN_SIGNALS), timeoutMs }
    const reply: Node = { kind: 'reply', id: `reply to ${id}`, name: `reply to ${id}`, to: id }
    body = body.toSpliced(rng.int(0, body.length), 0, wait, reply)
  }
  return { ...spec, body }
}

/** Some workflows start runs of higher-level workflows, which outlive their own runs. */
function withStarts(spec: WorkflowSpec, rng: Rng): WorkflowSpec {
  if (spec.level >= LEVELS - 1) return spec
  let body = spec.body
  for (let i = rng.int(0, 2); i > 0; i--) {
    const id = `start ${i}`
    const workflow = workflowAbove(spec.level, rng)
    const delayMs = rng.pick([undefined, undefined, 0, 5000])
    const node: Node = { kind: 'start', id, name: id, workflow, ...startKeyOf(rng), ...(delayMs && { delayMs }) }
    body = body.toSpliced(rng.int(0, body.length), 0, node)
  }
  return { ...spec, body }
}

/** Most direct starts have a key. */
export function startKeyOf(rng: Rng): StartKey {
  if (rng.chance(0.2)) return {}
  const ifRunning = rng.pick([undefined, 'use', 'refuse', 'cancel'] as const)
  return { key: rng.pick(START_KEYS), ...(ifRunning && { ifRunning }) }
}

/** Most workflows are singletons that wait for the events that start them. Some events cancel their runs. */
function asSingleton(spec: WorkflowSpec, rng: Rng): WorkflowSpec {
  if (rng.chance(0.3)) return spec
  const mode = rng.weighted<'skip' | 'cancel' | 'deliver'>({ deliver: 6, skip: 1.5, cancel: 1.5 })
  const singleton = { mode, ...(rng.chance(0.6) ? { key: 'event.data.k' } : {}) }
  let body = spec.body
  for (let i = rng.int(0, 3); i > 0; i--) {
    const id = `own wait ${i}`
    const eventName = rng.pick(triggeringEvents(spec))
    const wait: Node = { kind: 'wait', id, name: id, eventName, timeoutMs: rng.pick([0, 100, 5000, 30_000]) }
    body = body.toSpliced(rng.int(0, body.length), 0, wait)
  }
  return { ...spec, body, singleton, ...(rng.chance(0.5) ? { cancelOn: rng.pick(SIGNALS) } : {}) }
}

/** A few steps have their own policy. */
function policyOf(rng: Rng): Pick<RunNode, 'retry'> {
  if (!rng.chance(0.25)) return {}
  return { retry: { maxAttempts: rng.int(1, 4), initialMs: rng.pick([0, 50, 1000]) } }
}

function timeoutOf(rng: Rng): { timeoutMs?: number } {
  const timeoutMs = rng.pick([undefined, 0, 10, 1000, rng.int(1, 30_000), 30_000])
  return timeoutMs === undefined ? {} : { timeoutMs }
}

class Grower {
  readonly #rng: Rng
  readonly #level: number
  #count = 0

  constructor(rng: Rng, level: number) {
    this.#rng = rng
    this.#level = level
  }

  sequence(length: number, depth: number, insideCatch = false): Sequence {
    const nodes: Sequence = []
    for (let i = 0; i < length; i++) nodes.push(this.#node(depth, insideCatch, nodes))
    return nodes
  }

  #node(depth: number, insideCatch: boolean, before: Sequence): Node {
    const rng = this.#rng
    const startsMore = this.#level < LEVELS
    const branching = depth < DEPTH_MAX ? 1 : 0
    const kind = rng.weighted({
      run: 7,
      sleep: 1.5,
      sleepUntil: 0.5,
      wait: 1.5,
      callback: 1.5,
      runWait: 0,
      signalWait: 0,
      reply: 0,
      start: 0,
      webhook: 0.7,
      emit: startsMore ? 1.2 : 0,
      child: startsMore && this.#level < LEVELS - 1 ? 0.8 : 0,
      all: 3 * branching,
      race: 0.6 * branching,
      caught: 1 * branching,
      // Only where every pass arrives in the same order, because the index of a handler's line counts from the start.
      log: depth === 0 ? 1 : 0,
    } satisfies Record<Node['kind'], number>)
    switch (kind) {
      case 'all':
      case 'race': {
        const branches = Array.from({ length: rng.int(2, 3) }, () =>
          this.sequence(rng.int(1, 2), depth + 1, insideCatch),
        )
        return { kind, branches }
      }
      case 'caught':
        if (rng.fork(`certain ${this.#count}`).chance(0.5)) return { kind, body: [this.#failing(before)] }
        return { kind, body: this.sequence(rng.int(1, 2), depth + 1, true) }
      case 'log':
        return { kind, message: `line ${this.#count++}` }
      default:
        return this.#leaf(kind, insideCatch, before)
    }
  }

  /** A step that fails at once. The handler catches its error. */
  #failing(before: Sequence): Node {
    return { kind: 'run', ...this.#named(before), failures: [9], nonRetriable: true, catchable: true, logLines: 0 }
  }

  #leaf(kind: StepKind, insideCatch: boolean, before: Sequence): Node {
    const rng = this.#rng
    const leaf = this.#named(before)
    switch (kind) {
      case 'run':
        return {
          kind,
          ...leaf,
          failures: rng.pick([[0], [0], [0], [0, 0, 1], [0, 1, 2], [0, 0, 9]]),
          nonRetriable: rng.chance(0.1),
          catchable: insideCatch && rng.chance(0.7),
          ...policyOf(rng.fork(`policy ${leaf.id}`)),
          ...(rng.chance(0.1) ? { retryAfterMs: rng.int(0, 3000) } : {}),
          logLines: rng.chance(0.3) ? rng.int(1, 2) : 0,
        }
      case 'sleep':
        return { kind, ...leaf, ms: rng.pick([0, 1, 100, 1000, rng.int(1, 20_000), 40_000]) }
      case 'sleepUntil':
        return { kind, ...leaf, atMs: rng.int(-10_000, 60_000) }
      case 'wait':
        return { kind, ...leaf, ...timeoutOf(rng), eventName: rng.pick(SIGNALS) }
      case 'callback':
        return { kind, ...leaf, ...timeoutOf(rng) }
      case 'runWait':
        return { kind, ...leaf, timeoutMs: 1000 }
      case 'signalWait':
        return { kind, ...leaf, signal: rng.pick(RUN_SIGNALS), timeoutMs: 1000 }
      case 'reply':
        return { kind, ...leaf, to: '' }
      case 'start':
        return { kind, ...leaf, workflow: workflowAbove(this.#level, rng) }
      case 'emit':
        return { kind, ...leaf, eventName: this.#emitted() }
      case 'child':
        return {
          kind,
          ...leaf,
          workflow: workflowAbove(this.#level, rng),
          ...(rng.chance(0.1) ? { app: rng.pick(APPS) } : {}),
        }
      case 'webhook':
        return { kind, ...leaf, url: rng.chance(0.05) ? 'ftp://nowhere/' : HOOK_URL }
    }
  }

  /** A new name, or sometimes the name of an earlier step of the same sequence. The position distinguishes them. */
  #named(before: Sequence): { id: string; name: string } {
    const own = `s${this.#count++}`
    const names = before.flatMap(node => ('name' in node ? [node.name] : []))
    if (names.length === 0 || !this.#rng.chance(0.15)) return { id: own, name: own }
    const name = this.#rng.pick(names)
    return { id: `${name}:${names.filter(other => other === name).length}`, name }
  }

  #emitted(): string {
    const rng = this.#rng
    const level = this.#level + 1
    return level < LEVELS && rng.chance(0.4) ? rng.pick(eventsOfLevel(level)) : rng.pick(SIGNALS)
  }
}

/** A higher-level workflow. It may not be registered at all. */
function workflowAbove(level: number, rng: Rng): string {
  return rng.chance(0.05) ? 'nowhere' : `flow-${rng.int(level + 1, LEVELS - 1)}-${rng.int(0, 1)}`
}
