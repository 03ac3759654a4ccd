// `redis-silence`: the connections between an engine and its Redis go silently dead, in one direction or both, again and again.
// The engine replaces them, and is ready and accepts posts within 10 s each time (docs/reliability.md#suites).

import { EngineProcess, flow, freshSchema, onCleanup, REDIS_URL, run, unique, until } from '../../test/kit/index.ts'
import { type Direction, DroppingProxy } from '../../test/kit/servers/dropping-proxy.ts'
import { deleteKeysOf } from '../../test/kit/servers/redis.ts'
import { haveServers } from '../../test/servers.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const DIRECTIONS: readonly Direction[] = ['both', 'requests', 'answers']
const WORK_MS_MAX = 10_000
/** Publisher, subscriber and limiter. */
const CONNECTIONS = 3

export const redisSilence: Suite = {
  proves: 'connections to Redis go dead without a word: the engine is ready and at work within 10 s',
  unit: 'silences',
  counts: { quick: 3, full: 60 },
  deadlineMs: { base: 120_000, each: 60_000 },
  run: silence,
}

async function silence({ count, random }: Order): Promise<Finding> {
  if (!(await haveServers())) return { counts: {}, problems: [], skipped: ['no PostgreSQL and Redis'] }
  const storeFile = await freshSchema()
  const proxy = await DroppingProxy.open(REDIS_URL)
  const through = proxy.urlOf(REDIS_URL)
  onCleanup(() => deleteKeysOf(storeFile))
  const env = { ENGINE_QUEUE: through, ENGINE_LIMITER: through, ENGINE_LOG_LEVEL: 'fatal' }
  const engine = await new EngineProcess({ storeFile, env }).start()
  const { api } = engine
  const name = unique('limited')
  const registration = { rateLimit: { limit: 1_000_000, period: '1h' } }
  await engine.runner({ workflows: { [name]: { handler: flow([run('only')]), registration } } })
  const problems: string[] = []
  const counts = { silences: 0, 'longest ms': 0 }
  const works = async () => {
    const [ready, post] = await Promise.all([api.get('/readyz'), api.post('/events', { name })])
    return ready.status === 200 && post.status === 202
  }
  await until(works, { what: 'the engine at work' })
  for (; counts.silences < count; counts.silences++) {
    const direction = DIRECTIONS[random.between(0, DIRECTIONS.length - 1)] as Direction
    const before = proxy.replaced
    proxy.drop(direction)
    const begunAt = performance.now()
    await until(() => proxy.replaced >= before + CONNECTIONS, { what: 'new connections' })
    await until(works, { what: 'the engine at work' })
    const ms = Math.round(performance.now() - begunAt)
    counts['longest ms'] = Math.max(counts['longest ms'], ms)
    if (ms > WORK_MS_MAX) problems.push(`dead connections (${direction}): at work after ${ms} ms`)
    for (let i = 0; i < 20; i++) if (!(await works())) problems.push('a later post met a dead connection')
  }
  return { counts, problems }
}
