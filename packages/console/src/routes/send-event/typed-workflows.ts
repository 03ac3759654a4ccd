// The workflows whose input schemas describe the data of an event. Pure.

import type { WorkflowDefinition } from '@perdure/protocol'

/** A workflow that the event would reach, and that declares its input data. */
export interface TypedWorkflow {
  /** The app and the name, which together name one workflow. */
  key: string
  name: string
  app: string
  schema: object
}

/**
 * Returns the workflows with a schema that the event may start, except those that collect events: their schema describes a list.
 * `app`: only its workflows get the event; empty for all.
 */
export function typedWorkflows(
  workflows: readonly WorkflowDefinition[],
  { name, app }: { name: string; app: string },
): TypedWorkflow[] {
  return workflows.flatMap(({ input, flowControl, triggers, ...workflow }) => {
    const isReached = triggers.some(({ event }) => event !== undefined && isMatch(event, name))
    if (!isReached || flowControl?.batch !== undefined || input === undefined) return []
    if (app !== '' && workflow.app !== app) return []
    return [{ key: `${workflow.app}/${workflow.name}`, name: workflow.name, app: workflow.app, schema: input }]
  })
}

const isMatch = (trigger: string, name: string) =>
  trigger.endsWith('*') ? name.startsWith(trigger.slice(0, -1)) : trigger === name
