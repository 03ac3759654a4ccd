// `perdure workflows definitions`: lists the present and past definitions of a workflow.

import type { PastDefinition } from '@perdure/protocol'
import type { Command } from 'commander'
import { list } from '../command-line/commands.ts'
import { operationCommand } from '../command-line/operation.ts'
import type { Column } from '../output/table.ts'

/** A definition, with the names of the parts that it changed. */
interface Row extends PastDefinition {
  changed: string[]
}

/** Adds `definitions` to `perdure workflows`. */
export function definitionsCommand(workflows: Command): void {
  operationCommand<'listDefinitions', { limit: number }>(
    workflows,
    'definitions',
    {
      operation: 'listDefinitions',
      description: 'list the definitions that a workflow has and had, the newest first',
      examples: [
        'perdure workflows definitions shop process-order',
        'perdure workflows definitions shop process-order --json | jq .definition.triggers',
      ],
      rows: 'definitions',
      limit: 50,
    },
    async (context, definitions) => {
      const { limit } = context.options
      if (context.json) return list(context, definitions, [], { limit })
      return list(context, withChanges(definitions), COLUMNS, { limit })
    },
  )
}

async function* withChanges(definitions: AsyncIterable<PastDefinition>): AsyncGenerator<Row> {
  let newer: PastDefinition | undefined
  for await (const older of definitions) {
    if (newer) yield { ...newer, changed: changedFields(older, newer) }
    newer = older
  }
  if (newer) yield { ...newer, changed: [] }
}

function changedFields({ definition: before }: PastDefinition, { definition: after }: PastDefinition): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof typeof before>
  return [...names].filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}

const COLUMNS: Column<Row>[] = [
  { field: 'hash', whole: true },
  'registeredAt',
  { field: 'runner', leave: 1 },
  { title: 'CHANGED', cell: ({ changed }) => changed.join(', ') || undefined },
]
