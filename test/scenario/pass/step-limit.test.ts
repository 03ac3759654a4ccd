// The bound on the steps of a run (docs/limits.md#bounds).

import { expect, test } from 'vitest'
import { discovered, opcode, returned, scenario } from '../../kit/index.ts'

const { api, workflow } = await scenario({ realTime: true })

/** Starts a run that reports `counts[i]` steps in its i-th pass. */
async function start(counts: readonly number[]) {
  const { name } = await workflow(({ pass }) => {
    const count = counts[pass - 1]
    if (count === undefined) return returned('all done')
    return discovered(Array.from({ length: count }, (_, i) => opcode('StepRun', `${pass}.${i}`, { data: i })))
  })
  return (await api.send({ name })).runId
}

test('10,000 steps are accepted, one more is limit_exceeded', async () => {
  const whole = await start([6000, 4000])
  expect((await api.reaches(whole, 'succeeded', 20_000)).result).toBe('all done')
  expect(await api.steps(whole)).toHaveLength(10_000)
  const over = await start([6000, 4000, 1])
  expect((await api.reaches(over, 'failed', 20_000)).error).toMatchObject({ code: 'limit_exceeded' })
})
