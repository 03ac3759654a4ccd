// `perdure events scheduled` and `perdure events unschedule`: the events that arrive later.

import type { Command } from 'commander'
import { doneCommand, listCommand, showCommand } from '../command-line/operation.ts'

/** Adds `scheduled` and `unschedule` to `perdure events`. */
export function scheduledCommands(events: Command): void {
  listCommand(events, 'scheduled', {
    operation: 'listScheduledEvents',
    description: 'list the events that arrive later, the soonest first',
    examples: [
      'perdure events scheduled',
      'perdure events scheduled --name order/reminder --attribute customer:acct-17',
      'perdure events scheduled --json | jq -r .id',
    ],
    rows: 'events',
    limit: 30,
    columns: ['id', 'name', { field: 'at', title: 'ARRIVES' }, 'app', { field: 'createdAt', title: 'SENT' }],
  })
  showCommand(events, 'unschedule-all', {
    operation: 'deleteScheduledEvents',
    description: 'delete all events that match a filter before they arrive; their dedupe ids stay used',
    examples: ['perdure events unschedule-all --name order/reminder --attribute customer:acct-17 --yes'],
    confirm: () => 'Delete all scheduled events that match?',
    lines: ({ deleted, more }) => [
      `${deleted} ${deleted === 1 ? 'event' : 'events'} will not arrive`,
      ...(more ? ['more are left: repeat the command'] : []),
    ],
  })
  doneCommand(events, 'unschedule', {
    operation: 'deleteScheduledEvent',
    description: 'delete an event before it arrives; its dedupe id stays used',
    examples: ['perdure events unschedule evt_01K...'],
    done: 'deleted',
    line: ({ id }) => `${id} will not arrive`,
  })
}
