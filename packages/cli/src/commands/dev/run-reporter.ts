// Reports what happens to the runs of `perdure dev`: a line when a run starts and ends, failures of steps, log lines, and why a
// run does not move. It reads what any client can read: the stream of all runs, and the timeline of each.

import { ApiError, type Client } from '@perdure/client'
import { elapsedText, type Run, type RunStatusFrame, TERMINAL_STATUSES, type TimelineFrame } from '@perdure/protocol'
import { colourOf, type Paint } from '../../output/colour.ts'
import { errorHead, type ShownError, stackLines } from '../../output/errors.ts'
import { plain } from '../../output/text.ts'
import { logText, progressText } from '../../output/timeline.ts'

interface ReporterOptions {
  client: Client
  write(line: string): void
  paint: Paint
  signal: AbortSignal
  /** How long a run may stand still before its line explains why. */
  stillMs?: number
}

const STILL_MS = 5_000
/** Most runs that are remembered: beyond this, the ones that stood still for the longest are forgotten. */
const RUNS_MAX = 1_000
/** Most timelines that are read at once. Further runs have only their lines of start and end. */
const TIMELINES_MAX = 50
/** Unfinished runs of each status that are watched when the stream opens. */
const UNFINISHED_MAX = 20
const STACK_LINES_MAX = 12
const isEnd = (status: string) => (TERMINAL_STATUSES as readonly string[]).includes(status)

/** A run that has not ended. */
interface LiveRun {
  readonly id: string
  readonly workflow: string
  status: RunStatusFrame['status']
  /** Seq of the last frame that was reported. */
  seq: number
  /** Ends the reading of its timeline, while it is being read. */
  stopReading?: AbortController | undefined
  /** It moved while the reading of its timeline was ending. */
  readAgain?: boolean
  still?: NodeJS.Timeout | undefined
  /** The stack that was shown last: the run's own error repeats it. */
  shownStack?: string | undefined
}

export class RunReporter {
  readonly #options: ReporterOptions
  readonly #runs = new Map<string, LiveRun>()
  /** Runs that have been reported to the end: the stream of all runs may lag behind their timelines. */
  readonly #over = new Set<string>()
  #timelines = 0
  /** When the stream of all runs was first opened. */
  #openedAt: number | undefined

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  /** Reports until the signal is aborted or the engine refuses. */
  async report(): Promise<void> {
    const { client, signal, write } = this.#options
    try {
      // The stream first: it has the frames of a run that starts and ends while the earlier runs are read.
      const onOpen = () => void this.#watchUnfinished().catch(() => {})
      for await (const frame of client.streamRuns({}, { signal, onOpen }))
        if (frame.kind === 'gap') onOpen()
        else this.#moved(frame)
    } catch (error) {
      if (signal.aborted) return
      const isRefused = error instanceof ApiError && error.status === 401
      const remedy = isRefused ? ': the engine has API keys, set ENGINE_API_KEY to one and start again' : ''
      write(plain(`runs are no longer shown${remedy} (${(error as Error).message})`))
    } finally {
      for (const run of this.#runs.values()) this.#forget(run)
    }
  }

  /**
   * Watches runs that are under way when the stream opens: one of them may stand still because its code is gone. A run that began
   * since then is reported as started, because its frames arrive when it is already known.
   */
  async #watchUnfinished(): Promise<void> {
    const { client, signal } = this.#options
    // The engine of `perdure dev` is on this machine, and has its clock.
    this.#openedAt ??= Date.now()
    for (const status of ['queued', 'running'] as const)
      for (const { id, workflow, status: now, createdAt } of (
        await client.listRuns({ status, limit: UNFINISHED_MAX }, { signal })
      ).items) {
        if (this.#runs.has(id) || this.#over.has(id)) continue
        const run = this.#add({ id, workflow, status: now, seq: 0 })
        this.#watchStillness(run)
        if (Date.parse(createdAt) < this.#openedAt) continue
        this.#writeLine(run, 'started')
        this.#read(run)
      }
  }

  #moved(frame: RunStatusFrame): void {
    if (this.#over.has(frame.runId)) return
    const known = this.#runs.get(frame.runId)
    const isOver = isEnd(frame.status)
    const run = known ?? this.#add({ id: frame.runId, workflow: frame.workflow ?? '', status: frame.status, seq: 0 })
    run.status = frame.status
    // Frames from an earlier start of the engine are not reported again.
    if (run.seq === 0) run.seq = frame.seq - 1
    if (!known && !isOver) this.#writeLine(run, 'started')
    if (run.stopReading?.signal.aborted) run.readAgain = true
    if (!run.stopReading && !isOver) this.#read(run)
    if (!run.stopReading && isOver) void this.#ended(run, frame)
    else this.#watchStillness(run)
  }

  #add(run: LiveRun): LiveRun {
    if (this.#runs.size >= RUNS_MAX) {
      const [oldest] = this.#runs.values()
      if (oldest) this.#forget(oldest)
    }
    this.#runs.set(run.id, run)
    return run
  }

  #forget(run: LiveRun): void {
    clearTimeout(run.still)
    run.stopReading?.abort()
    this.#runs.delete(run.id)
  }

