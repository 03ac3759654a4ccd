// `npm run demo`: starts an engine, a runner and a webhook sink, sends an order, shows its run live, approves it, and
// lists commands to continue with. `--stay` keeps everything running.

import { createClient } from 'perdure/client'
import { startEngine, startRunner } from '../shared/processes.ts'
import { followRun, heading, note } from '../shared/show.ts'
import { openSink } from '../shared/sink.ts'

const stay = process.argv.includes('--stay')
const engine = await startEngine()
const runner = await startRunner(new URL('./runner.ts', import.meta.url), { ENGINE_URL: engine.url })
const sink = await openSink()
try {
  lookNext(await order())
  if (stay) await untilInterrupted()
} finally {
  sink.close()
  await runner.stop()
  await engine.stop()
}

async function order(): Promise<string> {
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
  return runId
}

/** Lists commands to try now. Without `--stay` the engine stops in a moment, so the list has no command that needs it. */
function lookNext(runId: string): void {
  heading('Where to look next')
  const order = { orderId: 'A-1002', item: 'grinder', amount: 89, notifyUrl: sink.url }
  process.stdout.write(`  the workflow                   examples/order/workflows.ts
  write your own                 README.md, "Twenty lines of your own"\n`)
  if (!stay) process.stdout.write('  keep the engine running        npm run demo -- --stay\n')
  else
    process.stdout.write(`
The run in the console:  ${engine.url}/console/go/${runId}

In another terminal, in this folder:

  export ENGINE_URL=${engine.url}
  node_modules/.bin/perdure runs list
  node_modules/.bin/perdure runs steps ${runId}
  node_modules/.bin/perdure events send order.placed --data '${JSON.stringify(order)}'
  node_modules/.bin/perdure events send order.approved --data '{"by": "grace"}'
  curl $ENGINE_URL/runs\n\n`)
}

function untilInterrupted(): Promise<void> {
  note('running until Ctrl-C')
  return new Promise(resolve => process.once('SIGINT', () => resolve()))
}
