// Examines the other services of an engine: Redis, its port, an engine that may already be running, and that engine's runners.

import { createServer } from 'node:net'
import { withoutPassword } from '../domain/text/service-url.ts'
import { error, type Finding, type Findings, judgedSkew, ok, reasonOf, warning } from './finding.ts'

const TIMEOUT_MS = 3000

export async function* examineRedis(check: 'queue' | 'limiter', url: string): Findings {
  const name = withoutPassword(url)
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let lost: unknown
  redis.on('error', cause => {
    lost = cause
  })
  try {
    await redis.connect()
    const [seconds, micros] = (await redis.time()).map(Number) as [number, number]
    yield ok(check, `${name} answers`)
    yield judgedSkew(`${check}.clock`, 'Redis', seconds * 1000 + micros / 1000 - Date.now())
    const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1] ?? 'noeviction'
    if (check === 'limiter' && policy !== 'noeviction')
      yield warning(
        'limiter.memory',
        `maxmemory-policy is ${policy}: Redis may evict the limiter's counters, and evicted limits start counting from zero: set it to noeviction`,
      )
  } catch (cause) {
    yield error(check, `${name} cannot be reached: ${reasonOf(lost ?? cause)}`)
  } finally {
    redis.disconnect()
  }
}

/** Whether the port is free, or an engine listens on it. */
export async function examinePort(host: string, port: number): Promise<Finding> {
  if (port === 0) return ok('port', 'port 0: the engine will listen on any free port')
  const code = await bound(host, port)
  const address = `${host}:${port}`
  if (code === undefined) return ok('port', `${address} is free`)
  if (code !== 'EADDRINUSE') return error('port', `the engine cannot listen on ${address}: ${code}`)
  const answers = await answer(urlOf(host, port), '/healthz').catch(() => undefined)
  const isEngine = (answers?.json as { status?: unknown } | undefined)?.status === 'ok'
  return isEngine
    ? ok('port', `an engine already listens on ${address}`)
    : error('port', `${address} is taken by another program`)
}

/** Examines the engine at the address, its readiness and its runners. */
export async function* examineEngine(url: string, apiKey: string | undefined): Findings {
  let name: string
  try {
    name = withoutPassword(url)
    const { status, json } = await answer(url, '/readyz')
    const { checks = {} } = (json ?? {}) as { checks?: Record<string, string> }
    const states = Object.entries(checks).map(([check, state]) => `${check} ${state}`)
    if (status === 200) yield ok('engine', `${name} is ready (${states.join(', ')})`)
    else yield error('engine', `${name} is not ready: ${states.join(', ') || `it answers ${status}`}`)
    yield await runners(url, apiKey)
  } catch (cause) {
    const { cause: deeper = cause } = cause as Error
    yield warning('engine', `no engine answers at ENGINE_URL: ${reasonOf(deeper)}`)
  }
}

async function runners(url: string, apiKey: string | undefined): Promise<Finding> {
  const { status, json } = await answer(url, '/runners', apiKey)
  if (status === 401 || status === 403)
    return warning('runners', 'the engine does not list its runners: ENGINE_API_KEY must be a read or secret key')
  if (status !== 200 || !Array.isArray(json)) return error('runners', `the engine answers ${status}`)
  const all = json as { live: boolean; keyMatches?: boolean }[]
  const live = all.filter(runner => runner.live)
  const text = `${live.length} of ${all.length} runners are live`
  if (live.some(({ keyMatches }) => keyMatches === false))
    return error('runners', `${text}, and some have a different signing key than the engine`)
  return live.length === 0 ? warning('runners', text) : ok('runners', text)
}

async function answer(url: string, path: string, apiKey?: string): Promise<{ status: number; json: unknown }> {
  const response = await fetch(new URL(path, url), {
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(apiKey ? { headers: { authorization: `Bearer ${apiKey}` } } : {}),
  })
  const json: unknown = await response.json().catch(() => undefined)
  return { status: response.status, json }
}

/** The code of the error when listening there; undefined if it succeeds. */
function bound(host: string, port: number): Promise<string | undefined> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', (cause: NodeJS.ErrnoException) => resolve(cause.code ?? cause.message))
    server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  })
}

function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
