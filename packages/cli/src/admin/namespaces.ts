// `perdure namespaces`: lists, suspends and resumes the namespaces of a store.

import type { Namespace } from '@perdure/engine'
import type { Command } from 'commander'
import type { Column } from '../output/table.ts'
import { administer, columns, group, type SharedOptions, subcommand, timestamp } from './session.ts'

export function namespaceCommands(program: Command): void {
  const namespaces = group(program, 'namespaces', 'list, suspend and resume namespaces')

  subcommand(namespaces, 'list', 'list the namespaces of the store').action(
    (options: SharedOptions, command: Command) =>
      administer(command, options, async administration => {
        const list = (await administration.namespaces()).map(shown)
        return options.json ? list.map(each => JSON.stringify(each)) : columns(list, COLUMNS, NONE)
      }),
  )

  subcommand(
    namespaces,
    'suspend <name>',
    'start no new runs in a namespace; a running engine follows within 2 s',
  ).action((name: string, options: SharedOptions, command: Command) =>
    administer(command, options, async administration => {
      const suspended = await administration.suspend(name)
      return [options.json ? JSON.stringify(shown(suspended)) : `suspended ${suspended.name}`]
    }),
  )

  subcommand(namespaces, 'resume <name>', 'start runs in a suspended namespace again').action(
    (name: string, options: SharedOptions, command: Command) =>
      administer(command, options, async administration => {
        const resumed = await administration.resume(name)
        return [options.json ? JSON.stringify(shown(resumed)) : `resumed ${resumed.name}`]
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
