// Apps, runners and workflow definitions on the wire. A runner shows the fingerprint of its key, never the key.

import type { App as WireApp, Runner as WireRunner, WorkflowDefinition } from '@perdure/protocol'
import type { App } from '../../../domain/model/workflow.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { Registry } from '../../../services/registry/register.ts'

type ListedRunner = ReturnType<Registry['runners']>[number]
export type ListedWorkflow = Awaited<ReturnType<Registry['workflows']>>[number]

export function presentApp(app: App): WireApp {
  return { name: app.name, createdAt: timestamp(app.createdAt) }
}

export function presentRunner(runner: ListedRunner): WireRunner {
  return {
    runnerId: runner.runnerId,
    app: runner.app,
    url: runner.url,
    framework: runner.framework,
    runtime: runner.runtime,
    language: runner.language,
    sdkName: runner.sdkName,
    version: runner.version,
    region: runner.region,
    keyFingerprint: runner.keyFingerprint,
    keyMatches: runner.keyMatches,
    lastSeenAt: timestamp(runner.lastSeenAt),
    live: runner.live,
  }
}

export function presentWorkflow(workflow: ListedWorkflow): WorkflowDefinition {
  const { maxAttempts, initialMs, factor, maxMs, jitter } = workflow.retry
  return {
    name: workflow.name,
    app: workflow.app,
    retry: { maxAttempts, initialMs, factor, maxMs, jitter },
    triggers: workflow.triggers,
    scheduled: workflow.triggers.some(trigger => trigger.cron !== undefined),
    schedules: workflow.schedules.map(({ cron, timezone, nextRunAt, lastRunAt, lastRunId, paused }) => ({
      cron,
      timezone,
      nextRunAt: timestamp(nextRunAt),
      lastRunAt: optionalTimestamp(lastRunAt),
      lastRunId,
      paused,
    })),
    flowControl: workflow.flowControl && { ...workflow.flowControl },
    onFailure: workflow.onFailure,
    handlerRetries: workflow.handlerRetries,
    whenExhausted: workflow.whenExhausted,
    updatedAt: timestamp(workflow.updatedAt),
    pausedAt: optionalTimestamp(workflow.pausedAt),
  }
}
