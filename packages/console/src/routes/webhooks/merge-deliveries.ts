// Merges frames of deliveries into the pages of their list. Pure.

import type { Input } from '@perdure/client'
import type { Item } from '../../data/queries.ts'
import type { LiveFrame } from '../../live/use-live.ts'
import { newestAt, type Pages, replaceRows } from '../../ui/live-list/pages.ts'

type Delivery = Item<'listWebhookDeliveries'>
export type DeliveriesInput = Input<'listWebhookDeliveries'>

export const madeAt = ({ createdAt }: Delivery): string => createdAt

export interface MergeOptions {
  /** Rows only get the status of their frame. */
  isSampled: boolean
  input: DeliveriesInput
}

/** Returns the pages with the newest frame of each delivery, and the ids of deliveries that are new to the list. */
export function mergeDeliveries(pages: Pages<Delivery>, frames: readonly LiveFrame[], options: MergeOptions) {
  const { isSampled, input } = options
  const byId = new Map(frames.map(frame => [String(frame.id), frame]))
  const merged = replaceRows(pages, row => {
    const frame = byId.get(row.id)
    byId.delete(row.id)
    if (!frame || String(frame.updatedAt ?? row.updatedAt) < row.updatedAt) return row
    return isSampled ? { ...row, status: frame.status as Delivery['status'] } : withoutKind(frame)
  })
  const newest = newestAt(pages, madeAt)
  const added = [...byId.values()].filter(frame => !isSampled && isNew(withoutKind(frame), newest, input))
  return { pages: merged, added: added.map(({ id }) => String(id)) }
}

/** A frame is a complete row: fields that it leaves out are gone from the delivery. */
function withoutKind({ kind: _, ...delivery }: LiveFrame): Delivery {
  return delivery as unknown as Delivery
}

/**
 * Whether the delivery belongs to the list, and is newer than every row or has reached the status that the list is filtered by.
 * Frames of older deliveries belong to rows further down.
 */
function isNew(delivery: Delivery, newest: string, filter: DeliveriesInput): boolean {
  const { createdAt, status } = delivery
  const { app, endpointId, eventKind, sourceRunId } = filter
  for (const [name, wanted] of Object.entries({ app, endpointId, eventKind, sourceRunId }))
    if (wanted !== undefined && delivery[name as keyof Delivery] !== wanted) return false
  if (filter.since !== undefined && createdAt < filter.since) return false
  if (filter.until !== undefined && createdAt >= filter.until) return false
  return filter.status === undefined ? createdAt > newest : status === filter.status
}
