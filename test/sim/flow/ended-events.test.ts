// Runs that end while a workflow listens, over random histories with crashes between any two writes (docs/events.md#events-of-the-engine).
// After the engine has been up for a minute, every end has one event and has started one run.
// `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n` only that one; a failure names its seed.

import { expect } from 'vitest'
import type { Change, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { isTerminal, type Run } from '../../../packages/engine/src/domain/model/run.ts'
import { seedsOf } from '../core/seeds.ts'
import { type Planted, RandomHistory, testHistories } from './histories.ts'

const SEEDS = seedsOf(20)
const STEPS = 30
const MINUTE = 60_000

/** Whether the change keeps the event of an end. */
const keeps = (change: Change) => change.type === 'flow.saved' && change.row.policy === 'ended'
const without = (is: (change: Change) => boolean, { guards, changes }: Unit): Unit[] => [
  { guards, changes: changes.filter(change => !is(change)) },
]

const PLANTED: readonly Planted[] = [
  {
    name: 'an event that the end does not keep, now and then',
    tamper: unit =>
      without(change => keeps(change) && change.type === 'flow.saved' && /[0-7]$/.test(change.row.key), unit),
  },
  {
    name: 'an event that is kept after the end',
    tamper: ({ guards, changes }) => {
      const kept = changes.filter(keeps)
      const [rest] = without(keeps, { guards, changes }) as [Unit]
      return kept.length === 0 ? [rest] : [rest, { guards: [], changes: kept }]
    },
  },
  {
    name: 'a row that stays when its event has arrived',
    tamper: unit => without(change => change.type === 'flow.deleted', unit),
  },
]

testHistories({
  shows: 'every end starts one run',
  seeds: SEEDS,
  timeoutMs: 120_000 + SEEDS.length * 1000,
  salt: 'ended',
  open: (engine, rng, seen) => new Chronicle(engine, rng, seen),
  meets: ['succeeded', 'failed', 'cancelled', 'crashes'],
  planted: PLANTED,
})

class Chronicle extends RandomHistory {
  async play(): Promise<void> {
    const alert = { name: 'alert', triggers: [{ event: 'perdure/run.*', if: "event.data.workflow == 'order'" }] }
    const workflows = [{ name: 'order', triggers: [{ event: 'order' }], retry: { maxAttempts: 1 } }, alert]
    await this.engine.request('POST', '/register', { app: 'app', url: 'http://runner/', workflows })
    for (let step = 0; step < STEPS; step++) {
      const rng = this.rng
      if (rng.chance(0.2)) this.engine.crashAtWrite(rng.int(1, 5), rng.chance(0.5))
      await this.#act()
      if (rng.chance(0.3)) this.engine.spare()
    }
    this.engine.spare()
    await this.engine.pass(MINUTE)
    await this.#check()
    expect(this.engine.errors).toEqual([])
  }

  async #act(): Promise<void> {
    const rng = this.rng
    const passes = [...this.engine.waiting]
    const kind = rng.weighted({ send: 8, answer: passes.length > 0 ? 20 : 0, cancel: 4, time: 6, crash: 3 })
    this.transcript.push(`${kind} at ${this.engine.clock.now() % 1e7}`)
    switch (kind) {
      case 'send':
        return void (await this.engine.request('POST', '/events', { name: 'order' }))
      case 'answer': {
        const pass = rng.pick(passes)
        if (rng.chance(0.4)) pass.answer(400, { error: { message: 'no' } })
        else pass.answer(200, { data: 1, logs: [] })
        return this.engine.settle()
      }
      case 'cancel': {
        const runs = await this.engine.store.in('default').runs({ limit: 1000, dir: 'asc', workflow: 'order' })
        const live = runs.filter(({ status }) => !isTerminal(status))
        if (live.length > 0) await this.engine.request('POST', `/runs/${rng.pick(live).id}/cancel`)
        return
      }
      case 'time':
        return this.engine.pass(rng.int(1, 20) * 1000)
      default:
        this.note('crashes')
        return this.engine.crash()
    }
  }

  async #check(): Promise<void> {
    const reads = this.engine.store.in('default')
    const runs = await reads.runs({ limit: 1000, dir: 'asc' })
    const events = (await reads.events({ limit: 1000, source: 'engine' })).map(({ event }) => event)
    const told = events.map(({ data }) => (JSON.parse(data as string) as { runId: string }).runId)
    const orders = runs.filter(({ workflow, status }) => workflow === 'order' && isTerminal(status))
    for (const { status } of orders) this.note(status)
    // The end of an alert also has an event, unless an event of the same name started the alert: nobody else listens.
    const isTold = ({ workflow, status, eventName }: Run) =>
      isTerminal(status) && (workflow === 'order' || eventName !== `perdure/run.${status}`)
    const expected = runs.filter(isTold).map(({ id }) => id)
    expect(told.sort(), 'the ends that have an event').toEqual(expected.sort())
    const alerts = runs.filter(({ workflow }) => workflow === 'alert').map(({ eventId }) => eventId)
    const wanted = events.filter(({ triggered }) => triggered.length > 0).map(({ id }) => id)
    expect(alerts.sort(), 'the runs that ends started').toEqual(wanted.sort())
    expect(alerts).toHaveLength(orders.length)
  }
}
