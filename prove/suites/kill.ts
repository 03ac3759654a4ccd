// `kill`: repeated kill -9 of the engine under load. Nothing acknowledged is lost, no step runs again after its result was seen,
// and no effect happens twice (docs/promises.md#events, docs/promises.md#runs).

import { killOnce } from '../../test/faults/kill/availability.ts'
import { openSingleEngine } from '../load/single-engine.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const ORDERS_UNDER_WAY = 24
/** Maximum number of invokes between a start of the engine and its kill. */
const PROGRESS_MAX = 80

export const kill: Suite = {
  proves: 'kill -9: no acknowledged event lost, no settled step run again, each effect once',
  unit: 'kills',
  counts: { quick: 10, full: 1000 },
  deadlineMs: { base: 120_000, each: 4000 },
  run: killRepeatedly,
}

export async function killRepeatedly({ count, random }: Omit<Order, 'seed'>): Promise<Finding> {
  const { engine, record, availability, startClient, judge, close } = await openSingleEngine({
    ordersUnderWay: ORDERS_UNDER_WAY,
  })
  await engine.kill9()

  const client = startClient()
  const progress = () => record.invokeCount
  for (let i = 0; i < count; i++) await killOnce(engine, { availability, random, progress, progressMax: PROGRESS_MAX })

  await engine.start()
  availability.up()
  const problems = await judge(client)
  if (client.acknowledged.length <= count) problems.push(`only ${client.acknowledged.length} orders were acknowledged`)
  problems.push(...(await close()))
  return {
    counts: {
      kills: count,
      'orders acknowledged': client.acknowledged.length,
      unanswered: client.unanswered.size,
      'steps executed': record.executedCount,
      'results compared': record.carriedCount,
    },
    problems,
  }
}