  #read(run: LiveRun): void {
    run.readAgain = false
    if (this.#timelines < TIMELINES_MAX) void this.#readTimeline(run)
  }

  /** Reports the frames of the run's timeline after the last reported one, until the run ends or stands still. */
  async #readTimeline(run: LiveRun): Promise<void> {
    const { client, signal } = this.#options
    const stop = new AbortController()
    run.stopReading = stop
    this.#timelines += 1
    let last: TimelineFrame | undefined
    try {
      const call = { signal: AbortSignal.any([signal, stop.signal]) }
      for await (const frame of client.streamRun({ id: run.id, from: run.seq }, call)) {
        run.seq = frame.seq
        last = frame
        this.#reportFrame(run, frame)
        this.#watchStillness(run)
      }
    } catch {
      // Stopped, or refused: the stream of all runs continues.
    }
    this.#timelines -= 1
    run.stopReading = undefined
    if (!this.#runs.has(run.id) || signal.aborted) return
    const end = last?.kind === 'run_status' && isEnd(last.status) ? last : undefined
    if (end) await this.#ended(run, end)
    else if (isEnd(run.status)) await this.#ended(run, { status: run.status })
    else if (run.readAgain) this.#read(run)
  }

  #reportFrame(run: LiveRun, frame: TimelineFrame): void {
    const { paint } = this.#options
    if (frame.kind === 'log') {
      this.#writeLine(run, logText(frame, paint))
      return
    }
    if (frame.kind === 'progress') {
      this.#writeLine(run, progressText(frame))
      return
    }
    const error: ShownError | undefined = frame.error
    if (error === undefined || (frame.kind === 'run_status' && isEnd(frame.status))) return
    const what = frame.kind === 'step_status' ? `step ${plain(frame.name)} failed` : 'the handler failed'
    const again = frame.status === 'failed' ? '' : ', is tried again'
    const of = frame.kind === 'step_status' && frame.maxAttempts ? ` of ${frame.maxAttempts}` : ''
    const head = paint('red', `${what}, attempt ${frame.attempt ?? 1}${of}${again}: ${plain(errorHead(error))}`)
    this.#writeLine(run, head, stackLines(error))
    run.shownStack = error.stack
  }

  async #ended(run: LiveRun, { status, error }: Pick<RunStatusFrame, 'status' | 'error'>): Promise<void> {
    const { client, signal, paint } = this.#options
    this.#forget(run)
    this.#over.add(run.id)
    const [oldest] = this.#over
    if (this.#over.size > RUNS_MAX && oldest !== undefined) this.#over.delete(oldest)
    const ended: Pick<Run, 'durationMs' | 'error'> | undefined = await client
      .getRun({ id: run.id }, { signal })
      .catch(() => undefined)
    const shown = ended?.error ?? error
    const took = ended?.durationMs === undefined ? '' : ` after ${elapsedText(ended.durationMs)}`
    const why = shown === undefined ? '' : `: ${plain(errorHead(shown))}`
    const isTold = ended?.error === undefined || ended.error.stack === run.shownStack
    this.#writeLine(run, `${paint(colourOf(status), status)}${took}${why}`, isTold ? [] : stackLines(ended.error ?? {}))
  }

  /** Reports once why the run stands still, if there is no further news of it. */
  #watchStillness(run: LiveRun): void {
    const { stillMs = STILL_MS } = this.#options
    clearTimeout(run.still)
    run.still = setTimeout(() => void this.#sayWhy(run, stillMs), stillMs).unref()
  }

  async #sayWhy(run: LiveRun, stillMs: number): Promise<void> {
    const { client, signal, paint } = this.#options
    // A run may wait for long. When it moves, its timeline is read again from here.
    if (run.status !== 'running') run.stopReading?.abort()
    const why = await client.explainRun({ id: run.id }, { signal }).catch(() => undefined)
    if (!why || isEnd(why.status) || !this.#runs.has(run.id)) return
    this.#writeLine(run, paint('yellow', `has not moved for ${elapsedText(stillMs)}: ${plain(why.sentence)}`))
  }

  #writeLine(run: LiveRun, line: string, stack: readonly string[] = []): void {
    const { write, paint } = this.#options
    write(`${run.id}  ${plain(run.workflow)}  ${line}`)
    for (const place of stack.slice(0, STACK_LINES_MAX)) write(paint('dim', `    ${plain(place)}`))
  }
}
