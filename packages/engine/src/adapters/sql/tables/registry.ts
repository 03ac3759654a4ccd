// The tables of what runners register: apps, runners, workflows, and the pauses of workflows.

import type { App, KeptPause, Runner, StepLimit, Workflow } from '../../../domain/model/workflow.ts'
import { boundedKey } from '../../../domain/text/bounded-key.ts'
import { boolean, derived, flag, integer, json, named, optional, since, text } from '../description/column.ts'
import { table } from '../description/table.ts'

export const APPS = table<App>()('apps', {
  key: ['namespace', 'name'],
  fixed: { namespace: text, name: text, createdAt: integer },
})

/** The limits that steps of an app share. Turns are granted by these rows, in the transaction of the grant. */
export const STEP_LIMITS = table<StepLimit>()('step_limits', {
  key: ['namespace', 'app', 'name'],
  since: 3,
  // `limit` is a word of SQL.
  fixed: { namespace: text, app: text, name: text, limit: named('turns', integer), periodMs: integer },
})

/** The key of a runner's row. A runner without an id has its URL as key, which may be too long for an index. */
export const runnerKey = boundedKey

export const RUNNERS = table<Runner>()('runners', {
  key: ['namespace', 'app', 'runner_key'],
  fixed: {
    namespace: text,
    app: text,
    runnerKey: derived(text, ({ runnerId }: Runner) => runnerKey(runnerId)),
    runnerId: text,
    url: text,
    workflows: json,
    definitions: optional(json),
    framework: optional(text),
    runtime: optional(text),
    language: optional(text),
    sdkName: optional(text),
    version: optional(text),
    region: optional(text),
    keyFingerprint: optional(text),
    sleeps: flag,
    features: optional(json),
    lastSeenAt: integer,
    instances: optional(json),
    hasLeft: flag,
    // A dedicated statement changes it: a registration keeps it.
    deletedWorkflows: since(2, optional(json)),
    stepLimits: since(3, optional(json)),
  },
})

export const WORKFLOWS = table<Workflow>()('workflows', {
  key: ['namespace', 'app', 'name'],
  fixed: {
    namespace: text,
    app: text,
    name: text,
    triggers: json,
    retry: json,
    onFailure: boolean,
    cleanup: since(3, flag),
    handlerRetries: optional(integer),
    whenExhausted: optional(text),
    invokeTimeoutMs: optional(integer),
    flowControl: optional(json),
    retention: since(3, optional(json)),
    budget: since(3, optional(json)),
    description: since(3, optional(text)),
    input: since(3, optional(json)),
    tool: since(3, flag),
    attributes: since(2, optional(json)),
    inheritAttributes: since(2, optional(json)),
    updatedAt: integer,
    pausedAt: since(2, optional(integer)),
    // A dedicated statement changes them: a registration keeps them.
    limits: since(3, optional(json)),
  },
})

/** Pauses and limits of workflows that no runner registers at the moment; a registered workflow has them in its row. */
export const KEPT_PAUSES = table<KeptPause>()('kept_pauses', {
  key: ['namespace', 'app', 'name'],
  since: 3,
  fixed: { namespace: text, app: text, name: text, pausedAt: optional(integer), limits: optional(json) },
})
