// The stream of several topics on one connection.

import * as api from '../api/schema.ts'
import { runs as queries } from '../queries/runs.ts'
import type { Operation } from './operation.ts'
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
    reply: { status: 200, description: 'Frames of the topics', schema: api.StreamFrameSchema, stream: true },
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
