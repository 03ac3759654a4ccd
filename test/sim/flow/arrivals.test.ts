// Idempotency, rateLimit, singleton and cancelOn, in three combinations, over random histories of posted and emitted events with
// crashes between any two writes: the engine and a reference model must agree whenever the engine is idle.
// `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n` only that one; a failure names its seed.

import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Event } from '../../../packages/engine/src/domain/model/event.ts'
import type { FlowControl } from '../../../packages/engine/src/domain/model/flow-control.ts'
import { isTerminal, type Run } from '../../../packages/engine/src/domain/model/run.ts'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import { Model, type Outcome, type Payload, type Policies } from './arrivals-model.ts'
import type { Rule } from './buffers-model.ts'
import type { CrashingEngine } from './crashing-engine.ts'
import { type History, playHistory } from './histories.ts'
import type { Policies as Holds } from './holds-model.ts'

const SEEDS = seedsOf(30)
const STEPS = 30
const SECOND = 1000
const POLICIES = ['idempotency', 'rateLimit', 'singleton', 'cancelOn'] as const
type Policy = (typeof POLICIES)[number]
/** The event that starts every workflow. */
const ALL = 'all'
const NAMESPACE = 'default'

describe.each<Policy[][]>([
  [['idempotency', 'rateLimit']],
  // Without a rate limit, events of a burst arrive at the same time.
  [['idempotency', 'singleton', 'cancelOn']],
  [[...POLICIES]],
])('%s', focus => {
  it(`is as the model says in ${SEEDS.length} histories`, { timeout: 180_000 + SEEDS.length * 500 }, async () => {
    const seen: Record<string, number> = {}
    for (const seed of SEEDS) {
      const open = (engine: CrashingEngine) => new Arrivals(engine, new Rng(seed, `arrivals ${focus}`), focus)
      const history = await playHistory(seed, open)
      for (const [what, count] of Object.entries(history.seen)) seen[what] = (seen[what] ?? 0) + count
    }
    if (isOneSeed) return
    const wanted = {
      idempotency: 'deduped',
      rateLimit: 'dropped',
      singleton: 'skipped',
      cancelOn: 'cancelled',
    }
    for (const policy of focus) expect(seen[wanted[policy]], `${policy} in ${JSON.stringify(seen)}`).toBeGreaterThan(5)
    expect(seen.emitted, 'emitted events').toBeGreaterThan(5)
  })
})

it('every policy has a reference model: this one, or one of the others in the folder', () => {
  expectTypeOf<keyof FlowControl>().toExtend<keyof Policies | keyof Holds | keyof Rule>()
})

function workflowsOf(rng: Rng, focus: readonly Policy[]): Policies[] {
  return ['one', 'two', 'three'].map(name => {
    const has = (policy: Policy) => focus.includes(policy) && rng.chance(0.7)
    const keyed = rng.chance(0.7) ? ({ key: 'event.data.k' } as const) : {}
    const filter = rng.chance(0.5) ? ({ if: 'event.data.k == async.data.k' } as const) : undefined
    const condition = filter && rng.fork(`match ${name}`).chance(0.5) ? ({ match: 'data.k' } as const) : filter
    return {
      name,
      triggers: [{ event: name }, { event: ALL }],
      ...(has('idempotency') ? { idempotency: { key: 'event.data.id', ttl: rng.int(2, 20) * SECOND } as const } : {}),
      ...(has('rateLimit') ? { rateLimit: { limit: rng.int(1, 3), period: rng.int(2, 10) * SECOND, ...keyed } } : {}),
      ...(has('singleton') ? { singleton: { mode: rng.pick(['skip', 'cancel'] as const), ...keyed } } : {}),
      ...(has('cancelOn') ? { cancelOn: [{ event: rng.pick(['stop', name, ALL]), ...condition }] } : {}),
    }
  })
}

class Arrivals implements History {
  readonly transcript: string[] = []
  readonly seen: Record<string, number> = {}
  readonly #engine: CrashingEngine
  readonly #rng: Rng
  readonly #workflows: Policies[]
  readonly #limited: boolean
  readonly #model: Model
  #count = 0
  #recorded = 0

  constructor(engine: CrashingEngine, rng: Rng, focus: readonly Policy[]) {
    this.#engine = engine
    this.#rng = rng
    this.#workflows = workflowsOf(rng, focus)
    this.#limited = focus.includes('rateLimit')
    this.#model = new Model(this.#workflows)
    this.transcript.push(JSON.stringify(this.#workflows))
  }

  async play(): Promise<void> {
    await this.#engine.request('POST', '/register', {
      app: 'app',
      url: 'http://runner/',
      workflows: this.#workflows,
    })
    for (let step = 0; step < STEPS; step++) await this.#step()
    expect(this.#engine.errors).toEqual([])
  }

  async #step(): Promise<void> {
    const engine = this.#engine
    const rng = this.#rng
    const mayDie = rng.chance(0.12)
    if (mayDie) engine.crashAtWrite(rng.int(1, 5), rng.chance(0.5))
    const at = engine.clock.now()
    const { events, answered } = await this.#act()
    engine.spare()
    const logged = await this.#logged()
    const tokens = new Set(logged.map(({ data }) => data.token))
    for (const { name, data } of events.filter(event => !tokens.has(event.data.token))) {
      expect(mayDie, `event ${data.token} is lost`).toBe(true)
      this.#model.lost(name, data, at)
    }
    for (const { event, data } of logged) this.#compareEvent(event, data)
    await this.#compareRuns(answered, mayDie)
  }

