// `GET /runs/stats` (docs/http-api/runs.md#get-runsstats).

import { expect, test } from 'vitest'
import { RunHistory } from '../../kit/engine/run-history.ts'

const history = await RunHistory.open()
const { api } = history
const stats = async (query = '') => (await api.get(`/runs/stats${query}`)).json

test('without runs: nothing has finished, so the success rate is 100', async () => {
  expect(await stats()).toEqual({ total: 0, active: 0, succeeded: 0, failed: 0, successRate: 100, failedRate: 0 })
})

test('counts, of all, of an app, and since a time', async () => {
  await history.runner('shop', ['order'])
  await history.runner('mail', ['letter'])
  const away = await history.runner('away', ['absent'])
  await away.close()
  for (let i = 0; i < 3; i++) await history.run('shop', 'order')
  await history.run('shop', 'order', { ends: 'failed' })
  await history.run('shop', 'order', { ends: 'waiting' })
  const middle = await history.run('shop', 'order', { ends: 'running' })
  const paused = await history.run('shop', 'order', { ends: 'waiting' })
  await history.act(paused.id, 'pause', 'paused')
  const cancelled = await history.run('mail', 'letter', { ends: 'waiting' })
  await history.act(cancelled.id, 'cancel', 'cancelled')
  for (const ends of ['succeeded', 'failed', 'failed'] as const) await history.run('mail', 'letter', { ends })
  const { runId } = await history.send({ name: 'absent', app: 'away' })
  await api.reaches(runId, 'queued')

  const all = { total: 12, active: 3, succeeded: 4, failed: 3, successRate: 57, failedRate: 42.86 }
  const shop = { total: 7, active: 2, succeeded: 3, failed: 1, successRate: 75, failedRate: 25 }
  expect(await stats()).toEqual(all)
  expect(await stats('?app=shop')).toEqual(shop)
  expect(await stats('?app=away')).toEqual({
    total: 1,
    active: 1,
    succeeded: 0,
    failed: 0,
    successRate: 100,
    failedRate: 0,
  })
  expect(await stats('?app=none')).toEqual({
    total: 0,
    active: 0,
    succeeded: 0,
    failed: 0,
    successRate: 100,
    failedRate: 0,
  })
  const since = `since=${middle.createdAt}`
  expect(await stats(`?${since}`)).toEqual({
    total: 7,
    active: 2,
    succeeded: 1,
    failed: 2,
    successRate: 33,
    failedRate: 66.67,
  })
  expect(await stats(`?app=shop&${since}`)).toMatchObject({ total: 2, active: 1, successRate: 100 })
})

// The other parameters of the list are not allowed here.
test.each(['app=', 'since=today', 'since=', 'status=failed', 'q=nothing'])('%s is 400 invalid_request', async query => {
  expect(await api.get(`/runs/stats?${query}`)).toMatchObject({ status: 400, code: 'invalid_request' })
})
