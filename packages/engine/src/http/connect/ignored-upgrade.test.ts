import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { blockCommits, eventually, listen, recordedData, testApp } from '../../../../../test/kit/http/test-app.ts'

const HOST = 'Host: localhost\r\n'
const OFFER = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAA\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'

const head = (headers: string): string => `POST /events HTTP/1.1\r\n${HOST}${JSON_TYPE}${headers}\r\n`
const event = (data: string): string => `{"name":"n","data":${data}}`
const post = (body: string, headers = OFFER): string =>
  `${head(`${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`
const get = (headers = ''): string => `GET /healthz HTTP/1.1\r\n${HOST}${headers}\r\n`

interface Dialled {
  socket: Socket
  /** The status of every answer so far. */
  statuses(): number[]
  closed: Promise<void>
}

function dial(port: number): Dialled {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  socket.on('error', () => {})
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(match => Number(match[1]))
  return { socket, statuses, closed: new Promise(resolve => socket.on('close', () => resolve())) }
}

const shared = await testApp()
const port = await listen(shared.app)

/** A connection to the shared app; `data` has the events that were recorded since. */
async function open() {
  const before = (await recordedData(shared.store)).length
  return { ...dial(port), data: async () => (await recordedData(shared.store)).slice(before) }
}

/** A connection to an app whose commits wait. */
async function openBlocked() {
  const opened = await testApp()
  const blocked = blockCommits(opened.store)
  return { ...opened, ...dial(await listen(opened.app)), blocked, data: () => recordedData(opened.store) }
}

describe('a request that offers another protocol', () => {
  test('is answered as if it did not, and the connection stays open', async () => {
    const warnings: Error[] = []
    const warned = (warning: Error): unknown => warnings.push(warning)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const { socket, statuses, data } = await open()
    const sent: string[] = []
    for (let i = 1; i <= 20; i++) {
      sent.push(String(i))
      socket.write(post(event(`${i}`)))
      await eventually(() => statuses().length === i)
    }
    expect(await data()).toEqual(sent)
    expect(new Set(statuses())).toEqual(new Set([202]))
    expect(warnings).toEqual([])
  })

  test('may have a body that comes later, in pieces and of any length', async () => {
    const { socket, statuses, data } = await open()
    const text = `"${'x'.repeat(900_000)}"`
    const bytes = post(event(text))
    for (let at = 0; at < bytes.length; at += 100_001) socket.write(bytes.slice(at, at + 100_001))
    await eventually(() => statuses().length === 1)
    expect([statuses(), await data()]).toEqual([[202], [text]])
  })

  test('may have a chunked body', async () => {
    const { socket, statuses, data } = await open()
    const body = event('"chunked"')
    socket.write(`${head(`${OFFER}Transfer-Encoding: chunked\r\n`)}5\r\n${body.slice(0, 5)}\r\n`)
    await new Promise(resolve => setImmediate(resolve))
    socket.write(`${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n${get()}`)
    await eventually(() => statuses().length === 2)
    expect([statuses(), await data()]).toEqual([[202, 200], ['"chunked"']])
  })

  test('may come between other requests', async () => {
    const { socket, statuses, data } = await open()
    socket.write(post(event('1')) + post(event('2'), '') + get(OFFER) + post(event('3')) + get() + get(OFFER))
    await eventually(() => statuses().length === 6)
    expect([statuses(), await data()]).toEqual([
      [202, 202, 200, 202, 200, 200],
      ['1', '2', '3'],
    ])
  })

  test('is answered after the requests before it', async () => {
    const { socket, statuses, data, blocked } = await openBlocked()
    socket.write(post(event('1'), '') + get() + post(event('2')) + get())
    await eventually(() => blocked.length === 1)
    expect(statuses()).toEqual([])
    blocked[0]?.()
    await eventually(() => blocked.length === 2)
    expect([statuses(), await data()]).toEqual([[202, 200], ['1']])
    blocked[1]?.()
    await eventually(() => statuses().length === 4)
    expect(await data()).toEqual(['1', '2'])
  })

  test('keeps the other options of its connection header', async () => {
    const { socket, statuses, closed } = await open()
    socket.write(post(event('1'), OFFER.replace('Upgrade,', 'close, Upgrade,')))
    await closed
    expect(statuses()).toEqual([202])
  })

  test('gets the 100 Continue that it expects', async () => {
    const { socket, statuses } = await open()
    const body = event('1')
    socket.write(head(`${OFFER}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`))
    await eventually(() => statuses()[0] === 100)
    socket.write(body)
    await eventually(() => statuses().length === 2)
    expect(statuses()).toEqual([100, 202])
  })

  test('is refused with more headers than node reports: its length may be among the rest', async () => {
    const { socket, closed, statuses, data } = await open()
    const headers = `${OFFER}${'x: y\r\n'.repeat(1100)}Content-Length: ${get().length}\r\n`
    socket.write(head(headers) + get())
    await closed
    expect([statuses(), await data()]).toEqual([[400], []])
  })

  test('may be aborted', async () => {
    const { socket, statuses, blocked } = await openBlocked()
    socket.write(post(event('1'), '') + post(event('2')))
    await eventually(() => blocked.length === 1)
    socket.resetAndDestroy()
    await eventually(() => socket.closed)
    expect(statuses()).toEqual([])
    blocked[0]?.()
  })

  test('does not keep the engine from stopping', async () => {
    const { app, clock, socket, closed, blocked } = await openBlocked()
    socket.write(post(event('1'), '') + post(event('2')))
    await eventually(() => blocked.length === 1)
    const closing = app.close()
    await eventually(() => clock.timerCount > 0)
    await clock.advance(60_000)
    await closing
    await closed
    blocked[0]?.()
  })
})
