// `perdure runs passes`: lists the calls of a run to its runners.

import type { PassRecord } from '@perdure/protocol'
import type { Command } from 'commander'
import { wholeId } from '../../command-line/ids.ts'
import { limitOption } from '../../command-line/options.ts'
import { engineCommand, list } from '../../command-line/session.ts'
import { colourOf } from '../../output/colour.ts'
import { errorNote } from '../../output/errors.ts'
import type { Column } from '../../output/table.ts'
import { duration, relative } from '../../output/time.ts'

/** Adds `passes` to `perdure runs`. */
export function passesCommand(runs: Command): void {
  const command = runs
    .command('passes <id>')
    .description("list a run's passes: the calls to its runners, oldest first")
    .addOption(limitOption('passes', 100))
  engineCommand<{ limit: number }>(
    command,
    ['perdure runs passes run_01K...', 'perdure runs passes run_01K... --json | jq .error'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      const { limit } = session.options
      const passes = session.client.pages.listRunPasses({ id, limit: Math.min(limit, 200) }, session)
      return list(session, passes, COLUMNS, { limit, none: 'no passes yet' })
    },
  )
}

const COLUMNS: Column<PassRecord>[] = [
  { title: '#', cell: pass => String(pass.pass) },
  { title: 'RUNNER', cell: pass => pass.runner },
  { title: 'OUTCOME', cell: ({ outcome }) => ({ text: outcome, colour: colourOf(outcome) }), whole: true },
  { title: 'ATTEMPT', cell: pass => String(pass.attempt), leave: 2 },
  { title: 'SENT', cell: pass => relative(pass.sentAt), leave: 1 },
  { title: 'TOOK', cell: took, leave: 3 },
  { title: 'NOTE', cell: note },
]

function took({ sentAt, answeredAt }: PassRecord): string | undefined {
  return answeredAt === undefined ? undefined : duration(Date.parse(answeredAt) - Date.parse(sentAt))
}

function note({ error, steps }: PassRecord): string | undefined {
  return error ? errorNote(error) : steps.map(({ name }) => name).join(', ')
}
