// A runner of the SDK in its own process, whose steps write to output streams, and a reader outside of the engine and the
// runner.

import type { StreamMessage } from '@perdure/protocol'
import { RunnerProcess, SDK_DIST } from './runner-process.ts'

const PROGRAM = `
  import { setTimeout as pause } from 'node:timers/promises'
  import { createWorkflow } from '${SDK_DIST}/index.js'
  import { connect } from '${SDK_DIST}/connect.js'
  import { serve } from '${SDK_DIST}/node.js'
  const { app, engineUrl, chunks, pauseMs, port } = JSON.parse(process.argv[1])
  const word = () => Math.random().toString(36).slice(2, 8) + ' '
  const writes = name => async ({ stream, attempt }) => {
    const out = stream(name)
    for (let n = 0; n < chunks; n++) {
      await out.write(word())
      if (pauseMs > 0) await pause(pauseMs)
    }
    if (attempt === 1 && Math.random() < 0.3) throw new Error('again')
    return out.text()
  }
  const workflow = createWorkflow({ name: app, retry: { initialMs: 5 } }, async ({ step }) => {
    const first = await step.run('plan', writes('answer'))
    const both = await Promise.all(['left', 'right'].map(name => step.run(name, writes('answer'))))
    return { plan: first, left: both[0], right: both[1], notes: await step.run('notes', writes('notes')) }
  })
  const options = { app, workflows: [workflow], engineUrl, log: () => {} }
  if (port === undefined) connect({ ...options, runner: app + '-1' })
  else await serve({ ...options, port, allowUnsigned: true })`

export interface StreamingRunnerOptions {
  app: string
  engineUrl: string | readonly string[]
  /** Chunks of each step, and the pause after each. */
  chunks: number
  pauseMs: number
  /** The port for HTTP. Absent: the runner serves over Connect. */
  port?: number | undefined
}

export function streamingRunner(options: StreamingRunnerOptions): RunnerProcess {
  return new RunnerProcess(PROGRAM, options)
}

/** The chunks of a stream that count, by step, for a reader that applies each message once. */
class StreamReader {
  readonly #chunks = new Map<string, { n: number; chunk: unknown }[]>()
  #step = ''
  /** Number of the next message. */
  next = 0
  rollbacks = 0
  end: string | undefined

  /** Applies the messages of one answer; a gap or a repeat is an error. */
  take(messages: readonly StreamMessage[]): void {
    for (const message of messages) {
      if (message.n !== this.next) throw new Error(`message ${message.n} follows ${this.next - 1}`)
      this.next++
      if ('end' in message) this.end = message.end
      else if ('rollback' in message) this.#rollBack(message.step, message.rollback)
      else {
        this.#step = message.step ?? this.#step
        this.#of(this.#step).push({ n: message.n, chunk: message.chunk })
      }
    }
  }

  textOf(step: string): string {
    return this.#of(step)
      .map(({ chunk }) => String(chunk))
      .join('')
  }

  #rollBack(step: string, from: number): void {
    this.rollbacks++
    this.#chunks.set(
      step,
      this.#of(step).filter(({ n }) => n < from),
    )
  }

  #of(step: string): { n: number; chunk: unknown }[] {
    const known = this.#chunks.get(step)
    if (known) return known
    const chunks: { n: number; chunk: unknown }[] = []
    this.#chunks.set(step, chunks)
    return chunks
  }
}

/** Follows a stream by long polls until its end, while engines come and go. `urlOf` returns the engine of the next poll. */
export async function followStream(urlOf: () => string, path: string): Promise<StreamReader> {
  const reader = new StreamReader()
  let offset = '-1'
  let cursor = ''
  while (reader.end === undefined) {
    try {
      const url = `${urlOf()}${path}?live=long-poll&offset=${offset}${cursor && `&cursor=${cursor}`}`
      const response = await fetch(url, { signal: AbortSignal.timeout(25_000) })
      if (response.status !== 200 && response.status !== 204) throw new Error(`HTTP ${response.status}`)
      const messages = response.status === 200 ? ((await response.json()) as StreamMessage[]) : []
      reader.take(messages)
      offset = response.headers.get('stream-next-offset') ?? offset
      cursor = response.headers.get('stream-cursor') ?? ''
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('message ')) throw error
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  return reader
}
