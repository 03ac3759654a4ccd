// One engine process with the workload of orders: its store, a runner that keeps its own record, a webhook destination, and the
// client that sends. Used by the suites that judge one engine under load.

import { Availability } from '../../test/faults/kill/availability.ts'
import { LoadClient } from '../../test/faults/kill/client.ts'
import { verdict } from '../../test/faults/kill/verdict.ts'
import { MANY_ATTEMPTS, MemoRecord, workload } from '../../test/faults/kill/workload.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { EngineProcess, openDestination, PlainRunner } from '../../test/kit/index.ts'
import { settled } from '../suites/settled.ts'

const SETTLE_MS_MAX = 60_000

/** Starts the engine and registers the runner. `client` begins to send when `availability` is up. */
export async function openSingleEngine({ ordersUnderWay }: { ordersUnderWay: number }) {
  const destination = await openDestination()
  const env = {
    ENGINE_WEBHOOK_ALLOW_PRIVATE: '1',
    ENGINE_WEBHOOK_SCHEDULE: MANY_ATTEMPTS,
    ENGINE_LOG_LEVEL: 'error',
  }
  const engine = await new EngineProcess({ env }).start()
  const { api } = engine
  const record = new MemoRecord()
  const runner = await new PlainRunner({ runner: 'steady', record, workflows: workload(destination.url) }).listen()
  const { app } = runner
  await runner.register(api)
  const availability = new Availability()
  const startClient = () => new LoadClient({ api, app, whenUp: availability.whenUp, parallel: ordersUnderWay })

  /** Waits until all sent orders have ended, and returns the problems. The engine must be up. */
  async function judge(client: LoadClient): Promise<string[]> {
    await client.finish(SETTLE_MS_MAX)
    await settled({ api, app, client, destination }, SETTLE_MS_MAX)
    return verdict({ api, app, client, runner: record, hooks: destination.requests })
  }

  /** Stops the engine, and returns the problems with its end and its store. */
  async function close(): Promise<string[]> {
    const { code, stderr } = await engine.sigterm()
    const inStore = (await violations(`sqlite:${engine.storeFile}`)).map(violation => JSON.stringify(violation))
    return code === 0 ? inStore : [`the engine ended with ${code}: ${stderr}`, ...inStore]
  }

  return { engine, record, availability, startClient, judge, close }
}
