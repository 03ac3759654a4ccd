// The transport from the engine to the workflows under test: it calls their handlers in process. With checkpoints it
// behaves like a Connect runner: finished steps become durable while the pass continues. Created by the host.

import type { InvokeCall, InvokeReply, Transport } from '@perdure/engine'
import { type CheckpointAck, type InvokeContext, RESPONSE_BYTES_MAX } from '@perdure/protocol'
import type { Checkpointer } from '../../pass/checkpoints.ts'
import { checkpointPayload } from '../../pass/checkpoints.ts'
import type { Answer } from '../../replay/answer.ts'
import type { AskForPass } from '../../replay/late-handler.ts'
import { Cancellation } from '../../run/cancellation.ts'
import { LatePlaces } from '../../run/late-places.ts'
import { newMemory } from '../../run/runner-memory.ts'
import type { Handler } from '../../runner/handler.ts'
import type { OutletOf } from '../../stream/outlet.ts'
import { exceeds } from '../../wire/text-size.ts'
import { type EngineLifetime, never } from './lifetime.ts'
import { insidePass, type PassUnderWay } from './pass-under-way.ts'
import type { Quiescence } from './quiescence.ts'
import { afterReal, realNow } from './real-time.ts'

/**
 * The kit cannot know whether a handler waits only for steps, and considers an engine idle once it has answered its passes. A
 * pass therefore stays open for this long, in real time, at each place of a workflow's code where no pass has been.
 */
const FIRST_DELAY_MS = 20

/** How long callbacks of an ended run may continue, in real time: the virtual time stands still until they have ended. */
const LATE_MS = 500

interface InProcessOptions {
  /** By the URL of their registration. */
  handlers: ReadonlyMap<string, Handler>
  quiescence: Quiescence
  lifetime: EngineLifetime
  checkpoints: boolean
  /** The context of the newest invoke of each run, by its id. */
  contexts: Map<string, InvokeContext>
  /** Asks the engine for another pass. */
  ask: AskForPass
  /** Where the chunks of output streams go. */
  streams: OutletOf
  /** The virtual time, which `ctx.now()` returns. */
  now: () => number
}

export class InProcessTransport implements Transport {
  readonly #options: InProcessOptions
  /** Passes in flight. */
  readonly underWay = new Set<PassUnderWay>()
  /** A crash of the engine is a crash of the runner too. */
  readonly #memory = newMemory(new LatePlaces({ firstDelayMs: FIRST_DELAY_MS }))

  constructor(options: InProcessOptions) {
    this.#options = options
  }

  invoke(call: InvokeCall): Promise<InvokeReply> {
    const { handlers, lifetime } = this.#options
    if (!lifetime.alive) return never()
    if (call.signal.aborted) return Promise.resolve({ kind: 'aborted' })
    const handler = handlers.get(call.url)
    if (!handler) return Promise.resolve({ kind: 'refused', message: `no runner is at ${call.url}` })
    return new Promise(resolve => this.#pass(handler, call, resolve))
  }

  /** Cancels all passes in flight, like a broken connection. Called when the engine has crashed. */
  abandon(): void {
    for (const pass of [...this.underWay]) pass.abandon()
  }

  /** Required by the port; there is nothing to close. */
  async close(): Promise<void> {}

  #pass(handler: Handler, call: InvokeCall, resolve: (reply: InvokeReply) => void): void {
    const { quiescence, checkpoints, now, ask, streams } = this.#options
    const { onCheckpoint, signal } = call
    const request = JSON.parse(call.body) as { ctx: InvokeContext }
    this.#options.contexts.set(request.ctx.runId, request.ctx)
    const cancellation = new Cancellation()
    const ended = quiescence.begin()
    const end = (reply?: InvokeReply) => {
      if (!this.underWay.delete(pass)) return
      signal.removeEventListener('abort', abort)
      stopWaiting()
      if (reply) resolve(reply)
      ended()
    }
    const stop = (reply?: InvokeReply) => {
      end(reply)
      cancellation.cancel()
    }
    const abort = () => stop({ kind: 'aborted' })
    let stopWaiting = () => {}
    call.onCancellable?.(() => {
      cancellation.cancel(new Error('The run has ended'), true)
      stopWaiting = afterReal(LATE_MS, abort)
    })
    const { runId, workflow } = request.ctx
    const pass: PassUnderWay = {
      runId,
      workflow,
      since: realNow(),
      running: 0,
      held: 0,
      abandon: () => stop(),
    }
    this.underWay.add(pass)
    signal.addEventListener('abort', abort)
    const checkpoint =
      checkpoints && onCheckpoint ? checkpointer(onCheckpoint.bind(call), abort, quiescence) : undefined
    const invoke = () => handler.invoke(request, { cancellation, checkpoint, now, memory: this.#memory, streams, ask })
    void insidePass(pass, invoke).then(answer => end(replyOf(answer)))
  }
}

function replyOf({ status, body }: Answer): InvokeReply {
  return exceeds(body, RESPONSE_BYTES_MAX) ? { kind: 'tooLarge' } : { kind: 'answered', status, body }
}

/** Creates a checkpointer that sends reports to the engine one at a time, in the order of the calls. */
function checkpointer(
  onCheckpoint: (checkpoint: string) => Promise<string | undefined>,
  abort: () => void,
  quiescence: Quiescence,
): Checkpointer {
  let seq = 0
  let last: Promise<unknown> = Promise.resolve()
  return report => {
    const payload = checkpointPayload(++seq, report)
    const acknowledged = last.then(async () => {
      const ack = await onCheckpoint(payload)
      quiescence.progress()
      if (ack !== undefined) return JSON.parse(ack) as CheckpointAck
      abort()
      return never()
    })
    last = acknowledged
    return acknowledged
  }
}