  /** Does one thing; returns the events that it sends or emits, and the run that it lets succeed. */
  async #act(): Promise<{ events: { name: string; data: Payload }[]; answered?: string }> {
    const engine = this.#engine
    const rng = this.#rng
    const pass = engine.waiting.size > 0 ? rng.pick([...engine.waiting]) : undefined
    const kind = rng.weighted({ send: 45, burst: 10, end: 15, emit: pass ? 20 : 0, pass: 12, crash: 4 })
    const said = `${kind} ${pass?.runId.slice(-4)} at ${engine.clock.now() % 1e7}`
    const events = kind === 'send' ? [this.#event()] : []
    if (kind === 'burst' || kind === 'emit') for (let i = rng.int(1, 3); i > 0; i--) events.push(this.#event())
    this.transcript.push(`${said} ${JSON.stringify(events)}`)
    switch (kind) {
      case 'send':
        await engine.request('POST', '/events', events[0])
        return { events }
      case 'burst':
        // It is not determined which of these events takes the last token.
        if (this.#limited) for (const event of events) await engine.request('POST', '/events', event)
        else await Promise.all(events.map(event => engine.request('POST', '/events', event)))
        return { events }
      case 'emit':
        pass?.answer(206, { opcodes: events.map(({ name, data }) => emit(name, data)), logs: [] })
        await engine.settle()
        return { events }
      case 'end':
        pass?.answer(200, { data: 1, logs: [] })
        await engine.settle()
        return { events, ...(pass ? { answered: pass.runId } : {}) }
      case 'pass':
        await engine.pass(rng.int(1, 8) * SECOND)
        return { events }
      default:
        await engine.crash()
        return { events }
    }
  }

  #event(): { name: string; data: Payload } {
    const rng = this.#rng
    const name = rng.pick(['one', 'two', 'three', ALL, 'stop'])
    const k = rng.chance(0.85) ? { k: rng.pick(['x', 'y']) } : {}
    const id = rng.chance(0.85) ? { id: rng.int(1, 4) } : rng.pick([{}, { id: null }])
    return { name, data: { ...k, ...id, token: `t${++this.#count}` } }
  }

  /** The events that were added to the log since the last look. */
  async #logged(): Promise<{ event: Event; data: Payload }[]> {
    const log = await this.#engine.store.in(NAMESPACE).events({ limit: 1000 })
    const fresh = log.reverse().slice(this.#recorded)
    this.#recorded += fresh.length
    return fresh.map(({ event }) => ({ event, data: JSON.parse(event.data as string) as Payload }))
  }

  #compareEvent(event: Event, data: Payload): void {
    const { id, name, receivedAt: at, source, triggered } = event
    if (source === 'emit') this.#note('emitted')
    const came = new Map(triggered.map(entry => [entry.workflow, outcomeOf(entry)]))
    const expected = this.#model.arrive({ id, name, data, at }, workflow => came.get(workflow))
    for (const outcome of came.values()) this.#note(outcome)
    for (const [workflow, outcome] of expected) {
      const actual = came.get(workflow)
      expect([data.token, workflow, actual]).toEqual([data.token, workflow, outcome === 'any' ? actual : outcome])
    }
    expect(came.size).toBe(expected.size)
  }

  /** Checks that every run exists in its expected state. A run that was answered while the engine died may have either state. */
  async #compareRuns(answered: string | undefined, mayDie: boolean): Promise<void> {
    const { store } = this.#engine
    const runs = await store.in(NAMESPACE).runs({ limit: 1000, dir: 'asc' })
    const found = new Map(runs.map(run => [`${run.eventId} ${run.workflow}`, run]))
    expect(found.size).toBe(this.#model.runs.length)
    for (const modelled of this.#model.runs) {
      const run = found.get(`${modelled.eventId} ${modelled.policies.name}`) as Run
      if (run.id === answered && modelled.status === 'live' && (!mayDie || run.status === 'succeeded'))
        modelled.status = 'succeeded'
      const status = isTerminal(run.status) ? run.status : 'live'
      expect([modelled.data.token, run.workflow, status]).toEqual([modelled.data.token, run.workflow, modelled.status])
      if (status === 'cancelled') this.#note('cancelled')
    }
    const driven = new Set([...this.#engine.waiting].map(({ runId }) => runId))
    expect([...driven].sort(), 'runs under way').toEqual(
      runs.flatMap(run => (isTerminal(run.status) ? [] : [run.id])).sort(),
    )
    const watching = runs.flatMap(run => (isTerminal(run.status) ? [] : (run.cancelOn ?? []).map(() => run.id)))
    expect((await this.#watches()).sort(), 'watches').toEqual(watching.sort())
  }

  /** Returns which runs have stored watches. Ended runs have none. */
  async #watches(): Promise<string[]> {
    const { store } = this.#engine
    const names = ['one', 'two', 'three', ALL, 'stop']
    const all = { namespace: NAMESPACE, isWhole: true, after: 0, limit: 1000 } as const
    const found = names.map(eventName => store.watchers({ ...all, eventName }))
    return (await Promise.all(found)).flatMap(({ watchers }) => watchers.map(({ watcher }) => watcher.runId))
  }

  #note(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1
  }
}

function outcomeOf(entry: { runId?: string; deduped?: boolean; dropped?: boolean; skipped?: boolean }): Outcome {
  if (entry.runId !== undefined) return 'run'
  return entry.deduped ? 'deduped' : entry.dropped ? 'dropped' : 'skipped'
}

let emits = 0

function emit(eventName: string, data: Payload) {
  const id = `${++emits}`.padStart(40, '0')
  return { op: 'Emit', id, name: `emit-${emits}`, eventName, data }
}
