// The versions of the Model Context Protocol. Since 2026-07-28 each request names its version, and there is no handshake; with
// earlier versions, a client begins with `initialize`. Pure. Called by messages.ts.

import { type JsonRpcError, RpcFault } from './rpc.ts'

/** The version without a handshake. */
const STATELESS_VERSION = '2026-07-28'
/** Versions with a handshake, the newest first. */
const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const
export const VERSIONS: readonly string[] = [STATELESS_VERSION, ...HANDSHAKE_VERSIONS]

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
const SERVER_KEY = 'io.modelcontextprotocol/serverInfo'

/** Headers that repeat parts of the body, so that a gateway can route without reading it. */
export interface MirrorHeaders {
  'mcp-protocol-version'?: string | undefined
  'mcp-method'?: string | undefined
  'mcp-name'?: string | undefined
}

type Params = Readonly<Record<string, unknown>>

/**
 * Whether the request uses the version without a handshake. Throws if it names an unsupported version, or if its headers
 * contradict its body.
 */
export function isStateless(method: string, params: Params, headers: MirrorHeaders): boolean {
  const meta = params._meta as Params | null | undefined
  const named = typeof meta === 'object' && meta !== null ? meta[VERSION_KEY] : undefined
  const version = headers['mcp-protocol-version']
  if (named === undefined) {
    if (version === STATELESS_VERSION)
      throw new RpcFault('params', `params._meta needs ${VERSION_KEY}`, { status: 400 })
    if (version !== undefined && !VERSIONS.includes(version)) throw unsupported(version)
    return false
  }
  if (named !== STATELESS_VERSION) throw unsupported(named)
  agree('MCP-Protocol-Version', version, named)
  agree('Mcp-Method', headers['mcp-method'], method)
  if (method === 'tools/call' && typeof params.name === 'string') agree('Mcp-Name', headers['mcp-name'], params.name)
  return true
}

function agree(header: string, value: string | undefined, inBody: string): void {
  if (value !== inBody) throw new RpcFault('header', `${header} must be the same as in the body`, { status: 400 })
}

function unsupported(requested: unknown): RpcFault {
  const data: JsonRpcError['data'] = { supported: VERSIONS, requested }
  return new RpcFault('version', `the protocol version must be one of ${VERSIONS.join(', ')}`, { status: 400, data })
}

/** The version that a handshake agrees on. */
export const agreedVersion = (asked: unknown): string =>
  HANDSHAKE_VERSIONS.find(version => version === asked) ?? HANDSHAKE_VERSIONS[0]

/** How long a client may keep a list, in milliseconds. It depends on the caller. */
const CACHED = { ttlMs: 60_000, cacheScope: 'private' } as const

/** The result in the form of the version without a handshake. */
export function statelessResult(method: string, result: object, serverInfo: object): object {
  const isCacheable = method !== 'tools/call'
  return { ...result, resultType: 'complete', ...(isCacheable && CACHED), _meta: { [SERVER_KEY]: serverInfo } }
}
