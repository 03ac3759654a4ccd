// Carries out invokes of this engine's Connect runners for other engines, the callers, and reports to them. A caller
// requests the status of its calls at each tick (transport.ts); the host repeats what the caller may have missed.

import { TransientMap } from '../../../base/transient-map.ts'
import type { Bus } from '../../../ports/bus.ts'
import { type Clock, every } from '../../../ports/clock.ts'
import type { InvokeCall, InvokeReply, Transport } from '../../../ports/transport.ts'
import { EndedCalls } from './ended-calls.ts'
import {
  CALLER_TOPICS,
  CHECKPOINT_ANSWER,
  HOST_TOPICS,
  handleTopics,
  type InvokeHead,
  replyText,
  splitOnce,
} from './messages.ts'
import { CALL_SILENT_TICKS_MAX, RELAY_TICK_MS } from './tick.ts'

/**
 * An invoke that arrives later than this is not carried out: this engine or its connection stood still. The caller soon considers
 * this engine dead (presence.ts) and the run continues elsewhere, so a runner that began on it now would repeat finished work.
 */
const INVOKE_LATE_MS_MAX = 4000
/** Ticks after which ended calls may be forgotten: a message is repeated within seconds. */
const ENDED_CALLS_TICKS = 8
/** Most calls of other engines under way. */
const HOSTED_CALLS_MAX = 10_000
/** Most characters of replies that wait for their receipt; a further reply is sent once and not kept. */
const REPLIES_LENGTH_MAX = 64 * 1024 * 1024

/** A checkpoint that waits for the caller's answer. */
interface Checkpoint {
  no: number
  payload: string
  /** Whether a status request arrived since the checkpoint was sent. At the first one the answer may still be on its way. */
  sawStatusRequest: boolean
  settle(answer: string): void
}

interface HostedCall {
  caller: string
  abort: AbortController
  /** Sends `invoke.cancel` and continues: the run of the call has ended. */
  cancelSoftly?: () => void
  /** Ticks since the caller's last message. */
  silentTicks: number
  /** The caller was silent for too long, so the call was cancelled. */
  isGivenUp: boolean
  /** The reply, until the caller confirms its receipt. */
  reply?: string
  checkpoint?: Checkpoint | undefined
}

export interface RelayHostOptions {
  bus: Bus
  clock: Clock
  transport: Pick<Transport, 'invoke'>
}

export class RelayHost {
  readonly #options: RelayHostOptions
  readonly #calls = new TransientMap<string, HostedCall>()
  readonly #ended = new EndedCalls()
  readonly #stopTicks: () => void
  #ticks = 0
  #underWay = 0
  #repliesLength = 0
  /** Rises over all calls, so that an answer to an earlier checkpoint is never taken for the answer to a later one. */
  #checkpointCount = 0
  #onIdle: () => void = () => {}

  constructor(options: RelayHostOptions) {
    const { bus, clock } = options
    this.#options = options
    handleTopics(bus, HOST_TOPICS, {
      invoke: (text, from) => this.#invoke(text, from),
      cancel: id => this.#cancel(id),
      cancelSoftly: id => this.#calls.get(id)?.cancelSoftly?.(),
      replyReceived: id => this.#forget(id),
      statusRequest: (ids, from) => this.#reportStatus(ids.split(' '), from),
      checkpointAnswer: text => this.#receiveCheckpointAnswer(text),
    })
    this.#stopTicks = every(clock, RELAY_TICK_MS, () => this.#tick())
  }

