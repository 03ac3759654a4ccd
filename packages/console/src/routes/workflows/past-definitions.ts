// The definitions that a workflow has and had, as the console compares them. Pure.

import type { PastDefinition } from '@perdure/protocol'

/** The definition that counted at a time; undefined if the list does not reach back so far. The list is the newest first. */
export function definitionAt(definitions: readonly PastDefinition[], at: string): PastDefinition | undefined {
  const time = Date.parse(at)
  return definitions.find(({ registeredAt }) => Date.parse(registeredAt) <= time)
}

/** The definition as lines of JSON, for a comparison. */
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

/** The parts in which two definitions differ: "triggers, retries". */
export function changedParts({ definition: one }: PastDefinition, { definition: other }: PastDefinition): string {
  const parts = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof typeof one>
  return [...parts]
    .filter(part => JSON.stringify(one[part]) !== JSON.stringify(other[part]))
    .map(part => NAMES[part] ?? part)
    .join(', ')
}

export interface DefinitionChange {
  now: PastDefinition
  /** The one before; absent of the oldest that is known. */
  before?: PastDefinition
  /** "changed: triggers, retries". */
  text: string
}

/** The changes that the definitions made, the newest first. */
export function definitionChanges(definitions: readonly PastDefinition[]): DefinitionChange[] {
  return definitions.map((now, i) => {
    const before = definitions[i + 1]
    if (!before) return { now, text: 'the oldest stored definition' }
    return { now, before, text: `the definition changed: ${changedParts(before, now)}` }
  })
}
