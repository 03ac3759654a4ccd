// The objects that runners register: apps, runners and workflow definitions (docs/wire-protocol.md#register).

import type { Trigger, RetryPolicy as WireRetryPolicy } from '@perdure/protocol'
import type { JsonSchemaObject } from '@perdure/protocol/json-schema'
import type { Budget } from './budget/budget.ts'
import type { FlowControl, OperatorLimits } from './flow-control.ts'
import type { EndedStatus } from './run.ts'

export type { Trigger }

export type RetryPolicy = Required<Omit<WireRetryPolicy, 'maxElapsed' | 'nonRetriable'>> & {
  /** No attempt of a step begins later than this after the first one. */
  maxElapsedMs?: number
  /** Names and codes of errors after which there is no retry. */
  nonRetriable?: string[]
  /** The registration sets `maxAttempts`: this also applies to passes whose handler throws. */
  setsAttempts?: true
}

/** Ms from the end of a run to its removal, by status. Never empty. */
export type Retention = Partial<Record<EndedStatus, number>>

export interface Workflow {
  namespace: string
  app: string
  name: string
  /** A registration without triggers gets one on the workflow's name. */
  triggers: Trigger[]
  retry: RetryPolicy
  onFailure: boolean
  /** It has a handler for the end of a cancelled run. */
  cleanup?: true
  /**
   * Maximum tries of a failing pass; absent: those of the retry policy for a handler that throws, else the default (run/retry).
   */
  handlerRetries?: number
  /** A run that has spent the tries of a step or a pass is paused; absent: it fails. */
  whenExhausted?: 'pause'
  /** Deadline of one invoke, if the registration sets one. */
  invokeTimeoutMs?: number
  flowControl?: FlowControl
  /** How long its ended runs are kept, in ms by status; the engine's retention applies to missing statuses. */
  retention?: Retention
  /** Limits of a run and all its descendants. */
  budget?: Budget
  description?: string
  /** JSON Schema of the input of a direct start. */
  input?: JsonSchemaObject
  /** It is offered to assistants as a tool. */
  tool?: true
  /** Expressions over a new run's event that give its first attributes. */
  attributes?: Record<string, string>
  /** Keys of the attributes that a child inherits from its parent. */
  inheritAttributes?: string[]
  updatedAt: number
  /** Since this time no run of the workflow starts. A registration keeps it. */
  pausedAt?: number
  /** Limits that an operator has set. A registration keeps them. */
  limits?: OperatorLimits
}

/** The pause and the operator's limits of a workflow that no runner registers at the moment. */
export type KeptPause = Pick<Workflow, 'namespace' | 'app' | 'name' | 'pausedAt' | 'limits'>

export interface Runner {
  namespace: string
  app: string
  /** The runner's own id, or its URL if it registered without one. */
  runnerId: string
  url: string
  /** Names of the workflows in its newest registration. */
  workflows: string[]
  /** The definition of each of these workflows, in the same order. */
  definitions?: Definition[]
  framework?: string
  runtime?: string
  language?: string
  sdkName?: string
  version?: string
  region?: string
  keyFingerprint?: string
  /** Its platform stops it between invokes, so its silence does not mean that it is gone. */
  sleeps?: true
  /** Optional parts of the wire protocol that the runner knows. */
  features?: string[]
  lastSeenAt: number
  /** The processes that register the runner, if they name themselves, with the time when each was last seen. */
  instances?: Record<string, number>
  /** Limits that steps share, as it registers them; absent: none. */
  stepLimits?: RegisteredLimits
  /** Workflows that were deleted while it served them: it serves one again when it registers another definition. */
  deletedWorkflows?: DeletedWorkflow[]
  /** All its processes have shut down: nothing is sent to the runner until it registers again. */
  hasLeft?: true
}

/** A key that is unique over namespaces and apps. */
export function runnerKey({ namespace, app, runnerId }: Pick<Runner, 'namespace' | 'app' | 'runnerId'>): string {
  return `${namespace}\n${app}\n${runnerId}`
}

/** A runner's definition of a workflow. If there are several, the one with the highest `since` counts. */
export interface Definition {
  digest: string
  /** When the runner first registered it, epoch ms. It is later than every definition that others had registered before. */
  since: number
}

/** The part of a workflow that its registration determines. */
export type Defined = Omit<Workflow, 'namespace' | 'app' | 'name' | 'updatedAt' | 'pausedAt' | 'limits'>

/** A definition that a workflow has, or had until a newer one counted. */
export interface KeptDefinition {
  namespace: string
  app: string
  workflow: string
  /** Since when it counts. */
  registeredAt: number
  /** The digest of the runners that registered it. */
  hash: string
  /** The runner that registered it; unknown if an earlier version of the engine stored it. */
  runner?: string
  definition: Defined
}

/** A deleted workflow, with the digest of the definition that the runner had then. */
export interface DeletedWorkflow {
  name: string
  digest: string
}

/** A limit that steps of an app share: at most `limit` of them start in any period. */
export interface StepLimit {
  namespace: string
  app: string
  name: string
  limit: number
  periodMs: number
}

/** The limits that a runner registers, by name. */
export type RegisteredLimits = Readonly<Record<string, Pick<StepLimit, 'limit' | 'periodMs'>>>

export interface App {
  namespace: string
  name: string
  createdAt: number
}
