// Apps, runners and workflow definitions on the wire. A runner shows the fingerprint of its key, never the key.

import { createHash } from 'node:crypto'
import type { PastDefinition, App as WireApp, Runner as WireRunner, WorkflowDefinition } from '@perdure/protocol'
import type { Budget } from '../../../domain/model/budget/budget.ts'
import type { App, Defined, Definition, KeptDefinition } from '../../../domain/model/workflow.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { Registry } from '../../../services/registry/register.ts'
import type { HttpDeps } from '../../access/deps.ts'

/** Equal for runners that serve the same workflows with the same definitions. */
function hashOf(workflows: readonly string[], definitions: readonly Definition[]): string {
  const pairs = workflows.map((name, i) => JSON.stringify([name, definitions[i]?.digest]))
  return createHash('sha256').update(pairs.sort().join('\n')).digest('base64url').slice(0, 12)
}

type ListedRunner = ReturnType<Registry['runners']>[number]
export type ListedWorkflow = Awaited<ReturnType<Registry['workflows']>>[number]

export function presentApp(app: App): WireApp {
  return { name: app.name, createdAt: timestamp(app.createdAt) }
}

export function presentRunner(runner: ListedRunner, load: ReturnType<HttpDeps['loadOf']>): WireRunner {
  const { workflows, definitions = [] } = runner
  const { inFlight = 0, passesPerMin = 0, p95Ms, failures = 0, lastFailure, room } = load
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
    workflows: workflows.map((name, i) => ({ name, definitionHash: definitions[i]?.digest })),
    definitionHash: definitions.length === 0 ? undefined : hashOf(workflows, definitions),
    inFlight,
    room,
    passesPerMin,
    p95Ms,
    failures,
    lastFailure: lastFailure && { at: timestamp(lastFailure.at), message: lastFailure.message },
  }
}

export function presentWorkflow(workflow: ListedWorkflow): WorkflowDefinition {
  return {
    name: workflow.name,
    app: workflow.app,
    ...presentDefined(workflow),
    scheduled: workflow.triggers.some(trigger => trigger.cron !== undefined),
    schedules: workflow.schedules.map(({ cron, timezone, nextRunAt, lastRunAt, lastRunId, paused }) => ({
      cron,
      timezone,
      nextRunAt: timestamp(nextRunAt),
      lastRunAt: optionalTimestamp(lastRunAt),
      lastRunId,
      paused,
    })),
    updatedAt: timestamp(workflow.updatedAt),
    pausedAt: optionalTimestamp(workflow.pausedAt),
    limits: workflow.limits && { ...workflow.limits },
  }
}

export function presentDefinition({ hash, registeredAt, runner, definition }: KeptDefinition): PastDefinition {
  return { hash, registeredAt: timestamp(registeredAt), runner, definition: presentDefined(definition) }
}

function presentDefined(defined: Defined): PastDefinition['definition'] {
  const { maxAttempts, initialMs, factor, maxMs, jitter, maxElapsedMs, nonRetriable } = defined.retry
  return {
    retry: { maxAttempts, initialMs, factor, maxMs, jitter, maxElapsedMs, nonRetriable },
    triggers: defined.triggers,
    flowControl: defined.flowControl && { ...defined.flowControl },
    onFailure: defined.onFailure,
    cleanup: defined.cleanup,
    handlerRetries: defined.handlerRetries,
    whenExhausted: defined.whenExhausted,
    retention: defined.retention && { ...defined.retention },
    budget: defined.budget && presentBudget(defined.budget),
    description: defined.description,
    input: defined.input as PastDefinition['definition']['input'],
    tool: defined.tool,
    attributes: defined.attributes,
    inheritAttributes: defined.inheritAttributes,
  }
}

function presentBudget({ limits, whenExceeded }: Budget): NonNullable<PastDefinition['definition']['budget']> {
  return whenExceeded === undefined ? limits : { ...limits, whenExceeded }
}
