// Query parameters of the operations that read output streams.

import type { QueryParams } from '../param.ts'

/** Longest cursor of a live read. */
const CURSOR_CHARS_MAX = 20

export const runStreams = {
  readRunStream: {
    offset: {
      kind: 'pattern',
      pattern: '^(-1|now|[0-9]{16})$',
      description:
        'Where to begin: `-1` for the first message, `now` for what is written from now on, or an offset that the engine gave. Needed with `live`',
    },
    live: {
      kind: 'enum',
      values: ['long-poll', 'sse'],
      description: 'Waits for messages: for 20 seconds at most, or as server-sent events for a minute',
    },
    cursor: {
      kind: 'pattern',
      pattern: `^[0-9]{1,${CURSOR_CHARS_MAX}}$`,
      description: 'The `Stream-Cursor` of the previous answer of a live read',
    },
    text: {
      kind: 'flag',
      description: 'Answers the current text: the joined chunks that are strings, without withdrawn ones',
    },
  },
} as const satisfies Record<string, QueryParams>
