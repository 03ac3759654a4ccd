// Shared views (docs/console.md#views) over the HTTP interface, on every store: saved, replaced, listed by name and deleted with
// the key's name, in the audit log and after a restart. Also their bounds.

import type { ControlAction } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { VIEWS_MAX } from '../../../packages/engine/src/services/admin/views.ts'
import { openEngine, STORES } from '../../kit/index.ts'

const [ADA, BEN, READER, OTHER] = [
  'the-secret-key-of-ada',
  'the-secret-key-of-ben',
  'a-read-key-of-all',
  'the-secret-key-of-others',
]
const keys = [
  { label: 'ada', namespace: 'default', kind: 'secret', key: ADA },
  { label: 'ben', namespace: 'default', kind: 'secret', key: BEN },
  { label: 'reader', namespace: 'default', kind: 'read', key: READER },
  { label: 'other', namespace: 'other', kind: 'secret', key: OTHER },
]
const env = { ENGINE_QUEUE: 'memory', ENGINE_API_KEYS: JSON.stringify(keys) }

test.each(STORES)('views are shared by the keys of a namespace, on %s', async (_, freshStore) => {
  const storeFile = await freshStore()
  let engine = await openEngine({ storeFile, env })
  const as = (key: string) => engine.api.as(key)
  const failed = { name: 'failed today', query: 'status=failed&since=24h' }
  expect((await as(READER).get('/views')).json).toEqual([])
  const { json, status } = await as(ADA).put('/views/v2', failed)
  expect([status, json]).toEqual([200, { id: 'v2', ...failed, savedAt: expect.any(String), savedBy: 'ada' }])
  await as(ADA).put('/views/v1', { name: 'slow', query: 'sort=duration' })
  await as(BEN).put('/views/v1', { name: 'all', query: '' })
  await engine.stop()
  engine = await openEngine({ storeFile, env })
  const shown = async (key: string) =>
    ((await as(key).get('/views')).json as { id: string; name: string; savedBy: string }[]).map(view => [
      view.id,
      view.name,
      view.savedBy,
    ])
  expect(await shown(READER)).toEqual([
    ['v1', 'all', 'ben'],
    ['v2', 'failed today', 'ada'],
  ])
  expect(await shown(OTHER)).toEqual([])
  expect((await as(OTHER).request('DELETE', '/views/v1')).status).toBe(404)
  expect((await as(BEN).request('DELETE', '/views/v2')).status).toBe(204)
  expect((await as(BEN).request('DELETE', '/views/v2')).status).toBe(404)
  expect(await shown(READER)).toEqual([['v1', 'all', 'ben']])
  const actions = async (action: string) =>
    ((await as(ADA).get(`/control-actions?action=${action}`)).json as ControlAction[]).map(({ actor, detail }) => [
      actor,
      detail,
    ])
  expect(await actions('view.put')).toEqual([
    ['ben', { id: 'v1', name: 'all' }],
    ['ada', { id: 'v1', name: 'slow' }],
    ['ada', { id: 'v2', name: 'failed today' }],
  ])
  expect(await actions('view.delete')).toEqual([['ben', { id: 'v2', name: 'failed today' }]])
})

test('what is refused: a key that may not write, a bad id, a long name or query, and too many views', async () => {
  const engine = await openEngine({ env })
  const ada = engine.api.as(ADA)
  const view = { name: 'n', query: '' }
  expect((await engine.api.as(READER).put('/views/v', view)).status).toBe(403)
  expect((await engine.api.as(READER).request('DELETE', '/views/v')).status).toBe(403)
  for (const id of ['a%20b', '%00', 'x'.repeat(65)])
    expect(await ada.put(`/views/${id}`, view)).toMatchObject({ status: 400, code: 'invalid_request' })
  for (const [body, message] of [
    [{ ...view, name: '' }, 'name must'],
    [{ ...view, name: 'x'.repeat(81) }, '80'],
    [{ ...view, query: 'x'.repeat(2001) }, '2000'],
    [{ name: 'n' }, 'query'],
  ] as const) {
    const answer = await ada.put('/views/v', body)
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)])
  }
  for (let i = 0; i < VIEWS_MAX; i++) expect((await ada.put(`/views/v${i}`, view)).status).toBe(200)
  const full = await ada.put('/views/one-more', view)
  expect(full).toMatchObject({ status: 409, code: 'conflict' })
  expect(full.text).toContain(`at most ${VIEWS_MAX} shared views`)
  expect((await ada.put('/views/v0', { ...view, name: 'renamed' })).status).toBe(200)
  expect((await ada.get('/views')).json).toHaveLength(VIEWS_MAX)
})
