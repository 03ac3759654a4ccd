// An opcode as the decision about a pass reads it, and the rules that each kind of opcode must define. Every kind has its own
// file in this folder; `registry.ts` lists them all.

import type { Opcode, RunError } from '@perdure/protocol'
import type { Event } from '../../model/event.ts'
import type { WaitingFor } from '../../model/run.ts'
import type { Step } from '../../model/step.ts'
import type { LoggedEvent, OwnAssumptions } from '../../run/assumptions.ts'
import type { Draft } from '../../run/draft.ts'
import type { RunState } from '../../run/state.ts'
import type { JsonText } from '../../text/json-text.ts'
import type { PassContext } from './context.ts'

/** Members of an opcode that contain a payload, which is kept as the text in which it came. */
type PayloadMember = 'data' | 'childData'
/** Members that may have any value when they are read: a bad value fails the step, and its handler can catch the error. */
export type MemberCheckedByStep = 'eventName' | 'webhookUrl' | 'signal'

/** An opcode whose payload is the JSON text in `data`, whatever the name of its member on the wire. */
export type PassOpcode = AsRead<Opcode>
type AsRead<T> = T extends unknown
  ? Omit<T, PayloadMember | MemberCheckedByStep> & { data?: JsonText } & {
      [K in keyof T & MemberCheckedByStep]?: unknown
    }
  : never
/** The events that a handler was given. */
export type Given = NonNullable<PassOpcodeOf<'WaitForSignal'>['given']>
export type PassOpcodeOf<Op extends Opcode['op']> = Extract<PassOpcode, { op: Op }>

type PayloadOf<Op extends Opcode['op']> = [keyof Extract<Opcode, { op: Op }> & PayloadMember] extends [never]
  ? null
  : keyof Extract<Opcode, { op: Op }> & PayloadMember

/** The pass whose opcodes are drafted, with the results of its earlier opcodes for the later ones. */
export interface DraftedPass {
  readonly draft: Draft
  readonly state: RunState
  readonly context: PassContext
  /** Events that this pass emitted: a wait reported after them may see one. */
  readonly emittedEvents: Event[]
  /** Events of the log that the waits of this pass see, by step id. */
  readonly seen: Map<string, LoggedEvent | undefined>
  /** Events among the first entries of the memo, by their number. */
  readonly eventsAmong: Map<number, ReadonlySet<string>>
  /** By `dedupeName`: events whose dedupe ids emits of this pass have claimed. */
  readonly claimedIds: Map<string, string>
  /** Waiters (by `waiterKey`) that emits of this pass have woken. */
  readonly wokenWaiters: Set<string>
  /** Keys of the guards of the pass's emits. */
  readonly guarded: Set<string>
  /** The decision's assumptions, with the flow-control rows that this pass has written. */
  readonly assumptions: OwnAssumptions
}

/** The rules of a kind of opcode. None has a default: a new kind that misses a rule does not compile. */
export interface OpcodeRules<Op extends Opcode['op']> {
  /** The member of the opcode that contains its payload on the wire; null: it has none. */
  readonly payload: PayloadOf<Op>
  /**
   * Whether the runner carries the step out and reports the result. If so, a failed attempt is reported again once its retry is
   * due, and the ack of a checkpoint does not need to repeat a result that the runner has just reported.
   */
  readonly runsOnRunner: boolean
  /** Why a run is parked while such a step is unsettled; null: the pass that reports the step settles it. */
  readonly parksFor: Extract<
    WaitingFor['kind'],
    'retry' | 'limit' | 'sleep' | 'event' | 'signal' | 'callback' | 'run' | 'child'
  > | null
  /** How a parked step succeeds when its `wakeAt` is due; null: such a step has no `wakeAt`. */
  readonly whenDue: Pick<Step, 'data' | 'timedOut'> | null
  /**
   * Drafts the step of a new opcode, or the next attempt of a `known` step, with every change that belongs in the same
   * commit. Returns the error that ends the run, if the failure of the step ends it.
   */
  draft(pass: DraftedPass, opcode: PassOpcodeOf<Op>, known: Step | undefined): RunError | undefined
}
