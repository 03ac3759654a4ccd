// Signals and updates of runs (docs/signals.md): events of the log that are for one run. Each is accepted under the fence of
// the newest run of the chain: either the run has not ended, or the message is refused. Called by the HTTP routes.

import { EngineError, StaleError } from '../../domain/model/errors.ts'
import type { UpdateAnswer } from '../../domain/model/event.ts'
import { isTerminal } from '../../domain/model/run.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import { SIGNALS_MAX, signalEventName } from '../../domain/text/name.ts'
import type { Traceparent } from '../../domain/text/traceparent.ts'
import type { Store } from '../../ports/store.ts'
import type { RunView } from '../../ports/store-reads.ts'
import type { IncomingEvent, Ingest } from '../event/ingest.ts'
import type { AwaitChange } from './await-change.ts'

export interface SentSignal {
  kind: 'signal' | 'update'
  name: string
  data?: JsonText | undefined
  dedupeId?: string | undefined
  trace?: Traceparent | undefined
}

/** `isRepeat`: an earlier one had the same dedupe id, and this is its id. */
export interface TakenSignal {
  eventId: string
  woke: number
  isRepeat: boolean
}

export interface SignalsDeps {
  store: Pick<Store, 'in'>
  ingest: Pick<Ingest, 'send' | 'firstOf'>
  awaitChange: AwaitChange
}

/** Maximum lost races in a row before giving up: a run changes about once a pass. */
const RACES_MAX = 1000
/** How often an update that moves from run to run is read again. */
const REREAD_MAX = 10

export class Signals {
  readonly #deps: SignalsDeps

  constructor(deps: SignalsDeps) {
    this.#deps = deps
  }

  /**
   * Resolves when the signal is durable. A chain is followed to its newest run; a paused run and a suspended namespace accept
   * it too.
   * @throws EngineError `not_found`, `run_ended`, or `conflict` when the run has the maximum number.
   */
  async send(
    namespace: string,
    runId: string,
    { kind, name, data, dedupeId, trace }: SentSignal,
  ): Promise<TakenSignal> {
    const { ingest } = this.#deps
    for (let races = 0; races < RACES_MAX; races++) {
      const run = await this.#newest(namespace, runId)
      const event: IncomingEvent = {
        name: signalEventName(run.id, name),
        signal: { kind, run },
        dedupeScope: `signals\n${run.chainId ?? run.id}`,
        ...(data !== undefined && { data }),
        ...(dedupeId !== undefined && { dedupeId }),
        ...(trace !== undefined && { trace }),
      }
      const first = dedupeId === undefined ? undefined : await ingest.firstOf(namespace, event)
      if (first) return { eventId: first.eventId, woke: 0, isRepeat: true }
      await this.#refuseMany(namespace, run)
      try {
        const { eventId, woke = 0 } = await ingest.send(namespace, event)
        if (eventId !== undefined) return { eventId, woke, isRepeat: false }
      } catch (error) {
        if (!(error instanceof StaleError)) throw error
      }
    }
    throw new Error(`Lost ${RACES_MAX} races in a row.`)
  }

  /**
   * The answer to an update; undefined when there is none in time.
   * @throws EngineError `not_found`, or `run_ended` when there can be no answer any more.
   */
  async answer(
    namespace: string,
    runId: string,
    { updateId, ms, signal }: { updateId: string; ms: number; signal: AbortSignal },
  ): Promise<UpdateAnswer | undefined> {
    const wait = this.#deps.awaitChange.begin(ms, signal)
    try {
      for (;;) {
        const found = await this.#readAnswer(namespace, runId, updateId)
        if ('answer' in found) return found.answer
        if (!(await wait?.change({ namespace, ...found }))) return undefined
      }
    } finally {
      wait?.end()
    }
  }

  async #readAnswer(
    namespace: string,
    runId: string,
    updateId: string,
  ): Promise<{ answer: UpdateAnswer } | { updateId: string; runId: string }> {
    const reads = this.#deps.store.in(namespace)
    for (let rereads = 0; ; rereads++) {
      const update = await reads.event(updateId)
      if (update?.source !== 'update' || update.runId === undefined) throw noUpdate()
      const run = await reads.run(update.runId)
      if (!(await this.#isOfChain(namespace, runId, run ?? { id: update.runId }))) throw noUpdate()
      if (update.answer) return { answer: update.answer }
      if (run && !isTerminal(run.status)) return { updateId, runId: run.id }
      // The end of the run may have passed the update on since it was read.
      const again = await reads.event(updateId)
      if (again?.answer) return { answer: again.answer }
      if (again?.runId === update.runId || rereads === REREAD_MAX)
        throw new EngineError('run_ended', 'the run ended without an answer to the update', { details: { updateId } })
    }
  }

  /** Whether the run is the one in the path, or a run of its chain. */
  async #isOfChain(namespace: string, runId: string, run: Pick<RunView, 'id' | 'chainId'>): Promise<boolean> {
    const first = run.chainId ?? run.id
    if (run.id === runId || first === runId) return true
    const named = await this.#deps.store.in(namespace).run(runId)
    return named !== undefined && (named.chainId ?? named.id) === first
  }

  async #newest(namespace: string, runId: string): Promise<RunView> {
    const reads = this.#deps.store.in(namespace)
    const named = await reads.run(runId)
    const newest = named && named.continuedAs === undefined ? named : await reads.newestOfChain(named?.chainId ?? runId)
    if (!newest) throw new EngineError('not_found', `There is no run ${shownRunId(runId)}.`)
    if (isTerminal(newest.status) || newest.cancelRequested)
      throw new EngineError('run_ended', `Run ${shownRunId(newest.id)} has ended.`, {
        details: { runId: shownRunId(newest.id) },
      })
    return newest
  }

  async #refuseMany(namespace: string, { id, signalled }: RunView): Promise<void> {
    if (!signalled || (await this.#deps.store.in(namespace).signalCount(id, SIGNALS_MAX)) < SIGNALS_MAX) return
    const message = `run ${shownRunId(id)} has received ${SIGNALS_MAX} signals, the maximum for one run; it can continue as a new run with ctx.continueAs`
    throw new EngineError('conflict', message, { details: { limit: SIGNALS_MAX } })
  }
}

function noUpdate(): EngineError {
  return new EngineError('not_found', 'the run has no such update')
}
