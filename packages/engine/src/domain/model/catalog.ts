// The registered apps, workflows, runners and webhook endpoints of one namespace, as decisions read them. Services keep the
// catalog in memory.

import type { AddressList } from '../text/address-list.ts'
import type { Endpoint, NoticeKind } from './endpoint.ts'
import type { Runner, StepLimit, Workflow } from './workflow.ts'

export interface CatalogView {
  readonly namespace: string
  /** Revision of the store's catalog that this view shows; absent where only this engine changes the catalog. */
  readonly revision?: number | undefined
  /** While true, no event starts a run. */
  readonly suspended: boolean
  workflow(app: string, name: string): Workflow | undefined
  /** Whether a person has paused the workflow, registered or not. */
  isPaused(app: string, name: string): boolean
  /** Workflows with an event trigger whose name matches, sorted by workflow name, then app. */
  triggeredBy(eventName: string): readonly Workflow[]
  /** The event names of all triggers, each once. */
  triggerNames(): readonly string[]
  /** The names of all workflows, each once. */
  workflowNames(): readonly string[]
  /** Apps that registered a workflow of this name. */
  appsWith(workflowName: string): readonly string[]
  runners(app: string): readonly Runner[]
  /** The limits that steps of the app share, by name. */
  stepLimits(app: string): ReadonlyMap<string, StepLimit>
  /** Enabled endpoints that subscribe to the kind and accept notices of the app. */
  subscribers(kind: NoticeKind, app: string): readonly Endpoint[]
  /** Number of attempts of a new webhook delivery. */
  readonly deliveryAttemptsMax: number
  /** The maximum generation in a chain of runs that start each other. */
  readonly generationsMax: number
  /** How long a child waits for its workflow to be registered. */
  readonly childGraceMs: number
  /** The addresses that webhooks may go to; absent: every address. */
  readonly webhookAddresses?: AddressList | undefined
}
