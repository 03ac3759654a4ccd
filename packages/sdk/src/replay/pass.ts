// One pass: the handler is run from its start against the memo until it settles or can get no further
// (contract §2.11, "Invoke response").
//
// When is a handler stuck? It waits for a step that has not settled, and nothing else moves it. Nobody can
// see what a promise waits for, so the rule is:
//   - a handler that settles ends the pass at once;
//   - while every step it asked for has settled, the pass waits for it, however long its own I/O takes;
//   - once it has asked for one that has not, the pass ends when all callbacks it started have settled, no
//     checkpoint is under way, and one whole turn of the event loop brought nothing further.
// So a branch that awaits I/O of its own beside an outstanding step is cut off and taken up by a later pass:
// I/O belongs in steps. Steps that such a branch asks for after the end are not run.
//
// With checkpoints the pass goes on past the steps it discovers: what a callback gave, an emit or a webhook is
// reported one turn later, together with all else that is known by then, and handed over when its receipt comes.
// Sleeps, waits and children wait for such a report, or for the end of the pass; but not while callbacks run, which
// may take long.
//
// A pass that settles may still have discovered steps nobody waits for. A return keeps those with an effect
// (206 now, 200 on the next pass), a retriable throw keeps the work already done, a fatal throw keeps nothing.

import { isFatal, NonRetriableError } from '../errors.ts'
import { encodePayload } from '../json.ts'
import { STEPS_MAX } from '../limits.ts'
import type { Checkpoints } from './checkpoints.ts'
import { Discoveries, type Discovery } from './discoveries.ts'
import type { Memo } from './memo.ts'
import type { EncodedOpcode } from './opcode.ts'
import { type StepId, StepIds } from './step-ids.ts'
import { StepPromise } from './step-promise.ts'
import { scopeWithin } from './step-scope.ts'

/** How a pass ended. `data` is the handler's result as JSON text. */
export type Outcome =
  | { kind: 'returned'; data: string | undefined }
  | { kind: 'threw'; error: unknown; fatal: boolean }
  /** `isStuck`: the handler did all it could, and waits for steps. */
  | { kind: 'opcodes'; opcodes: EncodedOpcode[]; isStuck: boolean }
  | { kind: 'cancelled' }

type Settled = Extract<Outcome, { kind: 'returned' | 'threw' }>

/** The state machine of one pass. Step tools feed it; `invoke.ts` starts it. */
export class Pass {
  readonly #memo: Memo
  readonly #checkpoints: Checkpoints | undefined
  readonly #ids = new StepIds()
  readonly #discoveries = new Discoveries()
  readonly #discovered: string[] = []
  /** Steps whose promise nobody has looked at. */
  readonly #unawaited = new Map<string, string>()
  /** Counts steps asked for, callbacks settled and receipts, to tell whether a turn of the event loop was quiet. */
  #moves = 0
  #turning = false
  #settled: Settled | undefined
  #stopped = false
  #end: ((outcome: Outcome) => void) | undefined

  constructor(memo: Memo, checkpoints?: Checkpoints) {
    this.#memo = memo
    this.#checkpoints = checkpoints
  }

  /** Whether the pass has ended: nothing that happens later is part of it. */
  get ended(): boolean {
    return this.#end === undefined
  }

  get running(): number {
    return this.#discoveries.running
  }

