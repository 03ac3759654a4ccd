// Handlers that await something outside of steps while a step is open, in the testing kit (docs/steps.md#io-between-steps).

import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createWorkflow } from '../index.ts'
import { open } from './open.testkit.ts'

/** Continues while the kit keeps the pass open, and after that. */
const IO = {
  async quick() {
    for (let i = 0; i < 4; i++) await nextTurn()
  },
  slow: () => pause(60),
}

describe.each([false, true])('with checkpoints: %s', checkpoints => {
  test.each(Object.keys(IO) as (keyof typeof IO)[])('a handler with %s I/O after a race goes on', async speed => {
    const workflow = createWorkflow({ name: 'race' }, async ({ step }) => {
      await Promise.race([step.waitForEvent('a', { event: 'a' }), step.waitForEvent('b', { event: 'b' })])
      await IO[speed]()
      return step.run('finish', () => 'done')
    })
    const engine = await open({ workflows: [workflow], checkpoints })
    const runs = [await engine.start(workflow), await engine.start(workflow)]
    await engine.send('a')
    for (const run of runs) await expect.poll(() => run.status()).toBe('succeeded')
    if (speed === 'slow') return
    const lines = await Promise.all(runs.map(({ id }) => engine.api.listRunLogs({ id })))
    const said = lines.flat().find(({ scope }) => scope === '@replay')?.message
    expect(said).toContain('after step "a" and before step "finish", while step "b" was open')
  })
})
