// `npm run demo`: an engine, a runner and a webhook sink; sends an order, shows its run live, approves it, and tells
// where to look next. `--stay` keeps everything running.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@perdure/sdk'
import { startEngine, startRunner } from './processes.ts'
import { followRun, heading, note } from './show.ts'

const stay = process.argv.includes('--stay')
const engine = await startEngine()
const runner = await startRunner(engine.url)
const sink = await startSink()
try {
  await order()
  lookNext()
  if (stay) await untilInterrupted()
} finally {
  sink.server.close()
  await runner.stop()
  await engine.stop()
}

async function order(): Promise<void> {
  const client = createClient({ url: engine.url })
  heading('An event starts a run')
  const data = { orderId: 'A-1001', item: 'espresso machine', amount: 349, notifyUrl: sink.url }
  const { eventId, runId } = await client.send({ name: 'order.placed', data })
  if (runId === undefined) throw new Error('The event started no run.')
  note(`POST /events {"name":"order.placed"} -> event ${eventId}, run ${runId}`)

  heading('Its timeline, live')
  let approved = false
  for await (const frame of followRun(engine.url, runId)) {
    if (frame.kind !== 'step_status' || frame.name !== 'approval' || frame.status !== 'waiting' || approved)
      continue
    approved = true
    note('the run waits for an event: sending order.approved')
    const { woke } = await client.send({ name: 'order.approved', data: { by: 'ada' } })
    note(`POST /events {"name":"order.approved"} -> woke ${woke}`)
  }

  heading('Its result')
  const run = (await (await fetch(`${engine.url}/runs/${runId}`)).json()) as {
    status: string
    result: unknown
  }
  process.stdout.write(`${JSON.stringify(run.result, null, 2)}\n`)
  if (run.status !== 'succeeded') throw new Error(`The run ended as ${run.status}.`)
  note(`the warehouse's webhook received ${JSON.stringify(await sink.received)}`)
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

/** Somebody else's server: takes the webhook the workflow sends. */
async function startSink(): Promise<{ url: string; server: Server; received: Promise<unknown> }> {
  let deliver: (body: unknown) => void = () => {}
  const received = new Promise<unknown>(resolve => {
    deliver = resolve
  })
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    response.end()
    deliver(JSON.parse(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  return { url, server, received }
}

function untilInterrupted(): Promise<void> {
  note('running until Ctrl-C')
  return new Promise(resolve => process.once('SIGINT', () => resolve()))
}
