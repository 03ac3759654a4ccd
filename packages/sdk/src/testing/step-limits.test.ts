// Limits that steps share, in the kit: virtual time, the real engine (docs/steps.md#limits-that-steps-share).

import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { testEngine } from './index.ts'

const LIMITS = { openai: { limit: 2, period: '1m' } }

test.each([false, true])(
  'steps of several runs start as the limit allows, in order (checkpoints: %s)',
  async checkpoints => {
    const started: [string, number][] = []
    const ask = createWorkflow<{ name: string }>({ name: 'ask' }, async ({ step, event }) => {
      await step.run('prompt', () => void started.push([event.data.name, Date.now()]), { limit: 'openai' })
      return event.data.name
    })
    await using engine = await testEngine({ workflows: [ask], limits: LIMITS, checkpoints })
    const begun = engine.now()
    const runs = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) runs.push(await engine.start(ask, { name }))
    console.log(await runs[4]?.why())
    for (const run of runs) await run.result({ within: '1h' })
    expect(engine.now().getTime() - begun.getTime()).toBe(120_000)
    expect(started.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd', 'e'])
  },
)
