// Collects frames between two flushes: of a run's status only the newest is kept, everything else in order. Pure.

/** A frame of a stream. */
export type LiveFrame = { kind: string; runId?: string; seq?: number } & Record<string, unknown>

/** Frames beside statuses of runs that one flush carries at most. */
const OTHERS_MAX = 2000
/** Runs whose status one flush carries at most. */
const RUNS_MAX = 5000

/** The content of one flush. */
export interface Batch {
  frames: LiveFrame[]
  /** Frames that came in, of which `frames` are the newest of each run. */
  count: number
  /** Frames that were left out, because there were too many: lists are to be read again. */
  dropped: number
}

export class Coalescer {
  readonly #runs = new Map<string, LiveFrame>()
  #others: LiveFrame[] = []
  #count = 0
  #dropped = 0

  add(frame: LiveFrame): void {
    this.#count++
    const { runId } = frame
    if (frame.kind === 'run_status' && runId !== undefined) this.#addRun(runId, frame)
    else if (this.#others.length < OTHERS_MAX) this.#others.push(frame)
    else this.#dropped++
  }

  #addRun(runId: string, frame: LiveFrame): void {
    if (this.#runs.has(runId) || this.#runs.size < RUNS_MAX) this.#runs.set(runId, frame)
    else this.#dropped++
  }

  /** Everything since the last time; undefined when nothing came. */
  take(): Batch | undefined {
    if (this.#count === 0) return undefined
    const batch = { frames: [...this.#others, ...this.#runs.values()], count: this.#count, dropped: this.#dropped }
    this.#runs.clear()
    this.#others = []
    this.#count = 0
    this.#dropped = 0
    return batch
  }
}
