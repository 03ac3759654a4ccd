// The code of docs/cookbook.md. `cookbook.test.ts` runs it, and `snippets.test.ts` compares it with the page.

import { type createClient, createWorkflow, RetryAfterError, type WorkflowArgs } from '@perdure/sdk'

/** Effects of the recipes, in order. */
export const calls: string[] = []
const did = (what: string) => void calls.push(what)

const search = { index: async (documentId: string) => did(`index ${documentId}`) }
const crm = { sync: async (customer: string) => did(`sync ${customer}`) }
const mail = async (to: string, text: string) => did(`mail ${to}: ${text}`)
const reports = { build: async (from: string, until: string) => did(`report ${from} ${until}`) }
const warehouse = {
  reserve: async (order: string) => `shelf of ${order}`,
  release: async (at: string) => did(`release ${at}`),
}
const payments = { charge: async () => Promise.reject(new Error('declined')) }
const geocoder = { find: async (address: string) => ({ found: address.toUpperCase() }) }
const renderer = {
  polls: 0,
  start: async (video: string) => `job of ${video}`,
  async state(job: string) {
    return { done: ++this.polls % 3 === 0, url: `https://cdn.example/${job}` }
  },
}
const store = {
  rowsOf: async (_file: string) => 4500,
  importRows: async (_file: string, from: number) => did(`import ${from}`),
}

/** Answers of the provider, the next one first. */
export const answers: Response[] = []
const provider = async (_text: string) => answers.shift() ?? Response.json({ text: 'Bonjour' })

export const reindex = createWorkflow(
  {
    name: 'reindex',
    triggers: { event: 'document/edited' },
    debounce: { period: '5s', timeout: '1m', key: 'event.data.documentId' },
  },
  async ({ event, step }: WorkflowArgs<{ documentId: string }>) => {
    await step.run('index', () => search.index(event.data.documentId))
  },
)

export const syncCustomer = createWorkflow(
  {
    name: 'sync-customer',
    triggers: { event: 'customer/changed' },
    concurrency: { limit: 1, key: 'event.data.customer', hold: 'run' },
  },
  async ({ event, step }: WorkflowArgs<{ customer: string }>) => {
    await step.run('sync', () => crm.sync(event.data.customer))
    await step.sleep('settle', '10s')
    await step.run('check', () => crm.sync(event.data.customer))
  },
)

export const translate = createWorkflow(
  { name: 'translate', retry: { maxAttempts: 'unlimited', maxElapsed: '1d' } },
  ({ event, step }: WorkflowArgs<{ text: string }>) =>
    step.run('translate', async () => {
      const response = await provider(event.data.text)
      const after = response.headers.get('retry-after')
      if (after !== null) {
        // Seconds, or a date.
        const seconds = Number(after)
        throw new RetryAfterError(`HTTP ${response.status}`, Number.isNaN(seconds) ? new Date(after) : seconds * 1000)
      }
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      return (await response.json()) as { text: string }
    }),
)

export const geocode = createWorkflow(
  { name: 'geocode' },
  async ({ event, step }: WorkflowArgs<{ addresses: string[] }>) => {
    const options = { concurrency: 5, settle: true } as const
    const results = await step.map('find', event.data.addresses, address => geocoder.find(address), options)
    const found = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    return { found, failed: results.length - found.length }
  },
)

interface Night {
  scheduledAt: string
  previousAt?: string
}

export const nightly = createWorkflow(
  { name: 'nightly', triggers: { cron: 'TZ=Europe/Berlin 0 2 * * *' }, singleton: { mode: 'skip' } },
  async ({ event, step }: WorkflowArgs<Night>) => {
    const { scheduledAt, previousAt } = event.data
    const dayBefore = new Date(Date.parse(scheduledAt) - 86_400_000).toISOString()
    await step.run('build', () => reports.build(previousAt ?? dayBefore, scheduledAt))
  },
)

export const review = createWorkflow({ name: 'review' }, async ({ event, step }: WorkflowArgs<{ editor: string }>) => {
  const { editor } = event.data
  await step.run('ask', () => mail(editor, 'Please review'))
  for (let reminders = 0; reminders < 3; reminders++) {
    const verdict = await step.waitForSignal<{ ok: boolean }>('verdict', { signal: 'verdict', timeout: '2d' })
    if (verdict) return verdict.data.ok ? 'accepted' : 'refused'
    await step.run('remind', () => mail(editor, 'A review still waits for you'))
  }
  return 'nobody answered'
})

export const exportRows = createWorkflow(
  { name: 'export' },
  async ({ event, step, ctx }: WorkflowArgs<{ pages: number }>) => {
    for (let page = 0; page < event.data.pages; page++) {
      await step.run(`page ${page}`, async ({ stream }) => {
        await stream('log').write(`Page ${page} is written\n`)
      })
      ctx.progress({ done: page + 1, of: event.data.pages })
    }
  },
)

export const order = createWorkflow(
  { name: 'order', retry: { maxAttempts: 2 } },
  async ({ event, step }: WorkflowArgs<{ orderId: string }>) => {
    await step.run('reserve', () => warehouse.reserve(event.data.orderId), {
      rollback: shelf => warehouse.release(shelf),
    })
    await step.sleep('the customer may still cancel', '30m')
    await step.run('charge', () => payments.charge())
  },
)

/** Starts the run of an order. */
export async function startOnce(client: ReturnType<typeof createClient>, orderId: string) {
  const run = await client.start(order, { orderId }, { runId: `run_order-${orderId}` })
  return run.runId
}

export const limits = { crm: { limit: 2, period: '1s' } } as const

export const greet = createWorkflow({ name: 'greet' }, ({ event, step }: WorkflowArgs<{ customer: string }>) =>
  step.run('sync', () => crm.sync(event.data.customer), { limit: 'crm' }),
)

export const render = createWorkflow({ name: 'render' }, async ({ event, step }: WorkflowArgs<{ video: string }>) => {
  const job = await step.run('start', () => renderer.start(event.data.video))
  for (let poll = 0; poll < 100; poll++) {
    const { done, url } = await step.run('poll', () => renderer.state(job))
    if (done) return url
    await step.sleep('pause', `${Math.min(5 * 2 ** poll, 300)}s`)
  }
  throw new Error(`Job ${job} does not end`)
})

export const importPart = createWorkflow(
  { name: 'import-part', concurrency: { limit: 4 } },
  ({ event, step }: WorkflowArgs<{ file: string; from: number }>) =>
    step.run('import', () => store.importRows(event.data.file, event.data.from)),
)

export const importFile = createWorkflow(
  { name: 'import-file' },
  async ({ event, step }: WorkflowArgs<{ file: string }>) => {
    const { file } = event.data
    const rows = await step.run('count', () => store.rowsOf(file))
    const parts = Array.from({ length: Math.ceil(rows / 1000) }, (_, part) => ({ file, from: part * 1000 }))
    await Promise.all(parts.map(data => step.runWorkflow(`part ${data.from}`, { workflow: importPart, data })))
    return { rows, parts: parts.length }
  },
)

/** Replays the runs of a workflow that have failed since a time. */
export async function replayFailed(client: ReturnType<typeof createClient>, since: string) {
  const filter = { workflow: 'order', status: 'failed', endedSince: since } as const
  const { bulkId } = await client.startBulk({ body: { action: 'replay', filter } })
  return bulkId
}
