// Reads for components, by the id of an operation: react-query over the client. Writes are in write.ts. The stream (`live/`)
// renews lists, not polling, and a failed read keeps the current content on the screen.

import { ApiError, type CallOptions, type Calls, type Input, type OperationMethods, type Page } from '@perdure/client'
import {
  type InfiniteData,
  keepPreviousData,
  type Query,
  QueryCache,
  QueryClient,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { callRefused, currentSession, onSession, readClient, unreachable, useSession } from '../session/session.ts'
import type { Call } from './commands/request.ts'

export type OperationId = keyof Calls
/** Operations with one answer, or with a list that comes in one piece. */
export type ReadId = { [Id in OperationId]: Calls[Id]['kind'] extends 'value' ? Id : never }[OperationId]
/** Operations with a list in pages. */
export type PagesId = { [Id in OperationId]: Calls[Id]['kind'] extends 'pages' ? Id : never }[OperationId]
/** One item of a list in pages. */
export type Item<Id extends PagesId> = Calls[Id]['reply'] extends (infer One)[] ? One : never

const RETRIES_MAX = 2
const STALE_MS = 5000

/** An engine that shuts down refuses every call. It counts as away, until it or another engine answers. */
const isShuttingDown = (error: Error) =>
  error instanceof ApiError && (error.details as { reason?: string } | undefined)?.reason === 'shutting_down'

/**
 * Acts on every failed call, in addition to showing its error: a refused token ends the session, and a lost engine is searched
 * for.
 */
export function noteFailure(error: Error): void {
  if (error instanceof ApiError && error.status === 401) callRefused()
  else if (error.name === 'ConnectionError' || isShuttingDown(error)) unreachable(error)
}

const isTemporary = (error: Error) => error instanceof ApiError && (error.status >= 500 || error.status === 429)

/** The cache of everything that was read. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // The session decides whether an engine answers, not the browser's guess about its network.
      networkMode: 'always',
      retry: (count, error) => count < RETRIES_MAX && isTemporary(error),
      // The panel dims outdated data on the screen; data of the previous query stays until the next arrives.
      placeholderData: keepPreviousData,
      structuralSharing: false,
    },
  },
})

/** A read under way still uses the earlier token. */
const mayBeRefused = ({ state }: Query) => state.status === 'error' || state.fetchStatus === 'fetching'

/** Once actions are unlocked, repeats the reads that were refused. Reads of a session that has ended are cancelled. */
let wasUnlocked = false
onSession(() => {
  const { status, unlockedUntil } = currentSession()
  if (status === 'signed-out') void queryClient.cancelQueries()
  const isUnlocked = unlockedUntil !== undefined
  if (isUnlocked && !wasUnlocked) void readRefusedAgain()
  wasUnlocked = isUnlocked
})

/** Cancels first reads that are under way: the cache would wait for their answers instead of reading again. */
async function readRefusedAgain(): Promise<void> {
  const refused = new Set(queryClient.getQueryCache().findAll({ type: 'active', predicate: mayBeRefused }))
  const predicate = (query: Query) => refused.has(query)
  await queryClient.cancelQueries({ predicate })
  await queryClient.refetchQueries({ predicate })
}

const failedCalls = new WeakMap<Error, Call>()
/** Returns the call that failed with this error. */
export const callOfError = (error: Error): Call | undefined => failedCalls.get(error)

type AnyCall = (input: unknown, options: CallOptions) => Promise<never>
/** An operation of the client. Its errors know their call. */
export const callOf =
  (client: OperationMethods, id: OperationId): AnyCall =>
  (input, options) =>
    (client[id] as unknown as AnyCall)(input, options).catch((error: Error) => {
      failedCalls.set(error, { id, input } as Call)
      throw error
    })

/** Returns the key of a read in the cache. Invalidate with `[namespace, id]` to read again for all inputs. */
export const keyOf = (id: OperationId, input: unknown = {}) => [currentSession().namespace, id, input] as const

export interface ReadOptions {
  /** Reads only while true. Default: true. */
  enabled?: boolean
  /** How long an answer counts as fresh. Default: 5 s. */
  staleMs?: number
  /** Keeps the answer for the previous input on the screen until the next arrives. Default: true. */
  keep?: boolean
}

export interface PolledOptions<Reply> extends ReadOptions {
  /** Reads again after this time, while the answer says so; for the few reads that no stream renews. */
  pollMs?(reply: Reply | undefined): number | false
}

/** Reads an operation. */
export function useRead<Id extends ReadId>(
  id: Id,
  input: Input<Id>,
  { enabled = true, staleMs = STALE_MS, keep = true, pollMs }: PolledOptions<Calls[Id]['reply']> = {},
): UseQueryResult<Calls[Id]['reply']> {
  const { status } = useSession()
  return useQuery<Calls[Id]['reply']>({
    queryKey: keyOf(id, input),
    queryFn: ({ signal }) => callOf(readClient(), id)(input, { signal }),
    enabled: enabled && status === 'ready',
    staleTime: staleMs,
    ...(pollMs && { refetchInterval: ({ state }) => pollMs(state.data) }),
    ...(keep ? {} : { placeholderData: undefined }),
  })
}

/**
 * When the read of a page began, by `performance.now()`: the page contains everything before that, and may contain later changes.
 */
const readsBegan = new WeakMap<object, number>()
export const readBegan = (page: object | undefined): number | undefined => page && readsBegan.get(page)

/** A read that began before its component existed. */
let early: { key: string; from: number; page: Promise<Page<unknown>> } | undefined

const earlyKey = (id: PagesId, input: unknown) => JSON.stringify(keyOf(id, input))

/** Begins the read of a first page. The first component that reads the same gets it, unless it has failed. */
export function readEarly<Id extends PagesId>(id: Id, input: Input<Id>): void {
  const page: Promise<Page<unknown>> = callOf(readClient(), id)(input, {})
  const begun = { key: earlyKey(id, input), from: performance.now(), page }
  early = begun
  page.catch(() => {
    if (early === begun) early = undefined
  })
}

async function callPage<Id extends PagesId>(id: Id, input: unknown, signal: AbortSignal): Promise<Page<Item<Id>>> {
  const begun = early?.key === earlyKey(id, input) ? early : undefined
  early = undefined
  const from = begun?.from ?? performance.now()
  const page = (await (begun?.page ?? callOf(readClient(), id)(input, { signal }))) as Page<Item<Id>>
  readsBegan.set(page, from)
  return page
}

/** Reads one page of a list, separate from the content on the screen. The caller decides what to do with it. */
export function readPage<Id extends PagesId>(id: Id, input: Input<Id>): Promise<Page<Item<Id>>> {
  return queryClient.fetchQuery({
    queryKey: [...keyOf(id, input), 'page'],
    queryFn: ({ signal }) => callPage(id, input, signal),
    staleTime: 0,
    gcTime: 0,
  })
}

/** Returns the items of all pages that were read. */
export function itemsOf<One>(result: { data?: InfiniteData<Page<One>> | undefined }): One[] {
  return result.data?.pages.flatMap(page => page.items) ?? []
}

/** Reads a list page by page; `fetchNextPage` reads the next one. */
export function usePages<Id extends PagesId>(
  id: Id,
  input: Input<Id>,
  { enabled = true, staleMs = STALE_MS, keep = true }: ReadOptions = {},
): UseInfiniteQueryResult<InfiniteData<Page<Item<Id>>>> {
  const { status } = useSession()
  return useInfiniteQuery<Page<Item<Id>>, Error, InfiniteData<Page<Item<Id>>>, readonly unknown[], string | undefined>({
    queryKey: keyOf(id, input),
    queryFn: ({ signal, pageParam }) => callPage(id, { ...input, cursor: pageParam }, signal),
    initialPageParam: undefined,
    getNextPageParam: page => page.nextCursor,
    enabled: enabled && status === 'ready',
    staleTime: staleMs,
    ...(keep ? {} : { placeholderData: undefined }),
  })
}

/**
 * Reads these operations again if they are on the screen, for all inputs. A list whose next page is being read gets that page
 * first.
 */
export async function renew(...ids: OperationId[]): Promise<void> {
  const { namespace } = currentSession()
  await Promise.all(
    ids.map(async id => {
      const queryKey = [namespace, id]
      const known = queryClient.getQueryCache().findAll({ queryKey })
      await Promise.allSettled(known.map(({ state, promise }) => state.fetchMeta?.fetchMore && promise))
      await queryClient.invalidateQueries({ queryKey })
    }),
  )
}
