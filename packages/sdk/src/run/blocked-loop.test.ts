// A step that blocks the event loop is named in the log of its run. The clock is replaced.

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { Workflow } from '../workflow/workflow.ts'

let nowMs = 0

/** Each test gets its own modules, because they keep the time of its clock. No other test file gets them. */
beforeEach(() => {
  vi.resetModules()
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.resetModules()
})

test('a block counts while it lasts, after it, and for what ran meanwhile', async () => {
  const { blockedMsSince, loopTurned } = await import('./blocked-loop.ts')
  expect(blockedMsSince(0)).toBe(0)
  loopTurned(2500)
  nowMs = 2600
  loopTurned(2500)
  expect(blockedMsSince(0)).toBe(0)
  nowMs = 40_000
  expect(blockedMsSince(3000)).toBe(40_000 - 3000 - 2500)
  loopTurned(2500)
  expect(blockedMsSince(3000)).toBe(40_000 - 2600 - 2500)
  nowMs = 41_000
  expect(blockedMsSince(40_500)).toBe(0)
})

test('the log of the run names step, time and remedy', async () => {
  const { loopTurned } = await import('./blocked-loop.ts')
  const { invoke } = await import('../replay/invoke.ts')
  nowMs = 1e9
  loopTurned(2500)
  const hash = createWorkflow({ name: 'hash' }, ({ step }) =>
    step.run('compute', () => {
      nowMs += 34_000
    }),
  )
  const request = { event: { name: 'e' }, steps: {}, ctx: { runId: 'run_1', workflow: 'hash', attempt: 1 } }
  const { body } = await invoke(hash as Workflow, request as never)
  expect(JSON.parse(body).logs).toMatchObject([
    {
      level: 'warn',
      message:
        'The event loop of the runner was blocked for at least 31 s while step "compute" ran: no other run on it made progress meanwhile. ' +
        'CPU-bound work belongs in a worker thread.',
    },
  ])
})
