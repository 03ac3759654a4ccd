// Carries out invokes of the Connect runners of this engine for other engines, and tells those what becomes of them.

import { TransientMap } from '../../../base/transient-map.ts'
import type { Bus } from '../../../ports/bus.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { InvokeReply, Transport } from '../../../ports/transport.ts'
import { EndedCalls } from './ended-calls.ts'
import { splitOnce } from './presence.ts'
import { repeatEvery } from './repeat.ts'

const LOOK_EVERY_MS = 2000
/**
 * An invoke that comes later than this is not carried out: this engine stood still, or the line did. Who sent it takes us
 * for dead soon (presence.ts), and the run goes on elsewhere: a runner that began on it now would repeat what is done.
 */
const LATE_MS_MAX = 4000
/** Whoever asked for it has not asked for so many looks whether it is still known: it is dead, or does not want it any more. */
const SILENT_LOOKS_MAX = 7
/** Looks after which calls that are over may be forgotten: a word that is said again comes within seconds. */
const PAST_LOOKS = 8
/** Calls of other engines under way at once. */
const CALLS_MAX = 10_000
/** Characters of replies that others have not said to have: a reply beyond is told once, and not kept. */
const REPLIES_LENGTH_MAX = 64 * 1024 * 1024

interface Checkpoint {
  no: number
  payload: string
  /** Whether its call was asked for since it was told: at the first time, the answer may be on its way. */
  wasAskedFor: boolean
  settle(answer: string): void
}

interface Hosted {
  engine: string
  abort: AbortController
  /** Since the other engine was heard of. */
  silentLooks: number
  /** Nobody asked for it any more, so it was taken back. */
  isGivenUp: boolean
  /** What it ended with, until the other engine says that it had it. */
  reply?: string
  checkpoint?: Checkpoint | undefined
}

export interface RelayHostOptions {
  bus: Bus
  clock: Clock
  transport: Pick<Transport, 'invoke'>
}

export class RelayHost {
  readonly #bus: Bus
  readonly #clock: Clock
  readonly #transport: RelayHostOptions['transport']
  readonly #calls = new TransientMap<string, Hosted>()
  readonly #past = new EndedCalls()
  readonly #stopLooking: () => void
  #looks = 0
  #underWay = 0
  #repliesLength = 0
  #onIdle: () => void = () => {}

