// The reads of single runs, events and limits that LISTS measures beside its lists. Called by lists.ts.

import type { Sample } from '../listed-runs.ts'
import type { Details } from './stored-details.ts'

const DAY_MS = 86_400_000

export function detailReads(details: Details, { parentId, until }: Sample): string[] {
  const { eventId, chainEventId, longRunId, endpointId } = details
  const time = (at: number) => new Date(at).toISOString()
  const span = (days: number) => `since=${time(until - days * DAY_MS)}&until=${time(until)}`
  return [
    `/events/${eventId}/tree`,
    `/events/${chainEventId}/tree`,
    `/runs/${parentId}/tree`,
    `/runs/${longRunId}/tree`,
    `/runs/${longRunId}/passes`,
    `/runs/${longRunId}/passes?limit=200`,
    `/runs/${longRunId}/bundle`,
    `/runs/${parentId}/bundle`,
    '/limits',
    '/limits?limit=200',
    '/limits?app=held&workflow=limited',
    '/buffers',
    '/buffers?limit=200',
    '/buffers?app=held&workflow=batched',
    `/webhook-endpoints/series?${span(1)}`,
    `/webhook-endpoints/series?${span(30)}`,
    `/webhook-endpoints/series?${span(30)}&endpointId=${endpointId}`,
    `/webhook-endpoints/series?${span(2)}&step=5m`,
  ]
}
