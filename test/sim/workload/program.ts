// The workflows of the simulation: small trees in place of user code. `generate.ts` generates them, `handler.ts` runs them.

import type { Opcode } from '@perdure/protocol'
import { unitOf } from '../core/random.ts'

/** The node that reports an opcode of each kind. If a kind of the wire protocol has no entry, this does not compile. */
interface NodeOfOpcode {
  StepRun: 'run'
  StepLimit: 'run'
  Sleep: 'sleep'
  SleepUntil: 'sleepUntil'
  WaitForEvent: 'wait'
  WaitForCallback: 'callback'
  WaitForRun: 'runWait'
  WaitForSignal: 'signalWait'
  RunWorkflow: 'child'
  StartRun: 'start'
  Emit: 'emit'
  Webhook: 'webhook'
  ReplyToUpdate: 'reply'
}
/** No step of the workloads cancels runs. */
export type StepKind = NodeOfOpcode[Exclude<Opcode['op'], 'CancelRun'>]

/** A durable step. `id` is unhashed and unique in the workflow; `name` is shown by the interface and may repeat. */
interface Leaf {
  id: string
  name: string
}

export interface RunNode extends Leaf {
  kind: 'run'
  /** How many attempts fail before one succeeds, drawn per run from this list. */
  failures: readonly number[]
  nonRetriable: boolean
  catchable: boolean
  /** The policy of the step, instead of the workflow's. */
  retry?: { maxAttempts: number; initialMs: number }
  retryAfterMs?: number
  logLines: number
}

/** The key of a direct start, and the reaction if a live run has it. */
export interface StartKey {
  key?: string
  ifRunning?: 'use' | 'refuse' | 'cancel'
}

export type Node =
  | RunNode
  | (Leaf & { kind: 'sleep'; ms: number })
  /** Absolute, counted from the start of the simulation; the time may have passed. */
  | (Leaf & { kind: 'sleepUntil'; atMs: number })
  | (Leaf & { kind: 'wait'; eventName: string; timeoutMs?: number })
  | (Leaf & { kind: 'callback'; timeoutMs?: number })
  /** For a run that the runner knows. Two runs may wait for each other, so there is always a timeout. */
  | (Leaf & { kind: 'runWait'; timeoutMs: number })
  | (Leaf & { kind: 'signalWait'; signal: string; timeoutMs: number })
  /** Answers the signal that the wait `to` got, if it is an update. */
  | (Leaf & { kind: 'reply'; to: string })
  | (Leaf & { kind: 'emit'; eventName: string })
  | (Leaf & { kind: 'child'; workflow: string; app?: string })
  | (Leaf & { kind: 'start'; workflow: string; delayMs?: number } & StartKey)
  | (Leaf & { kind: 'webhook'; url: string })
  /** All branches, as by Promise.all. */
  | { kind: 'all'; branches: Sequence[] }
  /** The first branch, as by Promise.race. */
  | { kind: 'race'; branches: Sequence[] }
  /** Catches errors that are thrown inside. */
  | { kind: 'caught'; body: Sequence }
  /** A log line of the handler itself. */
  | { kind: 'log'; message: string }

export type Sequence = Node[]

/** Whether a step has a rollback, in a workflow that undoes steps. */
export function hasRollback({ undoes }: Pick<WorkflowSpec, 'undoes'>, { id }: Pick<Leaf, 'id'>): boolean {
  return undoes === true && unitOf(`undo ${id}`) < 0.6
}

/** The limit that steps of the workloads share, in each app. */
export const VENDOR = { limit: 2, period: 2000 }

/** Whether a step has the limit, in a workflow with limits. */
export function isLimited({ limits }: Pick<WorkflowSpec, 'limits'>, { id }: Pick<Leaf, 'id'>): boolean {
  return limits === true && unitOf(`limit ${id}`) < 0.5
}

/** A workflow as its runners register and run it. */
export interface WorkflowSpec {
  app: string
  name: string
  /** A workflow may start only workflows of a higher level, so that no chain of events is endless. */
  level: number
  /** Absent: the implicit trigger on its name. */
  triggers?: { event: string }[]
  retry: { maxAttempts: number; initialMs: number; factor: number; maxMs: number; jitter: number }
  onFailure: boolean
  whenExhausted?: 'pause'
  invokeTimeoutMs?: number
  /** Some of its steps have a rollback (`hasRollback`). */
  undoes?: true
  /** Some of its steps have the limit of the app (`isLimited`). */
  limits?: true
  /** How many of its runs keep a slot at once. */
  keeps?: number
  /** Its runs have their own budget, which is never exceeded. */
  spends?: true
  /** At most one of its runs with the key is live. Without an expression all runs share the key. */
  singleton?: { mode: 'skip' | 'cancel' | 'deliver'; key?: string }
  /** Events of this name cancel its runs. */
  cancelOn?: string
  /** How many runs follow one as its chain. */
  links?: number
  body: Sequence
  /** The body of on-failure runs. */
  failureBody: Sequence
  /** How often the handler itself throws, outside any step. */
  throwsOften: number
  /** How often the handler throws an error that must not be retried. */
  throwsFatallyOften: number
}
