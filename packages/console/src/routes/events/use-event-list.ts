// The event log, kept live: new events are counted, and added at its top (ui/live-list).

import { type LiveRules, useLiveList } from '../../ui/live-list/use-live-list.ts'
import { type EventsInput, matches } from './matches.ts'

export const useEventList = (input: EventsInput, { isFrozen }: { isFrozen: boolean }) =>
  useLiveList(RULES, input, { isFrozen })

const RULES: LiveRules<'listEvents'> = {
  id: 'listEvents',
  topic: 'events',
  keyOf: ({ id }) => id,
  madeAt: ({ receivedAt }) => receivedAt,
  merge: (pages, { frames }, input) => {
    const known = new Set(pages.pages.flatMap(({ items }) => items.map(({ id }) => id)))
    const added = frames.filter(frame => !known.has(String(frame.id)) && matches(frame, input))
    return { pages, added: added.map(({ id }) => String(id)) }
  },
}
