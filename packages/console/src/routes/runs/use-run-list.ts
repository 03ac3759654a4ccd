// The list of runs, kept live: frames change rows in their place, and new runs are counted. At the top of a list that is
// neither sorted nor selected, the list is read again by itself, at most every two seconds.

import type { Page } from '@perdure/client'
import type { InfiniteData } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { itemsOf, keyOf, queryClient, usePages } from '../../data/queries.ts'
import { useTopic } from '../../live/use-live.ts'
import type { Run } from './columns.tsx'
import { merge } from './merge.ts'
import type { ListInput } from './query.ts'

type Pages = InfiniteData<Page<Run>>

const REFETCH_MS_MIN = 2000

export function useRunList(input: ListInput, { isHeld }: { isHeld: boolean }) {
  const query = usePages('listRuns', input)
  const [news, setNews] = useState(0)
  const readAt = useRef(0)
  const key = JSON.stringify(input)
  const { refetch, dataUpdatedAt } = query
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the list was read, nothing is new.
  useEffect(() => setNews(0), [dataUpdatedAt, key])
  const readAgain = useCallback(() => {
    readAt.current = Date.now()
    setNews(0)
    if (isAtTop()) dropFurtherPages(JSON.parse(key) as ListInput)
    void refetch()
  }, [refetch, key])
  useTopic('runs', {
    onBatch: ({ frames }) => {
      const queryKey = keyOf('listRuns', input)
      const state = queryClient.getQueryState(queryKey)
      const pages = queryClient.getQueryData<Pages>(queryKey)
      if (!pages) return
      const merged = merge(pages, frames)
      if (merged.pages !== pages)
        queryClient.setQueryData(queryKey, merged.pages, { updatedAt: state?.dataUpdatedAt ?? Date.now() })
      if (merged.unknown > 0) setNews(count => count + merged.unknown)
    },
    onGap: () => {
      if (!isHeld) readAgain()
    },
  })
  useEffect(() => {
    if (news === 0 || isHeld || !isAtTop()) return
    const timer = setTimeout(readAgain, Math.max(0, readAt.current + REFETCH_MS_MIN - Date.now()))
    return () => clearTimeout(timer)
  }, [news, isHeld, readAgain])
  return { query, runs: itemsOf(query), news, readAgain }
}

/** Keeps the first page alone: reading again would read every page. */
function dropFurtherPages(input: ListInput): void {
  queryClient.setQueryData<Pages>(
    keyOf('listRuns', input),
    all => all && { pages: all.pages.slice(0, 1), pageParams: all.pageParams.slice(0, 1) },
  )
}

/** Whether the page is scrolled to its top: rows that come in there move nothing away. */
function isAtTop(): boolean {
  return (document.querySelector('[data-scroller]')?.scrollTop ?? 0) < 8 && !document.querySelector('tbody tr:hover')
}
