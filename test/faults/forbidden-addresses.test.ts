// Webhooks to addresses that are not public, in every spelling: the engine opens no connection
// (docs/webhooks.md#addresses). Listeners on every address of this machine must see nothing.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  discovered,
  type OpenEngine,
  onCleanup,
  opcode,
  openEngine,
  returned,
  unique,
  until,
} from '../kit/index.ts'
import type { DeliveryRecord } from '../kit/webhook/webhooks.ts'

/** Hosts of URLs that lead to this machine, its network or a cloud's metadata service. */
const HOSTS: Record<string, string[]> = {
  plain: ['127.0.0.1', '127.0.0.2', '127.255.255.254', '0.0.0.0', '[::1]', '[::]'],
  names: ['localhost', 'LOCALHOST', 'localhost.', 'LocalHost'],
  'trailing dots': ['127.0.0.1.', '10.0.0.1.', '169.254.169.254.', '2130706433.'],
  decimal: ['2130706433', '0', '2852039166', '167772161', '3232235521'],
  hexadecimal: ['0x7f000001', '0x7f.0.0.1', '0x7F.1', '0xA9FEA9FE', '0x0'],
  octal: ['0177.0.0.1', '0177.1', '017700000001', '0251.0376.0251.0376', '00.00.00.00'],
  short: ['127.1', '127.0.1', '10.1', '192.168.257'],
  'wide digits': ['①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '%31%32%37.0.0.1'],
  'IPv4 mapped': [
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::FFFF:10.0.0.1]',
    '[::ffff:a9fe:a9fe]',
  ],
  'IPv4 compatible, translated': ['[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]'],
  NAT64: ['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::1]'],
  '6to4, Teredo': ['[2002:7f00:1::]', '[2002:a00:1::1]', '[2002:a9fe:a9fe::]', '[2001:0:7f00:1::f7f7:f7f7]'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.0.0.8', '198.18.0.1'],
  'carrier NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  metadata: ['169.254.169.254', '169.254.170.2', '[fd00:ec2::254]', '[fe80::a9fe:a9fe]'],
  'unique local, link-local, site-local': ['[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]'],
  'multicast, broadcast': ['224.0.0.1', '255.255.255.255', '240.0.0.1', '[ff02::1]'],
}
/** URLs in which a prominent part is not the host. */
const TRICKS = [
  'http://example.com@127.0.0.1:PORT/',
  'http://example.com:80@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT#@example.com/',
  'http://127.0.0.1:PORT?@example.com/',
  'http://127.0.0.1:PORT\\@example.com/',
  'http:\\\\127.0.0.1:PORT\\',
  'http:127.0.0.1:PORT',
  'http:///127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'ht\ntp://127.0.0.1:PORT/',
  'gopher://127.0.0.1:PORT/',
  'file://127.0.0.1:PORT/etc/passwd',
]

interface Heard {
  port: number
  connections: number
  paths: string[]
}

/** Listens on `host` and counts every connection. */
async function listenOn(host: string, redirectTo?: string): Promise<Heard> {
  const heard: Heard = { port: 0, connections: 0, paths: [] }
  const server: Server = createServer((request, response) => {
    heard.paths.push(request.url ?? '')
    response.writeHead(redirectTo === undefined ? 200 : 307, redirectTo ? { location: redirectTo } : {})
    response.end()
  })
  server.on('connection', () => heard.connections++)
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  heard.port = (server.address() as AddressInfo).port
  onCleanup(() => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  })
  return heard
}

/** Sends to all the URLs from one run, as custom sends; returns the outcome of each of the run's steps. */
async function sendTo(engine: OpenEngine, urls: readonly string[]) {
  const [name, app] = [unique('sender'), unique('app')]
  const opcodes = urls.map((webhookUrl, i) => opcode('Webhook', `to ${i}`, { webhookUrl, data: i }))
  await engine.runner({
    app,
    workflows: { [name]: ({ pass }) => (pass === 1 ? discovered(opcodes) : returned()) },
  })
  const { runId } = await engine.api.send({ name })
  await engine.api.succeeded(runId)
  return { app, runId, steps: await engine.api.steps(runId) }
}

