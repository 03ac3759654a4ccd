// What decisions may know of the registered apps, workflows and runners of one namespace. The services keep it in
// memory; decisions read it as a value.

import type { Runner, Workflow } from './workflow.ts'

export interface CatalogView {
  readonly namespace: string
  workflow(app: string, name: string): Workflow | undefined
  /** Workflows with an event trigger whose name matches, sorted by workflow name, then app. */
  triggeredBy(eventName: string): readonly Workflow[]
  /** Apps that registered a workflow of this name. */
  appsWith(workflowName: string): readonly string[]
  runners(app: string): readonly Runner[]
}