  /** Resolves when no call is under way, or on abort. */
  async idle(signal: AbortSignal): Promise<void> {
    if (this.#underWay === 0 || signal.aborted) return
    await new Promise<void>(resolve => {
      this.#onIdle = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  close(): void {
    this.#stopTicks()
    for (const { abort } of this.#calls.values()) abort.abort()
  }

  #invoke(text: string, caller: string): void {
    const [head, body] = splitOnce(text, '\n')
    const { id, url, sentAt, timeoutMs, checkpoints, mayMove = false } = JSON.parse(head) as InvokeHead
    if (this.#calls.has(id) || this.#ended.has(id)) return
    const hosted: HostedCall = { caller, abort: new AbortController(), silentTicks: 0, isGivenUp: false }
    this.#calls.set(id, hosted)
    const refusal = this.#refusal(sentAt)
    if (refusal !== undefined) {
      this.#reply(id, hosted, { kind: 'refused', message: refusal })
      return
    }
    const { signal } = hosted.abort
    const call: InvokeCall = {
      url,
      body,
      timeoutMs: timeoutMs ?? Number.POSITIVE_INFINITY,
      signal,
      mayMove: () => mayMove,
    }
    call.onCancellable = cancel => {
      hosted.cancelSoftly = cancel
    }
    let earlier: Promise<unknown> = Promise.resolve()
    const onCheckpoint = (payload: string) => {
      const stored = earlier.then(() => this.#checkpoint(id, hosted, payload))
      earlier = stored.catch(() => undefined)
      return stored
    }
    this.#underWay++
    void this.#options.transport.invoke(checkpoints ? { ...call, onCheckpoint } : call).then(reply => {
      this.#underWay--
      this.#reply(id, hosted, hosted.isGivenUp ? GIVEN_UP : reply)
      if (this.#underWay === 0) this.#onIdle()
    })
  }

  #refusal(sentAt = this.#options.clock.now()): string | undefined {
    if (this.#underWay >= HOSTED_CALLS_MAX) return `${HOSTED_CALLS_MAX} invokes of other engines are in progress`
    return this.#options.clock.now() - sentAt > INVOKE_LATE_MS_MAX ? 'the invoke arrived too late' : undefined
  }

  #reply(id: string, hosted: HostedCall, reply: InvokeReply): void {
    const text = replyText(id, reply)
    hosted.silentTicks = 0
    hosted.reply = text
    this.#repliesLength += text.length
    if (this.#repliesLength > REPLIES_LENGTH_MAX) this.#forget(id)
    this.#options.bus.publish(CALLER_TOPICS.reply, text, hosted.caller)
  }

  /** Removes a call that has its reply. If its invoke arrives again, it is not carried out. */
  #forget(id: string): void {
    const hosted = this.#calls.get(id)
    if (hosted?.reply === undefined) return
    this.#repliesLength -= hosted.reply.length
    this.#calls.delete(id)
    this.#ended.add(id, true)
  }

  #cancel(id: string): void {
    const hosted = this.#calls.get(id)
    if (hosted) hosted.abort.abort()
    // The cancel may have arrived before its invoke.
    else this.#ended.add(id, false)
  }

  /** One at a time. After a cancel, the transport no longer waits for the result. */
  async #checkpoint(id: string, hosted: HostedCall, payload: string): Promise<string | undefined> {
    const no = ++this.#checkpointCount
    const answer = await new Promise<string>(settle => {
      hosted.checkpoint = { no, payload, sawStatusRequest: false, settle }
      this.#sendCheckpoint(id, hosted, hosted.checkpoint)
    })
    hosted.checkpoint = undefined
    if (answer === CHECKPOINT_ANSWER.obsolete) return undefined
    if (answer.startsWith(CHECKPOINT_ANSWER.stored)) return answer.slice(CHECKPOINT_ANSWER.stored.length)
    throw new Error('the checkpoint could not be stored')
  }

  #sendCheckpoint(id: string, { caller }: HostedCall, { no, payload }: Checkpoint): void {
    this.#options.bus.publish(CALLER_TOPICS.checkpoint, `${id} ${no}\n${payload}`, caller)
  }

  #receiveCheckpointAnswer(text: string): void {
    const [id, rest] = splitOnce(text, ' ')
    const [no, answer] = splitOnce(rest, ' ')
    const checkpoint = this.#calls.get(id)?.checkpoint
    if (checkpoint?.no === Number(no)) checkpoint.settle(answer)
  }

  #reportStatus(ids: readonly string[], caller: string): void {
    const alive: string[] = []
    const unknown: string[] = []
    for (const id of ids) {
      const hosted = this.#calls.get(id)
      if (hosted) {
        alive.push(id)
        this.#repeatMessages(id, hosted)
      } else if (this.#ended.mayHaveRun(id))
        this.#options.bus.publish(CALLER_TOPICS.reply, replyText(id, GIVEN_UP), caller)
      else {
        // The caller gives the call up. If its invoke still arrives, it is not carried out.
        this.#ended.add(id, false)
        unknown.push(id)
      }
    }
    if (alive.length > 0) this.#options.bus.publish(CALLER_TOPICS.alive, alive.join(' '), caller)
    if (unknown.length > 0) this.#options.bus.publish(CALLER_TOPICS.unknown, unknown.join(' '), caller)
  }

  /** Repeats the messages about the call that the caller may have missed. */
  #repeatMessages(id: string, hosted: HostedCall): void {
    const { reply, checkpoint, caller } = hosted
    hosted.silentTicks = 0
    if (reply !== undefined) this.#options.bus.publish(CALLER_TOPICS.reply, reply, caller)
    if (!checkpoint) return
    if (checkpoint.sawStatusRequest) this.#sendCheckpoint(id, hosted, checkpoint)
    checkpoint.sawStatusRequest = true
  }

  #tick(): void {
    if (++this.#ticks % ENDED_CALLS_TICKS === 0) this.#ended.rotate()
    for (const [id, hosted] of this.#calls.entries()) {
      if (++hosted.silentTicks <= CALL_SILENT_TICKS_MAX) continue
      if (hosted.reply !== undefined) this.#forget(id)
      else if (!hosted.isGivenUp) {
        hosted.isGivenUp = true
        hosted.abort.abort()
      }
    }
  }
}

/** The reply if a caller was silent for too long and then requests the status after all: a runner may have received the call. */
const GIVEN_UP: InvokeReply = {
  kind: 'broken',
  message: 'the engine that drives the run was silent for too long',
}
