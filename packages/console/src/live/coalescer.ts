// Collects the frames of one topic between two flushes: of each run, event, delivery and bulk job the newest. Pure.

/** A frame of a stream. */
export type LiveFrame = { kind: string; runId?: string; id?: string; seq?: number } & Record<string, unknown>

/** The JSON text of a frame of a timeline. */
export interface Text {
  seq: number
  text: string
  /** Its frame is about the present and is no part of the timeline. */
  isNow?: true
}

/** Runs, events or deliveries of which one flush carries a frame. */
const KEYS_MAX = 5000

/** The content of one flush. */
export interface Batch {
  frames: LiveFrame[]
  /** Frames that came in, of which `frames` are the newest. */
  count: number
  /** Frames come too fast to show all of them: these carry a status alone. */
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
    // While one connection replaces another, both send the frames of a moment.
    if (known && (known.seq ?? 0) > (frame.seq ?? 0)) return
    if (known || this.#frames.size < KEYS_MAX) this.#frames.set(key, frame)
    else this.#dropped++
  }

  /** Everything since the last time, and how many frames were left out; undefined when nothing came. */
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

/** A run has a newest status and a newest progress. */
function keyOf({ kind, runId, id }: LiveFrame): string {
  return kind === PROGRESS ? `${PROGRESS}:${runId}` : (runId ?? id ?? '')
}

/** The part of a frame that a status needs, and that filters of a list look at. */
function statusOf({ kind, runId, id, seq, status, app, workflow }: LiveFrame): LiveFrame {
  const of = { ...(runId === undefined ? { id: String(id) } : { runId }), ...(seq === undefined ? {} : { seq }) }
  return { kind, ...of, status, app, workflow }
}
