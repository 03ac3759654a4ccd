// The streams among the operations: a live stream never ends, and the timeline of a run is followed to its end. Called by client.ts.

import { type RawInput, requestOf } from './http/exchange.ts'
import { type Frame, follow, type Source, type StreamSettings } from './http/stream.ts'
import { Caller, type OperationOptions, operationsOf, type Route } from './operations.ts'
import { ROUTES } from './routes.ts'
import type { CallOptions, OperationMethods } from './types.ts'

type Frames = AsyncGenerator<Frame, void, undefined>

const DEFAULT_STREAM: StreamSettings = {
  silenceMs: 45_000,
  retryMs: 250,
  retryMsMax: 10_000,
  attemptsMax: 12,
}

/** Creates all operations. Opens no connection before the first call. */
export function createAllOperations(
  options: OperationOptions & { stream?: Partial<StreamSettings> },
): OperationMethods {
  const caller = new StreamCaller(options)
  return operationsOf(caller, (id, route) => (input = {}, call = {}) => {
    return id === 'streamRun' ? caller.timeline(route, input, call) : caller.live(route, input, call)
  })
}

class StreamCaller extends Caller {
  readonly #stream: StreamSettings

  constructor({ stream, ...options }: Parameters<typeof createAllOperations>[0]) {
    super(options)
    this.#stream = { ...DEFAULT_STREAM, ...stream }
  }

  /** A live stream: it has no position to resume from, and never ends. */
  live(route: Route, input: RawInput, call: CallOptions): Frames {
    const request = requestOf(this.connection, route, input)
    return this.#follow({ request: () => request, isOver: async () => false }, call)
  }

  /** Follows a run's timeline: it resumes after the last seq, and is over when the run has ended. */
  timeline(route: Route, input: RawInput, call: CallOptions): Frames {
    const getRun = { method: 'GET', path: ROUTES.getRun.slice(4) }
    let hasEnded = false
    const request = (seq = input.from as number | undefined) =>
      requestOf(this.connection, route, { ...input, from: seq })
    const isOver = async (last: Frame | undefined) => {
      if (hasEnded || isTerminal(last)) return true
      // An engine that shuts down also ends its streams. If the run has ended in the meantime, the stream may lack the last
      // frames: one more connection reads them.
      hasEnded = isTerminal(await this.json(getRun, { id: input.id }, call))
      return false
    }
    return this.#follow({ request, isOver }, call)
  }

  #follow(source: Source, { signal, onOpen }: CallOptions): Frames {
    return follow(this.connection, source, { ...this.#stream, signal, onOpen })
  }
}

/** Whether `run`, a run or a status frame, has a final status. */
function isTerminal(run: unknown): boolean {
  const { kind, status } = (run ?? {}) as { kind?: string; status?: string }
  return (kind === undefined || kind === 'run_status') && TERMINAL.includes(status as string)
}

const TERMINAL: readonly string[] = ['succeeded', 'failed', 'cancelled']
