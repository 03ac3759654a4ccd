// The present and past definitions of a workflow, in the form in which the console compares them. Pure.

import type { PastDefinition } from '@perdure/protocol'

/**
 * Returns the definition in effect at a time; undefined if the list does not reach back that far. The newest is first in the
 * list.
 */
export function definitionAt(definitions: readonly PastDefinition[], at: string): PastDefinition | undefined {
  const time = Date.parse(at)
  return definitions.find(({ registeredAt }) => Date.parse(registeredAt) <= time)
}

/** Returns the definition as lines of JSON, for a comparison. */
export const definitionText = ({ definition }: PastDefinition) => JSON.stringify(definition, null, 2)

const NAMES: Readonly<Record<string, string>> = {
  triggers: 'triggers',
  retry: 'retries',
  flowControl: 'flow control',
  onFailure: 'failure handler',
  cleanup: 'cancel handler',
  handlerRetries: 'pass retries',
  whenExhausted: 'pause on failure',
  retention: 'retention',
  budget: 'budget',
  attributes: 'attributes',
  inheritAttributes: 'inherited attributes',
}

/** Returns the parts in which two definitions differ: "triggers, retries". */
export function changedParts({ definition: one }: PastDefinition, { definition: other }: PastDefinition): string {
  const parts = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof typeof one>
  return [...parts]
    .filter(part => JSON.stringify(one[part]) !== JSON.stringify(other[part]))
    .map(part => NAMES[part] ?? part)
    .join(', ')
}

export interface DefinitionChange {
  now: PastDefinition
  /** The previous definition; absent for the oldest known one. */
  before?: PastDefinition
  /** "changed: triggers, retries". */
  text: string
}

/** Returns the changes between the definitions, the newest first. */
export function definitionChanges(definitions: readonly PastDefinition[]): DefinitionChange[] {
  return definitions.map((now, i) => {
    const before = definitions[i + 1]
    if (!before) return { now, text: 'the oldest stored definition' }
    return { now, before, text: `the definition changed: ${changedParts(before, now)}` }
  })
}
