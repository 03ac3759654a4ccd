// `perdure workflows definitions`: lists the definitions that a workflow has and had.

import type { PastDefinition } from '@perdure/protocol'
import type { Command } from 'commander'
import { limitOption } from '../command-line/options.ts'
import { engineCommand, list } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** A definition, with the names of what it changed in the one before. */
interface Row extends PastDefinition {
  changed: string[]
}

/** Adds `definitions` to `perdure workflows`. */
export function definitionsCommand(workflows: Command): void {
  const command = workflows
    .command('definitions <app> <name>')
    .description('list the definitions that a workflow has and had, the newest first')
    .addOption(limitOption('definitions', 50))
  engineCommand<{ limit: number }>(
    command,
    [
      'perdure workflows definitions shop process-order',
      'perdure workflows definitions shop process-order --json | jq .definition.triggers',
    ],
    async (session, app = '', name = '') => {
      const { limit } = session.options
      const definitions = session.client.pages.listDefinitions({ app, name }, session)
      if (session.json) return list(session, definitions, [], { limit })
      return list(session, withChanges(definitions), COLUMNS, { limit })
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
  { title: 'HASH', cell: ({ hash }) => hash, whole: true },
  { title: 'REGISTERED', cell: ({ registeredAt }) => relative(registeredAt) },
  { title: 'RUNNER', cell: ({ runner }) => runner, leave: 1 },
  { title: 'CHANGED', cell: ({ changed }) => changed.join(', ') || undefined },
]
