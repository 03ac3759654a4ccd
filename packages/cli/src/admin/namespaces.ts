// `perdure namespaces`: lists, suspends and resumes the namespaces of a store.

import type { Namespace } from '@perdure/engine'
import type { Command } from 'commander'
import { group, list, show } from '../command-line/commands.ts'
import type { Column } from '../output/table.ts'
import { adminCommand, timestamp } from './commands.ts'

/** Adds `perdure namespaces` to the program. */
export function namespaceCommands(program: Command): void {
  const namespaces = group(program, 'namespaces', {
    description: 'list, suspend and resume namespaces',
    examples: ['perdure namespaces list', 'perdure namespaces suspend shop'],
  })

  adminCommand(
    namespaces.command('list').description('list the namespaces of the store'),
    ['perdure namespaces list', 'perdure namespaces list --store sqlite:./data/engine.db --json'],
    async (context, administration) =>
      list(context, (await administration.namespaces()).map(shown), COLUMNS, {
        none: 'no namespaces in this store yet',
      }),
  )

  adminCommand(
    namespaces
      .command('suspend <name>')
      .description('start no new runs in a namespace; a running engine follows within 2 s'),
    ['perdure namespaces suspend shop'],
    async (context, administration, name = '') => {
      const suspended = await administration.suspend(name)
      return show(context, shown(suspended), () => [`suspended ${suspended.name}`])
    },
  )

  adminCommand(
    namespaces.command('resume <name>').description('start runs in a suspended namespace again'),
    ['perdure namespaces resume shop'],
    async (context, administration, name = '') => {
      const resumed = await administration.resume(name)
      return show(context, shown(resumed), () => [`resumed ${resumed.name}`])
    },
  )
}

function shown({ name, createdAt, suspendedAt }: Namespace) {
  return {
    name,
    createdAt: timestamp(createdAt),
    ...(suspendedAt === undefined ? {} : { suspendedAt: timestamp(suspendedAt) }),
  }
}

const COLUMNS: readonly Column<ReturnType<typeof shown>>[] = [
  { title: 'NAME', cell: each => each.name },
  { title: 'CREATED', cell: each => each.createdAt },
  { title: 'SUSPENDED', cell: each => each.suspendedAt },
]
