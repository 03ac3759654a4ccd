// Makes the objects that the pictures show: runs, events, webhooks, keys and a bulk job, in an engine with a runner; and says
// which page has which picture.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from 'perdure/client'
import type { Page } from 'playwright-core'

export interface Picture {
  /** The path below the console's namespace. */
  path: string
  /** Acts on the page before the picture is taken. */
  act?(page: Page): Promise<void>
}

/** Long enough for the first orders to wait for approval and for the refused orders to fail. */
const SETTLE_MS = 6000
const POLL_MS = 250
const IMPORT_MS_MAX = 180_000

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

export interface Filled {
  pictures: Record<string, Picture>
  close(): void
}

export async function fill(client: Client, url: string): Promise<Filled> {
  const destination = await openDestination()
  const webhooks = await fillWebhooks(client, url, destination)
  const runs = await fillRuns(client)
  await client.createApiKey({ body: { kind: 'read', label: 'dashboard' } })
  await client.createApiKey({ body: { kind: 'event', label: 'web shop' } })
  const { bulkId } = await client.startBulk({
    body: { action: 'replay', filter: { workflow: 'process-order', status: 'failed', since: runs.since } },
  })
  const failed = await client.listRuns({ workflow: 'process-order', status: 'failed', limit: 1 })
  const bundle = Buffer.from(
    await (await fetch(`${url}/runs/${failed.items[0]?.id}/bundle`, { headers: KEYED })).text(),
  )
  const [delivery] = (await client.listWebhookDeliveries({ status: 'failed', limit: 1 })).items
  return {
    pictures: {
      ...runs.pictures,
      deliveries: { path: '/webhooks/deliveries' },
      delivery: { path: `/webhooks/deliveries/${delivery?.id}` },
      endpoint: { path: `/webhooks/endpoints/${webhooks.endpointId}` },
      receiver: { path: `/webhooks/receivers/${webhooks.receiverId}` },
      keys: { path: '/keys' },
      bulk: { path: `/bulk/${bulkId}` },
      bundle: {
        path: '/bundle',
        async act(page) {
          const file = { name: 'run.json', mimeType: 'application/json', buffer: bundle }
          await page.getByLabel('Bundle file').setInputFiles(file)
          await page.getByRole('treegrid').waitFor()
          for (const key of ['[', '[']) await page.keyboard.press(key)
        },
      },
    },
    close: () => destination.close(),
  }
}

export const SECRET_KEY = 'the secret key of the pictures'
const KEYED = { authorization: `Bearer ${SECRET_KEY}` }

