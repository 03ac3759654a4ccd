// The HTTP interface over all parts, and the services that only it calls.

import { recipientOf, signBody, signFor } from '@perdure/protocol'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'
import { createApp } from '../http/app.ts'
import type { HttpLimits } from '../http/request/limits.ts'
import { consoleFiles } from '../http/response/console-files.ts'
import { readGauges } from '../services/admin/gauges.ts'
import type { Health } from '../services/admin/health.ts'
import { DryRun } from '../services/event/dry-run.ts'
import type { Ingest } from '../services/event/ingest.ts'
import { ScheduledEvents } from '../services/event/scheduled-events.ts'
import type { Schedules } from '../services/event/schedules.ts'
import { WorkflowControl } from '../services/registry/workflow-control.ts'
import { Bulk } from '../services/run/bulk.ts'
import { Control } from '../services/run/control.ts'
import { Erasure } from '../services/run/erase.ts'
import { Explain } from '../services/run/explain.ts'
import { Passes } from '../services/run/passes.ts'
import { Trees } from '../services/run/tree.ts'
import type { AdminPart } from './admin.ts'
import type { EngineCore } from './core.ts'
import type { RunnersPart } from './runners.ts'
import type { createTimers, RunsPart } from './runs.ts'
import type { WebhooksPart } from './webhooks.ts'

export interface HttpParts {
  core: EngineCore
  admin: AdminPart
  runners: RunnersPart
  runs: RunsPart
  webhooks: WebhooksPart
  timers: ReturnType<typeof createTimers>
  ingest: Ingest
  schedules: Schedules
  health: Health
}

export function createHttp(config: Config, parts: HttpParts, limits?: Partial<HttpLimits>): FastifyInstance {
  const { core, admin, runners, runs, webhooks, timers, ingest, schedules, health } = parts
  const { registry, connections } = runners
  const { driver, interrupt, withdraw } = runs
  const { bulkReplayLimit, signingKeys: keys, corsOrigins } = config
  const explain = new Explain({
    ...core,
    isLive: runner => registry.isLive(runner),
    passOf: runId => driver.passOf(runId),
    waitsForRunnerRoom: run => driver.waitsForRunnerRoom(run),
  })
  const assertActive = (namespace: string) => admin.namespaces.assertActive(namespace)
  const capacities = {
    runs: driver.capacity,
    deliveries: webhooks.work.capacity,
    timers: timers.work.capacity,
  }
  const gauges = { ...core, capacities, connections, health }
  return createApp({
    ...core,
    ...webhooks,
    ingest,
    scheduledEvents: new ScheduledEvents({ ...core, ingest }),
    schedules,
    dryRun: new DryRun(core),
    explain,
    trees: new Trees(core),
    passes: new Passes({ ...core, passOf: runId => driver.passOf(runId) }),
    registry,
    workflowControl: new WorkflowControl(core),
    erasure: new Erasure(core),
    bulk: new Bulk({ ...core, assertActive }),
    control: new Control({ ...core, bulkReplayLimit, assertActive, interrupt, withdraw }),
    health,
    metrics: async namespace => core.metrics.text(namespace, await readGauges(gauges)),
    connections,
    proof: (nonce, host) => {
      const signed = { keys, body: nonce, nowMs: core.clock.now() }
      return host === undefined
        ? signBody(signed)
        : signFor({ ...signed, purpose: 'connect', recipient: recipientOf(host) })
    },
    ...admin,
    isSuspended: namespace => admin.namespaces.isSuspended(namespace),
    storeKind: config.store.kind,
    bulkReplayLimit,
    corsOrigins,
    console: consoleOf(config),
    openLimits: config.limits,
    limits,
  })
}

function consoleOf({ console: isOn, publicUrl }: Config) {
  const files = isOn ? consoleFiles() : undefined
  return files && { files, prefix: publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '') }
}
