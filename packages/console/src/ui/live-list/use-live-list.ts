// A list in pages, kept live: frames change rows in place, and new rows are counted. At the top of a list that nothing holds,
// with no pointer over its rows, the list is read again automatically, at most every two seconds; in a hidden tab, when the tab
// is shown. Used by the pages of runs, events and deliveries.

import type { Input, Page } from '@perdure/client'
import type { InfiniteData } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import {
  type Item,
  itemsOf,
  keyOf,
  type PagesId,
  queryClient,
  readBegan,
  readPage,
  usePages,
} from '../../data/queries.ts'
import type { ListTopic } from '../../live/messages.ts'
import { currentLive } from '../../live/state.ts'
import { type Batch, useTopic } from '../../live/use-live.ts'
import { keepKnown, newestAt, type Pages, replaceRows } from './pages.ts'

const REFETCH_MS_MIN = 2000
/** Delay from a frame that does not show its effect on the list to the read that does. */
const UNSURE_MS = 10_000
/** Number of animation frames to wait before the list is read again. */
const FRAMES = 3
/** Maximum number of new rows that are counted one by one. */
const NEWS_MAX = 10_000

/** The rules of a list: its read, its topic and its rows. They never change. */
export interface LiveRules<Id extends PagesId> {
  id: Id
  topic: ListTopic
  keyOf(row: Item<Id>): string
  /** When the row was created: rows that are newer than all others count as new. */
  madeAt(row: Item<Id>): string
  /** Merges frames into the pages, and returns the keys of new rows. */
  merge(pages: Pages<Item<Id>>, batch: Batch, input: Input<Id>): Merged<Item<Id>>
  /** Reads rows by their keys. If absent, rows that are not in the first page stay as they are. */
  readRows?(keys: readonly string[]): Promise<readonly Item<Id>[]>
  /** Returns a row that a renewal of the list has left out, without the parts that only a read renews. */
  unread?(row: Item<Id>): Item<Id>
}

export interface Merged<Row> {
  pages: Pages<Row>
  added: readonly string[]
  /** Rows may have been added or changed in ways that frames do not show: the list is read again some seconds later. */
  isOld?: boolean
}

export function useLiveList<Id extends PagesId>(
  rules: LiveRules<Id>,
  input: Input<Id>,
  { isFrozen }: { isFrozen: boolean },
) {
  const { id } = rules
  // The stream keeps the list current: only gaps and new rows make it outdated.
  const query = usePages(id, input, { staleMs: Number.POSITIVE_INFINITY })
  const key = JSON.stringify(input)
  const news = useNews(key)
  const readAt = useRef(0)
  /** When the newest read began. It shows all changes before that. */
  const began = useRef({ key, at: 0 })
  const frozen = useRef(isFrozen)
  frozen.current = isFrozen
  const { refetch, data } = query
  const readFirst = readBegan(data?.pages[0])
  if (began.current.key !== key) began.current = { key, at: 0 }
  began.current.at = Math.max(began.current.at, readFirst ?? 0)
  const refresh = useCallback(
    async (mayMove: () => boolean) => {
      // After "back" the first frame restores the scroll position, and the next ones draw its rows. An answer before that would
      // find the list at its top.
      for (let n = 0; n < FRAMES; n++) await new Promise(requestAnimationFrame)
      const from = performance.now()
      readAt.current = from
      await readFirstPage(rules, { input: JSON.parse(key) as Input<Id>, mayMove, news })
      if (began.current.key === key) began.current.at = Math.max(began.current.at, from)
    },
    [rules, key, news],
  )
  /** The list for which a frame did not show its effect. */
  const [unsure, setUnsure] = useState<string>()
  const mayMove = useCallback(() => !frozen.current && isAtTop(), [])
  const readAgain = useCallback(() => void refresh(() => true).catch(() => {}), [refresh])
  // A list from the cache has missed all changes since it was left.
  useEffect(() => {
    if (queryClient.getQueryData(keyOf(id, JSON.parse(key))) !== undefined) void refresh(mayMove).catch(() => {})
  }, [id, key, refresh, mayMove])
  // The stream is opened after the first answer, but misses nothing: the list is read again if its read began earlier.
  useTopic(query.isPending ? undefined : rules.topic, {
    onBatch: batch => {
      const pages = pagesOf(id, input)
      if (!pages) return
      const merged = rules.merge(pages, batch, input)
      if (merged.pages !== pages) setPages(id, input, merged.pages)
      news.add(merged.added)
      if (merged.isOld) setUnsure(key)
    },
    onGap: async openedAt => {
      if (pagesOf(id, input) === undefined) await refetch({ cancelRefetch: false })
      if (began.current.at < openedAt) await refresh(mayMove)
    },
  })
  const { shown } = news
  useReadWhenShown(shown.count > 0 && !isFrozen ? shown : undefined, {
    waitMs: () => Math.max(0, readAt.current + REFETCH_MS_MIN - performance.now()),
    read: () => {
      if (isAtTop()) void refresh(mayMove).catch(() => {})
    },
  })
  useReadWhenShown(unsure === key ? key : undefined, {
    waitMs: () => UNSURE_MS,
    read: () => {
      setUnsure(undefined)
      if (!currentLive().isPaused) void refresh(mayMove).catch(() => {})
    },
  })
  return { query, rows: itemsOf(query), news: shown.count, readAgain }
}

