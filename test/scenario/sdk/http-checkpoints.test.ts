// The SDK's runner over HTTP reports its steps while a pass continues: with a real engine, and when the engine cannot be
// reached.

import { createWorkflow } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, scenario, unique } from '../../kit/index.ts'

const { api, url } = await scenario({ realTime: true })

/** Runs a workflow of sequential steps, and returns how often its handler began. */
async function runOf(steps: number, options: { checkpoints?: boolean }) {
  const name = unique('long')
  let passes = 0
  const calls: number[] = []
  const workflow = createWorkflow({ name }, async ({ step }) => {
    passes++
    let sum = 0
    for (let i = 0; i < steps; i++) sum += await step.run(`s${i}`, () => calls.push(i))
    return sum
  })
  const runner = await serve({
    app: name,
    workflows: [workflow],
    engineUrl: url,
    port: 0,
    signingKey: [],
    log: () => {},
    ...options,
  })
  onCleanup(() => runner.close())
  await runner.ready
  const { runId } = await api.send({ name })
  const { result } = await api.succeeded(runId)
  expect(calls).toEqual(Array.from({ length: steps }, (_, i) => i))
  expect(result).toBe((steps * (steps + 1)) / 2)
  expect(await api.steps(runId)).toHaveLength(steps)
  return passes
}

test('one pass runs all steps where checkpoints are on', async () => {
  expect(await runOf(20, { checkpoints: true })).toBe(1)
})

test('a long run needs passes for its first 32 steps and one more, unless checkpoints are off', async () => {
  expect(await runOf(60, {})).toBe(33)
  expect(await runOf(40, { checkpoints: false })).toBeGreaterThanOrEqual(40)
})
