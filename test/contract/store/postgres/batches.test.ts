// A batch on PostgreSQL has the same outcome as its units one after the other, as on SQLite, whichever of them are written
// together.

import { expect, test } from 'vitest'
import { openPostgresStore } from '../../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { openSqliteStore } from '../../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import type { Change, Guard, Unit } from '../../../../packages/engine/src/domain/model/change.ts'
import { StaleError } from '../../../../packages/engine/src/domain/model/errors.ts'
import type { Event } from '../../../../packages/engine/src/domain/model/event.ts'
import type { Run } from '../../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../../packages/engine/src/domain/model/step.ts'
import type { Store } from '../../../../packages/engine/src/ports/store.ts'
import { onCleanup } from '../../../kit/cleanup.ts'
import { seeded } from '../../../kit/seeded.ts'
import { freshSchema, openEmptier } from '../../../kit/servers/postgres.ts'
import { aLeasedRun, aLine, anEvent, aStep, aWait, created, fenceOf, holds, moved, NOW, NS } from '../samples.ts'

const SEEDS = Array.from({ length: 10 }, (_, i) => i + 1)
const BATCHES = 10
const RUNS = 2
const EVENT_NAMES = ['go', 'stop']

const url = await freshSchema()
const postgres = await openPostgresStore({ url })
const { empty, close } = await openEmptier(url)
onCleanup(() => Promise.all([postgres.close(), close()]))

class Choices {
  readonly #random

  constructor(seed: number) {
    this.#random = seeded(seed)
  }

  pick<T>(from: readonly T[]): T {
    return from[this.#random.between(0, from.length - 1)] as T
  }

  isRare(): boolean {
    return this.#random.next() < 0.05
  }
}

interface Known {
  run: Run
  /** The number of its steps written so far. */
  steps: number
}

/**
 * Few runs and names, so that the units of a batch meet each other. Few units fail, because a batch with a failing unit is
 * written unit by unit.
 */
class World {
  readonly #random: Choices
  #now = 1
  readonly #events = [anEvent()]
  readonly #known: Known[] = Array.from({ length: RUNS }, () => ({ run: aLeasedRun(), steps: 1 }))
  readonly runIds = this.#known.map(({ run }) => run.id)
  readonly #kinds = [
    () => this.#arrival([]),
    () => this.#start(),
    () => this.#report({}),
    () => this.#report({}),
    () => this.#report({ status: 'retrying', finishedAt: undefined }),
    () => this.#wait(),
    () => this.#retry(),
    () => this.#move(),
    () => this.#move(),
    () => this.#end(),
    () => this.#claim(),
  ]

  constructor(random: Choices) {
    this.#random = random
  }

