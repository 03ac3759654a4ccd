// The client's types, derived from the operations: the input of each call and its result.

import type { BodyOf, Operation, Operations, ParamValue, QueryParam, ReplyOf } from '@perdure/protocol/operations'
import type { OperationId } from './routes.ts'

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal
  /** Replaces the client's deadline. Streams have none. */
  timeoutMs?: number
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[]
  /** The `cursor` of the next page; absent on the last one. */
  nextCursor?: string
}

/** A parameter as the caller passes it: a timestamp may be a Date, a flag is a boolean. */
type Given<Param extends QueryParam> = Param extends { kind: 'timestamp' } ? Date | string : ParamValue<Param>

type PathInput<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [Key in Name]: string } & PathInput<Rest>
  : unknown
type QueryInput<Op> = Op extends { query: infer Query extends Record<string, QueryParam> }
  ? { [Name in keyof Query]?: Given<Query[Name]> | undefined }
  : unknown
type BodyInput<Op extends Operation> = [BodyOf<Op>] extends [never]
  ? unknown
  : Op extends { body: { required: true } }
    ? { body: BodyOf<Op> }
    : { body?: BodyOf<Op> }

/** The input of a call: the values of path and query side by side, and the JSON body as `body`. */
export type Input<Op extends Operation> = PathInput<Op['path']> & QueryInput<Op> & BodyInput<Op>

type ItemOf<Op extends Operation> = ReplyOf<Op> extends (infer Item)[] ? Item : never

type Answer<Op extends Operation> = Op['reply'] extends { stream: true }
  ? AsyncGenerator<ReplyOf<Op>, void, undefined>
  : Op['reply'] extends { pages: true }
    ? Promise<Page<ItemOf<Op>>>
    : Promise<ReplyOf<Op>>

type Arguments<In> = object extends In ? [input?: In, options?: CallOptions] : [input: In, options?: CallOptions]
type Call<Op extends Operation> = (...args: Arguments<Input<Op>>) => Answer<Op>
type Items<Op extends Operation> = (...args: Arguments<Input<Op>>) => AsyncGenerator<ItemOf<Op>, void, undefined>

type Paged = {
  [Id in OperationId]: Operations[Id]['reply'] extends { pages: true } ? Id : never
}[OperationId]

/**
 * One method per operation. Each rejects with an `ApiError` when the engine refuses and with a `ConnectionError` when
 * no engine answers in time.
 */
export type Client = { readonly [Id in OperationId]: Call<Operations[Id]> } & {
  /** The items of all pages of a list. A page is fetched when the loop reaches it; `limit` is the size of a page. */
  readonly pages: { readonly [Id in Paged]: Items<Operations[Id]> }
}

/** The frames of a stream operation. */
export type FrameOf<Id extends OperationId> = ReplyOf<Operations[Id]>
