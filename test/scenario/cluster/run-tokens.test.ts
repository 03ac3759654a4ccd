// Run tokens where two engines share a PostgreSQL database (docs/security.md#run-tokens).

import type { RunToken } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  apiKeys,
  flow,
  freshSchema,
  gate,
  JumpClock,
  keyOf,
  openEngine,
  openRunner,
  readSse,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

test('a token of one engine counts at the other, and its streams end there when the key is revoked here', async () => {
  const [storeFile, clock] = [await freshSchema(), new JumpClock()]
  const env = { ENGINE_API_KEYS: apiKeys('secret'), ENGINE_QUEUE: 'memory' }
  const one = await openEngine({ storeFile, env, clock })
  const two = await openEngine({ storeFile, env, clock })
  const ops = one.api.as(keyOf('secret'))
  const name = unique('tokens')
  await (await openRunner({ workflows: { [name]: flow([wait('go', unique('go'))]) } })).register(ops)
  const { runId } = await ops.send({ name })
  await ops.reaches(runId, 'waiting')
  const { id, key } = (await ops.post('/keys', { kind: 'read' })).json as { id: string; key: string }
  const { token } = (await one.api.as(key).post(`/runs/${runId}/tokens`)).json as RunToken
  // The other engine has not read the new key yet.
  expect((await two.api.get(`/runs/${runId}?token=${token}`)).status).toBe(200)
  const opened = gate()
  const over = readSse(`${two.url}/runs/${runId}/stream?token=${token}`, { onOpen: opened.open })
  await opened.opened
  expect((await ops.request('DELETE', `/keys/${id}`)).status).toBe(204)
  await until(async () => {
    clock.jump(1000)
    return (await two.api.get(`/runs/${runId}?token=${token}`)).status === 401
  })
  expect(await over).toMatchObject({ status: 200, ended: true })
})
