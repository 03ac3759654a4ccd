// An output stream of a run, as tests read it: its messages, and the chunks that count. Used by `TestRun`.

import type { StreamMessage } from '@perdure/protocol'

/** An output stream of a run under test, as far as it is written. */
export interface TestStream {
  /** The chunks that count: those of attempts that failed or were lost are withdrawn. */
  readonly chunks: readonly unknown[]
  /** The chunks that count and are strings, in one text. */
  readonly text: string
  /** Whether the run has ended, so that nothing follows. */
  readonly isEnded: boolean
  /** All messages in their order, with what was withdrawn. */
  readonly messages: readonly StreamMessage[]
}

/** Applies the rollbacks. A message without a step is of the step of the message before. */
export function testStream(messages: readonly StreamMessage[]): TestStream {
  let counted: { n: number; step: string; chunk: unknown }[] = []
  let step = ''
  for (const message of messages) {
    if ('rollback' in message) counted = counted.filter(one => one.step !== message.step || one.n < message.rollback)
    if ('step' in message && message.step !== undefined) step = message.step
    if ('chunk' in message) counted.push({ n: message.n, step, chunk: message.chunk })
  }
  const chunks = counted.map(({ chunk }) => chunk)
  return {
    chunks,
    text: chunks.filter(chunk => typeof chunk === 'string').join(''),
    isEnded: messages.some(message => 'end' in message),
    messages,
  }
}