/** A server on this machine that accepts posts to `/billing` and fails all others. */
async function openDestination(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isTaken = request.url === '/billing'
      response.writeHead(isTaken ? 200 : 503).end(isTaken ? 'thanks' : 'the queue of this service is full')
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function fillWebhooks(client: Client, url: string, destination: Server) {
  const { port } = destination.address() as AddressInfo
  const endpoint = (path: string, eventKinds: ('run.failed' | 'run.succeeded')[]) =>
    client.createWebhookEndpoint({ body: { url: `http://127.0.0.1:${port}/${path}`, eventKinds } })
  const { id: endpointId } = await endpoint('billing', ['run.succeeded', 'run.failed'])
  await endpoint('alerts', ['run.failed'])
  const receiver = await client.createWebhookReceiver({
    body: { name: 'pushes of the repository', scheme: 'github', eventName: 'repository.pushed' },
  })
  for (const signature of ['sha256=00', undefined]) {
    const headers = { 'content-type': 'application/json', 'x-github-delivery': '1', 'x-github-event': 'push' }
    const signed = signature === undefined ? headers : { ...headers, 'x-hub-signature-256': signature }
    await fetch(`${url}/webhooks/${receiver.slug}`, {
      method: 'POST',
      headers: signed,
      body: '{"ref":"refs/heads/main"}',
    })
  }
  return { endpointId, receiverId: receiver.id }
}

async function fillRuns(client: Client): Promise<{ pictures: Record<string, Picture>; since: string }> {
  const since = new Date().toISOString()
  const send = async (name: string, data: unknown) => {
    const { runId, eventId } = await client.sendEvent({ body: { name, data } })
    return { runId: runId ?? '', eventId: eventId ?? '' }
  }
  const imported = await send('rows.uploaded', { file: 'customers.csv' })
  await ended(client, imported.runId)
  const synced: string[] = []
  for (let n = 0; n < 46; n++) synced.push((await send('customer.changed', { customer: 'acct-17' })).runId)
  await fillLimits(send)
  await fireNightly(client)
  const started: { runId: string; eventId: string }[] = []
  for (let n = 1; n <= 9; n++) {
    const card = n % 3 === 0 ? { card: 'refused' } : {}
    started.push(await send('order.placed', { customer: `acct-${10 + (n % 4)}`, total: 20 * n, ...card }))
  }
  const offer = await send('offer.wanted', { customer: 'acct-12' })
  await client.putSchedule({
    id: 'weekly-report',
    body: { cron: '0 9 * * 1', timezone: 'Europe/Berlin', event: { name: 'report.weekly' } },
  })
  await pause(SETTLE_MS)
  const again = await client.replayRun({ id: offer.runId })
  await client.pauseRun({ id: synced.at(-1) ?? '' })
  const [order, refused] = [started[0], started[2]]
  const pictures: Record<string, Picture> = {
    run: { path: `/runs/${order?.runId}` },
    runs: { path: '/runs' },
    overview: { path: '/' },
    steps: { path: `/runs/${imported.runId}`, act: unfold },
    failed: { path: `/runs/${refused?.runId}?step=charge-card` },
    held: { path: `/runs/${synced[42]}` },
    diff: { path: `/runs/${again.id}?diff=${offer.runId}` },
    workflows: { path: '/workflows' },
    workflow: { path: '/workflows/shop/process-order' },
    events: { path: '/events' },
    event: { path: `/events/${order?.eventId}` },
    send: { path: `/events/send?like=${order?.eventId}` },
    schedules: { path: '/schedules' },
    limits: { path: '/limits' },
    runners: { path: '/runners' },
    errors: { path: '/errors' },
    audit: { path: '/audit' },
    engine: { path: '/engine' },
  }
  return { pictures, since }
}

type Send = (name: string, data: unknown) => Promise<unknown>

/** Events that a debounce and a batch collect, and runs of a singleton. */
async function fillLimits(send: Send): Promise<void> {
  for (let n = 0; n < 5; n++) await send('profile.viewed', { customer: 'acct-11' })
  for (let n = 0; n < 12; n++) await send('comment.written', { thread: 'roadmap', n })
  for (const warehouse of ['Berlin', 'Lyon']) await send('stock.counted', { warehouse })
}

/** Runs of the past for the schedule of the workflow. */
async function fireNightly(client: Client): Promise<void> {
  const { items } = await client.listSchedules({ source: 'workflow' })
  const [schedule] = items
  if (schedule === undefined) throw new Error('the workflow has no schedule')
  for (let n = 0; n < 3; n++) await client.fireSchedule({ id: schedule.id })
}

/** Waits for the end of the import. */
async function ended(client: Client, id: string): Promise<void> {
  const deadline = Date.now() + IMPORT_MS_MAX
  for (;;) {
    const { status } = await client.getRun({ id })
    if (status === 'succeeded') return
    if (status === 'failed' || Date.now() > deadline) throw new Error(`the import is ${status}`)
    await pause(POLL_MS)
  }
}

/** Unfolds one region of the import, zooms to it and selects its bad row. */
async function unfold(page: Page): Promise<void> {
  const region = page.getByRole('row', { name: /^import-delta-.* 1 failed/ })
  await region.click()
  for (const key of ['ArrowRight', 'z', 'n', '-', '-']) await page.keyboard.press(key)
  // A focus ring around the whole timeline would distort the picture.
  await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)')
}
