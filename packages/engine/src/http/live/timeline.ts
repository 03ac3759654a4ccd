// Reads a run's timeline page by page, and encodes its frames as messages. Used by run-feed.ts and run-reader.ts.

import { publicFrames } from '../../domain/view/public-view.ts'
import { frameText, type StoredFrame } from '../../domain/view/timeline-frames.ts'
import type { Reads, TimelinePage } from '../../ports/store-reads.ts'
import { sseMessage } from './sse.ts'

export interface TimelineOptions {
  reads: Reads
  runId: string
  /** Frames of a page. */
  limit: number
}

export class Timeline {
  readonly #options: TimelineOptions
  #openFrom = 0
  /** Seq of the last frame that was read, or that does not need to be read. */
  after: number

  constructor(options: TimelineOptions, after: number) {
    this.#options = options
    this.after = after
  }

  async read(): Promise<TimelinePage> {
    const { reads, runId, limit } = this.#options
    const page = await reads.timeline(runId, { after: this.after, openFrom: this.#openFrom, limit })
    this.#openFrom = page.openFrom
    this.after = page.frames.at(-1)?.seq ?? this.after
    return page
  }
}

export interface FrameForm {
  /** Whether messages carry ids: a client resumes after the last one that it has. */
  readonly ids: boolean
  /** Without log lines and stacks, for the holder of a run token. */
  readonly isPublic?: boolean
}

/** Returns the frames as messages, or an empty buffer if this form has none. */
export function frameMessages(frames: readonly StoredFrame[], { ids, isPublic }: FrameForm): Buffer {
  const messages = (isPublic ? publicFrames(frames) : frames).map(frame =>
    sseMessage({ ...(ids && { id: frame.seq }), event: frame.kind, data: frameText(frame) }),
  )
  return Buffer.from(messages.join(''))
}
