// `perdure namespaces`: lists, suspends and resumes the namespaces of a store.

import type { Namespace } from '@perdure/engine'
import type { Command } from 'commander'
import type { Column } from '../output/table.ts'
import { administer, group, type SharedOptions, subcommand, timestamp } from './session.ts'

/** Adds `perdure namespaces` to the program. */
export function namespaceCommands(program: Command): void {
  const namespaces = group(program, 'namespaces', {
    description: 'list, suspend and resume namespaces',
    examples: ['perdure namespaces list', 'perdure namespaces suspend shop'],
  })

  subcommand(namespaces, 'list', {
    description: 'list the namespaces of the store',
    examples: ['perdure namespaces list', 'perdure namespaces list --store sqlite:./data/engine.db --json'],
  }).action((options: SharedOptions, command: Command) =>
    administer(command, options, async (administration, output) =>
      output.list((await administration.namespaces()).map(shown), COLUMNS, NONE),
    ),
  )

  subcommand(namespaces, 'suspend <name>', {
    description: 'start no new runs in a namespace; a running engine follows within 2 s',
    examples: ['perdure namespaces suspend shop'],
  }).action((name: string, options: SharedOptions, command: Command) =>
    administer(command, options, async (administration, output) => {
      const suspended = await administration.suspend(name)
      output.show(shown(suspended), [`suspended ${suspended.name}`])
    }),
  )

  subcommand(namespaces, 'resume <name>', {
    description: 'start runs in a suspended namespace again',
    examples: ['perdure namespaces resume shop'],
  }).action((name: string, options: SharedOptions, command: Command) =>
    administer(command, options, async (administration, output) => {
      const resumed = await administration.resume(name)
      output.show(shown(resumed), [`resumed ${resumed.name}`])
    }),
  )
}

type ShownNamespace = ReturnType<typeof shown>

function shown({ name, createdAt, suspendedAt }: Namespace) {
  return {
    name,
    createdAt: timestamp(createdAt),
    ...(suspendedAt === undefined ? {} : { suspendedAt: timestamp(suspendedAt) }),
  }
}

const NONE = 'no namespaces in this store yet'
const COLUMNS: readonly Column<ShownNamespace>[] = [
  { title: 'NAME', cell: each => each.name },
  { title: 'CREATED', cell: each => each.createdAt },
  { title: 'SUSPENDED', cell: each => each.suspendedAt },
]
