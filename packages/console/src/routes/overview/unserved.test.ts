// Apps and workflows without a live runner.

import { expect, test } from 'vitest'
import { unserved } from './unserved.ts'

const runner = (app: string, live: boolean, ...names: string[]) => ({
  ...{ app, live, runnerId: `${app}-1`, lastSeenAt: '2025-03-01T09:00:00.000Z' },
  workflows: names.map(name => ({ name })),
})
const held = (app: string, workflow: string, runs: number) => ({ app, workflow, heldBy: { runner: runs, throttle: 5 } })

const WORKFLOWS = [
  { app: 'shop', name: 'order' },
  { app: 'shop', name: 'refund' },
  { app: 'mail', name: 'letter' },
  { app: 'gone', name: 'old' },
]

test('an app with no live runner counts the waiting runs of all its workflows, and one that never had any is named too', () => {
  const runners = [runner('mail', true, 'letter'), runner('shop', false, 'order', 'refund')]
  expect(unserved(WORKFLOWS, runners, [held('shop', 'order', 2), held('shop', 'refund', 1)])).toEqual([
    { app: 'shop', waiting: 3, lastSeenAt: '2025-03-01T09:00:00.000Z' },
    { app: 'gone', waiting: 0 },
  ])
})

test('a workflow that no live runner of its app serves is named, and what waits for a limit is not counted', () => {
  const runners = [runner('mail', true, 'letter'), runner('shop', true, 'order'), runner('gone', true, 'old')]
  const stats = [held('shop', 'refund', 4), held('shop', 'order', 7)]
  expect(unserved(WORKFLOWS, runners, stats)).toEqual([{ app: 'shop', workflow: 'refund', waiting: 4 }])
})

test('where every workflow is served nothing is missing', () => {
  expect(unserved(WORKFLOWS.slice(2, 3), [runner('mail', true, 'letter')], [])).toEqual([])
})
