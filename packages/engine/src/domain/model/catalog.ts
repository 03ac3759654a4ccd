// What decisions may know of the registered apps, workflows, runners and webhook endpoints of one namespace. The services keep it in
// memory; decisions read it as a value.

import type { Endpoint, NoticeKind } from './endpoint.ts'
import type { Runner, Workflow } from './workflow.ts'

export interface CatalogView {
  readonly namespace: string
  /** Which revision of the store's catalog it tells; absent where this engine alone changes that. */
  readonly revision?: number | undefined
  /** While it is, no event starts a run. */
  readonly suspended: boolean
  workflow(app: string, name: string): Workflow | undefined
  /** Workflows with an event trigger whose name matches, sorted by workflow name, then app. */
  triggeredBy(eventName: string): readonly Workflow[]
  /** Apps that registered a workflow of this name. */
  appsWith(workflowName: string): readonly string[]
  runners(app: string): readonly Runner[]
  /** Enabled endpoints to be told of that kind from that app. */
  subscribers(kind: NoticeKind, app: string): readonly Endpoint[]
  /** Attempts a new webhook delivery gets. */
  readonly deliveryAttemptsMax: number
}
