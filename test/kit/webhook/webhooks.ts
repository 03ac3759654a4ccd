// Shared by the tests of outbound webhooks: keys of two namespaces, and calls that create endpoints and read deliveries.

import { HttpSender } from '../../../packages/engine/src/adapters/sender/http-sender.ts'
import type { Clock } from '../../../packages/engine/src/ports/clock.ts'
import type { Sender } from '../../../packages/engine/src/ports/sender.ts'
import type { Api } from '../http/api.ts'
import { PlainRunner } from '../runner/plain-runner.ts'
import { returned } from '../runner/wire.ts'
import { unique } from '../temp.ts'
import { until } from '../until.ts'

export const SECRET_KEY = 'secret-key-of-default-0123456789'
export const READ_KEY = 'read-key-of-default-0123456789'
export const OTHER_KEY = 'secret-key-of-other-0123456789'
export const API_KEYS = JSON.stringify([
  { label: 'ops', namespace: 'default', kind: 'secret', key: SECRET_KEY },
  { label: 'reader', namespace: 'default', kind: 'read', key: READ_KEY },
  { label: 'elsewhere', namespace: 'other', kind: 'secret', key: OTHER_KEY },
])

export interface DeliveryRecord {
  id: string
  app: string
  endpointId?: string
  url: string
  eventKind: string
  sourceRunId?: string
  payload: unknown
  status: string
  attemptCount: number
  maxAttempts: number
  lastStatusCode?: number
  nextAttemptAt?: string
  createdAt: string
  updatedAt: string
  attempts: AttemptRecord[]
}

export interface AttemptRecord {
  id: string
  attempt: number
  outcome: string
  statusCode?: number
  responseSnippet?: string
  error?: string
  durationMs: number
  createdAt: string
}

/** The engine's sender with a shorter deadline, because the deadline of a POST runs in real time. */
export function hastySender(clock: Clock, timeoutMs: number): Sender {
  const sender = new HttpSender({ clock, allowPrivate: true })
  return {
    send: call => sender.send({ ...call, timeoutMs: Math.min(call.timeoutMs, timeoutMs) }),
    close: () => sender.close(),
  }
}

/** Webhook endpoints and deliveries over the HTTP interface. */
export class Webhooks {
  readonly api: Api

  constructor(api: Api) {
    this.api = api
  }

  async endpoint(fields: Record<string, unknown>): Promise<{ id: string; secret: string }> {
    const { status, text, json } = await this.api.post('/webhook-endpoints', {
      eventKinds: ['run.succeeded'],
      ...fields,
    })
    if (status !== 201) throw new Error(`the endpoint was refused: ${status} ${text}`)
    return json as { id: string; secret: string }
  }

  async edit(id: string, fields: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { status, text, json } = await this.api.request('PATCH', `/webhook-endpoints/${id}`, {
      body: JSON.stringify(fields),
      headers: { 'content-type': 'application/json' },
    })
    if (status !== 200) throw new Error(`the edit was refused: ${status} ${text}`)
    return json as Record<string, unknown>
  }

  /** Runs a workflow of the app to its end, `count` times; returns the run ids. */
  async runs(app: string, count = 1): Promise<string[]> {
    const name = unique('notified')
    const runner = await new PlainRunner({
      app,
      workflows: { [name]: () => returned({ ok: true }) },
    }).listen()
    await runner.register(this.api)
    const sent = await Promise.all(Array.from({ length: count }, () => this.api.send({ name, app })))
    return Promise.all(sent.map(async ({ runId }) => (await this.api.succeeded(runId)).id))
  }

  async list(query: string): Promise<DeliveryRecord[]> {
    const { status, text, json } = await this.api.get(`/webhook-deliveries${query}`)
    if (status !== 200) throw new Error(`the list answered ${status} ${text}`)
    return json as DeliveryRecord[]
  }

  async delivery(id: string): Promise<DeliveryRecord> {
    const { status, text, json } = await this.api.get(`/webhook-deliveries/${id}`)
    if (status !== 200) throw new Error(`the delivery answered ${status} ${text}`)
    return json as DeliveryRecord
  }

  /** Resolves with the delivery once it has the status after this many attempts. */
  reaches(id: string, status: string, attempts: number): Promise<DeliveryRecord> {
    return until(
      async () => {
        const delivery = await this.delivery(id)
        return delivery.status === status && delivery.attemptCount === attempts && delivery
      },
      { what: `delivery ${id} ${status} after ${attempts} attempts` },
    )
  }

  /** Ends one run of a new app with an endpoint at `url`; returns the one delivery that follows. */
  async deliverOne(url: string, fields: Record<string, unknown> = {}): Promise<Delivered> {
    const app = unique('app')
    const { id: endpointId, secret } = await this.endpoint({ app, url, ...fields })
    const [runId] = await this.runs(app)
    const [delivery] = await until(
      async () => {
        const found = await this.list(`?app=${app}`)
        return found.length === 1 && found
      },
      { what: 'the delivery' },
    )
    return { app, endpointId, secret, runId: runId as string, id: (delivery as DeliveryRecord).id }
  }
}

export interface Delivered {
  app: string
  endpointId: string
  secret: string
  runId: string
  id: string
}
