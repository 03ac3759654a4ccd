// How a pass ends, and which of its steps are reported then. Used by the pass; answer.ts builds the answer from it.

import type { MemoEntry, OpcodeOf } from '@perdure/protocol'
import { encodePayload } from '../wire/json.ts'
import { lossOf } from '../wire/lossy.ts'
import { type EncodedOpcode, OPCODE_RULES } from './opcode.ts'

/**
 * How a pass ended. `data` is the handler's result as JSON text, `loss` names the parts that JSON does not keep. With
 * `continues`, `data` is for the run that continues.
 */
export type Outcome =
  | {
      kind: 'returned'
      data: string | undefined
      /** The events that the handler was given, for an engine that wants to know them. */
      given?: OpcodeOf<'WaitForEvent'>['given']
      continues?: Continues
      loss?: string
      opcodes?: EncodedOpcode[]
    }
  | { kind: 'threw'; error: unknown; fatal: boolean }
  /** `isStuck`: the handler waits for steps; otherwise it settled, or the engine stopped the pass. */
  | { kind: 'opcodes'; opcodes: EncodedOpcode[]; isStuck: boolean }
  | { kind: 'cancelled' }

/** Another run continues this one. `given` is absent if the run has taken no signal. */
export interface Continues {
  given: OpcodeOf<'WaitForSignal'>['given']
}

/** The value of `ctx.continueAs`: a handler that returns it ends its run, and a new run gets the data, which is JSON text. */
export class Continuation {
  readonly data: string | undefined
  /** Returns the signals that the handler was given so far. */
  readonly given: () => Continues['given']

  constructor(data: string | undefined, given: () => Continues['given']) {
    this.data = data
    this.given = given
  }
}

/** Returns the end of a pass whose handler returned the value. @throws NonRetriableError if the value is not JSON. */
export function returnedWith(result: unknown): Settled {
  if (result instanceof Continuation)
    return { kind: 'returned', data: result.data, continues: { given: result.given() } }
  const data = encodePayload(result, 'The result of the workflow')
  const loss = lossOf(result)
  return { kind: 'returned', data, ...(loss === undefined ? {} : { loss }) }
}

export type Settled = Extract<Outcome, { kind: 'returned' | 'threw' }>

/** Whether a step that nobody awaited is still reported when the handler has settled. */
export function isKept(op: EncodedOpcode['op'], settled: Settled): boolean {
  const { hasResult, outlivesReturn } = OPCODE_RULES[op]
  return settled.kind === 'threw' ? hasResult : outlivesReturn
}

/** Whether the result that the handler `got` for a step is the one that is stored. Undefined: the handler did not have it. */
export function isSame(got: MemoEntry | undefined, stored: MemoEntry): boolean {
  if (got === undefined) return true
  if (got.error || stored.error || stored.pending) return got.error !== undefined && stored.error !== undefined
  return true
}
