// The reads of single runs, events and limits that LISTS measures beside its lists. Called by lists.ts.

import type { Sample } from '../listed-runs.ts'
import type { Details } from './stored-details.ts'

const DAY_MS = 86_400_000

export interface DetailRead {
  name: string
  path: string
}

export function detailReads(details: Details, { parentId, until }: Sample): DetailRead[] {
  const { eventId, chainEventId, longRunId, endpointId } = details
  const span = (days: number) => {
    const [since, end] = [until - days * DAY_MS, until].map(at => new Date(at).toISOString())
    return `since=${since}&until=${end}`
  }
  const series = '/webhook-endpoints/series'
  return Object.entries({
    'tree of an event with 520 nodes': `/events/${eventId}/tree`,
    'tree of an event, 24 levels': `/events/${chainEventId}/tree`,
    'tree of a run with 5,000 children': `/runs/${parentId}/tree`,
    'tree of a run of 10,000 steps': `/runs/${longRunId}/tree`,
    'passes of that run': `/runs/${longRunId}/passes`,
    '200 passes': `/runs/${longRunId}/passes?limit=200`,
    'bundle of that run': `/runs/${longRunId}/bundle`,
    'bundle of a short run': `/runs/${parentId}/bundle`,
    limits: '/limits',
    'limits of a workflow': '/limits?app=held&workflow=limited',
    buffers: '/buffers',
    '200 buffers of a workflow': '/buffers?limit=200&app=held&workflow=batched',
    'endpoint series of a day': `${series}?${span(1)}`,
    'endpoint series of a month': `${series}?${span(30)}`,
    'of one endpoint': `${series}?${span(30)}&endpointId=${endpointId}`,
    'of 2 days by 5 minutes': `${series}?${span(2)}&step=5m`,
  }).map(([name, path]) => ({ name, path }))
}
