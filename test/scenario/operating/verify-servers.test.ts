// `perdure verify` on PostgreSQL.

import { Client } from 'pg'
import { expect, test } from 'vitest'
import { violations } from '../../kit/engine/violations.ts'
import { child, emit, flow, freshSchema, openEngine, run, unique, wait } from '../../kit/index.ts'

test('every rule can be checked on PostgreSQL', async () => {
  const url = await freshSchema()
  const engine = await openEngine({ env: { ENGINE_STORE: url } })
  const [one, held] = [unique('one'), unique('held')]
  await engine.runner({
    workflows: {
      [one]: flow([run('first'), emit('say', unique('said')), child('kid', `${one}-kid`)]),
      [`${one}-kid`]: flow([run('only')]),
      [held]: {
        handler: flow([wait('hold', 'nothing')]),
        registration: {
          concurrency: { limit: 1 },
          cancelOn: [{ event: 'never' }],
          triggers: [{ event: held }, { cron: '0 0 1 1 *' }],
        },
      },
    },
  })
  await engine.api.reaches((await engine.api.send({ name: one })).runId, 'succeeded')
  await engine.api.reaches((await engine.api.send({ name: held })).runId, 'waiting')
  expect(await violations(url)).toEqual([])
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('DELETE FROM events')
  await client.query(`UPDATE flow_rows SET state = '{'`)
  await client.query(`UPDATE workflow_definitions SET hash = 'another'`)
  await client.query(`INSERT INTO payloads (id, body) VALUES ('run_none', 'x')`)
  await client.query(`INSERT INTO frames (run_id, seq, ts, status, attempt) VALUES ('run_none', 2, 1, 'queued', 1)`)
  await client.end()
  const found = new Set((await violations(url)).map(({ check }) => check))
  expect([...found].sort()).toEqual([
    'definition.readable',
    'flow.readable',
    'payload.owner',
    'run.event',
    'seq.run',
    'step.event',
  ])
})
