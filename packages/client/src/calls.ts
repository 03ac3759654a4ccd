// The input and the reply of every operation, derived from the protocol's operations. The build writes `Calls` out in full, so
// the published types need no schemas.

import type { BodyOf, Operation, Operations, ParamValue, QueryParam, ReplyOf } from '@perdure/protocol/operations'
import type { OperationId } from './routes.ts'

/**
 * A parameter as the caller passes it: a timestamp may be a Date, a duration a text such as "30s", a flag is a boolean, and a
 * list may be its only value.
 */
type Given<Param extends QueryParam> = Param extends { kind: 'timestamp' }
  ? Date | string
  : Param extends { kind: 'duration' }
    ? number | string
    : Param extends { kind: 'enums' | 'names' | 'attributes' }
      ? ParamValue<Param> | ParamValue<Param>[number]
      : ParamValue<Param>

type PathInput<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [Key in Name]: string } & PathInput<Rest>
  : unknown
type QueryInput<Op> = Op extends { query: infer Query extends Record<string, QueryParam> }
  ? { [Name in Exclude<keyof Query, Needed<Query>>]?: Given<Query[Name]> | undefined } & {
      [Name in Needed<Query>]: Given<Query[Name]>
    }
  : unknown
type Needed<Query> = { [Name in keyof Query]: Query[Name] extends { required: true } ? Name : never }[keyof Query]
type BodyInput<Op extends Operation> = [BodyOf<Op>] extends [never]
  ? unknown
  : Op extends { body: { required: true } }
    ? { body: BodyOf<Op> }
    : { body?: BodyOf<Op> }

type Kind<Op extends Operation> = Op['reply'] extends { stream: true }
  ? 'stream'
  : Op['reply'] extends { pages: true }
    ? 'pages'
    : 'value'

/** The input, the reply (of a stream: one frame) and the kind of reply of every operation. */
export type Calls = {
  [Id in OperationId]: {
    input: PathInput<Operations[Id]['path']> & QueryInput<Operations[Id]> & BodyInput<Operations[Id]>
    reply: ReplyOf<Operations[Id]>
    kind: Kind<Operations[Id]>
  }
}