/** Resolves with the app's deliveries once each has had its first attempt. */
function attempted(api: Api, app: string): Promise<DeliveryRecord[]> {
  return until(
    async () => {
      const { json } = await api.get(`/webhook-deliveries?app=${app}&limit=1000`)
      const found = json as DeliveryRecord[]
      return found.every(({ status }) => status !== 'pending' && status !== 'delivering') && found
    },
    { what: 'an attempt of every delivery' },
  )
}

test('no spelling of a forbidden address is called', async () => {
  const sinks = [await listenOn('0.0.0.0'), await listenOn('::1').catch(() => undefined)].filter(
    destination => !!destination,
  )
  const engine = await openEngine()
  const hosts = Object.values(HOSTS).flat()
  expect(hosts.length).toBeGreaterThanOrEqual(60)
  const urls = sinks.flatMap(({ port }) => [
    ...hosts.map(host => `http://${host}:${port}/hook`),
    ...TRICKS.map(trick => trick.replaceAll('PORT', String(port))),
  ])
  const { app, steps } = await sendTo(engine, urls)
  expect(steps).toHaveLength(urls.length)

  const deliveries = await attempted(engine.api, app)
  // A text that is not an HTTP URL fails its step instead.
  expect(deliveries).toHaveLength(steps.filter(({ status }) => status === 'succeeded').length)
  expect(deliveries.length).toBeGreaterThanOrEqual(hosts.length * sinks.length)
  for (const { id, url } of deliveries) {
    const { status, attempts } = (await engine.api.get(`/webhook-deliveries/${id}`)).json as DeliveryRecord
    // Not every resolver resolves this name.
    if (new URL(url).hostname === 'localhost.' && attempts[0]?.outcome === 'connection_error') continue
    expect({ url, status, outcomes: attempts.map(({ outcome }) => outcome) }).toEqual({
      url,
      status: 'dead',
      outcomes: ['skipped'],
    })
  }
  expect(sinks.map(({ connections }) => connections)).toEqual(sinks.map(() => 0))
})

describe('ENGINE_WEBHOOK_ALLOW', () => {
  test('allows webhooks to its addresses and to no others; a redirect to another address is not followed', async () => {
    const forbidden = await listenOn('127.0.0.1')
    const allowed = await listenOn('127.0.0.2')
    const redirecting = await listenOn('127.0.0.2', `http://127.0.0.1:${forbidden.port}/`)
    const engine = await openEngine({ env: { ENGINE_WEBHOOK_ALLOW: '127.0.0.2, 10.9.0.0/16' } })
    const { app, runId } = await sendTo(engine, [
      `http://127.0.0.2:${allowed.port}/ok`,
      `http://127.0.0.2:${redirecting.port}/away`,
      `http://127.0.0.1:${forbidden.port}/no`,
      `http://[::ffff:127.0.0.2]:${allowed.port}/mapped`,
      'http://localhost/name',
    ])
    // The run may end before its deliveries are dead, so the test reads the run's log.
    const warned = (await engine.api.logs(runId)).map(({ level, scope, message }) => [
      level,
      scope,
      message.slice(0, 33),
    ])
    expect(warned).toEqual([
      ['warn', 'to 2', `The webhook to 127.0.0.1:${forbidden.port} will`.slice(0, 33)],
      ['warn', 'to 3', 'The webhook to [::ffff:7f00:2]:'.concat(String(allowed.port)).slice(0, 33)],
      ['warn', 'to 4', 'The webhook to localhost will not'],
    ])
    const deliveries = await attempted(engine.api, app)
    const outcomes = Object.fromEntries(
      deliveries.map(({ url, status, lastStatusCode }) => [new URL(url).pathname, lastStatusCode ?? status]),
    )
    expect(outcomes).toEqual({ '/ok': 200, '/away': 307, '/no': 'dead', '/mapped': 'dead', '/name': 'dead' })
    expect([allowed.paths, redirecting.paths, forbidden.connections]).toEqual([['/ok'], ['/away'], 0])
  })
})
