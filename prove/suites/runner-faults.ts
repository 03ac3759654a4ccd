// `runner-faults`: a runner that hangs, breaks, or answers garbage or half an answer, at random. Each pass is repeated until it
// is answered, no part of a broken answer is kept, and no settled step runs again (docs/concepts.md#failures).

import { MemoRecord } from '../../test/faults/kill/workload.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import {
  cut,
  EngineProcess,
  flow,
  type Handler,
  hang,
  PlainRunner,
  plain,
  type Reply,
  reset,
  run,
  type Seeded,
} from '../../test/kit/index.ts'
import { until } from '../../test/kit/until.ts'
import { lostOf, openRuns, TokenLoad } from '../load/token-load.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const APP = 'faulty'
const NAME = 'faulty'
const FAULT_SHARE = 0.25
const ENDS_MS_MAX = 120_000
/** Enough attempts that no run fails by chance, and short delays for a short suite. */
const RETRY = { maxAttempts: 100, initialMs: 20, factor: 1.1, maxMs: 100 }

const FAULTS: Readonly<Record<string, Reply>> = {
  hangs: hang,
  resets: reset,
  'cuts its body': cut,
  'answers 500': { status: 500, body: { error: { message: 'oops' }, logs: [] } },
  'answers HTML': plain(502, '<html>bad gateway</html>', 'text/html'),
  'answers garbage': plain(200, Buffer.from([0, 1, 2, 0xff, 0xfe])),
  'answers half a JSON': plain(206, '{"opcodes":[{"op":"StepRun"'),
}

export const runnerFaults: Suite = {
  proves: 'runners that hang, break, send garbage or half an answer: each run ends right, no settled step again',
  unit: 'runs',
  counts: { quick: 20, full: 5000 },
  deadlineMs: { base: 180_000, each: 500 },
  run: breakRunners,
}

async function breakRunners({ count, random }: Order): Promise<Finding> {
  const met: Record<string, number> = {}
  const record = new MemoRecord()
  const token = ({ event }: { event: { data?: unknown } }) => (event.data as { token: string }).token
  const steps = flow([run('one', token), run('two', token), run('three', token)], ({ three }) => three)
  const workflows = {
    [NAME]: {
      handler: withFaults(steps, random, name => {
        met[name] = (met[name] ?? 0) + 1
      }),
      registration: { retry: RETRY, timeouts: { invoke: '1s' } },
    },
  }
  const runner = await new PlainRunner({ app: APP, runner: APP, record, workflows }).listen()
  const engine = await new EngineProcess({ env: { ENGINE_LOG_LEVEL: 'silent' } }).start()
  const { api } = engine
  await runner.register(api)
  const load = new TokenLoad({ api, app: APP, name: NAME, parallel: 8 })
  await until(() => load.acknowledged.length >= count, { what: 'the events', deadlineMs: ENDS_MS_MAX })
  await load.stop()
  const acknowledged = load.acknowledged.entries()
  const problems = [
    ...(await openRuns(api, APP, ENDS_MS_MAX)),
    ...(await lostOf(api, acknowledged)),
    ...record.problems,
  ]
  for (const { token: sent, accepted } of acknowledged) {
    const { status, result } = await api.run(accepted.runId)
    if (status !== 'succeeded' || result !== sent) problems.push(`${accepted.runId} is ${status} with ${result}`)
    const stored = (await api.steps(accepted.runId)).map(({ name }) => name)
    if (stored.join() !== 'one,two,three') problems.push(`${accepted.runId} has the steps ${stored.join()}`)
  }
  await engine.sigterm()
  problems.push(...(await violations(`sqlite:${engine.storeFile}`)).map(violation => JSON.stringify(violation)))
  const faults = Object.values(met).reduce((sum, n) => sum + n, 0)
  return { counts: { runs: acknowledged.length, faults, passes: record.invokeCount }, problems }
}

function withFaults(handler: Handler, random: Seeded, onFault: (name: string) => void): Handler {
  const names = Object.keys(FAULTS)
  return async (invoke, record) => {
    // The steps are executed first: a fault loses the answer after the work was done.
    const reply = await handler(invoke, record)
    if (random.next() >= FAULT_SHARE) return reply
    const name = names[random.between(0, names.length - 1)] as string
    onFault(name)
    return FAULTS[name] as Reply
  }
}
