// Carries out invokes of the Connect runners of this engine for other engines, and tells those what becomes of them.

import type { Bus } from '../../../ports/bus.ts'
import type { InvokeReply, Transport } from '../../../ports/transport.ts'
import { split } from './presence.ts'

/** Whoever asked for it has not asked whether it is still known for so long: it is dead, or does not want it any more. */
const SILENCE_MS_MAX = 15_000
const LOOK_EVERY_MS = 2000
/** A checkpoint whose answer has not come by then is told again when its call is asked for. */
const TELL_AGAIN_MS = 1500
/** Calls of other engines under way at once. */
const CALLS_MAX = 10_000

interface Hosted {
  engine: string
  abort: AbortController
  heardAt: number
  /** What it ended with, until the other engine says that it had it. */
  reply?: string
  checkpoint?: { no: number; payload: string; toldAt: number; settle(answer: string): void }
}

export class RelayHost {
  readonly #bus: Bus
  readonly #transport: Transport
  readonly #calls = new Map<string, Hosted>()
  readonly #timer: NodeJS.Timeout
  #onReply: () => void = () => {}

  constructor({ bus, transport }: { bus: Bus; transport: Transport }) {
    this.#bus = bus
    this.#transport = transport
    bus.on('invoke', (text, from) => void this.#invoke(text, from))
    bus.on('cancel', id => this.#calls.get(id)?.abort.abort())
    bus.on('had', id => this.#calls.delete(id))
    bus.on('still', (ids, from) => this.#asked(ids.split(' '), from))
    bus.on('checkpointed', text => this.#checkpointed(text))
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
  }

  /** Resolves when none is under way, or on abort. */
  async idle(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && [...this.#calls.values()].some(({ reply }) => reply === undefined)) {
      await new Promise<void>(resolve => {
        this.#onReply = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }

  close(): void {
    clearInterval(this.#timer)
    for (const { abort } of this.#calls.values()) abort.abort()
  }

  async #invoke(text: string, engine: string): Promise<void> {
    const [head, body] = split(text, '\n')
    const { id, url, timeoutMs, checkpoints } = JSON.parse(head) as Head
    if (this.#calls.has(id)) return
    const hosted: Hosted = { engine, abort: new AbortController(), heardAt: performance.now() }
    this.#calls.set(id, hosted)
    const { signal } = hosted.abort
    const call = { url, body, timeoutMs, signal }
    const reply: InvokeReply =
      this.#calls.size > CALLS_MAX
        ? { kind: 'refused', message: `${CALLS_MAX} invokes of other engines are under way` }
        : await this.#transport.invoke(
            checkpoints ? { ...call, onCheckpoint: payload => this.#checkpoint(id, hosted, payload) } : call,
          )
    hosted.reply = replyText(id, reply)
    hosted.heardAt = performance.now()
    this.#bus.tell('reply', hosted.reply, engine)
    this.#onReply()
  }

  /** One at a time. */
  async #checkpoint(id: string, hosted: Hosted, payload: string): Promise<string | undefined> {
    const no = ++checkpointCount
    const { signal } = hosted.abort
    const answer = await new Promise<string>(settle => {
      hosted.checkpoint = { no, payload, toldAt: performance.now(), settle }
      signal.addEventListener('abort', () => settle('-'), { once: true })
      this.#bus.tell('checkpoint', `${id} ${no}\n${payload}`, hosted.engine)
    })
    delete hosted.checkpoint
    if (answer === '!') throw new Error('the checkpoint could not be stored')
    return answer === '-' ? undefined : answer.slice(1)
  }

  #checkpointed(text: string): void {
    const [id, rest] = split(text, ' ')
    const [no, answer] = split(rest, ' ')
    const checkpoint = this.#calls.get(id)?.checkpoint
    if (checkpoint?.no === Number(no)) checkpoint.settle(answer)
  }

  #asked(ids: readonly string[], engine: string): void {
    const now = performance.now()
    const unknown = ids.filter(id => !this.#calls.has(id))
    const alive = ids.filter(id => this.#calls.has(id))
    for (const id of alive) this.#tellAgain(id, this.#calls.get(id) as Hosted, now)
    if (alive.length > 0) this.#bus.tell('alive', alive.join(' '), engine)
    if (unknown.length > 0) this.#bus.tell('unknown', unknown.join(' '), engine)
  }

  /** What it was told may have been lost. */
  #tellAgain(id: string, hosted: Hosted, now: number): void {
    hosted.heardAt = now
    if (hosted.reply !== undefined) this.#bus.tell('reply', hosted.reply, hosted.engine)
    const { checkpoint } = hosted
    if (!checkpoint || now - checkpoint.toldAt < TELL_AGAIN_MS) return
    checkpoint.toldAt = now
    this.#bus.tell('checkpoint', `${id} ${checkpoint.no}\n${checkpoint.payload}`, hosted.engine)
  }

  #look(): void {
    const since = performance.now() - SILENCE_MS_MAX
    for (const [id, { heardAt, reply, abort }] of this.#calls) {
      if (heardAt >= since) continue
      if (reply === undefined) abort.abort()
      else this.#calls.delete(id)
    }
  }
}

interface Head {
  id: string
  url: string
  timeoutMs: number
  checkpoints: boolean
}

/** Rises over all calls: an answer to an earlier checkpoint is never taken for a later one's. */
let checkpointCount = 0

/** The body of an answer stands behind the rest, to the letter. */
function replyText(id: string, reply: InvokeReply): string {
  if (reply.kind !== 'answered') return `${id} ${JSON.stringify(reply)}\n`
  const { body, ...told } = reply
  return `${id} ${JSON.stringify(told)}\n${body}`
}
