// The promises of every Sender adapter. Each adapter's test file opens one and calls this.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SendCall, Sender, SendReply } from '../../../packages/engine/src/ports/sender.ts'

export type ReceiverAct =
  | { status: number; body?: string | Buffer; headers?: Record<string, string> }
  | 'hang'
  | 'vanish'

export interface OpenSender {
  sender: Sender
  /** The URL of the receiver. */
  url: string
  /** A URL that never had a receiver. */
  deadUrl: string
  /** Sets the receiver's behaviour for the next posts. */
  act(act: ReceiverAct): void
  received(): { body: string; headers: Record<string, string> }[]
  close(): Promise<void>
}

export function senderContract(name: string, open: () => Promise<OpenSender>): void {
  describe(`sender contract: ${name}`, () => {
    let opened: OpenSender
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    const send = (call: Partial<SendCall> = {}): Promise<SendReply> =>
      opened.sender.send({ url: opened.url, headers: {}, body: '{}', timeoutMs: 5000, ...call })

    it.each([200, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 429, 500, 503, 599])(
      'returns a %i, and follows no redirect',
      async status => {
        opened.act({ status, headers: { location: opened.deadUrl } })
        expect(await send()).toMatchObject({ kind: 'answered', status, responseSnippet: '' })
        expect(opened.received()).toHaveLength(1)
      },
    )

    it('transfers headers and body unchanged', async () => {
      opened.act({ status: 200 })
      const headers = {
        'content-type': 'application/json',
        'webhook-id': 'dlv_1',
        'user-agent': 'perdure/test',
      }
      for (const body of ['{"a":"€𝄞"}', '{"a":"\\u0000\\ud800"}', 'null', JSON.stringify('x'.repeat(300_000))]) {
        await send({ headers, body })
        expect(opened.received().at(-1)).toMatchObject({ body, headers })
      }
    })

    it.each([
      ['120', 120_000],
      ['0', 0],
      ['999999999', 86_400_000],
      ['soon', undefined],
    ])('reads Retry-After: %s', async (header, retryAfterMs) => {
      opened.act({ status: 429, headers: { 'retry-after': header } })
      const reply = await send()
      expect(reply).toMatchObject({ kind: 'answered', status: 429 })
      expect('retryAfterMs' in reply ? reply.retryAfterMs : undefined).toBe(retryAfterMs)
    })

    it('keeps 4,096 bytes of the body', async () => {
      for (const body of ['short', 'x'.repeat(4096), 'x'.repeat(4097), 'x'.repeat(60_000)]) {
        opened.act({ status: 500, body })
        expect(await send()).toMatchObject({ kind: 'answered', responseSnippet: body.slice(0, 4096) })
      }
    })

    it.each([
      ['é', 4095, 4094 + 1],
      ['€', 4095, 4095],
      ['€', 4094, 4094],
      ['€', 4093, 4096],
      ['𝄞', 4093, 4093],
    ])('cuts on a character: %s after %i bytes', async (character, before, bytes) => {
      opened.act({ status: 200, body: 'x'.repeat(before) + character.repeat(10) })
      const reply = await send()
      const { responseSnippet } = reply as Extract<SendReply, { kind: 'answered' }>
      expect(Buffer.byteLength(responseSnippet)).toBe(bytes)
      expect(responseSnippet).not.toContain('\uFFFD')
    })

    it('decodes any bytes as text without NUL', async () => {
      opened.act({ status: 200, body: Buffer.from([0x61, 0, 0xff, 0xc0, 0x62]) })
      expect(await send()).toMatchObject({ responseSnippet: 'a\uFFFD\uFFFD\uFFFDb' })
    })

    it('gives up at the deadline', async () => {
      opened.act('hang')
      const started = performance.now()
      const reply = await send({ timeoutMs: 150 })
      expect(reply).toMatchObject({ kind: 'timeout', error: expect.stringContaining('150 ms') })
      expect(performance.now() - started).toBeGreaterThanOrEqual(149)
      expect(performance.now() - started).toBeLessThan(1500)
    })

    it('reports connections that failed', async () => {
      expect(await send({ url: opened.deadUrl })).toMatchObject({
        kind: 'connectionError',
        error: expect.stringMatching(/./),
      })
      opened.act('vanish')
      expect(await send()).toMatchObject({ kind: 'connectionError', error: expect.stringMatching(/./) })
    })

    it('measures the duration of a call', async () => {
      opened.act({ status: 200 })
      const reply = await send()
      expect('durationMs' in reply && reply.durationMs).toBeGreaterThanOrEqual(0)
    })

    it('closes within a bound, ends pending calls, and sends no further ones', async () => {
      opened.act('hang')
      const hanging = send()
      const started = performance.now()
      await Promise.all([opened.sender.close(), opened.sender.close()])
      expect(performance.now() - started).toBeLessThan(3000)
      expect(await hanging).toMatchObject({ kind: 'connectionError' })
      expect(await send()).toMatchObject({ kind: 'connectionError' })
    })
  })
}
