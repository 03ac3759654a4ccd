// The frame of a gap: an engine that has not heard from the others for a while does not know what its streams have missed. Used
// by fan-out.ts and topic-groups.ts.

import type { GapFrame } from '@perdure/protocol'
import { timestamp } from '../../domain/text/timestamp.ts'
import type { Clock } from '../../ports/clock.ts'
import { lazyMessage, type Message } from './broadcast.ts'
import { sseMessage } from './sse.ts'

/** The message of a gap that ends now. A later one replaces it while it waits. */
export function gapMessage(clock: Pick<Clock, 'now'>): Message {
  const frame: GapFrame = { kind: 'gap', ts: timestamp(clock.now()) }
  return lazyMessage(() => sseMessage({ event: frame.kind, data: JSON.stringify(frame) }), { key: 'gap', size: 100 })
}
