// Turns of steps survive a move of the store to the other database, the erasure of a run, and a restart
// (docs/steps.md#limits-that-steps-share).

import { moveStore } from '@perdure/engine'
import { expect, test } from 'vitest'
import { violationsIn } from '../../kit/engine/violations.ts'
import { flow, freshSchema, JumpClock, openEngine, openRunner, unique, waitsFor } from '../../kit/index.ts'
import { Starts } from '../../kit/runner/limited.ts'

const MINUTE = 60_000

test('a moved store has the turns that count and the steps that wait, in their order', async () => {
  const clock = new JumpClock()
  const [name, starts] = [unique('moves'), new Starts()]
  const ask = starts.limited('ask', 'openai', { now: () => clock.now() })
  const runner = await openRunner({ app: name, workflows: { [name]: flow([ask]) } })
  const limits = { openai: { limit: 1, period: '1m' } }
  const from = await openEngine({ onDisk: true, clock })
  await runner.register(from.api, { features: ['step-limits'], limits })
  const ids: string[] = []
  for (let i = 0; i < 3; i++) {
    ids.push((await from.api.send({ name })).runId)
    if (i === 0) await from.api.succeeded(ids[0] as string)
    else await waitsFor(from.api, ids[i] as string, 'limit')
  }
  // The turn of an erased run still counts.
  expect((await from.api.request('DELETE', `/runs/${ids[0]}`)).status).toBeLessThan(300)
  await from.stop()
  const to = await freshSchema()
  for await (const _ of moveStore({ from: `sqlite:${from.storeFile}`, to }));
  const { api } = await openEngine({ storeFile: to, clock })
  await runner.register(api, { features: ['step-limits'], limits })
  clock.jump(MINUTE - 1)
  expect(await Promise.all(ids.slice(1).map(async id => (await api.run(id)).status))).toEqual(['waiting', 'waiting'])
  for (const id of ids.slice(1)) {
    clock.jump(MINUTE)
    await api.succeeded(id)
  }
  expect(starts.all.map(({ of }) => of.split(' ')[0])).toEqual(ids)
  expect(starts.mostIn(MINUTE)).toBe(1)
  expect(await violationsIn(to)).toEqual([])
})
