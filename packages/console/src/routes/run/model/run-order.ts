// The list that a run was opened from, in its order: { and } go to the run's neighbours. The list is the newest one in the cache
// of reads that contains the run; it is kept for reloads of the tab.

import type { Page } from '@perdure/client'
import type { InfiniteData } from '@tanstack/react-query'
import { queryClient } from '../../../data/queries.ts'
import { tabStorage } from '../../../data/storage/storage.ts'
import { currentSession } from '../../../session/session.ts'

const KEY = 'perdure.list-of-runs'
/** Maximum number of runs kept. */
const RUNS_MAX = 5000

type Lists = InfiniteData<Page<{ id: string }>>

/** Keeps the list that contains the run, if there is one. Called when a run is opened. */
export function keepOrder(id: string): void {
  const lists = queryClient.getQueryCache().findAll({ queryKey: [currentSession().namespace, 'listRuns'] })
  const newest = lists
    .map(({ state }) => ({ at: state.dataUpdatedAt, ids: idsOf(state.data as Lists | undefined) }))
    .filter(({ ids }) => ids.includes(id))
    .sort((a, b) => b.at - a.at)[0]
  if (newest) tabStorage.setItem(KEY, newest.ids.slice(0, RUNS_MAX).join(','))
}

const idsOf = (data: Lists | undefined): string[] =>
  data?.pages?.flatMap(({ items }) => items.map(({ id }) => id)) ?? []

/** Returns the run before or after another one in the kept list; undefined if there is none. */
export function neighbourOf(id: string, by: 1 | -1): string | undefined {
  const ids = (tabStorage.getItem(KEY) ?? '').split(',')
  const place = ids.indexOf(id)
  return place === -1 ? undefined : ids[place + by]
}
