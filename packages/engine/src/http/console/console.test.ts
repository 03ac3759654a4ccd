// The files of the console over HTTP: headers, encodings, refusals.

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { apiKey, refusal, testApp } from '../../../../../test/kit/http/test-app.ts'
import { consoleFiles } from '../response/console-files.ts'

const files = consoleFiles()
if (!files) throw new Error('npm run build first')
const script = [...files.assets.keys()].find(name => /^first-.*\.js$/.test(name)) as string
const { app } = await testApp()
const HTML = { accept: 'text/html,*/*;q=0.8' }

test.each(['/console/', '/console/n/default/runs/run_1?tab=logs', '/console/nowhere'])('%s is the page', async url => {
  const { statusCode, headers, body } = await app.inject(url)
  expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers['cache-control']).toBe('no-cache')
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*require-trusted-types-for 'script'/)
  expect(headers['content-security-policy']).not.toContain('unsafe')
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  })
  expect(body).toContain(`src="/console/assets/${script}"`)
  expect(body).not.toMatch(/<script(?![^>]*src=)|<style| style=/)
})

test('a file is compressed as the client accepts it, kept for ever, and known by its tag', async () => {
  const url = `/console/assets/${script}`
  const plain = await app.inject(url)
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  })
  for (const [encoding, decode] of [
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const) {
    const { headers, rawPayload } = await app.inject({ url, headers: { 'accept-encoding': encoding } })
    expect(headers['content-encoding']).toBe(encoding)
    expect(decode(rawPayload).equals(plain.rawPayload)).toBe(true)
  }
  // A proxy that compresses by itself makes tags weak.
  const tag = String(plain.headers.etag)
  for (const known of [tag, `W/${tag.replace('W/', '')}`, `"other", ${tag}`, '*']) {
    const again = await app.inject({ url, headers: { 'if-none-match': known } })
    expect([known, again.statusCode, again.body]).toEqual([known, 304, ''])
  }
  for (const known of ['"other"', tag.slice(0, -2)])
    expect((await app.inject({ url, headers: { 'if-none-match': known } })).statusCode).toBe(200)
})

test('a file that is not there is 404, never the page', async () => {
  for (const name of ['nothing.js', '..%2Findex.html', 'deeper/index.html', `${script}.br`])
    expect(refusal(await app.inject(`/console/assets/${name}`))).toBe('404 not_found')
})

test('the root leads browsers to the console, and no other client', async () => {
  const { statusCode, headers } = await app.inject({ url: '/', headers: HTML })
  expect([statusCode, headers.location]).toEqual([302, '/console/'])
  expect(refusal(await app.inject('/'))).toBe('404 not_found')
})

test('an engine without keys gives its files to loopback names only', async () => {
  expect((await app.inject({ url: '/console/', headers: { host: 'localhost:4777' } })).statusCode).toBe(200)
  for (const url of ['/console/', `/console/assets/${script}`])
    expect(refusal(await app.inject({ url, headers: { host: 'rebound.example' } }))).toBe('403 forbidden')
})

test('behind a path prefix the page names its files and the engine below it', async () => {
  const { app } = await testApp({ config: { publicUrl: 'https://example.com/perdure' } })
  const { body } = await app.inject('/console/')
  expect(body).toContain(`src="/perdure/console/assets/${script}"`)
  expect(body).toContain('<meta name="perdure-base" content="/perdure" />')
  expect((await app.inject({ url: '/', headers: HTML })).headers.location).toBe('/perdure/console/')
})

test('the page says whether the engine is open', async () => {
  expect((await app.inject('/console/')).body).toContain('<meta name="perdure-open" content="1" />')
  const keyed = await testApp({ config: { apiKeys: [apiKey('a key of a test')] } })
  expect((await keyed.app.inject('/console/')).body).toContain('<meta name="perdure-open" content="0" />')
})

test('ENGINE_CONSOLE_PAYLOADS=0: the page says that payloads are hidden', async () => {
  expect((await app.inject('/console/')).body).toContain('<meta name="perdure-payloads" content="1" />')
  const hiding = await testApp({ config: { consolePayloads: false } })
  expect((await hiding.app.inject('/console/')).body).toContain('<meta name="perdure-payloads" content="0" />')
})

test('an engine with keys gives them under every name', async () => {
  const { app } = await testApp({ config: { apiKeys: [apiKey('a key of a test')] } })
  expect((await app.inject({ url: '/console/', headers: { host: 'engine.example' } })).statusCode).toBe(200)
})

test('ENGINE_CONSOLE=0: there are no such paths', async () => {
  const { app } = await testApp({ config: { console: false } })
  for (const url of ['/console/', '/', `/console/assets/${script}`])
    expect(refusal(await app.inject({ url, headers: HTML }))).toBe('404 not_found')
})
