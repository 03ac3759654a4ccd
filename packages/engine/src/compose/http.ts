// The HTTP interface over all parts, and the services that only it calls.

import { signBody } from '@perdure/protocol'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { createApp } from '../http/app.ts'
import type { HttpLimits } from '../http/request/limits.ts'
import { readGauges } from '../services/admin/gauges.ts'
import type { Health } from '../services/admin/health.ts'
import { DryRun } from '../services/event/dry-run.ts'
import type { Ingest } from '../services/event/ingest.ts'
import { Control } from '../services/run/control.ts'
import { Explain } from '../services/run/explain.ts'
import type { AdminPart } from './admin.ts'
import type { EngineCore } from './core.ts'
import type { RunnersPart } from './runners.ts'
import type { RunsPart } from './runs.ts'
import type { WebhooksPart } from './webhooks.ts'
import type { WorkPart } from './work.ts'

export interface HttpParts {
  core: EngineCore
  admin: AdminPart
  runners: RunnersPart
  runs: RunsPart
  webhooks: WebhooksPart
  timers: WorkPart
  ingest: Ingest
  readiness: Health
}

export function createHttp(config: Config, parts: HttpParts, limits?: Partial<HttpLimits>): FastifyInstance {
  const { core, admin, runners, runs, webhooks, ingest, readiness } = parts
  const { store, clock, log, live, metrics } = core
  const { registry, connections } = runners
  const { driver, interrupt, withdraw } = runs
  const { endpoints, deliveries, receivers, inbound } = webhooks
  const { bulkReplayLimit, signingKeys: keys, corsOrigins } = config
  const explain = new Explain({
    ...core,
    isLive: runner => registry.isLive(runner),
    passOf: runId => driver.passOf(runId),
    waitsForRunnerRoom: runId => driver.waitsForRunnerRoom(runId),
  })
  const assertActive = (namespace: string) => admin.namespaces.assertActive(namespace)
  return createApp({
    store,
    ingest,
    dryRun: new DryRun(core),
    explain,
    registry,
    control: new Control({ ...core, bulkReplayLimit, assertActive, interrupt, withdraw }),
    endpoints,
    deliveries,
    receivers,
    inbound,
    live,
    health: readiness,
    metrics: async namespace => metrics.text(namespace, await readGauges(gaugesOf(parts))),
    connections,
    sign: body => signBody({ keys, body, nowMs: clock.now() }),
    keys: admin.keys,
    corsOrigins,
    limits,
    clock,
    log,
  })
}

function gaugesOf({ core, runners, runs, webhooks, timers, readiness }: HttpParts) {
  return {
    ...core,
    capacities: { runs: runs.capacity, deliveries: webhooks.capacity, timers: timers.capacity },
    sockets: () => runners.connections.size,
    readiness: () => readiness.check(),
    limiterEntries: () => core.limiter.entries,
  }
}
