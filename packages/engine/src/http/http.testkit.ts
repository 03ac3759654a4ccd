// The faces of deps.ts as small fakes that remember what they were asked, and a clock the test moves. For the tests of this folder alone: the real store and services are tested elsewhere.

import type { AddressInfo } from 'node:net'
import type { RegisterRequest, SendEventReply } from '@perdure/protocol'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { onTestFinished } from 'vitest'
import { ConnectTransport } from '../adapters/connect/transport.ts'
import type { Event } from '../domain/model/event.ts'
import type { App, Workflow } from '../domain/model/workflow.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { RunView } from '../ports/store-reads.ts'
import { Live } from '../services/live/live.ts'
import type { Actor, ApiKey, HttpDeps, IncomingEvent, Readiness, RunnerView } from './access/deps.ts'
import { createApp } from './app.ts'
import type { HttpLimits } from './request/limits.ts'
import { Shelf } from './shelf.testkit.ts'

export { eventually, type OpenStream, openStream } from './live/stream.testkit.ts'
export { Shelf } from './shelf.testkit.ts'

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
  time = Date.parse('2024-05-06T07:08:09.010Z')
  readonly timers = new Set<{ time: number; fn: () => void }>()

  now(): number {
    return this.time
  }

  at(time: number, fn: () => void): () => void {
    const timer = { time, fn }
    this.timers.add(timer)
    return () => this.timers.delete(timer)
  }

  advance(ms: number): void {
    this.time += ms
    for (const timer of [...this.timers]) {
      if (timer.time <= this.time && this.timers.delete(timer)) timer.fn()
    }
  }
}

/** The faces, with everything they were asked and everything a test may set. */
export class Faces {
  readonly clock = new ManualClock()
  readonly shelves = new Map<string, Shelf>()
  readonly sent: { namespace: string; event: IncomingEvent }[] = []
  readonly registered: { namespace: string; request: RegisterRequest }[] = []
  readonly acted: { action: string; actor: Actor; args: unknown[] }[] = []
  readonly live = new Live()
  readonly connect = new ConnectTransport({ clock: this.clock })
  readonly logged: Record<string, unknown>[] = []
  readonly keys = new Map<string, ApiKey>()
  readonly keyListeners = new Set<() => void>()
  corsOrigins: string[] = []
  apps: App[] = []
  runners: RunnerView[] = []
  workflows: Workflow[] = []
  readiness: () => Promise<Readiness> = async () => ({
    ready: true,
    checks: { store: 'ok' },
    draining: false,
  })
  send: () => Promise<SendEventReply> = async () => ({ eventId: 'evt_1', woke: 0, triggered: [] })
  control: () => Promise<RunView> = async () => aRun()

  shelf(namespace = 'default'): Shelf {
    const shelf = this.shelves.get(namespace) ?? new Shelf()
    this.shelves.set(namespace, shelf)
    return shelf
  }

  addKey(secret: string, key: Partial<ApiKey>): void {
    this.keys.set(secret, { label: secret, namespace: 'default', kind: 'secret', ...key })
  }

  /** As the key ring does when it has changed. */
  tellKeys(): void {
    for (const tell of this.keyListeners) tell()
  }

  ring(runId: string): void {
    this.live.runs.publish(runId, undefined)
  }

