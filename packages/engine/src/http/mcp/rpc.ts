// JSON-RPC 2.0: replies and their errors.

/** The code of an error, by kind. The last two belong to the Model Context Protocol. */
const CODES = { parse: -32_700, request: -32_600, method: -32_601, params: -32_602, header: -32_020, version: -32_022 }

/** An error in a reply. */
export interface JsonRpcError {
  code: number
  message: string
  data?: unknown
}

/** A reply to one message. */
export interface RpcReply {
  jsonrpc: '2.0'
  /** Null if the id of the message could not be read. */
  id: string | number | null
  result?: object
  error?: JsonRpcError
}

/** A request that is answered with an error. */
export class RpcFault extends Error {
  readonly error: JsonRpcError
  /** The status of the HTTP answer. */
  readonly status: number

  constructor(
    kind: keyof typeof CODES,
    message: string,
    { status = 200, data }: { status?: number; data?: unknown } = {},
  ) {
    super(message)
    this.error = { code: CODES[kind], message, ...(data !== undefined && { data }) }
    this.status = status
  }
}