  /** The runs, each with one step that is retried repeatedly. */
  first(): Unit {
    const retried = (run: Run) => aStep(run, { status: 'retrying', finishedAt: undefined })
    return { guards: [], changes: this.#known.flatMap(({ run }) => created(run, retried(run))) }
  }

  units(): Unit[] {
    return Array.from({ length: this.#random.pick([1, 4, 12]) }, () => this.#random.pick(this.#kinds)())
  }

  /** An event that no step waits for. Rarely one that is already known. */
  #arrival(changes: Change[]): Unit {
    const name = this.#random.pick(EVENT_NAMES)
    if (this.#random.isRare()) this.#events.unshift(this.#random.pick(this.#events))
    else this.#events.unshift(anEvent({ name }))
    const event = this.#events[0] as Event
    return {
      guards: [
        { type: 'waiters', namespace: NS, eventName: event.name, waiters: [] },
        { type: 'watchers', namespace: NS, eventName: event.name, after: 0 },
      ],
      changes: [{ type: 'event.recorded', event }, ...changes],
    }
  }

  #start(): Unit {
    const run = aLeasedRun()
    this.runIds.push(run.id)
    if (this.#random.isRare()) this.#known.push({ run, steps: 0 })
    return this.#arrival(created(run))
  }

  /** A step after the last one, or after one that an earlier unit has written since. */
  #report(fields: Partial<Step>): Unit {
    const known = this.#random.pick(this.#known)
    const { run } = known
    const seq = this.#random.pick([1, 2, 2]) + known.steps
    const index = this.#random.isRare() ? 0 : known.steps++
    return {
      guards: [fenceOf(run), { type: 'steps', runId: run.id, seq }],
      changes: [
        { type: 'step.recorded', step: aStep(run, { index, ...fields }) },
        { type: 'log.written', line: aLine(run, { index }) },
      ],
    }
  }

  #wait(): Unit {
    const known = this.#random.pick(this.#known)
    const eventName = this.#random.pick(EVENT_NAMES)
    const { run } = known
    const step = aWait(run, { index: known.steps++, eventName, seq: 0 })
    return {
      guards: [fenceOf(run), { type: 'events', namespace: NS, eventName, runId: run.id, after: 'run' }],
      changes: [{ type: 'step.recorded', step }],
    }
  }

  #retry(): Unit {
    const { run } = this.#random.pick(this.#known)
    const attempt = this.#random.pick([2, 3, 4, 5])
    const step = aStep(run, { attempt, seq: 0, status: 'retrying', finishedAt: undefined, nextAttemptAt: NOW })
    return { guards: [], changes: [{ type: 'step.moved', step, at: NOW + this.#random.pick([1, 2, 3]) }] }
  }

  /** Later units have the new fence or the old one. */
  #move(): Unit {
    const known = this.#random.pick(this.#known)
    const run = { ...known.run, fence: known.run.fence + 1 }
    const unit: Unit = { guards: [fenceOf(known.run)], changes: [moved(run)] }
    if (this.#random.pick([true, false])) known.run = run
    return unit
  }

  #end(): Unit {
    const { run } = this.#random.pick(this.#known)
    const ended = moved(run, { status: 'succeeded', finishedAt: NOW, finishedSeq: 9, availableAt: undefined })
    return { guards: [fenceOf(run)], changes: [this.#random.isRare() ? ended : moved(run)] }
  }

  #claim(): Unit {
    const key = { namespace: NS, app: '', dedupeId: this.#random.pick(EVENT_NAMES) }
    this.#now += this.#random.pick([0, 2])
    const now = this.#now
    return {
      guards: [{ type: 'dedupe', ...key, now }],
      changes: [{ type: 'dedupe.claimed', ...key, expiresAt: now + 1 }],
    }
  }
}

/** The outcome of each unit, in one batch. */
async function outcomes(store: Store, units: Unit[]): Promise<string[]> {
  const commits = await Promise.allSettled(units.map(unit => store.commit(unit)))
  return commits.map(commit => {
    if (commit.status === 'fulfilled') return 'written'
    return commit.reason instanceof StaleError ? `stale ${commit.reason.guard.type}` : 'failed'
  })
}

/** Reads everything in the store, and which runs would find an event that arrived after them. */
async function contents(store: Store, { runIds }: World): Promise<unknown[]> {
  const reads = store.in(NS)
  const lookBacks = runIds.flatMap(runId =>
    EVENT_NAMES.map((eventName): Guard => ({ type: 'events', namespace: NS, eventName, runId, after: 'run' })),
  )
  return Promise.all([
    (await reads.events({ limit: 1000 })).map(({ event }) => event),
    ...runIds.map(id => store.loadRun(id)),
    ...runIds.map(id => reads.logs(id, { from: 0, limit: 100 })),
    ...lookBacks.map(guard => holds(store, guard)),
  ])
}

test.each(SEEDS)('seed %i: a batch on PostgreSQL has the outcome that it has on SQLite', async seed => {
  await empty()
  const fresh = await openSqliteStore({ file: ':memory:' })
  const world = new World(new Choices(seed))
  try {
    for (let batch = 0; batch < BATCHES; batch++) {
      const units = batch === 0 ? [world.first()] : world.units()
      expect(await outcomes(postgres, units)).toEqual(await outcomes(fresh, units))
    }
    expect(await contents(postgres, world)).toEqual(await contents(fresh, world))
  } finally {
    await fresh.close()
  }
})
