// The type of an operation of the HTTP API: its path, the keys that may call it, its parameters, body and replies. The
// engine's routes, the OpenAPI document, `docs/http-api` and the client all derive from operations.

import Type, { type Static, type TSchema } from 'typebox'
import type { ApiErrorCode } from '../api/error-codes.ts'
import type { QueryParams } from '../queries/param.ts'

/** The kind of API key that an operation needs. A `secret` key may call everything; `public` needs no key. */
export type Access = 'public' | 'read' | 'event' | 'runner' | 'secret'

/** One example call and, for JSON, its reply. A scenario replays every example against an engine. */
export interface Example {
  summary: string
  /** Values of the path's `{placeholders}`. */
  path?: Record<string, string>
  query?: Record<string, string>
  /** Headers other than the key and the content type. */
  headers?: Record<string, string>
  body?: unknown
  reply?: unknown
  /** The reply is the operation's `otherwise`. */
  otherwise?: true
}

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** May contain `{placeholders}`. */
  readonly path: string
  /** The last placeholder may contain slashes, encoded or not. */
  readonly takesSlashes?: true
  /** One line, without a full stop. */
  readonly summary: string
  readonly description?: string
  readonly access: Access
  /** Needs a key even while no key is configured and every other operation is open. */
  readonly alwaysKeyed?: true
  /** A run token for the run in the path also opens it, even as `token` in the query (docs/security.md#run-tokens). */
  readonly runToken?: true
  /** The flag of the query with which the operation stores nothing, so that a `read` key may call it. */
  readonly readsWith?: string
  readonly query?: QueryParams
  /** Query parameters that are not in `query` are ignored. In other operations they are refused, unless they begin with `_`. */
  readonly anyQuery?: true
  readonly body?: Body
  /** Takes any bytes instead of a JSON body: another system's format, verified before it is parsed. */
  readonly rawBody?: true
  readonly reply: Reply
  /** A second reply that is not an error body, such as the reply of `/readyz` while the engine is not ready. */
  readonly otherwise?: Reply
  /** Answered before the engine checks keys, logs the request or refuses it during a drain. */
  readonly probe?: true
  /** Not written to the access log, because it is called every few seconds. */
  readonly unlogged?: true
  /** Error codes of this operation; `errorsOf` adds the codes that follow from access and method. */
  readonly errors?: readonly ApiErrorCode[]
  readonly examples?: readonly Example[]
}

export interface Body {
  readonly schema: TSchema
  readonly required: boolean
  /**
   * Members that are not in the schema are accepted, and named in the `warnings` of the reply. In other operations they are
   * refused, even if the operation takes no body.
   */
  readonly anyMembers?: true
}

export interface Reply {
  readonly status: number
  readonly description: string
  /** Schema of the JSON body, or of the `data:` lines of a stream. */
  readonly schema?: TSchema
  /** Content type of a body that is plain text. */
  readonly contentType?: string
  /** Server-sent events. */
  readonly stream?: true
  /** Carries `X-Next-Cursor` when more rows exist. */
  readonly pages?: true
  /** The reply to a repeat carries `X-Event-Id` and `X-Run-Id` of the first. */
  readonly repeats?: true
  /** Carries `X-Scanned-To` if a search returned only a part. */
  readonly partial?: true
}

/** The type of the operation's reply: the JSON body, or one frame of a stream; `undefined` without a body. */
export type ReplyOf<Op extends Operation> = Op['reply'] extends { schema: infer Schema extends TSchema }
  ? Static<Schema>
  : undefined

/** The type of the operation's JSON body; `never` when it takes none. */
export type BodyOf<Op extends Operation> = Op extends { body: { schema: infer Schema extends TSchema } }
  ? Static<Schema>
  : never

/** Operations that change the webhook configuration, or that post to other systems, always need a secret key. */
export const GUARDED_WEBHOOK = { access: 'secret', alwaysKeyed: true } as const

/** The reply of a success with a JSON body. */
export const ok = <Schema extends TSchema>(description: string, schema: Schema) =>
  ({ status: 200, description, schema }) as const

/** The reply of a call that made something. */
export const created = <Schema extends TSchema>(description: string, schema: Schema) =>
  ({ status: 201, description, schema }) as const

/** The reply of a stream of server-sent events. */
export const stream = <Frame extends TSchema>(description: string, frame: Frame) =>
  ({ ...ok(description, frame), stream: true }) as const

/** The reply of a list in pages. */
export const page = <Item extends TSchema>(description: string, item: Item) =>
  ({ ...ok(description, Type.Array(item)), pages: true }) as const
