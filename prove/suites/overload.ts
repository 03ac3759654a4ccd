// `overload`: more events than the disk can take, because another program holds the database. The engine refuses before the
// commit, with 429 or 503 and `Retry-After`; every 202 is honoured, and no refused event took effect.

import type { EventRecord } from '@perdure/protocol'
import { openDatabase } from '../../test/kit/engine/database.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { pages } from '../../test/kit/http/pages.ts'
import { EngineProcess, PlainRunner, returned, until } from '../../test/kit/index.ts'
import { type Acknowledged, lostOf, openRuns, TokenLoad } from '../load/token-load.ts'
import type { Finding, Order, Suite } from '../suite.ts'

/** Enough senders to exceed the bytes that may wait for the disk: 256 MiB (docs/limits.md#bounds). */
const PARALLEL = 360
const DATA_CHARS = 900_000
const REFUSALS_MIN = 20
const HELD_MS_MAX = 4500
const ENDS_MS_MAX = 120_000

export const overload: Suite = {
  proves: 'more events than the disk takes: refusals with Retry-After before the commit, every 202 honoured',
  unit: 'overloads',
  counts: { quick: 1, full: 20 },
  deadlineMs: { base: 180_000, each: 120_000 },
  run: overloadOften,
}

async function overloadOften({ count }: Order): Promise<Finding> {
  // Without steps: each pass carries the whole event.
  const [name, app] = ['overload', 'overload']
  const runner = await new PlainRunner({ app, runner: app, workflows: { [name]: () => returned() } }).listen()
  const engine = await new EngineProcess({ env: { ENGINE_LOG_LEVEL: 'silent' } }).start()
  const { api } = engine
  await runner.register(api)
  const database = await openDatabase(engine.storeFile)
  const problems: string[] = []
  const statuses = new Map<number, number>()
  const acknowledged: Acknowledged[] = []
  for (let i = 0; i < count; i++) {
    const text = 'x'.repeat(DATA_CHARS)
    database.exec('BEGIN IMMEDIATE')
    const load = new TokenLoad({ api, app, name, parallel: PARALLEL, data: { round: i, text } })
    const refused = () => [...load.refused.values()].reduce((sum, n) => sum + n, 0)
    await until(() => refused() >= REFUSALS_MIN, { deadlineMs: HELD_MS_MAX }).catch(() => {})
    database.exec('ROLLBACK')
    await load.stop()
    if (refused() === 0) problems.push(`overload ${i}: nothing was refused`)
    for (const [status, times] of load.refused) {
      statuses.set(status, (statuses.get(status) ?? 0) + times)
      if (status !== 429 && status !== 503) problems.push(`overload ${i}: ${times} answers were ${status}`)
    }
    if (load.withoutRetryAfter > 0) problems.push(`${load.withoutRetryAfter} refusals have no Retry-After`)
    if (load.unanswered > 0) problems.push(`${load.unanswered} events got no answer`)
    acknowledged.push(...load.acknowledged.entries())
  }
  problems.push(...(await openRuns(api, app, ENDS_MS_MAX)), ...(await lostOf(api, acknowledged)))
  const events = await pages<EventRecord>(api, `/events?name=${name}&limit=20`)
  const known = new Set(acknowledged.map(({ accepted }) => accepted.eventId))
  for (const { id } of events) if (!known.has(id)) problems.push(`event ${id} took effect and was not acknowledged`)
  await engine.sigterm()
  problems.push(...(await violations(`sqlite:${engine.storeFile}`)).map(violation => JSON.stringify(violation)))
  const refusals = Object.fromEntries([...statuses].map(([status, times]) => [`refused with ${status}`, times]))
  return { counts: { overloads: count, acknowledged: acknowledged.length, ...refusals }, problems }
}
