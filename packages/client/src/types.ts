// The client's types: one method per operation, with the input and the reply that calls.ts derives.

import type { Calls } from './calls.ts'

type OperationId = keyof Calls

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal
  /** Replaces the client's deadline. Streams have none. */
  timeoutMs?: number
  /**
   * Whether the call may reach the engine twice, because a repeat changes nothing. Then it is sent again when a connection breaks,
   * and to another engine of the cluster. Default: whether its method is GET, PUT or DELETE.
   */
  isRepeatable?: boolean
  /** Called when a stream is connected, and again after each reconnect: what happens from then on is in its frames. */
  onOpen?(): void
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[]
  /** The `cursor` of the next page; absent on the last one. */
  nextCursor?: string
  /** When a search was answered in part: the time of creation of the last run that it looked at. */
  scannedTo?: string
}

/** The input of a call: the values of path and query side by side, and the JSON body as `body`. */
export type Input<Id extends OperationId> = Calls[Id]['input']

type ItemOf<Id extends OperationId> = Calls[Id]['reply'] extends (infer Item)[] ? Item : never

type Answer<Id extends OperationId> = Calls[Id]['kind'] extends 'stream'
  ? AsyncGenerator<Calls[Id]['reply'], void, undefined>
  : Calls[Id]['kind'] extends 'pages'
    ? Promise<Page<ItemOf<Id>>>
    : Promise<Calls[Id]['reply']>

type Arguments<In> = object extends In ? [input?: In, options?: CallOptions] : [input: In, options?: CallOptions]
type Call<Id extends OperationId> = (...args: Arguments<Input<Id>>) => Answer<Id>
type Items<Id extends OperationId> = (...args: Arguments<Input<Id>>) => AsyncGenerator<ItemOf<Id>, void, undefined>

type Paged = {
  [Id in OperationId]: Calls[Id]['kind'] extends 'pages' ? Id : never
}[OperationId]

/**
 * One method per operation of the HTTP interface. Each rejects with an `ApiError` when the engine refuses and with a `ConnectionError` when
 * no engine answers in time.
 */
export type OperationMethods = { readonly [Id in OperationId]: Call<Id> } & {
  /** The items of all pages of a list. A page is fetched when the loop reaches it; `limit` is the size of a page. */
  readonly pages: { readonly [Id in Paged]: Items<Id> }
}

/** The frames of a stream operation. */
export type FrameOf<Id extends OperationId> = Calls[Id]['reply']
