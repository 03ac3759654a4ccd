// Everything that the run page shows about a run, read once and renewed by the run's own stream: the run, its steps, its
// timeline frames and why it is in its state.

import type { Run, RunExplanation, TimelineFrame } from '@perdure/protocol'
import { useEffect, useMemo, useRef, useState } from 'react'
import { renew, useRead } from '../../../data/queries.ts'
import { readClient, useSession } from '../../../session/session.ts'
import type { WaterfallStep } from '../../../waterfall/model.ts'
import { useSteps } from './steps.ts'

/** Frames are given to the page at most this often. */
const FLUSH_MS = 250
/** Steps are read again at most this often; runs with many steps less often. */
const RENEW_MS = 1000
const RENEW_MS_MANY = 4000
const MANY_STEPS = 500

/** A run with its parts, of an engine or of a bundle. */
export interface RunView {
  run: Run
  steps: readonly WaterfallStep[]
  frames: readonly TimelineFrame[]
  why?: RunExplanation | undefined
  /** Creation of the run in epoch milliseconds: the zero of its axis. */
  originMs: number
  /** Whether the run may still change. */
  isLive: boolean
  /** Whether the data comes from a file: nothing can be read or done. */
  isBundle?: boolean
}

const TERMINAL: readonly string[] = ['succeeded', 'failed', 'cancelled']
export const isTerminal = (status: string): boolean => TERMINAL.includes(status)

/** The queries of a run page, and the view when all that it needs has arrived. */
export function useRun(id: string) {
  const run = useRead('getRun', { id }, { keep: false })
  const steps = useSteps(id)
  const why = useRead('explainRun', { id }, { keep: false })
  const frames = useFrames(id, steps.data?.length ?? 0)
  const view = useMemo<RunView | undefined>(() => {
    if (!run.data || !steps.data) return undefined
    const isLive = !isTerminal(run.data.status)
    const originMs = Date.parse(run.data.createdAt)
    return { run: run.data as Run, steps: steps.data, frames, why: why.data, originMs, isLive }
  }, [run.data, steps.data, frames, why.data])
  return { run, steps, view }
}

/** The frames of the run's timeline so far. When a live frame arrives, what it changed is read again. */
function useFrames(id: string, stepCount: number): readonly TimelineFrame[] {
  const [frames, setFrames] = useState<readonly TimelineFrame[]>([])
  const { status } = useSession()
  const many = useRef(false)
  many.current = stepCount > MANY_STEPS
  useEffect(() => {
    if (status !== 'ready') return
    const abort = new AbortController()
    const flow = new FrameFlow(setFrames, () => many.current)
    void flow.follow(id, abort.signal)
    return () => {
      abort.abort()
      flow.stop()
    }
  }, [id, status])
  return frames
}

/** Gathers frames, gives them on in batches, and renews the reads that they make old. */
class FrameFlow {
  readonly #give: (frames: readonly TimelineFrame[]) => void
  readonly #hasMany: () => boolean
  readonly #openedAt = Date.now()
  #frames: TimelineFrame[] = []
  #flushTimer: ReturnType<typeof setTimeout> | undefined
  #renewTimer: ReturnType<typeof setTimeout> | undefined

  constructor(give: (frames: readonly TimelineFrame[]) => void, hasMany: () => boolean) {
    this.#give = give
    this.#hasMany = hasMany
    give([])
  }

  async follow(id: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const frame of readClient().streamRun({ id, from: 0 }, { signal })) this.#add(frame as TimelineFrame)
    } catch {
      // The reads of the page show why an engine does not answer; the client has tried to connect again.
    }
  }

  stop(): void {
    clearTimeout(this.#flushTimer)
    clearTimeout(this.#renewTimer)
  }

  #add(frame: TimelineFrame): void {
    this.#frames.push(frame)
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined
      this.#give([...this.#frames])
    }, FLUSH_MS)
    if (Date.parse(frame.ts) < this.#openedAt - RENEW_MS * 5) return
    const isEnd = frame.kind === 'run_status' && isTerminal(frame.status)
    if (isEnd) clearTimeout(this.#renewTimer)
    if (this.#renewTimer === undefined || isEnd)
      this.#renewTimer = setTimeout(
        () => {
          this.#renewTimer = undefined
          void renew('getRun', 'listRunSteps', 'explainRun', 'listRunPasses', 'getRunStep')
        },
        isEnd ? 0 : this.#hasMany() ? RENEW_MS_MANY : RENEW_MS,
      )
  }
}
