// Finds live runners of one app that have different definitions of a workflow, and no others.

import { expect, it } from 'vitest'
import { disagreements } from './disagreements.ts'

const runner = (runnerId: string, definitionHash: string, more: object = {}) => ({
  app: 'shop',
  runnerId,
  live: true,
  workflows: [{ name: 'order', definitionHash }],
  ...more,
})

it('names the workflow and its runners', () => {
  const runners = [runner('a', '1'), runner('b', '2'), runner('c', '2', { live: false })]
  expect(disagreements(runners)).toEqual([{ app: 'shop', workflow: 'order', runnerIds: ['a', 'b'] }])
})

it('finds none among equal definitions, silent runners and other apps', () => {
  expect(disagreements([runner('a', '1'), runner('b', '1')])).toEqual([])
  expect(disagreements([runner('a', '1'), runner('b', '2', { live: false })])).toEqual([])
  expect(disagreements([runner('a', '1'), runner('b', '2', { app: 'post' })])).toEqual([])
})
