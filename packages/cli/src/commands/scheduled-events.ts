// `perdure events scheduled` and `perdure events unschedule`: the events that arrive later.

import type { ScheduledEvent } from '@perdure/protocol'
import type { Command } from 'commander'
import { limitOption } from '../command-line/options.ts'
import { engineCommand, list, show } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { plain } from '../output/text.ts'
import { relative } from '../output/time.ts'

/** Adds `scheduled` and `unschedule` to `perdure events`. */
export function scheduledCommands(events: Command): void {
  const listing = events
    .command('scheduled')
    .description('list the events that arrive later, the soonest first')
    .addOption(limitOption('events', 30))
  engineCommand<{ limit: number }>(
    listing,
    ['perdure events scheduled', 'perdure events scheduled --json | jq -r .id'],
    async session => {
      const { limit } = session.options
      return list(session, session.client.pages.listScheduledEvents({ limit }, session), COLUMNS, { limit })
    },
  )

  engineCommand(
    events.command('unschedule <id>').description('delete an event before it arrives; its dedupe id stays used'),
    ['perdure events unschedule evt_01K...'],
    async (session, id = '') => {
      await session.client.deleteScheduledEvent({ id }, session)
      return show(session, { id, deleted: true }, () => [plain(`${id} will not arrive`)])
    },
  )
}

const COLUMNS: Column<ScheduledEvent>[] = [
  { title: 'ID', cell: event => event.id, whole: true },
  { title: 'NAME', cell: event => event.name },
  { title: 'ARRIVES', cell: event => relative(event.at) },
  { title: 'APP', cell: event => event.app },
  { title: 'SENT', cell: event => relative(event.createdAt) },
]
