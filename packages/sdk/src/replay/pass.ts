// One pass: the handler is run from its start against the memo until it settles or can get no further
// (contract §2.11, "Invoke response").
//
// When is a handler stuck? It waits for a step that is not stored yet, and nothing else moves it. Nobody can
// see what a promise waits for, so the rule is:
//   - a handler that settles ends the pass at once;
//   - while every step it asked for is stored, the pass waits for it, however long its own I/O takes;
//   - once a step was discovered or is pending, the pass ends when all callbacks it started have settled and
//     one whole turn of the event loop brought no further step.
// So a branch that awaits I/O of its own beside an outstanding step is cut off and taken up by a later pass:
// I/O belongs in steps. Steps that such a branch asks for after the end are not run.
//
// A pass that settles may still have discovered steps nobody waits for. A return keeps those with an effect
// (206 now, 200 on the next pass), a retriable throw keeps the work already done, a fatal throw keeps nothing.

import { isFatal, NonRetriableError } from '../errors.ts'
import { encodePayload } from '../json.ts'
import { STEPS_MAX } from '../limits.ts'
import type { Memo } from './memo.ts'
import type { EncodedOpcode } from './opcode.ts'
import { type StepId, StepIds } from './step-ids.ts'
import { scopeWithin } from './step-scope.ts'

/** How a pass ended. `data` is the handler's result as JSON text. */
export type Outcome =
  | { kind: 'returned'; data: string | undefined }
  | { kind: 'threw'; error: unknown; fatal: boolean }
  | { kind: 'opcodes'; opcodes: EncodedOpcode[] }
  | { kind: 'cancelled' }

type Settled = Extract<Outcome, { kind: 'returned' | 'threw' }>

/** What discovering a step gives: its opcode, or the promise of one while its callback runs. It never rejects. */
type Discovery = EncodedOpcode | Promise<EncodedOpcode>

/** The state machine of one pass. Step tools feed it; `invoke.ts` starts it. */
export class Pass {
  readonly #memo: Memo
  readonly #ids = new StepIds()
  /** In the order of discovery; a slot is empty while its callback runs. */
  readonly #slots: (EncodedOpcode | undefined)[] = []
  #running = 0
  /** Counts discoveries and pending steps met, to tell whether a turn of the event loop was quiet. */
  #moves = 0
  #watching = false
  #settled: Settled | undefined
  #end: ((outcome: Outcome) => void) | undefined

  constructor(memo: Memo) {
    this.#memo = memo
  }

  /** Whether the pass has ended: nothing that happens later is part of it. */
  get ended(): boolean {
    return this.#end === undefined
  }

  get running(): number {
    return this.#running
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
   * One step call: resolves or rejects from the memo, or never settles in this pass. `discover` runs when the
   * engine knows nothing of the step yet; what it throws is a misuse and rejects the call.
   */
  step(name: string, discover: (id: StepId) => Discovery): Promise<unknown> {
    // Past the bound the pass ends: a rejection might be caught in an endless loop.
    if (this.#ids.count >= STEPS_MAX)
      this.#threw(new NonRetriableError(`A run has at most ${STEPS_MAX} steps`))
    if (this.ended) return never()
    try {
      this.#refuseNesting(name)
      const id = this.#ids.next(name)
      const entry = this.#memo.find(id.hashedId)
      if (entry && !entry.pending) return this.#memo.settle(id.hashedId, name)
      if (!entry) this.#discovered(discover(id))
    } catch (error) {
      return rejected(error)
    }
    this.#moves++
    this.#watch()
    return never()
  }

  /** A nested step would wait for a result that this pass cannot have, while the pass waits for its callback. */
  #refuseNesting(name: string): void {
    const scope = scopeWithin(this)
    if (!scope) return
    throw new NonRetriableError(
      `Step "${name}" was called inside the callback of step "${scope.stepName}": steps cannot be nested`,
    )
  }

  #discovered(discovery: Discovery): void {
    const slot = this.#slots.length
    if (!(discovery instanceof Promise)) {
      this.#slots.push(discovery)
      return
    }
    this.#slots.push(undefined)
    this.#running++
    discovery.then(opcode => {
      this.#slots[slot] = opcode
      this.#running--
      if (this.#settled && this.#running === 0) this.#conclude(this.#settled)
      else this.#watch()
    })
  }

  /** Ends the pass after one turn of the event loop in which nothing moved. */
  #watch(): void {
    if (this.#watching || this.#running > 0 || this.#settled || this.ended) return
    this.#watching = true
    const moves = this.#moves
    setImmediate(() => {
      this.#watching = false
      // A callback started meanwhile is a move too: it watches again when it has settled.
      if (this.#moves !== moves) this.#watch()
      else this.#finish({ kind: 'opcodes', opcodes: this.#opcodes() })
    })
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
    if (this.#running === 0) this.#conclude(settled)
  }

  #conclude(settled: Settled): void {
    const kept = this.#opcodes().filter(({ op }) =>
      settled.kind === 'returned' ? hasEffect(op) : op === 'StepRun',
    )
    this.#finish(kept.length > 0 ? { kind: 'opcodes', opcodes: kept } : settled)
  }

  #finish(outcome: Outcome): void {
    this.#memo.close()
    this.#end?.(outcome)
    this.#end = undefined
  }

  #opcodes(): EncodedOpcode[] {
    return this.#slots.filter(slot => slot !== undefined)
  }
}

/** Sleeping or waiting is pointless once the handler has returned; everything else was meant to happen. */
function hasEffect(op: EncodedOpcode['op']): boolean {
  return op !== 'Sleep' && op !== 'SleepUntil' && op !== 'WaitForEvent'
}

/** A new one each time: reactions on a shared promise would pile up for ever. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}

function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error)
  promise.catch(() => undefined)
  return promise
}

async function callAsync(handler: () => unknown): Promise<unknown> {
  return handler()
}
