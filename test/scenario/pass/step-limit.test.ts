// The bound on the steps of a run (docs/limits.md#bounds).

import { expect, test } from 'vitest'
import { discovered, opcode, scenario } from '../../kit/index.ts'

const { api, workflow } = await scenario({ realTime: true })

test('10,000 steps are accepted, one more is limit_exceeded', async () => {
  const { name } = await workflow(({ pass }) =>
    discovered(
      Array.from({ length: [6000, 4000][pass - 1] ?? 1 }, (_, i) => opcode('StepRun', `${pass}.${i}`, { data: i })),
    ),
  )
  const { runId } = await api.send({ name })
  expect((await api.reaches(runId, 'failed', 20_000)).error).toMatchObject({ code: 'limit_exceeded' })
  expect(await api.steps(runId)).toHaveLength(10_000)
})
