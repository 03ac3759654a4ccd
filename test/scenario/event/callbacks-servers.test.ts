// Callbacks that are posted to an engine other than the one that drives the run (docs/steps.md#callbacks).

import { expect, test } from 'vitest'
import {
  flow,
  freshSchema,
  type Invoke,
  openEngines,
  openRunner,
  run,
  step,
  unique,
  until,
  waitsFor,
} from '../../kit/index.ts'
import { callbackUrl } from '../../kit/runner/wire.ts'

const callback = (name: string) => step('WaitForCallback', name, { timeoutMs: 3_600_000 })

test('of ten posts to two engines at one moment one counts, before the wait and while it waits', async () => {
  const { api, other } = await openEngines(freshSchema, 2)
  const name = unique('signed')
  const handler = flow([run('ask'), callback('early'), callback('late')])
  const runner = await openRunner({ workflows: { [name]: { handler } } })
  await runner.register(api, { features: ['callbacks'] })
  const post = (invoke: Invoke, step: string) => {
    const { pathname } = new URL(callbackUrl(invoke.ctx, step))
    return Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 ? api : other).post(pathname, n)))
  }
  const accepted = (answers: { status: number }[]) => answers.flatMap(({ status }, n) => (status === 202 ? [n] : []))
  for (let i = 0; i < 4; i++) {
    const { runId } = await api.send({ name })
    const invoke = await until(() => runner.record.of(runId)[0])
    const early = accepted(await post(invoke, 'early'))
    await until(async () => (await waitsFor(api, runId, 'callback')).waitingFor?.stepName === 'late')
    const late = accepted(await post(invoke, 'late'))
    expect([early.length, late.length]).toEqual([1, 1])
    expect((await api.succeeded(runId)).result).toMatchObject({ early: early[0], late: late[0] })
  }
})