  /** Names of the steps whose promise nobody has looked at. */
  get unawaited(): string[] {
    return [...this.#unawaited.values()]
  }

  /** Names of the steps the engine knew nothing of. */
  get discovered(): readonly string[] {
    return this.#discovered
  }

  /** Runs a handler to the end of the pass. Called once. */
  run(handler: () => unknown): Promise<Outcome> {
    const ended = new Promise<Outcome>(resolve => {
      this.#end = resolve
    })
    callAsync(handler).then(
      result => this.#returned(result),
      error => this.#threw(error),
    )
    return ended
  }

  /** Ends the pass without an answer: the caller is gone. */
  cancel(): void {
    this.#finish({ kind: 'cancelled' })
  }

  /**
   * One step call: its promise settles as the step did, or never in this pass. `discover` runs when the engine knows
   * nothing of the step yet; what it throws is a misuse and rejects the call.
   */
  step(name: string, discover: (id: StepId) => Discovery): StepPromise<unknown> {
    // Past the bound the pass ends: a rejection might be caught in an endless loop.
    if (this.#ids.count >= STEPS_MAX)
      this.#threw(new NonRetriableError(`A run has at most ${STEPS_MAX} steps`))
    if (this.ended) return never()
    try {
      this.#refuseNesting(name)
      // The handler has settled, or must not go on: this step is for a later pass, if for any.
      if (this.#settled || this.#stopped) return never()
      const id = this.#ids.next(name)
      if (!this.#memo.knows(id.hashedId)) {
        this.#discoveries.add(discover(id), () => this.#moved())
        this.#discovered.push(name)
      }
      this.#unawaited.set(id.hashedId, name)
      const promise = this.#memo.ask(id, () => this.#unawaited.delete(id.hashedId))
      this.#moved()
      return promise
    } catch (error) {
      return rejected(error)
    }
  }

  /** A nested step would wait for a result that this pass cannot have, while the pass waits for its callback. */
  #refuseNesting(name: string): void {
    const scope = scopeWithin(this)
    if (!scope) return
    throw new NonRetriableError(
      `Step "${name}" was called inside the callback of step "${scope.stepName}": steps cannot be nested`,
    )
  }

  /** Something happened: does it end the pass, now or after a turn of the event loop? */
  #moved(): void {
    this.#moves++
    if (this.ended) return
    if (!this.#settled && !this.#stopped) this.#turn()
    else if (!this.#isBusy) this.#conclude()
  }

  get #isBusy(): boolean {
    return this.running > 0 || this.#checkpoints?.underWay === true
  }

  /** Looks one turn of the event loop later what there is to report, or whether the handler is stuck. */
  #turn(): void {
    if (this.#turning) return
    this.#turning = true
    const moves = this.#moves
    setImmediate(() => {
      this.#turning = false
      if (this.ended || this.#settled || this.#stopped || this.#report()) return
      if (this.#isBusy || this.#memo.outstanding === 0) return
      if (this.#moves !== moves) this.#turn()
      else this.#finish({ kind: 'opcodes', opcodes: this.#discoveries.takeAll(), isStuck: true })
    })
  }

  /** Reports what was discovered, if something of it cannot wait. Answers whether it did. */
  #report(): boolean {
    const checkpoints = this.#checkpoints
    if (!checkpoints || checkpoints.underWay) return false
    const { isUrgent, running, size } = this.#discoveries
    if (!isUrgent && (running === 0 || size === 0)) return false
    checkpoints.report(this.#discoveries).then(
      ({ settlements, stop }) => {
        if (this.ended) return
        if (stop) this.#stop()
        this.#memo.receive(settlements)
        this.#moved()
      },
      () => this.cancel(),
    )
    return true
  }

  #stop(): void {
    this.#stopped = true
    this.#memo.close()
  }

  #returned(result: unknown): void {
    if (this.ended) return
    try {
      this.#settle({ kind: 'returned', data: encodePayload(result, 'The result of the workflow') })
    } catch (error) {
      this.#threw(error)
    }
  }

  #threw(error: unknown): void {
    if (this.ended) return
    const fatal = isFatal(error)
    if (fatal) this.#finish({ kind: 'threw', error, fatal })
    else this.#settle({ kind: 'threw', error, fatal })
  }

  #settle(settled: Settled): void {
    this.#settled = settled
    // Branches nobody waits for must not go further in one pass than in another.
    this.#memo.close()
    this.#moved()
  }

  #conclude(): void {
    const settled = this.#settled
    const kept = this.#discoveries.takeAll().filter(({ op }) => !settled || isKept(op, settled))
    if (settled && kept.length === 0) this.#finish(settled)
    else this.#finish({ kind: 'opcodes', opcodes: kept, isStuck: false })
  }

  #finish(outcome: Outcome): void {
    this.#memo.close()
    this.#end?.(outcome)
    this.#end = undefined
  }
}

/**
 * Whether a step that nobody waited for outlives its handler: after a return sleeping or waiting is pointless, and all
 * else was meant to happen; after a throw only work done is kept.
 */
function isKept(op: EncodedOpcode['op'], settled: Settled): boolean {
  if (settled.kind === 'threw') return op === 'StepRun'
  return op !== 'Sleep' && op !== 'SleepUntil' && op !== 'WaitForEvent'
}

/** A new one each time: reactions on a shared promise would pile up for ever. */
function never(): StepPromise<never> {
  return new StepPromise(() => undefined)
}

function rejected(error: unknown): StepPromise<never> {
  return new StepPromise<never>((_, reject) => reject(error)).silenced()
}

async function callAsync(handler: () => unknown): Promise<unknown> {
  return handler()
}
