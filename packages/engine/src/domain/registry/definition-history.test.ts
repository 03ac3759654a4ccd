import { expect, test } from 'vitest'
import type { KeptDefinition } from '../model/workflow.ts'
import { NOW, workflow } from '../testkit/nouns.testkit.ts'
import { withPresent } from './definition-history.ts'

const { namespace, app, name, triggers, retry, onFailure } = workflow('order')
const row = (registeredAt: number): KeptDefinition => ({
  ...{ namespace, app, workflow: name, registeredAt, hash: `at ${registeredAt}` },
  definition: { triggers, retry, onFailure },
})
const times = (rows: number[], before?: number) =>
  withPresent(rows.map(row), { present: workflow('order', { updatedAt: NOW }), before }).map(
    ({ registeredAt }) => registeredAt,
  )

test('a history is completed by the present definition, on the page that it belongs to', () => {
  expect(times([])).toEqual([NOW])
  expect(times([NOW - 5, NOW - 9])).toEqual([NOW, NOW - 5, NOW - 9])
  expect(times([NOW, NOW - 5])).toEqual([NOW, NOW - 5])
  expect(times([NOW - 9], NOW - 5)).toEqual([NOW - 9])
  expect(times([], NOW)).toEqual([])
  // Another engine has registered a newer definition, which the catalog lacks so far.
  expect(times([NOW + 1, NOW - 5])).toEqual([NOW + 1, NOW - 5])
})
