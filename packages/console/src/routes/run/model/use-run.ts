// Everything that the run page shows about a run, read once and updated by the run's own stream: the run, its steps, its timeline
// frames and the reason for its state.

import type { Run, RunExplanation, TimelineFrame } from '@perdure/protocol'
import { useEffect, useMemo, useRef, useState } from 'react'
import { renew, useRead } from '../../../data/queries.ts'
import { engineNow } from '../../../data/time/clock.ts'
import { useTopic } from '../../../live/use-live.ts'
import { useRenewal } from '../../../ui/live-list/use-renewal.ts'
import { ENDED } from '../../../ui/status.tsx'
import type { WaterfallStep } from '../../../waterfall/model.ts'
import { useSteps } from './steps.ts'

/** Steps are read again at most this often; runs with many steps less often. */
const RENEW_MS = 1000
const RENEW_MS_MANY = 4000
const MANY_STEPS = 500
/** Delay from a change of any run to the next read of the reason why this one waits. */
const WHY_RENEWAL_MS = 2000

/** A run with its parts, from an engine or from a bundle. */
export interface RunView {
  run: Run
  /** In execution order. Steps of an engine have no results, which are read when they are shown. */
  steps: readonly WaterfallStep[]
  /** Whether `steps` are all steps. */
  hasAllSteps: boolean
  frames: readonly TimelineFrame[]
  why?: RunExplanation | undefined
  /** Creation of the run in epoch milliseconds: the zero of its axis. */
  originMs: number
  /** Whether the run may still change. */
  isLive: boolean
  /** Whether the data comes from a file: nothing can be read or done. */
  isBundle?: boolean
}

export const isTerminal = (status: string): boolean => ENDED.includes(status)

/** Returns the queries of a run page, and the view when everything that it needs has arrived. */
export function useRun(id: string) {
  const run = useRead('getRun', { id }, { keep: false })
  const steps = useSteps(id)
  const why = useRead('explainRun', { id }, { keep: false })
  useRenewal(() => renew('explainRun'), {
    afterMs: WHY_RENEWAL_MS,
    enabled: run.data !== undefined && waitsForOthers(run.data.status, why.data),
  })
  // Reading the frames earlier would delay the engine's answers for the first pages.
  const { frames, progress } = useFrames(id, {
    isWanted: steps.data?.isWhole === true,
    stepCount: steps.data?.steps.length ?? 0,
    isRunning: run.data?.status === 'running',
  })
  const view = useMemo<RunView | undefined>(() => {
    if (!run.data || !steps.data) return undefined
    const isLive = !isTerminal(run.data.status)
    const originMs = Date.parse(run.data.createdAt)
    const { steps: read, isWhole } = steps.data
    const shown = withProgress(run.data as Run, progress)
    return { run: shown, steps: read, hasAllSteps: isWhole, frames, why: why.data, originMs, isLive }
  }, [run.data, steps.data, frames, progress, why.data])
  return { run, steps, view }
}

/**
 * Whether other runs decide how this one continues: none of its own frames shows that its place in a queue or its child changed.
 */
function waitsForOthers(status: string, why: RunExplanation | undefined): boolean {
  return status === 'queued' || (status === 'waiting' && why?.waitingFor?.kind === 'child')
}

/** Returns the run with the newer of two reports of its progress: the one in its record, or the one in its timeline. */
function withProgress(run: Run, live: RunProgress | undefined): Run {
  return live === undefined || live.at < (run.progress?.at ?? '') ? run : { ...run, progress: live }
}

type RunProgress = NonNullable<Run['progress']>

interface Frames {
  /** Without progress, because only its newest value counts. */
  frames: readonly TimelineFrame[]
  progress: RunProgress | undefined
}

interface FollowedRun {
  /** Whether the frames may be read. */
  isWanted: boolean
  stepCount: number
  isRunning: boolean
}

/** Returns the frames of the run's timeline so far. When a live frame arrives, the data that it changed is read again. */
function useFrames(id: string, { isWanted, stepCount, isRunning }: FollowedRun): Frames {
  const [frames, setFrames] = useState<readonly TimelineFrame[]>([])
  const [progress, setProgress] = useState<RunProgress>()
  const renewal = useRef<Renewal>(undefined)
  renewal.current ??= new Renewal()
  useEffect(() => () => renewal.current?.stop(), [])
  // Reading steps again does not interrupt the timeline.
  const isFollowing = useRef(false)
  isFollowing.current ||= isWanted
  useTopic(isFollowing.current ? `run:${id}` : undefined, {
    onBatch: batch => {
      const all = batch.frames as unknown as TimelineFrame[]
      const reported = all.findLast(frame => frame.kind === 'progress')
      if (reported?.kind === 'progress') setProgress({ value: reported.value, at: reported.ts })
      const next = all.filter(({ kind }) => kind !== 'progress')
      if (next.length === 0) return
      setFrames(before => {
        const last = before.at(-1)?.seq ?? 0
        // After a sign-in the timeline is sent from its start.
        return [...before, ...next.filter(({ seq }) => seq > last)]
      })
      renewal.current?.note(next, { hasMany: stepCount > MANY_STEPS, isRunning })
    },
    // The stream sends the whole timeline, no matter what interrupts it.
    onGap: async () => {},
  })
  return { frames, progress }
}

/** Renews the reads that frames make outdated, a moment after the first of them. */
class Renewal {
  readonly #openedAt = engineNow()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isFirst = true

  note(frames: readonly TimelineFrame[], { hasMany, isRunning }: { hasMany: boolean; isRunning: boolean }): void {
    // The first frames are older than the data that was read.
    const fresh = frames.filter(({ ts }) => Date.parse(ts) >= this.#openedAt - RENEW_MS * 5)
    // A step that began to run after the steps were read, and before the first frame, is in no frame.
    const mayHaveMissed = this.#isFirst && isRunning
    this.#isFirst = false
    if (fresh.length === 0 && !mayHaveMissed) return
    const isEnd = fresh.some(frame => frame.kind === 'run_status' && isTerminal(frame.status))
    if (isEnd) this.stop()
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined
        void renew('getRun', 'listRunSteps', 'explainRun', 'listRunPasses', 'getRunStep', 'getRunTree', 'getEventTree')
      },
      isEnd ? 0 : hasMany ? RENEW_MS_MANY : RENEW_MS,
    )
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