  deps(logLevel: string): HttpDeps {
    const act =
      (action: string) =>
      (actor: Actor, ...args: unknown[]): Promise<RunView> => {
        this.acted.push({ action, actor, args })
        return this.control()
      }
    const faces = this
    return {
      store: { in: (namespace: string) => this.shelf(namespace) } as Partial<Store> as Store,
      ingest: {
        send: (namespace, event) => {
          this.sent.push({ namespace, event })
          return this.send()
        },
      },
      dryRun: async () => ({ dryRun: true, waiters: 0, workflows: [] }),
      explain: async () => undefined,
      registry: {
        register: async (namespace, request, onRegistered) => {
          this.registered.push({ namespace, request })
          const runnerId = request.runner ?? request.url
          const beat = { heartbeatMs: 30_000, staleAfterMs: 90_000 }
          const workflows = request.workflows.length
          const reply = { ok: true, protocolVersion: 1, runnerId, workflows, ...beat, warnings: [] } as const
          onRegistered?.({ ...reply, warnings: [] })
          return { ...reply, warnings: [] }
        },
        forget: async () => {},
        apps: namespace => this.apps.filter(app => app.namespace === namespace),
        runners: (namespace, app) =>
          this.runners.filter(runner => runner.namespace === namespace && (!app || runner.app === app)),
        workflows: async (namespace, app) =>
          this.workflows
            .filter(flow => flow.namespace === namespace && (!app || flow.app === app))
            .map(flow => ({ ...flow, schedules: [] })),
      },
      control: {
        assertActive: () => {},
        cancel: act('cancel'),
        pause: act('pause'),
        resume: act('resume'),
        replay: act('replay'),
        retryFromStep: act('retryFromStep'),
        bulkReplay: async (actor, filter) => {
          this.acted.push({ action: 'bulkReplay', actor, args: [filter] })
          return { matched: 3, replayed: 1, skipped: 1, failed: 1, capped: false }
        },
      },
      endpoints: {
        list: () => [],
        create: () => Promise.reject(new Error('not here')),
        update: () => Promise.reject(new Error('not here')),
        delete: () => Promise.reject(new Error('not here')),
      },
      receivers: {
        list: () => [],
        create: () => Promise.reject(new Error('not here')),
        update: () => Promise.reject(new Error('not here')),
        delete: () => Promise.reject(new Error('not here')),
      },
      deliveries: { redeliver: () => Promise.reject(new Error('not here')) },
      inbound: { receive: () => Promise.reject(new Error('not here')) },
      live: this.live,
      readiness: () => this.readiness(),
      metrics: async namespace => `# of ${namespace}\n`,
      connections: this.connect,
      sign: () => 'v0',
      keys: {
        get open() {
          return faces.keys.size === 0
        },
        find: secret => this.keys.get(secret),
        onChange: tell => {
          this.keyListeners.add(tell)
          return () => this.keyListeners.delete(tell)
        },
      },
      corsOrigins: this.corsOrigins,
      clock: this.clock,
      log: pino({ level: logLevel }, { write: line => this.logged.push(JSON.parse(line)) }),
    }
  }

  /** How many listeners the open streams have. */
  get listening(): number {
    return this.live.runs.size + this.live.moves.size + this.live.events.size
  }
}

export interface TestApp {
  app: FastifyInstance
  faces: Faces
}

/** An app on fresh fakes, closed when the test ends. */
export function testApp(
  options: { logLevel?: string; limits?: Partial<HttpLimits>; corsOrigins?: string[] } = {},
): TestApp {
  const faces = new Faces()
  faces.corsOrigins = options.corsOrigins ?? []
  const app = createApp(faces.deps(options.logLevel ?? 'silent'), options.limits)
  onTestFinished(() => app.close())
  return { app, faces }
}

/** Opens a port for the app; answers the number. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Posts a body exactly as given, as JSON. */
export function postJson(app: FastifyInstance, url: string, payload: string | Buffer, headers = {}) {
  return app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** Status and code of an error answer, having checked the shape of its body. */
export function refusal(response: { statusCode: number; body: string; headers: object }): string {
  const { error, ...rest } = JSON.parse(response.body)
  const complete = Object.keys(rest).length === 0 && typeof error.message === 'string' && error.message !== ''
  const { 'x-request-id': requestId } = response.headers as Record<string, unknown>
  if (!complete || typeof error.requestId !== 'string' || error.requestId !== requestId) {
    throw new Error(`not an error body: ${response.body}`)
  }
  return `${response.statusCode} ${error.code}`
}

/** The message of an error answer. */
export function messageOf(response: { body: string }): string {
  return JSON.parse(response.body).error.message
}

export function aRun(fields: Partial<RunView> = {}): RunView {
  return {
    namespace: 'default',
    id: 'run_1',
    workflow: 'checkout',
    app: 'shop',
    status: 'queued',
    triggerKind: 'event',
    trigger: { id: 'evt_1', name: 'order/created' },
    attempt: 1,
    transportTries: 0,
    createdAt: Date.parse('2024-01-02T03:04:05.678Z'),
    fence: 7,
    leaseOwner: 'engine-1',
    ...fields,
  }
}

export function anEvent(fields: Partial<Event> = {}): Event {
  const receivedAt = Date.parse('2024-01-02T03:04:05.678Z')
  return {
    namespace: 'default',
    id: 'evt_1',
    name: 'order/created',
    source: 'api',
    receivedAt,
    woke: 0,
    triggered: [],
    ...fields,
  }
}
