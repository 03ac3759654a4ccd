// `perdure audit`: who acted on which run or setting.

import { CONTROL_ACTIONS, type ControlAction } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { wholeId } from '../command-line/ids.ts'
import { limitOption, sinceOption, untilOption } from '../command-line/options.ts'
import { engineCommand, list } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** Adds `perdure audit` to the program. */
export function auditCommand(program: Command): void {
  const command = program
    .command('audit')
    .description('list control actions, newest first')
    .addOption(new Option('--action <action>', 'only actions of this kind').choices(CONTROL_ACTIONS))
    .option('--run <id>', 'only actions on this run, or that created it as a fork')
    .option('--actor <label>', 'only actions of the API key with this label')
    .addOption(sinceOption('actions'))
    .addOption(untilOption('actions'))
    .addOption(limitOption('entries', 100))
  engineCommand<Options>(
    command,
    ['perdure audit --run run_01K...', 'perdure audit --action cancel --json | jq -r .actor'],
    async session => {
      const { action, run, actor, since, until, limit } = session.options
      const runId = run && (await wholeId(session, run))
      const rows = session.client.pages.listControlActions({ action, runId, actor, since, until, limit }, session)
      return list(session, rows, COLUMNS, { limit })
    },
  )
}

interface Options {
  action?: ControlAction['action']
  run?: string
  actor?: string
  since?: string
  until?: string
  limit: number
}

const COLUMNS: Column<ControlAction>[] = [
  { title: 'WHEN', cell: entry => relative(entry.createdAt), leave: 3 },
  { title: 'ACTION', cell: entry => entry.action },
  { title: 'RUN', cell: entry => entry.runId, whole: true },
  { title: 'NEW RUN', cell: entry => entry.newRunId, whole: true, leave: 2 },
  { title: 'ACTOR', cell: entry => entry.actor },
  { title: 'DETAIL', cell: entry => JSON.stringify(entry.detail), leave: 1 },
]
