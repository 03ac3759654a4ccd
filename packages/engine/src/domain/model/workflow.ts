// What runners register: apps, runners and workflow definitions (contract §2.5, §2.6).

import type { Trigger } from '@perdure/protocol'
import type { FlowControl } from './flow-control.ts'

export type { Trigger }

export interface RetryPolicy {
  maxAttempts: number
  initialMs: number
  factor: number
  maxMs: number
  /** Share of each delay that is random, 0 to 1. */
  jitter: number
}

export interface Workflow {
  namespace: string
  app: string
  name: string
  /** Of a registration that does not speak of them: the implicit one, on the workflow's name. */
  triggers: Trigger[]
  retry: RetryPolicy
  onFailure: boolean
  /** Deadline of one invoke, when the registration set one. */
  invokeTimeoutMs?: number
  flowControl?: FlowControl
  updatedAt: number
}

export interface Runner {
  namespace: string
  app: string
  /** Stable id, or the URL of a runner that registered without one. */
  runnerId: string
  url: string
  /** Names of the workflows in its newest registration. */
  workflows: string[]
  /** Of each of them, in their order, what it registered. */
  definitions?: Definition[]
  framework?: string
  runtime?: string
  language?: string
  sdkName?: string
  version?: string
  region?: string
  keyFingerprint?: string
  lastSeenAt: number
}

/** What a runner registered of a workflow; of several the one with the highest `since` counts. */
export interface Definition {
  digest: string
  /** When it first did, epoch ms, and later than whatever others had registered by then. */
  since: number
}

export interface App {
  namespace: string
  name: string
  createdAt: number
}