  constructor({ bus, clock, transport }: RelayHostOptions) {
    this.#bus = bus
    this.#clock = clock
    this.#transport = transport
    bus.on('invoke', (text, from) => this.#invoke(text, from))
    bus.on('cancel', id => this.#cancel(id))
    bus.on('had', id => this.#forget(id))
    bus.on('still', (ids, from) => this.#asked(ids.split(' '), from))
    bus.on('checkpointed', text => this.#checkpointed(text))
    this.#stopLooking = repeatEvery(clock, LOOK_EVERY_MS, () => this.#look())
  }

  /** Resolves when none is under way, or on abort. */
  async idle(signal: AbortSignal): Promise<void> {
    if (this.#underWay === 0 || signal.aborted) return
    await new Promise<void>(resolve => {
      this.#onIdle = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  close(): void {
    this.#stopLooking()
    for (const { abort } of this.#calls.values()) abort.abort()
  }

  #invoke(text: string, engine: string): void {
    const [head, body] = splitOnce(text, '\n')
    const { id, url, sentAt, timeoutMs, checkpoints } = JSON.parse(head) as Head
    if (this.#calls.has(id) || this.#past.has(id)) return
    const hosted: Hosted = { engine, abort: new AbortController(), silentLooks: 0, isGivenUp: false }
    this.#calls.set(id, hosted)
    const refusal = this.#refusal(sentAt)
    if (refusal !== undefined) {
      this.#reply(id, hosted, { kind: 'refused', message: refusal })
      return
    }
    const call = { url, body, timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY, signal: hosted.abort.signal }
    const onCheckpoint = (payload: string) => this.#checkpoint(id, hosted, payload)
    this.#underWay++
    void this.#transport.invoke(checkpoints ? { ...call, onCheckpoint } : call).then(reply => {
      this.#underWay--
      this.#reply(id, hosted, hosted.isGivenUp ? FORGOTTEN : reply)
      if (this.#underWay === 0) this.#onIdle()
    })
  }

  #refusal(sentAt = this.#clock.now()): string | undefined {
    if (this.#underWay >= CALLS_MAX) return `${CALLS_MAX} invokes of other engines are under way`
    return this.#clock.now() - sentAt > LATE_MS_MAX ? 'the invoke came too late' : undefined
  }

  #reply(id: string, hosted: Hosted, reply: InvokeReply): void {
    const text = replyText(id, reply)
    hosted.silentLooks = 0
    hosted.reply = text
    this.#repliesLength += text.length
    if (this.#repliesLength > REPLIES_LENGTH_MAX) this.#forget(id)
    this.#bus.publish('reply', text, hosted.engine)
  }

  /** It is over; should it come again, it is not carried out. */
  #forget(id: string): void {
    const hosted = this.#calls.get(id)
    if (hosted?.reply === undefined) return
    this.#repliesLength -= hosted.reply.length
    this.#calls.delete(id)
    this.#past.add(id, true)
  }

  #cancel(id: string): void {
    const hosted = this.#calls.get(id)
    if (hosted) hosted.abort.abort()
    // It may have come before what it takes back.
    else this.#past.add(id, false)
  }

  /** One at a time; of a call that was taken back, nobody waits for it. */
  async #checkpoint(id: string, hosted: Hosted, payload: string): Promise<string | undefined> {
    const no = ++checkpointCount
    const answer = await new Promise<string>(settle => {
      hosted.checkpoint = { no, payload, wasAskedFor: false, settle }
      this.#tellCheckpoint(id, hosted, hosted.checkpoint)
    })
    hosted.checkpoint = undefined
    if (answer === '!') throw new Error('the checkpoint could not be stored')
    return answer === '-' ? undefined : answer.slice(1)
  }

  #tellCheckpoint(id: string, { engine }: Hosted, { no, payload }: Checkpoint): void {
    this.#bus.publish('checkpoint', `${id} ${no}\n${payload}`, engine)
  }

  #checkpointed(text: string): void {
    const [id, rest] = splitOnce(text, ' ')
    const [no, answer] = splitOnce(rest, ' ')
    const checkpoint = this.#calls.get(id)?.checkpoint
    if (checkpoint?.no === Number(no)) checkpoint.settle(answer)
  }

  #asked(ids: readonly string[], engine: string): void {
    const alive: string[] = []
    const unknown: string[] = []
    for (const id of ids) {
      const hosted = this.#calls.get(id)
      if (hosted) {
        alive.push(id)
        this.#tellAgain(id, hosted)
      } else if (this.#past.isDone(id)) this.#bus.publish('reply', replyText(id, FORGOTTEN), engine)
      else {
        // Whoever asked gives it up: should it arrive yet, it is not carried out.
        this.#past.add(id, false)
        unknown.push(id)
      }
    }
    if (alive.length > 0) this.#bus.publish('alive', alive.join(' '), engine)
    if (unknown.length > 0) this.#bus.publish('unknown', unknown.join(' '), engine)
  }

  /** What it was told may have been lost. */
  #tellAgain(id: string, hosted: Hosted): void {
    const { reply, checkpoint, engine } = hosted
    hosted.silentLooks = 0
    if (reply !== undefined) this.#bus.publish('reply', reply, engine)
    if (!checkpoint) return
    if (checkpoint.wasAskedFor) this.#tellCheckpoint(id, hosted, checkpoint)
    checkpoint.wasAskedFor = true
  }

  #look(): void {
    if (++this.#looks % PAST_LOOKS === 0) this.#past.turn()
    for (const [id, hosted] of this.#calls.entries()) {
      if (++hosted.silentLooks <= SILENT_LOOKS_MAX) continue
      if (hosted.reply !== undefined) this.#forget(id)
      else if (!hosted.isGivenUp) {
        hosted.isGivenUp = true
        hosted.abort.abort()
      }
    }
  }
}

interface Head {
  id: string
  url: string
  /** By the clock that all engines share; absent from an engine of an earlier version. */
  sentAt?: number
  /** JSON has no infinity. */
  timeoutMs: number | null
  checkpoints: boolean
}

/** To an engine that asks for a call after all: it did not take it back, and a runner may have had it. */
const FORGOTTEN: InvokeReply = { kind: 'broken', message: 'nobody asked for the call for a while' }

/** Rises over all calls: an answer to an earlier checkpoint is never taken for a later one's. */
let checkpointCount = 0

/** The body of an answer stands behind the rest, to the letter. */
function replyText(id: string, reply: InvokeReply): string {
  if (reply.kind !== 'answered') return `${id} ${JSON.stringify(reply)}\n`
  const { body, ...told } = reply
  return `${id} ${JSON.stringify(told)}\n${body}`
}
