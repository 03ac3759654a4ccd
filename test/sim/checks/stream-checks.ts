// Checks output streams (docs/streams.md): numbers without gaps, nothing after the end, and a reader that applies rollbacks keeps
// exactly the chunks of the successful attempts, in order. A read at the end gives the messages that commits wrote and readers
// got, however rows were merged since.

import type { StreamMessage } from '@perdure/protocol'
import type { Change, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import type { StreamRow } from '../../../packages/engine/src/domain/model/stream/stream.ts'
import { endMessage, messagesOf } from '../../../packages/engine/src/domain/streams/messages.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { StreamName } from '../../../packages/engine/src/ports/stream-reads.ts'
import { ensure, same } from '../core/violation.ts'
import type { RunnerRecord } from '../workload/runner-record.ts'
import { chunksOf } from '../workload/streamed.ts'
import { isDone, mayAnswerLate } from './record.ts'
import type { JudgedRun, Snapshot } from './snapshot.ts'

/** A stream that has been written to. */
export interface WrittenStream extends StreamName {
  /** The messages that commits wrote, as readers get them. */
  messages: StreamMessage[]
  /** The messages that a reader of the stream got. */
  read?: StreamMessage[]
}

/** Keeps the messages that commits write to output streams. */
export class WrittenStreams {
  readonly #streams = new Map<string, WrittenStream>()

  /** Keeps the rows of a unit. Returns the streams that are new. */
  applied({ changes }: Unit, namespaceOf: (runId: string) => string): WrittenStream[] {
    const isWritten = (change: Change) => change.type === 'stream.written'
    return changes.filter(isWritten).flatMap(({ head: { runId, name }, rows }) => {
      const key = `${runId} ${name}`
      const known = this.#streams.get(key)
      const stream = known ?? { namespace: namespaceOf(runId), runId, name, messages: [] }
      this.#streams.set(key, stream)
      stream.messages.push(...named(rows))
      return known ? [] : [stream]
    })
  }

  get all(): readonly WrittenStream[] {
    return [...this.#streams.values()]
  }
}

/** The messages of rows, each with the names of its step. */
function named(rows: readonly StreamRow[]): StreamMessage[] {
  return rows.flatMap(row => withNames(messagesOf([row], 0).map(text => JSON.parse(text) as StreamMessage)))
}

/** Gives each message without a step and an attempt those of the message before it. */
export function withNames(messages: readonly StreamMessage[]): StreamMessage[] {
  let names: { step?: string; attempt?: number } = {}
  return messages.map(message => {
    if ('end' in message) return message
    const { step = names.step, attempt = names.attempt } = message
    names = { ...(step !== undefined && { step }), ...(attempt !== undefined && { attempt }) }
    return 'chunk' in message ? ({ n: message.n, chunk: message.chunk, ...names } as StreamMessage) : message
  })
}

export async function checkStreams(
  { runs, runnerRecord }: Pick<Snapshot, 'runs' | 'runnerRecord'>,
  written: WrittenStreams,
  store: Store,
): Promise<void> {
  for (const stream of written.all) {
    const run = runs.get(stream.runId)
    ensure(run, 'only streams of runs are written', () => JSON.stringify(stream), [stream.runId])
    const messages = await messagesIn(stream, store)
    checkOrder(stream, messages)
    checkCounted(stream, run, { messages, runnerRecord })
  }
}

async function messagesIn(stream: StreamName, store: Store): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = []
  for (;;) {
    const page = await store.streams.page(stream, messages.length)
    ensure(page?.head, 'a stream that was written to exists', () => JSON.stringify(stream), [stream.runId])
    messages.push(...withNames(messagesOf(page.rows, messages.length).map(text => JSON.parse(text) as StreamMessage)))
    if (messages.length >= page.head.next || page.rows.length === 0)
      return [...messages, JSON.parse(endMessage(page.head.next, page)) as StreamMessage]
  }
}

/** The run has ended, so its end is the last message. */
function checkOrder({ runId, name, messages: written, read }: WrittenStream, messages: readonly StreamMessage[]): void {
  const what = (seen: unknown) => `${name}: ${JSON.stringify(seen)} of ${JSON.stringify(messages)}`
  const numbers = messages.map(({ n }) => n)
  ensure(same(numbers, [...numbers.keys()]), 'messages of a stream have no gap', () => what(numbers), [runId])
  ensure(same(written, messages.slice(0, -1)), 'a stream has what was written to it', () => what(written), [runId])
  ensure(same(read ?? messages, messages), 'a reader gets what the stream has', () => what(read), [runId])
}

function checkCounted(
  { runId, name }: StreamName,
  { run, steps }: JudgedRun,
  { messages, runnerRecord }: { messages: readonly StreamMessage[]; runnerRecord: RunnerRecord },
): void {
  const counted = countedOf(messages)
  const ids = stepNames(runnerRecord, runId)
  for (const [stepId, stepName] of ids) {
    const chunks = counted.get(stepName) ?? []
    counted.delete(stepName)
    const executions = runnerRecord.executions(runId, stepId)
    const step = steps.find(({ id }) => id === stepId)
    const detail = () => `${name} of ${stepName} ${JSON.stringify(step)}: ${JSON.stringify(chunks)}`
    const written = executions.filter(({ hasStreamed }) => hasStreamed).map(({ token }) => chunksOf(token, name))
    const isBeginning = chunks.length === 0 || written.some(all => same(all.slice(0, chunks.length), chunks))
    ensure(isBeginning, 'the chunks that count are those of one attempt', detail, [runId])
    if (step === undefined || !isDone(step) || step.settledBy || step.status === 'cancelled') continue
    const success = step.status === 'succeeded' ? executions.find(({ token }) => isResultOf(step, token)) : undefined
    // Chunks that a callback writes after the end of its run are dropped.
    if (success?.isCut || (success && mayAnswerLate(run))) continue
    const expected = success?.hasStreamed ? chunksOf(success.token, name) : []
    ensure(same(chunks, expected), 'a settled step has the chunks of its successful attempt', detail, [runId])
  }
  ensure(counted.size === 0, 'only steps write to a stream', () => JSON.stringify([...counted]), [runId])
}

/** The valid chunks for a reader, by step. */
function countedOf(messages: readonly StreamMessage[]): Map<string, unknown[]> {
  let counted: { n: number; chunk: unknown; step: string }[] = []
  for (const message of messages) {
    if ('chunk' in message) counted.push({ n: message.n, chunk: message.chunk, step: message.step as string })
    else if ('rollback' in message)
      counted = counted.filter(({ n, step }) => step !== message.step || n < message.rollback)
  }
  const bySteps = new Map<string, unknown[]>()
  for (const { step, chunk } of counted) bySteps.set(step, [...(bySteps.get(step) ?? []), chunk])
  return bySteps
}

/** The executed steps, by hashed id, with their names in streams. */
function stepNames(runnerRecord: RunnerRecord, runId: string): Map<string, string> {
  const names = new Map<string, string>()
  for (const { reported } of runnerRecord.passes(runId))
    for (const [stepId, { node }] of reported) if (node.kind === 'run') names.set(stepId, node.id)
  return names
}

function isResultOf({ data }: Step, token: string): boolean {
  return (JSON.parse(data ?? 'null') as { token?: string } | null)?.token === token
}
