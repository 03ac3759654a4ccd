// The deliveries, kept live: each changes in its row, and new ones are counted and added at the top (ui/live-list).

import { type LiveRules, useLiveList } from '../../ui/live-list/use-live-list.ts'
import { type DeliveriesInput, madeAt, mergeDeliveries } from './merge-deliveries.ts'

export const useDeliveryList = (input: DeliveriesInput, { isFrozen }: { isFrozen: boolean }) =>
  useLiveList(RULES, input, { isFrozen })

const RULES: LiveRules<'listWebhookDeliveries'> = {
  id: 'listWebhookDeliveries',
  topic: 'deliveries',
  keyOf: ({ id }) => id,
  madeAt,
  merge: (pages, { frames, isSampled }, input) => mergeDeliveries(pages, frames, { isSampled, input }),
}
