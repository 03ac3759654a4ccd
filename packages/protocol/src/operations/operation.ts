// What one operation of the HTTP interface is: its path, who may call it, what it takes and what it answers. The
// engine mounts its routes by these, the OpenAPI document and `docs/http-api.md` are written from them, and the
// client calls them: one description, so that none of the four can drift from the others.

import type { Static, TSchema } from 'typebox'
import type { ApiErrorCode } from '../api-error.ts'

/** Which kind of API key opens the operation; a `secret` key opens everything, `public` needs none. */
export type Access = 'public' | 'read' | 'event' | 'runner' | 'secret'

/** A parameter of a query. One that is given and unusable is 400, except an integer out of range: it is clamped. */
export type QueryParam = { description: string } & (
  | { kind: 'name'; maxLength: number }
  | { kind: 'text'; maxLength: number }
  | { kind: 'enum'; values: readonly string[]; default?: string }
  | { kind: 'integer'; minimum: number; maximum: number; default?: number }
  /** RFC 3339; read as epoch ms. */
  | { kind: 'timestamp' }
  /** On when it is `1`. */
  | { kind: 'flag' }
)

export type QueryParams = Readonly<Record<string, QueryParam>>

/** What a handler gets of a parameter. */
export type ParamValue<Param extends QueryParam> = Param extends { values: readonly (infer Value)[] }
  ? Value
  : Param extends { kind: 'integer' | 'timestamp' }
    ? number
    : Param extends { kind: 'flag' }
      ? boolean
      : string

/** The values of a query: those with a default are always there. */
export type QueryValues<Params extends QueryParams> = {
  [Name in keyof Params]: Params[Name] extends { default: unknown } | { kind: 'flag' }
    ? ParamValue<Params[Name]>
    : ParamValue<Params[Name]> | undefined
}

/** One call as a caller would make it, and for JSON its answer. A scenario replays every one against an engine. */
export interface Example {
  summary: string
  /** Values of the path's `{placeholders}`. */
  path?: Record<string, string>
  query?: Record<string, string>
  /** Beside the key and the content type. */
  headers?: Record<string, string>
  body?: unknown
  reply?: unknown
  /** Its answer is the operation's `otherwise`. */
  otherwise?: true
}

export interface Operation {
  /** Its name in the client and in the OpenAPI document. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `{placeholders}`. */
  readonly path: string
  readonly tag: 'runs' | 'control' | 'events' | 'registry' | 'webhooks' | 'health' | 'meta'
  /** One line, without a full stop. */
  readonly summary: string
  readonly description?: string
  readonly access: Access
  /** Needs a key even where no key is configured and everything else is open (contract §5.2). */
  readonly alwaysKeyed?: true
  readonly query?: QueryParams
  readonly body?: { readonly schema: TSchema; readonly required: boolean }
  /** Takes any bytes instead: somebody else's format, verified before it is read. */
  readonly rawBody?: true
  readonly reply: Reply
  /** Another answer that is no error body: `/readyz` while it is not ready. */
  readonly otherwise?: Reply
  /** Answered before keys, logs and the drain are looked at. */
  readonly probe?: true
  /** Has no line in the access log: it is asked every few seconds. */
  readonly unlogged?: true
  /** Codes of its own; `errorsOf` adds those that come with its access and method. */
  readonly errors: readonly ApiErrorCode[]
  readonly examples?: readonly Example[]
}

export interface Reply {
  readonly status: number
  readonly description: string
  /** Of the JSON body, or of the `data:` lines when it is a stream. */
  readonly schema?: TSchema
  /** Of a body that is text and no JSON. */
  readonly contentType?: string
  /** Server-sent events. */
  readonly stream?: true
  /** Carries `X-Next-Cursor` when more rows exist. */
  readonly pages?: true
}

/** What the operation answers: its JSON body, or one frame of its stream; `undefined` when it answers no body. */
export type ReplyOf<Op extends Operation> = Op['reply'] extends { schema: infer Schema extends TSchema }
  ? Static<Schema>
  : undefined

/** The JSON body that the operation takes; `never` when it takes none. */
export type BodyOf<Op extends Operation> = Op extends { body: { schema: infer Schema extends TSchema } }
  ? Static<Schema>
  : never

export const CURSOR_PARAM = {
  kind: 'text',
  maxLength: 4096,
  description: 'The `X-Next-Cursor` of the page before; good only with the same sort, direction and filters',
} as const

export const APP_PARAM = { kind: 'name', maxLength: 128, description: 'Only of this app' } as const