/** Reads a while after the cause, and in a hidden tab when it is shown. Another cause restarts the delay. */
function useReadWhenShown(cause: unknown, options: { waitMs(): number; read(): void }): void {
  const latest = useRef(options)
  latest.current = options
  useEffect(() => {
    if (cause === undefined) return
    const read = () => {
      if (document.hidden) document.addEventListener('visibilitychange', read, { once: true })
      else latest.current.read()
    }
    const timer = setTimeout(read, latest.current.waitMs())
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', read)
    }
  }, [cause])
}

interface News {
  /** The count on the screen: a new object each time something was counted. */
  shown: { count: number }
  add(keys: readonly string[]): void
  /** Takes out the keys for a read that begins. Rows that are counted later may be newer than its answer. */
  take(): string[]
  show(): void
}

/** Counts the new rows of a list. */
function useNews(list: string): News {
  const [shown, setShown] = useState({ count: 0 })
  const keys = useRef(new Set<string>())
  const show = useCallback(() => setShown({ count: keys.current.size }), [])
  const add = useCallback(
    (more: readonly string[]) => {
      for (const key of more) if (keys.current.size < NEWS_MAX) keys.current.add(key)
      if (more.length > 0) show()
    },
    [show],
  )
  const take = useCallback(() => {
    const taken = [...keys.current]
    keys.current.clear()
    return taken
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has no news yet.
  useEffect(() => {
    take()
    show()
  }, [list, take, show])
  const news = useRef<News>({ shown, add, take, show })
  news.current.shown = shown
  return news.current
}

interface Refresh<Id extends PagesId> {
  input: Input<Id>
  mayMove(): boolean
  news: News
}

/**
 * Reads the first page again. If rows may move, it replaces the list; otherwise the rows on the screen are updated in place, and
 * newer rows are counted.
 */
async function readFirstPage<Id extends PagesId>(rules: LiveRules<Id>, { input, mayMove, news }: Refresh<Id>) {
  const { id } = rules
  const counted = news.take()
  const first = await readPage(id, input).catch(error => {
    news.add(counted)
    throw error
  })
  const pages = pagesOf(id, input)
  if (pages) keepKnown(pages, first, rules.keyOf)
  // The pointer may have arrived, or a row may have been selected, while the page was read.
  if (!pages || mayMove()) {
    setPages(id, input, { pages: [first], pageParams: [undefined] })
    news.show()
    return
  }
  const fresh = new Set(first.items.map(rules.keyOf))
  const keys = rules.readRows ? shownKeys().filter(key => !fresh.has(key)) : []
  const others = keys.length === 0 ? [] : ((await rules.readRows?.(keys)) ?? [])
  const now = pagesOf(id, input) ?? pages
  const byKey = new Map([...first.items, ...others].map(row => [rules.keyOf(row), row]))
  setPages(
    id,
    input,
    replaceRows(now, row => byKey.get(rules.keyOf(row)) ?? rules.unread?.(row) ?? row),
  )
  const last = newestAt(now, rules.madeAt)
  news.add([...counted, ...first.items.filter(row => rules.madeAt(row) > last).map(rules.keyOf)])
}

function pagesOf<Id extends PagesId>(id: Id, input: Input<Id>): Pages<Item<Id>> | undefined {
  return queryClient.getQueryData<InfiniteData<Page<Item<Id>>>>(keyOf(id, input))
}

function setPages<Id extends PagesId>(id: Id, input: Input<Id>, pages: Pages<Item<Id>>): void {
  queryClient.setQueryData(keyOf(id, input), pages)
}

/** Returns the keys of the rows in the document. */
function shownKeys(): string[] {
  return [...document.querySelectorAll<HTMLElement>('tbody tr[data-key]')].map(({ dataset }) => dataset.key ?? '')
}

/** Whether the page is scrolled to its top: rows added there move nothing away. */
function isAtTop(): boolean {
  return (document.querySelector('[data-scroller]')?.scrollTop ?? 0) < 8 && !document.querySelector('tbody tr:hover')
}
