import { expect, test } from 'vitest'
import { aroundReads } from '../../../../../../test/kit/http/stream.ts'
import { testApp } from '../../../../../../test/kit/http/test-app.ts'

test('a start with a new id reads no run before its commit, unless an engine may have made the id', async () => {
  const { app, store } = await testApp()
  const post = async (url: string, payload: object) => (await app.inject({ method: 'POST', url, payload })).statusCode
  await post('/register', { app: 'shop', url: 'http://127.0.0.1:9/', workflows: [{ name: 'bill' }] })
  expect(await post('/workflows/shop/bill/pause', {})).toBe(200)
  const reads: string[] = []
  aroundReads(store, (read, name) => {
    reads.push(name)
    return read()
  })
  const start = async (runId: string) => [await post('/workflows/shop/bill/runs', { runId }), ...reads.splice(0)]
  expect(await start('run_order-4711')).toEqual([201])
  expect(await start('run_order-4711')).toEqual([200, 'run'])
  expect(await start('run_01ARZ3NDEKTSV4RRFFQ69G5FAV')).toEqual([201, 'run', 'isErased'])
})
