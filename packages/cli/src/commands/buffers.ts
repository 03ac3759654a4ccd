// `perdure buffers`: list the events that debounce and batch collect, and start their run at once.

import type { Command } from 'commander'
import { group } from '../command-line/commands.ts'
import { listCommand, showCommand } from '../command-line/operation.ts'

/** Adds `perdure buffers` to the program. */
export function buffersCommands(program: Command): void {
  const buffers = group(program, 'buffers', {
    description: 'list events that wait to become one run, and start it',
    examples: ['perdure buffers list --app shop', 'perdure buffers list --json | jq -r .id'],
  })
  listCommand(buffers, 'list', {
    operation: 'listBuffers',
    description: 'list open buffers of debounce and batch, the soonest due first',
    examples: ['perdure buffers list', 'perdure buffers list --kind batch --json'],
    rows: 'buffers',
    columns: [
      'id',
      'kind',
      'workflow',
      { field: 'app', leave: 2 },
      'key',
      {
        title: 'EVENTS',
        cell: ({ count, maxSize }) => (maxSize === undefined ? String(count) : `${count} of ${maxSize}`),
      },
      { field: 'firstAt', leave: 1 },
      'dueAt',
    ],
  })
  showCommand(buffers, 'flush', {
    operation: 'flushBuffer',
    description: 'start the run of a buffer now',
    examples: ['perdure buffers flush 4w4Ud_DLFvq0AesphDZT-lt9-_jiIT7KIbVu_g0I1o0'],
    lines: ({ runId }) => [runId],
  })
}
