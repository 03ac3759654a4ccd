// The stream of several topics on one connection, and the output streams of runs.

import Type from 'typebox'
import * as api from '../api/schema.ts'
import { runStreams as outputQueries } from '../queries/run-streams/run-streams.ts'
import { runs as queries } from '../queries/runs.ts'
import { type Operation, ok, stream } from './operation.ts'
import * as sample from './samples.ts'

export const streams = {
  streamTopics: {
    method: 'GET',
    path: '/stream',
    summary: 'Follow runs, events, deliveries and the timelines of single runs on one connection',
    description:
      'Live from the moment of connecting. Of each run and delivery the last state in an interval is sent, best effort: `run_status` frames of the topic `runs` have what a row of `GET /runs` shows, and an absent field did not change, and `progress` frames the newest progress of a run. `run:ID` sends the whole timeline of that run, without a gap, and the stream stays open after its end; `run:ID@SEQ` sends only what follows the frame with that `seq`, to resume after a dropped connection. `bulk:ID` sends the state and the counts of a bulk job, at first and as they change.',
    access: 'read',
    query: queries.streamTopics,
    reply: stream('Frames of the topics', api.StreamFrameSchema),
    errors: ['not_found'],
    examples: [
      {
        summary: 'An order starts',
        query: { topics: 'runs,deliveries', app: sample.RUN.app },
        reply: { ...sample.FRAME, workflow: sample.RUN.workflow, app: sample.RUN.app, attempt: 1 },
      },
    ],
  },
} as const satisfies Record<string, Operation>

export const runStreams = {
  listRunStreams: {
    method: 'GET',
    path: '/runs/{id}/streams',
    summary: 'List the output streams of a run',
    description: 'The streams that steps of the run have written to, in the order of their first chunks.',
    access: 'read',
    runToken: true,
    reply: ok('The streams', Type.Array(api.RunStreamSchema)),
    errors: ['not_found'],
    examples: [{ summary: 'An order writes to no stream', path: { id: sample.RUN_ID }, reply: [] }],
  },

  readRunStream: {
    method: 'GET',
    path: '/runs/{id}/streams/{name}',
    summary: 'Read an output stream of a run, or follow it',
    description:
      'The read half of the Durable Streams protocol, in its JSON mode. The answer has every message from `offset` on, and `Stream-Next-Offset` names the offset behind them. With `live` the engine waits for messages, as a long poll or as server-sent events. `Stream-Closed: true` says that nothing follows. A stream without a chunk is empty while the run continues.',
    access: 'read',
    runToken: true,
    query: outputQueries.readRunStream,
    anyQuery: true,
    reply: ok('The messages', Type.Array(api.StreamMessageSchema)),
    errors: ['not_found', 'gone'],
    examples: [
      {
        summary: 'The answer that a step has begun to write',
        path: { id: sample.RUN_ID, name: 'answer' },
        reply: [
          { n: 0, chunk: 'Hel', step: 'ask', attempt: 1 },
          { n: 1, chunk: 'lo' },
        ],
      },
    ],
  },
} as const satisfies Record<string, Operation>
