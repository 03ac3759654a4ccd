// `perdure buffers`: list the events that debounce and batch collect, and start their run at once.

import { BUFFER_KINDS, type BufferEntry } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { appOption, limitOption } from '../command-line/options.ts'
import { engineCommand, group, list, show } from '../command-line/session.ts'
import type { Column } from '../output/table.ts'
import { relative } from '../output/time.ts'

/** Adds `perdure buffers` to the program. */
export function buffersCommands(program: Command): void {
  const buffers = group(program, 'buffers', {
    description: 'list events that wait to become one run, and start it',
    examples: ['perdure buffers list --app shop', 'perdure buffers list --json | jq -r .id'],
  })
  const listing = buffers
    .command('list')
    .description('list open buffers of debounce and batch, the soonest due first')
    .addOption(appOption())
    .option('--workflow <name>', 'only buffers of this workflow')
    .addOption(new Option('--kind <kind>', 'only buffers of this policy').choices(BUFFER_KINDS))
    .addOption(limitOption('buffers', 100))
  engineCommand<{ app?: string; workflow?: string; kind?: BufferEntry['kind']; limit: number }>(
    listing,
    ['perdure buffers list', 'perdure buffers list --kind batch --json'],
    async session => {
      const { limit, ...filter } = session.options
      const query = { app: filter.app, workflow: filter.workflow, kind: filter.kind, limit }
      return list(session, session.client.pages.listBuffers(query, session), COLUMNS, { limit })
    },
  )
  engineCommand(
    buffers.command('flush <id>').description('start the run of a buffer now'),
    ['perdure buffers flush 4w4Ud_DLFvq0AesphDZT-lt9-_jiIT7KIbVu_g0I1o0'],
    async (session, id = '') => {
      const flushed = await session.client.flushBuffer({ id }, session)
      return show(session, flushed, () => [flushed.runId])
    },
  )
}

const COLUMNS: Column<BufferEntry>[] = [
  { title: 'ID', cell: buffer => buffer.id, whole: true },
  { title: 'KIND', cell: buffer => buffer.kind },
  { title: 'WORKFLOW', cell: buffer => buffer.workflow },
  { title: 'APP', cell: buffer => buffer.app, leave: 2 },
  { title: 'KEY', cell: buffer => buffer.key },
  { title: 'EVENTS', cell: ({ count, maxSize }) => (maxSize === undefined ? String(count) : `${count} of ${maxSize}`) },
  { title: 'FIRST', cell: buffer => relative(buffer.firstAt), leave: 1 },
  { title: 'DUE', cell: buffer => relative(buffer.dueAt) },
]
