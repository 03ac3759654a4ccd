// `perdure stream`: follows runs, events, deliveries and timelines on one connection.

import type { BulkFrame, DeliveryFrame, RunStreamFrame, StreamFrame } from '@perdure/protocol'
import type { Command } from 'commander'
import { engineCommand, stream } from '../command-line/commands.ts'
import { parametersOf, queryOf } from '../command-line/parameters.ts'
import type { Paint } from '../output/colour.ts'
import { plain } from '../output/text.ts'
import { clockTime } from '../output/time.ts'
import { eventLine, frameLine, gapLine, runProgressLine, runStatusLine } from '../output/timeline.ts'

const FILTERS = parametersOf('streamTopics', {
  only: ['app', 'workflow', 'every'],
  texts: { app: 'only items of this app', every: 'shortest time between two lines of a run' },
})

/** Adds `perdure stream` to the program. */
export function streamCommand(program: Command): void {
  const command = program
    .command('stream <topics>')
    .description(
      'follow runs, events, deliveries, run:ID, run:ID:STREAM and bulk:ID on one connection, until interrupted',
    )
  for (const { option } of FILTERS) command.addOption(option)
  engineCommand(
    command,
    ['perdure stream runs,deliveries --app shop', 'perdure stream run:run_01K...,events --json | jq -c .kind'],
    async (context, topics = '') => {
      const query = await queryOf(context, FILTERS)
      return stream(context, context.client.streamTopics({ topics: topics.split(','), ...query }, context), streamLine)
    },
  )
}

function streamLine(frame: StreamFrame, paint: Paint): string {
  if (frame.kind === 'gap') return gapLine(frame, paint)
  if (frame.kind === 'event') return eventLine(frame, paint)
  if (frame.kind === 'delivery') return deliveryLine(frame, paint)
  if (frame.kind === 'bulk') return bulkLine(frame, paint)
  if (frame.kind === 'stream') return outputLine(frame)
  if (frame.kind === 'progress' && frame.workflow !== undefined) return runProgressLine(frame, paint)
  // Only frames of the topic `runs` name the workflow.
  if (frame.kind === 'run_status' && frame.workflow !== undefined) return runStatusLine(frame, paint)
  return frameLine(frame, paint)
}

function deliveryLine({ id, updatedAt, status, url, attemptCount }: DeliveryFrame, paint: Paint): string {
  return [paint('dim', clockTime(updatedAt)), id, status, plain(url), `attempt ${attemptCount}`].join('  ')
}

/** The messages of an output stream as JSON: a chunk may be anything. */
function outputLine({ runId, name, messages }: RunStreamFrame): string {
  return messages.map(message => `${runId}  ${plain(name)}  ${JSON.stringify(message)}`).join('\n')
}

function bulkLine({ id, ts, action, status, done, skipped, failed }: BulkFrame, paint: Paint): string {
  const counts = `${done} done, ${skipped} skipped, ${failed} failed`
  return [paint('dim', clockTime(ts)), id, action, status, counts].join('  ')
}
