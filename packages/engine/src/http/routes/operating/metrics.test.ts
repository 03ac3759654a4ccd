import { expect, test } from 'vitest'
import { refusal, testApp } from '../../http.testkit.ts'

test("the metrics are text, those of the key's namespace", async () => {
  const { app, faces } = testApp()
  faces.addKey('reader', { kind: 'read', namespace: 'shop' })
  const response = await app.inject({ url: '/metrics', headers: { authorization: 'Bearer reader' } })
  expect([response.statusCode, response.body]).toEqual([200, '# of shop\n'])
  expect(response.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
})

test('without keys they are open on this machine; with keys a key that reads is needed', async () => {
  const { app, faces } = testApp()
  expect((await app.inject('/metrics')).statusCode).toBe(200)
  faces.addKey('sender', { kind: 'event' })
  expect(refusal(await app.inject('/metrics'))).toBe('401 unauthorized')
  const asSender = { url: '/metrics', headers: { authorization: 'Bearer sender' } }
  expect(refusal(await app.inject(asSender))).toBe('403 forbidden')
})

test('they have no line in the access log, whatever its level', async () => {
  const { app, faces } = testApp({ logLevel: 'trace' })
  await app.inject('/metrics')
  expect(faces.logged).toEqual([])
  await app.inject('/apps')
  expect(faces.logged).toMatchObject([{ route: '/apps' }])
})
