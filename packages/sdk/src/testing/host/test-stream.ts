// An output stream of a run, as tests read it: its messages, and the chunks that were not withdrawn. Used by `TestRun`.

import { applyStreamMessages, EMPTY_STREAM, textOf } from '@perdure/client/internal'
import type { StreamMessage } from '@perdure/protocol'

/** An output stream of a run under test, as far as it has been written. */
export interface TestStream {
  /** The chunks that count: chunks of attempts that failed or were lost are withdrawn. */
  readonly chunks: readonly unknown[]
  /** The chunks that count and are strings, in one text. */
  readonly text: string
  /** Whether the run has ended, so that nothing follows. */
  readonly isEnded: boolean
  /** All messages in order, including the withdrawn ones. */
  readonly messages: readonly StreamMessage[]
}

/** Applies the rollbacks. */
export function testStream(messages: readonly StreamMessage[]): TestStream {
  const state = applyStreamMessages<unknown>(EMPTY_STREAM, messages)
  const chunks = state.chunks.map(({ chunk }) => chunk)
  return { chunks, text: textOf(state), isEnded: state.end !== undefined, messages }
}
