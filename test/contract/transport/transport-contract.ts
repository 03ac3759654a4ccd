// The promises of every Transport adapter. Each adapter's test file opens one and calls this.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { InvokeCall, InvokeReply, Transport } from '../../../packages/engine/src/ports/transport.ts'

export type RunnerAct = { status: number; body: string } | 'hang' | 'vanish'

export interface OpenTransport {
  transport: Transport
  /** The URL of the runner. */
  url: string
  /** A URL that never had a runner. */
  deadUrl: string
  /** Sets the runner's behaviour for the next invokes, which may depend on their body. */
  act(act: RunnerAct | ((body: string) => RunnerAct)): void
  /** Resolves when `count` invokes of the runner were cancelled. */
  abandoned(count: number): Promise<void>
  /** Resolves when the runner has received `count` invokes. */
  received(count: number): Promise<void>
  close(): Promise<void>
}

/** A signal that never aborts. Each call has its own, as in the engine, because a shared signal would collect listeners. */
export const never = () => new AbortController().signal

export function transportContract(name: string, open: () => Promise<OpenTransport>): void {
  describe(`transport contract: ${name}`, () => {
    let opened: OpenTransport
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(() => opened.close())

    const invoke = (call: Partial<InvokeCall> = {}): Promise<InvokeReply> =>
      opened.transport.invoke({ url: opened.url, body: '{}', timeoutMs: 10_000, signal: never(), ...call })

    it.each([200, 206, 301, 400, 404, 409, 429, 500, 503])('returns a %i unchanged', async status => {
      const body = '{"data":{"n":12345678901234567890,"s":"\\u0000 ä €"}, "logs":[]}'
      opened.act({ status, body })
      expect(await invoke()).toEqual({ kind: 'answered', status, body })
    })

    it('transfers the body unchanged, both ways', async () => {
      opened.act(body => ({ status: 200, body }))
      for (const body of ['{}', '{"a":"\\ud800","b":"𝄞é\u2028","a":1e400}', `{"x":"${'x'.repeat(500_000)}"}`]) {
        expect(await invoke({ body })).toEqual({ kind: 'answered', status: 200, body })
      }
      for (const body of ['', 'no JSON', '"a string"', 'null', ' [ 1.50 ] ']) {
        opened.act({ status: 200, body })
        expect(await invoke()).toEqual({ kind: 'answered', status: 200, body })
      }
    })

    it('does not mix up concurrent calls', async () => {
      opened.act(body => ({ status: 200, body }))
      const bodies = Array.from({ length: 200 }, (_, i) => `{"i":${i}}`)
      const replies = await Promise.all(bodies.map(body => invoke({ body })))
      expect(replies).toEqual(bodies.map(body => ({ kind: 'answered', status: 200, body })))
    })

    it('takes an answer of 1 MiB, and none that is larger', async () => {
      const fits = JSON.stringify('ä'.repeat(524_287))
      expect(Buffer.byteLength(fits)).toBe(1_048_576)
      opened.act({ status: 200, body: fits })
      expect(await invoke()).toEqual({ kind: 'answered', status: 200, body: fits })
      opened.act({ status: 200, body: `${fits} ` })
      expect(await invoke()).toEqual({ kind: 'tooLarge' })
      opened.act({ status: 200, body: '{}' })
      expect(await invoke()).toMatchObject({ kind: 'answered' })
    })

    it('refuses a call that reaches no runner', async () => {
      const reply = await invoke({ url: opened.deadUrl })
      expect(reply).toMatchObject({ kind: 'refused', message: expect.stringMatching(/./) })
    })

    it('breaks a call during which the runner vanishes', async () => {
      opened.act('vanish')
      expect(await invoke()).toMatchObject({ kind: 'broken', message: expect.stringMatching(/./), isLost: true })
      opened.act({ status: 200, body: '{}' })
      expect(await invoke()).toMatchObject({ kind: 'answered' })
    })

    it('gives up at the deadline, and cancels the call at the runner', async () => {
      opened.act('hang')
      const started = performance.now()
      const reply = await invoke({ timeoutMs: 150 })
      const tookMs = performance.now() - started
      expect(reply).toEqual({ kind: 'broken', message: expect.stringContaining('150 ms') })
      expect(tookMs).toBeGreaterThanOrEqual(149)
      expect(tookMs).toBeLessThan(1500)
      await opened.abandoned(1)
    })

    it.each([2 ** 31, 1e12, Number.POSITIVE_INFINITY])('takes a deadline of %d ms', async timeoutMs => {
      opened.act({ status: 200, body: '{}' })
      expect(await invoke({ timeoutMs })).toMatchObject({ kind: 'answered' })
    })

    it('aborts a call under way, and cancels it at the runner', async () => {
      opened.act('hang')
      const controller = new AbortController()
      const reply = invoke({ signal: controller.signal })
      await opened.received(1)
      controller.abort()
      expect(await reply).toEqual({ kind: 'aborted' })
      await opened.abandoned(1)
    })

    it('does not send a call that is already aborted', async () => {
      opened.act({ status: 200, body: '{}' })
      expect(await invoke({ signal: AbortSignal.abort() })).toEqual({ kind: 'aborted' })
      await invoke({ body: '{"second":true}' })
      await opened.received(1)
    })

    it('is not disturbed by an abort after the answer', async () => {
      opened.act({ status: 200, body: '{}' })
      const controller = new AbortController()
      const reply = await invoke({ signal: controller.signal })
      controller.abort()
      expect(reply).toMatchObject({ kind: 'answered' })
      expect(await invoke()).toMatchObject({ kind: 'answered' })
    })

    it('closes within a bound, breaks pending calls, and refuses further ones', async () => {
      opened.act('hang')
      const hanging = invoke()
      await opened.received(1)
      const started = performance.now()
      await Promise.all([opened.transport.close(), opened.transport.close()])
      expect(performance.now() - started).toBeLessThan(3000)
      expect(await hanging).toEqual({ kind: 'broken', message: 'the engine is closing' })
      expect(await invoke()).toMatchObject({ kind: 'refused' })
    })
  })
}
