import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { aRun, testApp } from '../../../../../test/kit/http/test-app.ts'
import { acceptedEncoding } from './encoding.ts'

test.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['BR', 'br'],
  ['br;q=0, gzip;q=0', undefined],
  ['*', 'br'],
  ['*;q=0.1, br;q=0', 'gzip'],
  ['br;q=nonsense', undefined],
])('Accept-Encoding %j accepts %j', (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding)
})

test('a long answer is compressed as the client accepts it, a short one never', async () => {
  const { app, seed } = await testApp()
  for (let i = 0; i < 100; i++) await seed({ type: 'run.created', run: aRun({ id: `run_${i}` }) })
  const get = (encoding: string | undefined, limit = 100) =>
    app.inject({ url: `/runs?limit=${limit}`, headers: encoding === undefined ? {} : { 'accept-encoding': encoding } })
  const plain = await get(undefined)
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(plain.json()).toHaveLength(100)
  for (const [encoding, decode] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const { headers, rawPayload } = await get(encoding)
    expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Encoding' })
    expect(rawPayload.length).toBeLessThan(plain.rawPayload.length / 4)
    expect(decode(rawPayload).toString()).toBe(plain.body)
  }
  expect((await get('br', 1)).headers['content-encoding']).toBeUndefined()
})
