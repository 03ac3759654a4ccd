// Run tokens where two engines share a PostgreSQL database (docs/security.md#run-tokens).

import type { RunToken } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  flow,
  freshSchema,
  gate,
  JumpClock,
  openEngine,
  openRunner,
  readSse,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const KEY = 'secret-key-of-default-0123456789'
const ENGINE_API_KEYS = JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: KEY }])

test('a token of one engine counts at the other, and its streams end there when the key is revoked here', async () => {
  const [storeFile, clock] = [await freshSchema(), new JumpClock()]
  const env = { ENGINE_API_KEYS, ENGINE_QUEUE: 'memory' }
  const one = await openEngine({ storeFile, env, clock })
  const two = await openEngine({ storeFile, env, clock })
  const ops = one.api.as(KEY)
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
