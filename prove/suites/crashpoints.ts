// `crashpoints`: one order that uses every opcode, and a kill -9 right before and right after each of its commits. From every
// point the next engine brings the order to its only correct end (docs/promises.md#runs).

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Availability } from '../../test/faults/kill/availability.ts'
import { LoadClient } from '../../test/faults/kill/client.ts'
import { verdict } from '../../test/faults/kill/verdict.ts'
import { MANY_ATTEMPTS, MemoRecord, workload } from '../../test/faults/kill/workload.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { Api, EngineProcess, openDestination, PlainRunner, type Seeded, tempStoreFile } from '../../test/kit/index.ts'
import { type Sabotage, sabotage } from '../sabotage/sabotage.ts'
import type { Finding, Order, Suite } from '../suite.ts'
import { settled } from './settled.ts'

const ENDS_MS_MAX = 60_000

export const crashpoints: Suite = {
  proves: 'kill -9 before and after every commit of an order with every opcode: one right end',
  unit: 'points',
  counts: { quick: 8, full: 500 },
  deadlineMs: { base: 120_000, each: 60_000 },
  run: crashEverywhere,
}

async function crashEverywhere({ count, random }: Order): Promise<Finding> {
  const file = join(dirname(tempStoreFile()), 'commits')
  const undisturbed = await crashAt({ PERDURE_PROVE_COMMITS: file })
  const commits = readFileSync(file).length
  const every = Array.from({ length: commits }, (_, i) => [`before ${i + 1}`, `after ${i + 1}`]).flat()
  const points = chosen(every, count, random)
  const problems = [...undisturbed.problems]
  let crashed = 0
  for (const point of points) {
    const reached = await crashAt({ PERDURE_PROVE_KILL: point })
    problems.push(...reached.problems.map(problem => `kill ${point}: ${problem}`))
    if (reached.hasCrashed) crashed++
  }
  // The last commits are heartbeats. Their number depends on the machine's speed.
  if (crashed < points.length / 2) problems.push(`only ${crashed} of ${points.length} points were reached`)
  return { counts: { 'commits of the order': commits, points: points.length, 'points reached': crashed }, problems }
}

/** Returns all points, or that many of them in order. */
function chosen(points: readonly string[], count: number, random: Seeded): string[] {
  const left = [...points]
  while (left.length > count) left.splice(random.between(0, left.length - 1), 1)
  return left
}

async function crashAt(bug: Sabotage): Promise<{ problems: string[]; hasCrashed: boolean }> {
  const destination = await openDestination()
  const env = {
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    ENGINE_WEBHOOK_SCHEDULE: MANY_ATTEMPTS,
    ENGINE_LOG_LEVEL: 'error',
  }
  const storeFile = tempStoreFile()
  let engine = new EngineProcess({ storeFile, env: { ...env, ...sabotage(bug) } })
  const api = new Api(() => engine.url)
  const record = new MemoRecord()
  const runner = await new PlainRunner({ runner: 'steady', record, workflows: workload(destination.url) }).listen()
  const { app } = runner
  const availability = new Availability()
  let hasCrashed = false
  const start = async () => {
    await engine.start()
    await runner.register(api)
    availability.up()
  }
  const replace = async () => {
    hasCrashed = true
    availability.down()
    engine = new EngineProcess({ storeFile, env })
    await start()
  }
  const client = new LoadClient({ api, app, whenUp: availability.whenUp, parallel: 1 })
  const ending = client.finish(ENDS_MS_MAX)
  await start().catch(replace)
  let isOver = false
  const replaced = engine.exit.then(() => (isOver ? undefined : replace()))
  await ending
  await settled({ api, app, client, destination }, ENDS_MS_MAX)
  isOver = true
  const problems = await verdict({ api, app, client, runner: record, hooks: destination.requests })
  const { code, signal } = await engine.sigterm()
  await replaced
  if (code !== 0) problems.push(`the engine ended with ${code} ${signal}`)
  const inStore = await violations(`sqlite:${storeFile}`)
  await Promise.all([runner.close(), destination.close()])
  return { problems: [...problems, ...inStore.map(violation => JSON.stringify(violation))], hasCrashed }
}
