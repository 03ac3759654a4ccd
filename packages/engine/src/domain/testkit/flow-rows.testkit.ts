// Keeps flow-control rows, and the runs they create, like a store: for tests of policies with rows. A failed guard fails the
// test.

import { expect } from 'vitest'
import { decideDueRow } from '../arrival/decide-due-row.ts'
import { fanout } from '../arrival/fanout.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Unit } from '../model/change.ts'
import type { Triggered } from '../model/event.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { Run } from '../model/run.ts'
import { noAssumptions } from '../run/assumptions.ts'
import { frozen } from './frozen.testkit.ts'
import { event, NOW } from './nouns.testkit.ts'

export class FlowRows {
  now = NOW
  catalog: CatalogView
  suspended = false
  /** The trace of the next events. */
  trace: string | undefined
  readonly rows = new Map<string, FlowRow>()
  readonly runs: Run[] = []
  #events = 0

  constructor(catalog: CatalogView) {
    this.catalog = catalog
  }

  get assumptions() {
    return { ...noAssumptions(), flow: new Map(this.rows) }
  }

  commit({ guards, changes }: Unit): void {
    frozen(changes)
    for (const guard of guards) {
      if (guard.type === 'flow') expect(this.rows.get(guard.id)?.version ?? 0).toBe(guard.version)
    }
    for (const change of changes) {
      if (change.type === 'flow.saved') this.rows.set(change.row.id, change.row)
      else if (change.type === 'flow.deleted') this.rows.delete(change.id)
      else if (change.type === 'run.created') this.runs.push(change.run)
    }
  }

  /** Advances the clock by `later` ms and makes an event arrive. */
  post(name: string, data: string | undefined, later = 0, pin?: string): Triggered | undefined {
    this.now += later
    const fields = { receivedAt: this.now, ...(data === undefined ? {} : { data }) }
    const posted = event(`evt_${++this.#events}`, name, fields)
    const { catalog, assumptions, trace } = this
    const spread = fanout({ event: posted, pin, trace, catalog, assumptions, report: () => {} })
    this.commit(spread)
    return spread.triggered[0]
  }

  /** Advances the clock by `later` ms and decides every due row, leased as by the timers lane. */
  fire(later = 0): void {
    this.now += later
    for (const row of [...this.rows.values()]) {
      if (row.availableAt === undefined || row.availableAt > this.now) continue
      const { version } = row
      const leased = { ...row, version: version + 1, leaseOwner: 'engine-1', availableAt: this.now + 15_000 }
      this.rows.set(row.id, leased)
      const workflow = this.catalog.workflow(row.app, row.workflow)
      const { suspended, now, catalog, assumptions } = this
      const facts = { suspended, now, catalog, assumptions, report: () => {} }
      const firing = decideDueRow({ row: leased, workflow, ...facts })
      if (firing) this.commit(firing)
    }
  }

  /** The parsed inputs of the runs so far. */
  get inputs(): unknown[] {
    return this.runs.map(({ input }) => (input === undefined ? undefined : JSON.parse(input)))
  }
}
