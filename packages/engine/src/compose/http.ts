// The HTTP interface over all parts, and the services that only it calls.

import { recipientOf, signBody, signFor } from '@perdure/protocol'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { acceptancePermits } from '../http/access/accept.ts'
import { createApp } from '../http/app.ts'
import { HTTP_LIMITS, type HttpLimits } from '../http/request/limits.ts'
import { consoleFiles } from '../http/response/console-files.ts'
import type { Engines } from '../services/admin/engines.ts'
import { readGauges } from '../services/admin/gauges.ts'
import type { Health } from '../services/admin/health.ts'
import { Release } from '../services/admin/release.ts'
import { SharedViews } from '../services/admin/views.ts'
import { Buffers } from '../services/event/buffers.ts'
import { DryRun } from '../services/event/dry-run.ts'
import type { Ingest } from '../services/event/ingest.ts'
import { Redrive } from '../services/event/redrive.ts'
import { ScheduledEvents } from '../services/event/scheduled-events.ts'
import type { Schedules } from '../services/event/schedules.ts'
import { EventWhy } from '../services/event/why.ts'
import type { MessagePermits } from '../services/pass/permits/message-permits.ts'
import { Deletion } from '../services/registry/deletion.ts'
import { WorkflowControl } from '../services/registry/workflow-control.ts'
import { AwaitChange } from '../services/run/await-change.ts'
import { Budgets } from '../services/run/budgets.ts'
import { Bulk } from '../services/run/bulk.ts'
import { Callbacks } from '../services/run/callbacks.ts'
import { Control } from '../services/run/control.ts'
import { Erasure } from '../services/run/erase.ts'
import { ErrorStates } from '../services/run/error-states.ts'
import { Passes } from '../services/run/passes.ts'
import { RunResults } from '../services/run/results.ts'
import { RunningSteps } from '../services/run/running-steps.ts'
import { Settlements } from '../services/run/settle.ts'
import { Signals } from '../services/run/signals.ts'
import { Starts } from '../services/run/start.ts'
import { RunWhy } from '../services/run/why.ts'
import type { AdminPart } from './admin.ts'
import type { EngineCore } from './core.ts'
import type { RunnersPart } from './runners.ts'
import type { createTimers, RunsPart } from './runs.ts'
import type { WebhooksPart } from './webhooks.ts'

export interface HttpParts {
  core: EngineCore
  admin: AdminPart
  messages: MessagePermits
  runners: RunnersPart
  runs: RunsPart
  webhooks: WebhooksPart
  timers: ReturnType<typeof createTimers>
  ingest: Ingest
  schedules: Schedules
  health: Health
  engines: Engines
}

/** How much of each kind of work the engine has under way. */
export function permitsOf({ runs, webhooks, timers }: Pick<HttpParts, 'runs' | 'webhooks' | 'timers'>) {
  return { runs: runs.driver.permits, deliveries: webhooks.work.permits, timers: timers.work.permits }
}

export function createHttp(config: Config, parts: HttpParts, limits?: Partial<HttpLimits>): FastifyInstance {
  const { core, admin, messages, runners, runs, webhooks, timers, ingest, schedules, health, engines } = parts
  const { registry, connections, load, transport } = runners
  const { driver, giveUp, interrupt, withdraw, httpCheckpoints, anotherPass } = runs
  const { bulkReplayLimit, signingKeys: keys, corsOrigins } = config
  const runWhy = new RunWhy({
    ...core,
    isLive: runner => registry.isLive(runner),
    lastFailureOf: runner => load.of(runner)?.lastFailure,
    passOf: runId => driver.passOf(runId),
    runningOf: runId => driver.runningOf(runId),
    waitsForRunnerRoom: run => driver.waitsForRunnerRoom(run),
    waitsForMemory: runId => driver.waitsForMemory(runId),
  })
  const waitersMax = limits?.waitersMax ?? HTTP_LIMITS.waitersMax
  const memory = {
    get runs() {
      return driver.permits.memory
    },
    messages,
  }
  const acceptance = acceptancePermits(() => driver.permits.isFull, limits)
  const gauges = { ...core, acceptance, memory, permits: permitsOf({ runs, webhooks, timers }), connections, health }
  const dryRun = new DryRun(core)
  const runningSteps = new RunningSteps({ ...core, bus: core.backends.bus, here: runId => driver.runningOf(runId) })
  return createApp({
    ...core,
    ...servicesOf(core),
    ...webhooks,
    ingest,
    schedules,
    dryRun,
    eventWhy: new EventWhy({ ...core, dryRun }),
    results: new RunResults({
      ...core,
      waitersMax,
      isShared: core.backends.isShared,
      isDriven: runId => driver.drives(runId),
    }),
    runWhy,
    runningSteps,
    passes: new Passes({ ...core, passOf: runId => driver.passOf(runId) }),
    registry,
    loadOf: runner => ({ ...load.of(runner), room: transport.room?.(runner.url) }),
    deletion: new Deletion({ ...core, isLive: runner => registry.isLive(runner) }),
    httpCheckpoints,
    anotherPass,
    starts: new Starts({ ...core, driver }),
    settlements: new Settlements({ ...core, runningSteps, giveUp }),
    signals: new Signals({ ...core, ingest, awaitChange: new AwaitChange({ ...core, ...core.backends, waitersMax }) }),
    control: new Control({ ...core, bulkReplayLimit, interrupt, withdraw }),
    health,
    engines,
    metrics: async of => core.metrics.text(of, await readGauges(gauges, of), core.catalog.view(of).workflows()),
    connections,
    messages,
    proof: (nonce, host) => {
      const signed = { keys, body: nonce, nowMs: core.clock.now() }
      if (host === undefined) return signBody(signed)
      return signFor({ ...signed, purpose: 'connect', recipient: recipientOf(host) })
    },
    ...admin,
    acceptance,
    isSuspended: namespace => core.namespaces.isSuspended(namespace),
    storeKind: config.store.kind,
    bulkReplayLimit,
    corsOrigins,
    console: consoleOf(config),
    openLimits: config.limits,
    limits,
  })
}

/** The URL under which runners reach the engine: the configured one, else the URL of its socket for this machine. */
export function addressOf({ publicUrl, host, port }: Config, { server }: FastifyInstance): () => string {
  let found = publicUrl?.replace(/\/+$/, '')
  return () => {
    if (found !== undefined) return found
    const bound = server.address()
    if (typeof bound !== 'object' || bound === null) return urlOf(host, port)
    found = urlOf(bound.address, bound.port)
    return found
  }
}

function urlOf(host: string, port: number): string {
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function consoleOf({ console: isOn, consolePayloads, publicUrl }: Config) {
  const files = isOn ? consoleFiles() : undefined
  const prefix = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
  return files && { files, prefix, hidesPayloads: !consolePayloads }
}

/** The services that need only the core. */
function servicesOf(core: EngineCore) {
  return {
    scheduledEvents: new ScheduledEvents(core),
    buffers: new Buffers(core),
    redrive: new Redrive(core),
    bulk: new Bulk(core),
    workflowControl: new WorkflowControl(core),
    erasure: new Erasure(core),
    errorStates: new ErrorStates(core),
    views: new SharedViews(core),
    callbacks: new Callbacks(core),
    budgets: new Budgets(core),
    release: new Release(core),
  }
}
