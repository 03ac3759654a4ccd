// Compares an event frame with the filters of the event log. Pure.

import type { Input } from '@perdure/client'
import type { LiveFrame } from '../../live/use-live.ts'

export type EventsInput = Input<'listEvents'>

/** Whether an event that has just arrived belongs to the list. Frames of a flood have no name: the list counts all of them. */
export function matches({ name, app, source, receivedAt }: LiveFrame, input: EventsInput): boolean {
  const of = (value: unknown, wanted: string | undefined) =>
    wanted === undefined || value === undefined || value === wanted
  if (!of(name, input.name) || !of(source, input.source)) return false
  if (input.app !== undefined && app !== input.app) return false
  if (input.prefix !== undefined && typeof name === 'string' && !name.startsWith(input.prefix)) return false
  return input.until === undefined || receivedAt === undefined || String(receivedAt) < input.until
}
