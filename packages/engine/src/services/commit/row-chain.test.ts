// Decisions on one flow-control row at the same moment, on a store in memory.

import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from '../../adapters/sql/sqlite/store.ts'
import type { Guard, Unit } from '../../domain/model/change.ts'
import { EngineError } from '../../domain/model/errors.ts'
import type { FlowRow } from '../../domain/model/flow-row.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { decideAndCommit } from './decide-and-commit.ts'

const ID = 'row'

/** A store, and decisions that count in the row how many of them were committed. */
async function opened() {
  const store = await openSqliteStore({ file: ':memory:' })
  onTestFinished(() => store.close())
  let decisions = 0
  const counted = ({ flow }: Assumptions): Unit => {
    decisions++
    const row = flow.get(ID) ?? undefined
    const { version = 0, state = '0' } = row ?? {}
    return {
      guards: [{ type: 'flow', id: ID, version }],
      changes: [{ type: 'flow.saved', row: rowOf(version + 1, String(Number(state) + 1)) }],
    }
  }
  const decide = (decision: (assumptions: Assumptions) => Unit | undefined = counted) =>
    decideAndCommit<Unit>({ store, decide: decision, unit: unit => unit, onStale: () => false })
  const stored = async () => Number((await store.flowRow(ID))?.state)
  return { store, counted, decide, stored, decisions: () => decisions }
}

const rowOf = (version: number, state: string): FlowRow => ({
  ...{ id: ID, namespace: 'default', app: 'shop', workflow: 'order', key: '' },
  ...{ policy: 'debounce', version, availableAt: 9_000_000_000_000, state },
})

/** A guard that never holds. */
const NEVER: Guard = { type: 'run', runId: 'run_none', fence: 1 }

test('a hundred decisions at once are decided once each, and counted once each', async () => {
  const { decide, stored, decisions } = await opened()
  await Promise.all(Array.from({ length: 100 }, () => decide()))
  expect([await stored(), decisions()]).toEqual([100, 100])
  await decide()
  expect([await stored(), decisions()]).toEqual([101, 101])
})

test('a unit that fails takes those behind it along, and they are decided again', async () => {
  const { counted, decide, stored } = await opened()
  const failed = decide(assumptions => {
    const unit = counted(assumptions)
    return { ...unit, guards: [...unit.guards, NEVER] }
  })
  const [first, ...others] = await Promise.all([failed, decide(), decide(), decide()])
  expect(first).toBeUndefined()
  expect(others).not.toContain(undefined)
  expect(await stored()).toBe(3)
})

test.each([
  ['ends without a unit', () => undefined],
  [
    'is refused',
    () => {
      throw new EngineError('conflict', 'there is a row')
    },
  ],
])('a decision that %s rests on stored rows', async (_, end) => {
  const { counted, decide, stored } = await opened()
  const failed = decide(assumptions => {
    const unit = counted(assumptions)
    return { ...unit, guards: [...unit.guards, NEVER] }
  })
  const second = decide(assumptions => (assumptions.flow.get(ID) ? end() : counted(assumptions)))
  expect(await failed).toBeUndefined()
  expect(await second).toBeDefined()
  expect(await stored()).toBe(1)
})

test('a row that another engine has changed since is read', async () => {
  const { store, decide, stored } = await opened()
  await decide()
  const [guards, changes] = [
    [{ type: 'flow', id: ID, version: 1 }] as const,
    [{ type: 'flow.saved', row: rowOf(7, '40') }] as const,
  ]
  await store.commit({ guards: [...guards], changes: [...changes] })
  await decide()
  expect(await stored()).toBe(41)
  await store.commit({ guards: [], changes: [{ type: 'flow.deleted', id: ID }] })
  await decide()
  expect(await stored()).toBe(1)
})
