// The entries that are stored with an event beyond its effects: none for an event that meets every trigger, and a bounded
// amount for others.

import { expect, it } from 'vitest'
import { noAssumptions } from '../../run/assumptions.ts'
import { catalog, event, workflow } from '../../testkit/nouns.testkit.ts'
import { fanout } from '../fanout.ts'
import { DECIDED_CHARS_MAX } from './decided.ts'

const placed = event('evt_1', 'order.placed')
const decidedBy = (...workflows: ReturnType<typeof workflow>[]) => {
  const { changes } = fanout({
    event: placed,
    catalog: catalog(...workflows),
    assumptions: noAssumptions(),
    report: () => {},
  })
  const [recorded] = changes
  return recorded?.type === 'event.recorded' ? recorded.event.decided : undefined
}
const onPlaced = (name: string, filter?: string) =>
  workflow(name, { triggers: [{ event: 'order.placed', ...(filter === undefined ? {} : { if: filter }) }] })

it('is absent for an event that starts a run of each workflow with a trigger for its name', () => {
  expect(decidedBy(onPlaced('bill'), onPlaced('ship', 'true'))).toBeUndefined()
  expect(decidedBy()).toBeUndefined()
})

it('has the first trigger whose filter was not passed', () => {
  expect(decidedBy(onPlaced('bill'), onPlaced('ship', 'false'))).toEqual({
    unmet: [['ship', 'shop', 'order.placed', 'false']],
  })
})

it('cuts a long filter, keeps a bounded number of characters and counts the rest', () => {
  const filter = `false && event.name == '${'x'.repeat(700)}'`
  const decided = decidedBy(...Array.from({ length: 40 }, (_, i) => onPlaced(`w${i}`, filter)))
  const kept = decided?.unmet ?? []
  expect(JSON.stringify(decided).length).toBeLessThan(DECIDED_CHARS_MAX * 1.2)
  expect(kept.length).toBeGreaterThan(10)
  expect(kept.length + (decided?.left ?? 0)).toBe(40)
  for (const [, , , text] of kept) expect(text).toHaveLength(501)
})
