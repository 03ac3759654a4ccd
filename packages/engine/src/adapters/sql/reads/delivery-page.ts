// A page of deliveries with their payloads. A thousand payloads can be a gigabyte: the page ends where it gets large.

import type { Delivery } from '../../../domain/model/delivery.ts'
import type { DeliveryPage, DeliveryQuery } from '../../../ports/store-reads.ts'
import type { Query, Row } from '../description/values.ts'
import { DELIVERIES } from '../tables/deliveries.ts'
import { deliveriesQuery, payloadsQuery } from './delivery-queries.ts'

/** A page ends with the delivery that takes its payloads over this many characters. */
const PAGE_CHARS_MAX = 16 * 1024 * 1024
/** Payloads read at once; each is a mebibyte at most. */
const PAYLOADS_AT_ONCE = 16

export async function deliveryPage(
  read: (query: Query) => Promise<Row[]>,
  namespace: string,
  query: DeliveryQuery,
): Promise<DeliveryPage> {
  // One more row than the limit shows whether there is a next page.
  const rows = await read(deliveriesQuery(namespace, { ...query, limit: query.limit + 1 }))
  const found = rows.slice(0, query.limit).map(DELIVERIES.fromRow)
  const deliveries: Delivery[] = []
  let chars = 0
  for (let at = 0; at < found.length; at += PAYLOADS_AT_ONCE) {
    for (const delivery of await withPayloads(read, found.slice(at, at + PAYLOADS_AT_ONCE))) {
      if (chars > PAGE_CHARS_MAX) return { deliveries, more: true }
      deliveries.push(delivery)
      chars += delivery.payload?.length ?? 0
    }
  }
  return { deliveries, more: rows.length > query.limit }
}

async function withPayloads(
  read: (query: Query) => Promise<Row[]>,
  deliveries: readonly Delivery[],
): Promise<Delivery[]> {
  const without = deliveries.filter(({ payload }) => payload === undefined).map(({ id }) => id)
  if (without.length === 0) return [...deliveries]
  const bodies = new Map((await read(payloadsQuery(without))) as [string, string][])
  return deliveries.map(delivery => ({ ...delivery, payload: delivery.payload ?? bodies.get(delivery.id) }))
}
