// `npm run demo`: starts an engine, a runner and a webhook sink, sends an order, shows its run live, approves it, and
// lists commands to continue with. `--stay` keeps everything running.

import { createClient } from '@perdure/client'
import { startEngine, startRunner } from '../shared/processes.ts'
import { followRun, heading, note } from '../shared/show.ts'
import { openSink } from '../shared/sink.ts'

const stay = process.argv.includes('--stay')
const engine = await startEngine()
const runner = await startRunner(new URL('./runner.ts', import.meta.url), { ENGINE_URL: engine.url })
const sink = await openSink()
try {
  await order()
  lookNext()
  if (stay) await untilInterrupted()
} finally {
  sink.close()
  await runner.stop()
  await engine.stop()
}

async function order(): Promise<void> {
  const client = createClient({ url: engine.url })
  heading('An event starts a run')
  const data = { orderId: 'A-1001', item: 'espresso machine', amount: 349, notifyUrl: sink.url }
  const { eventId, runId } = await client.sendEvent({ body: { name: 'order.placed', data } })
  if (runId === undefined) throw new Error('The event started no run.')
  note(`POST /events {"name":"order.placed"} -> event ${eventId}, run ${runId}`)

  heading('Its timeline, live')
  let approved = false
  for await (const frame of followRun(client, runId)) {
    if (frame.kind !== 'step_status' || frame.name !== 'approval' || frame.status !== 'waiting' || approved) continue
    approved = true
    note('the run waits for an event: sending order.approved')
    const { woke } = await client.sendEvent({ body: { name: 'order.approved', data: { by: 'ada' } } })
    note(`POST /events {"name":"order.approved"} -> woke ${woke}`)
  }

  heading('Its result')
  const run = await client.getRun({ id: runId })
  process.stdout.write(`${JSON.stringify(run.result, null, 2)}\n`)
  if (run.status !== 'succeeded') throw new Error(`The run ended as ${run.status}.`)
  note(`the warehouse's webhook received ${(await sink.next()).body}`)
}

function lookNext(): void {
  heading('Where to look next')
  const address = stay ? engine.url : 'http://127.0.0.1:4777'
  process.stdout.write(`  the workflow                   examples/order/workflows.ts
  keep this demo running         npm run demo -- --stay
  list runs                      curl ${address}/runs
  send an event                  curl ${address}/events -H 'content-type: application/json' -d '{"name":"order.placed"}'
  write your own                 README.md, "Twenty lines of your own"\n`)
}

function untilInterrupted(): Promise<void> {
  note('running until Ctrl-C')
  return new Promise(resolve => process.once('SIGINT', () => resolve()))
}
