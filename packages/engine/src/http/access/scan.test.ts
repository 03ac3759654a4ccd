// Searches, counts and lists of payloads over HTTP, while the readers of scans are busy.

import http from 'node:http'
import { expect, test } from 'vitest'
import { blockedScans } from '../../../../../test/kit/http/blocked-scans.ts'
import { apiKey, aRun, eventually, messageOf, refusal, testApp } from '../../../../../test/kit/http/test-app.ts'
import { NAMESPACE_SCANS_MAX } from '../../adapters/sql/reads/scan/scan-queue.ts'
import { earliestId } from '../../domain/text/ids.ts'

async function busyApp() {
  const { store, blocked } = await blockedScans()
  const apiKeys = [apiKey('default'), apiKey('other', { namespace: 'other' })]
  const opened = await testApp({ store, config: { apiKeys } })
  const get = async (url: string, key = 'default') =>
    opened.app.inject({ url, headers: { authorization: `Bearer ${key}` } })
  /** Lets every scan continue, including the ones that come later. */
  const goOn = async (answers: Promise<unknown>[]) => {
    let isDone = false
    const done = Promise.all(answers).finally(() => {
      isDone = true
    })
    await eventually(() => {
      for (const release of blocked.splice(0)) release()
      return isDone
    })
    await done
  }
  return { ...opened, blocked, get, goOn }
}

const SCANS = [
  '/runs?q=order',
  '/runs?q=order&deep=1',
  '/runs/stats',
  '/webhook-endpoints/stats',
  '/webhook-deliveries',
  '/events?app=shop',
]

test('while a scan is under way, every other read is answered', async () => {
  const { get, goOn, blocked, seed } = await busyApp()
  const run = aRun()
  await seed({ type: 'run.created', run })
  const scans = SCANS.map(url => get(url))
  await eventually(() => blocked.length > 0)
  const reads = [
    `/runs/${run.id}`,
    `/runs/${run.id}/steps`,
    '/runs',
    '/runs?app=shop',
    '/control-actions',
    '/workflows',
  ]
  for (const url of reads) expect((await get(url)).statusCode, url).toBe(200)
  expect(blocked).toHaveLength(1)
  await goOn(scans)
  for (const scan of scans) expect((await scan).statusCode).toBe(200)
})

test('a scan that waits for its turn until its time is over is 503 with Retry-After', async () => {
  const { get, goOn, blocked, clock } = await busyApp()
  const first = get('/runs/stats', 'other')
  await eventually(() => blocked.length === 1)
  // The time counts from the arrival, so it includes waiting.
  await clock.advance(2_000)
  const waiting = SCANS.map(url => get(url))
  await clock.advance(3_000)
  expect(refusal(await first)).toBe('400 invalid_request')
  await clock.advance(1_999)
  const late = get('/runs/stats')
  await clock.advance(1)
  for (const [i, url] of SCANS.entries()) {
    const refused = (await waiting[i]) as Awaited<(typeof waiting)[0]>
    expect(refusal(refused), url).toBe('503 overloaded')
    expect(refused.headers['retry-after']).toBe('1')
    expect(messageOf(refused)).toBe(
      'the search or count did not finish in time because others were running: try again later',
    )
  }
  await goOn([late])
  expect((await late).statusCode).toBe(200)
})

test('a scan that used up its time by itself is 400 and says what to narrow', async () => {
  const { get, goOn, blocked, clock } = await busyApp()
  const narrow = 'narrow the list with since, until, status, workflow or app, or send partial=1'
  for (const [url, message] of [
    ['/runs?q=order', `q has to read too many runs: ${narrow}`],
    ['/runs?q=order&deep=1', `deep has to read too many runs: ${narrow}`],
    ['/runs/stats', 'since leaves too many runs to count: give a later time'],
    ['/webhook-endpoints/stats', 'since leaves too many deliveries to count: give a later time'],
  ] as const) {
    const answer = get(url)
    await eventually(() => blocked.length === 1)
    await clock.advance(5_000)
    expect(refusal(await answer), url).toBe('400 invalid_request')
    expect(messageOf(await answer)).toBe(message)
    expect((await answer).json().error.details).toEqual({ field: message.split(' ', 1)[0] })
    await goOn([])
  }
})

test('a list that may be answered in part has what was found after 2 s, and goes on from there', async () => {
  const { get, goOn, blocked, clock, seed } = await busyApp()
  const runs = Array.from({ length: 300 }, (_, i) =>
    aRun({ id: earliestId('run', i), createdAt: i, app: i % 100 === 0 ? 'rare' : 'shop' }),
  )
  for (const run of runs) await seed({ type: 'run.created', run })
  const url = '/runs?q=rare&partial=1'
  const first = get(url)
  await eventually(() => blocked.length === 1)
  await clock.advance(2_000)
  await goOn([first])
  const { headers, json } = await first
  expect(json()).toMatchObject([{ id: runs[200]?.id }, { id: runs[100]?.id }])
  expect(headers['x-scanned-to']).toBe('1970-01-01T00:00:00.100Z')
  const second = get(`${url}&cursor=${headers['x-next-cursor']}`)
  await goOn([second])
  const rest = await second
  expect(rest.json()).toMatchObject([{ id: runs[0]?.id }])
  expect([rest.headers['x-next-cursor'], rest.headers['x-scanned-to']]).toEqual([undefined, undefined])
})

test('a list that may be answered in part and whose first read takes all of its time is 503, and says to try again', async () => {
  const { get, goOn, blocked, clock } = await busyApp()
  const answer = get('/runs?q=order&partial=1')
  await eventually(() => blocked.length === 1)
  await clock.advance(5_000)
  expect(refusal(await answer)).toBe('503 overloaded')
  expect((await answer).headers['retry-after']).toBe('1')
  expect(messageOf(await answer)).toBe('the store took too long to read this: try again later')
  await goOn([])
})

test('beyond the bound of waiting scans a namespace is refused at once, and another is not', async () => {
  const { get, goOn, clock } = await busyApp()
  const timers = clock.timerCount
  const scans = Array.from({ length: NAMESPACE_SCANS_MAX }, () => get('/runs/stats'))
  await eventually(() => clock.timerCount === timers + NAMESPACE_SCANS_MAX)
  const refused = await get('/runs/stats')
  expect(refusal(refused)).toBe('503 overloaded')
  expect(refused.headers['retry-after']).toBe('1')
  const other = get('/runs/stats', 'other')
  await goOn([...scans, other])
  expect((await other).statusCode).toBe(200)
})

test('a client that leaves takes its search out of the queue, and stops it where it is', async () => {
  const { app, get, goOn, blocked, clock } = await busyApp()
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const open = () => {
    const headers = { authorization: 'Bearer default' }
    const request = http.get({ port, path: '/runs?q=order', headers, agent: false })
    request.on('error', () => {})
    return request
  }
  const underWay = open()
  await eventually(() => blocked.length === 1)
  const timers = clock.timerCount
  const waiting = open()
  await eventually(() => clock.timerCount === timers + 1)
  waiting.destroy()
  underWay.destroy()
  await eventually(() => clock.timerCount === timers - 1)
  const next = get('/runs/stats')
  // Only the slice under way and the next scan are ever carried out.
  blocked.shift()?.()
  await eventually(() => blocked.length === 1)
  await goOn([next])
  expect((await next).statusCode).toBe(200)
})
