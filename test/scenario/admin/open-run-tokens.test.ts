// Run tokens of an engine without API keys (docs/security.md#run-tokens).

import { openAdministration } from '@perdure/engine'
import type { RunToken } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, JumpClock, openEngine, openRunner, run, unique, wait } from '../../kit/index.ts'

test('an engine without keys makes and checks them, until it has a key', async () => {
  const open = await openEngine({ onDisk: true, clock: new JumpClock() })
  const name = unique('open')
  await (await openRunner({ workflows: { [name]: flow([run('a'), wait('go', unique('go'))]) } })).register(open.api)
  const [{ runId }, { runId: another }] = [await open.api.send({ name }), await open.api.send({ name })]
  const { token } = (await open.api.post(`/runs/${runId}/tokens`)).json as RunToken
  const reader = open.api.as(token)
  expect((await reader.get(`/runs/${runId}`)).json).not.toHaveProperty('input')
  expect([(await reader.get(`/runs/${another}`)).status, (await reader.get('/runs')).status]).toEqual([403, 403])
  expect((await open.api.get(`/runs/${runId}?token=pdt_wrong`)).status).toBe(401)
  expect((await open.api.get(`/runs/${runId}?token=${token}`)).status).toBe(200)
  const first = await openAdministration(open.store)
  const { key } = await first.administration.createKey({ kind: 'secret' })
  await first.close()
  expect((await open.api.as(key).get('/runs')).status).toBe(200)
  expect((await reader.get(`/runs/${runId}`)).status).toBe(401)
})
