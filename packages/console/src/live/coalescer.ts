// Collects the frames of one topic between two flushes: the newest frame of each run, event, delivery and bulk job. Pure.

/** A frame of a stream. */
export type LiveFrame = { kind: string; runId?: string; id?: string; seq?: number } & Record<string, unknown>

/** The JSON text of a frame of a timeline. */
export interface Text {
  seq: number
  text: string
  /** Its frame describes the present and is not part of the timeline. */
  isNow?: true
}

/** Maximum number of runs, events or deliveries that have a frame in one flush. */
const KEYS_MAX = 5000

/** The content of one flush. */
export interface Batch {
  frames: LiveFrame[]
  /** Number of frames that arrived; `frames` are the newest of them. */
  count: number
  /** Frames arrive too fast to show all of them: these only carry a status. */
  isSampled: boolean
}

export class Coalescer {
  readonly #frames = new Map<string, LiveFrame>()
  #count = 0
  #dropped = 0

  add(frame: LiveFrame): void {
    this.#count++
    const key = keyOf(frame)
    const known = this.#frames.get(key)
    // While one connection replaces another, both send the same frames for a moment.
    if (known && (known.seq ?? 0) > (frame.seq ?? 0)) return
    if (known || this.#frames.size < KEYS_MAX) this.#frames.set(key, frame)
    else this.#dropped++
  }

  /** Returns everything since the last call, and the number of frames left out; undefined if nothing arrived. */
  take(isSampled: boolean): { batch: Batch; dropped: number } | undefined {
    if (this.#count === 0) return undefined
    const frames = [...this.#frames.values()]
    const shown = isSampled ? frames.filter(({ kind }) => kind !== PROGRESS).map(statusOf) : frames
    const batch = { frames: shown, count: this.#count, isSampled }
    const dropped = this.#dropped
    this.#frames.clear()
    this.#count = 0
    this.#dropped = 0
    return { batch, dropped }
  }
}

const PROGRESS = 'progress'

/** Returns the key of a frame: a run has a newest status and a newest progress. */
function keyOf({ kind, runId, id }: LiveFrame): string {
  return kind === PROGRESS ? `${PROGRESS}:${runId}` : (runId ?? id ?? '')
}

/** Returns the part of a frame that a status needs and that filters of a list look at. */
function statusOf({ kind, runId, id, seq, status, app, workflow }: LiveFrame): LiveFrame {
  const of = { ...(runId === undefined ? { id: String(id) } : { runId }), ...(seq === undefined ? {} : { seq }) }
  return { kind, ...of, status, app, workflow }
}
