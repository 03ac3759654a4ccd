// One HTTP call over kept-alive connections. On Node it goes through an agent of `node:http`, which takes a fifth of the CPU of
// the global `fetch`. Everywhere else, and when the process has replaced `fetch` or its dispatcher, it uses `fetch`. Nothing is
// imported, so browsers load this file too. Called by the SDK and the client.

import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { gunzip } from 'node:zlib'

export interface KeptAliveCall {
  method: string
  headers: Readonly<Record<string, string>>
  body?: string | undefined
  /** Aborts the call, which then rejects with the reason of the signal. */
  signal: AbortSignal
  /**
   * Whether the call may reach the server twice. It is sent a second time if the server closed a kept-alive connection at that
   * moment. Default: whether the method is idempotent.
   */
  isRepeatable?: boolean | undefined
  /** Time to connect, after which the call fails with the code `CONNECT_TIMEOUT`. `fetch` has its own bound. */
  connectMsMax?: number | undefined
}

/** The part of a `Response` that callers read. */
export interface KeptAliveAnswer {
  readonly status: number
  readonly ok: boolean
  readonly headers: Pick<Headers, 'get'>
  text(): Promise<string>
}

/** Sends the call and resolves when the headers of the answer have arrived. Follows redirects, as `fetch` does. */
export async function callKeptAlive(url: string, call: KeptAliveCall): Promise<KeptAliveAnswer> {
  const pool = poolOfProcess()
  const target = pool && URL.canParse(url) ? new URL(url) : undefined
  // `fetch` refuses an address with credentials.
  if (!pool || !target || target.username !== '' || target.password !== '') return byFetch(url, call)
  const answer = await pool.call(target, call)
  if (!REDIRECTS.has(answer.status) || answer.headers.get('location') === null) return answer
  // The server has only referred to another address, so the call may be made again.
  return byFetch(url, call)
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

function byFetch(url: string, { method, headers, body, signal }: KeptAliveCall): Promise<KeptAliveAnswer> {
  return globalThis.fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) })
}

/** How long a connection may be idle. Servers close idle connections after 5 s and more. */
const IDLE_MS_MAX = 4_000
const SENT_HEADERS = { accept: '*/*', 'accept-encoding': 'gzip', 'user-agent': 'node' }
const NATIVE_FETCH = globalThis.fetch

let pool: Pool | undefined

/** Returns undefined where calls must go through `fetch`. */
function poolOfProcess(): Pool | undefined {
  // A bundler for browsers that knows this leaves out the rest.
  if (globalThis.process === undefined) return undefined
  if (globalThis.fetch !== NATIVE_FETCH || hasOwnDispatcher()) return undefined
  if (!isNode()) return undefined
  pool ??= new Pool(process.getBuiltinModule)
  return pool
}

/** Node itself: not Deno, Bun, a worker of a platform, or a browser that has `process`. */
function isNode(): boolean {
  if ('Bun' in globalThis || 'Deno' in globalThis) return false
  if (globalThis.process.release?.name !== 'node' || !globalThis.process.getBuiltinModule) return false
  const agent = (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent
  return agent === undefined || agent.startsWith('Node.js/')
}

/** Whether the process sends the calls of `fetch` elsewhere: through a proxy, or to a mock. */
function hasOwnDispatcher(): boolean {
  const global = globalThis as { [name: symbol]: object | undefined }
  const dispatcher = global[Symbol.for('undici.globalDispatcher.1')]
  if (dispatcher !== undefined) return dispatcher.constructor.name !== 'Agent'
  return globalThis.process.env?.NODE_USE_ENV_PROXY === '1'
}

/** The modules and connections of this process. */
class Pool {
  readonly #modules: { http: typeof import('node:http'); https: typeof import('node:https') }
  readonly #gunzip: typeof gunzip
  readonly #agents: { http: Agent; https: Agent }

  constructor(load: typeof process.getBuiltinModule) {
    this.#modules = { http: load('node:http'), https: load('node:https') }
    this.#gunzip = load('node:zlib').gunzip
    const options = { keepAlive: true, timeout: IDLE_MS_MAX }
    this.#agents = { http: new this.#modules.http.Agent(options), https: new this.#modules.https.Agent(options) }
  }

  /** Makes the call. An idle connection that the server has closed meanwhile fails; the second try uses a new one. */
  async call(url: URL, call: KeptAliveCall): Promise<KeptAliveAnswer> {
    try {
      return await this.#send(url, call, true)
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error
      if (call.isRepeatable ?? IDEMPOTENT.has(call.method)) return this.#send(url, call, false)
      throw error.cause
    }
  }

  #send(url: URL, call: KeptAliveCall, isKept: boolean): Promise<KeptAliveAnswer> {
    const { method, body, signal } = call
    const scheme = url.protocol === 'https:' ? 'https' : 'http'
    const options: RequestOptions = {
      method,
      agent: isKept ? this.#agents[scheme] : false,
      headers: { ...SENT_HEADERS, ...call.headers, ...(body === undefined ? {} : lengthOf(body)) },
    }
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      const request = this.#modules[scheme].request(url, options)
      const abort = () => request.destroy(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      request.on('close', () => signal.removeEventListener('abort', abort))
      if (call.connectMsMax !== undefined) boundConnecting(request, call.connectMsMax)
      request.on('response', response => resolve(answerOf(response, { signal, gunzip: this.#gunzip })))
      request.on('error', error => reject(isStale(request, error) ? new StaleConnectionError(error) : error))
      request.end(body)
    })
  }
}

/** Ends a request whose connection is not open in time: nothing of it was sent. */
function boundConnecting(request: ClientRequest, ms: number): void {
  request.on('socket', socket => {
    if (!socket.connecting) return
    const late = () =>
      request.destroy(Object.assign(new Error(`no connection within ${ms} ms`), { code: 'CONNECT_TIMEOUT' }))
    const timer = setTimeout(late, ms)
    const end = () => clearTimeout(timer)
    socket.once('connect', end).once('close', end)
  })
}

/** The server closed an idle connection before it answered. */
class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super('The server has closed the connection', { cause })
  }
}

function isStale({ reusedSocket }: { reusedSocket: boolean }, error: Error): boolean {
  const { code } = error as { code?: string }
  return reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE')
}

function lengthOf(body: string): { 'content-length': string } {
  return { 'content-length': String(Buffer.byteLength(body)) }
}

/** The parts of a pool that its answers need. */
interface Means {
  signal: AbortSignal
  gunzip: typeof gunzip
}

function answerOf(response: IncomingMessage, means: Means): KeptAliveAnswer {
  const status = response.statusCode as number
  const text = textOf(response, means)
  // A caller that does not want the text must not fail because of it.
  text.catch(() => undefined)
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: { get: name => response.headers[name.toLowerCase()]?.toString() ?? null },
    text: () => text,
  }
}

function textOf(response: IncomingMessage, { signal, gunzip: unzip }: Means) {
  return new Promise<string>((resolve, reject) => {
    const chunks: Uint8Array[] = []
    response.on('data', chunk => chunks.push(chunk))
    response.on('error', error => reject(signal.aborted ? signal.reason : error))
    response.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const encoding = response.headers['content-encoding'] ?? 'identity'
      if (encoding === 'identity') resolve(bytes.toString('utf8'))
      else if (encoding !== 'gzip') reject(new Error(`the answer has an encoding that was not asked for: ${encoding}`))
      else unzip(bytes, (error, text) => (error ? reject(error) : resolve(text.toString('utf8'))))
    })
  })
}
