// `perdure events scheduled` and `perdure events unschedule`: the events that arrive later.

import type { Command } from 'commander'
import { doneCommand, listCommand } from '../command-line/operation.ts'

/** Adds `scheduled` and `unschedule` to `perdure events`. */
export function scheduledCommands(events: Command): void {
  listCommand(events, 'scheduled', {
    operation: 'listScheduledEvents',
    description: 'list the events that arrive later, the soonest first',
    examples: ['perdure events scheduled', 'perdure events scheduled --json | jq -r .id'],
    rows: 'events',
    limit: 30,
    columns: ['id', 'name', { field: 'at', title: 'ARRIVES' }, 'app', { field: 'createdAt', title: 'SENT' }],
  })
  doneCommand(events, 'unschedule', {
    operation: 'deleteScheduledEvent',
    description: 'delete an event before it arrives; its dedupe id stays used',
    examples: ['perdure events unschedule evt_01K...'],
    done: 'deleted',
    line: ({ id }) => `${id} will not arrive`,
  })
}
