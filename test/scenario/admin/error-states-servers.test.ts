// States of error groups (docs/errors.md#states-of-error-groups) over the HTTP interface, on every store: resolved, regressed by
// the next failure, ignored and reopened. States survive a restart, reach other engines, are audited with the key's name, and are
// bounded.

import type { ControlAction, ErrorGroup } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { ERROR_STATES_MAX } from '../../../packages/engine/src/services/run/error-states.ts'
import { openDatabase, openEngine, openRunner, STORES, unique } from '../../kit/index.ts'

const KEYS = [
  { label: 'ada', namespace: 'default', kind: 'secret', key: 'the-secret-key-of-ada' },
  { label: 'reader', namespace: 'default', kind: 'read', key: 'the-read-key-of-nobody' },
]
const env = { ENGINE_QUEUE: 'memory', ENGINE_API_KEYS: JSON.stringify(KEYS) }

test.each(STORES)('resolve, regress, ignore, reopen, on %s', async (kind, freshStore) => {
  const storeFile = await freshStore()
  let engine = await openEngine({ storeFile, env })
  const ada = () => engine.api.as(KEYS[0]?.key as string)
  const [name, app] = [unique('broken'), unique('app')]
  const refuse = () => ({ status: 400, body: { error: { message: 'card 4711 was refused' }, logs: [] } })
  const runner = await openRunner({ app, workflows: { [name]: refuse } })
  await runner.register(ada())
  const fail = async () => ada().reaches((await ada().send({ name, app })).runId, 'failed')
  const groups = async (query = '') => (await ada().get(`/errors?app=${app}${query}`)).json as ErrorGroup[]
  const states = async (query = '') => (await groups(query)).map(({ state }) => state)
  await fail()
  const [first] = await groups()
  expect(first).toMatchObject({ state: 'open', count: 1 })
  expect(first).not.toHaveProperty('stateSetAt')
  const path = `/errors/${first?.fingerprint}/state`
  const set = (state: string) => ada().put(path, { state })

  const resolved = await set('resolved')
  const { stateSetAt } = resolved.json as { stateSetAt: string }
  expect(resolved.json).toEqual({ fingerprint: first?.fingerprint, state: 'resolved', stateSetAt, stateSetBy: 'ada' })
  expect([await states(), await states('&state=open'), await states('&state=resolved')]).toEqual([
    ['resolved'],
    [],
    ['resolved'],
  ])
  await fail()
  expect((await groups('&state=open'))[0]).toMatchObject({
    state: 'regressed',
    count: 2,
    stateSetAt,
    stateSetBy: 'ada',
  })
  expect(await states(`&until=${first?.lastAt}`)).toEqual([])

  await set('ignored')
  await fail()
  await engine.stop()
  engine = await openEngine({ storeFile, env })
  await runner.register(ada())
  expect([await states('&state=open'), await states('&state=ignored')]).toEqual([[], ['ignored']])
  const twin = kind === 'postgres' ? await openEngine({ storeFile, env }) : engine
  const reopened = await twin.api.as(KEYS[0]?.key as string).put(path, { state: 'open' })
  expect(reopened.json).toEqual({ fingerprint: first?.fingerprint, state: 'open' })
  expect(await states('&state=open')).toEqual(['open'])
  // Nothing is stored for an open group, so nothing is recorded.
  expect((await set('open')).status).toBe(200)

  const actions = async (action: string) =>
    (await ada().get(`/control-actions?action=${action}`)).json as ControlAction[]
  const recorded = await Promise.all(['error.resolve', 'error.ignore', 'error.reopen'].map(actions))
  expect(recorded.map(entries => entries.map(({ actor, detail }) => [actor, detail]))).toEqual(
    Array(3).fill([['ada', { fingerprint: first?.fingerprint }]]),
  )
})

test('what is refused: a key that may not write, a group without a run, another state, and too many states', async () => {
  const engine = await openEngine({ env, onDisk: true })
  const ada = engine.api.as(KEYS[0]?.key as string)
  const name = unique('broken')
  const refuse = () => ({ status: 400, body: { error: { message: 'no' }, logs: [] } })
  const runner = await openRunner({ workflows: { [name]: refuse } })
  await runner.register(ada)
  await ada.reaches((await ada.send({ name })).runId, 'failed')
  const [group] = (await ada.get('/errors')).json as ErrorGroup[]
  const path = `/errors/${group?.fingerprint}/state`
  const body = { state: 'resolved' }
  expect(await engine.api.as(KEYS[1]?.key as string).put(path, body)).toMatchObject({ status: 403, code: 'forbidden' })
  for (const unknown of ['0000000000000000', 'nothing', '%00'])
    expect((await ada.put(`/errors/${unknown}/state`, body)).status).toBe(404)
  for (const wrong of [{ state: 'regressed' }, { state: 'fixed' }, {}])
    expect(await ada.put(path, wrong)).toMatchObject({ status: 400, code: 'invalid_request' })
  expect((await ada.get('/errors?state=regressed')).text).toContain('state must be')
  const database = await openDatabase(engine.storeFile)
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ERROR_STATES_MAX})
    INSERT INTO documents (namespace, kind, id, content, saved_at) SELECT 'default', 'error', 'f' || i, 'resolved', 1 FROM n`)
  const full = await ada.put(path, body)
  expect(full).toMatchObject({ status: 409, code: 'conflict' })
  expect(full.text).toContain(`at most ${ERROR_STATES_MAX} resolved or ignored error groups`)
  database.exec("DELETE FROM documents WHERE id = 'f1'")
  // A group that has a state may get another one.
  for (const state of ['resolved', 'ignored']) expect((await ada.put(path, { state })).status).toBe(200)
})
