// What a registration means: the runner's row, its workflows with defaults filled in, and what it no longer serves
// (contract §2.11, decisions "Registration, routing, wire").

import type { RegisterRequest, WorkflowRegistration } from '@perdure/protocol'
import type { Change } from './change.ts'
import { checkedExpression, flowControlOf } from './flow/policies.ts'
import { checkCron } from './flow/schedules.ts'
import { completeRetry } from './retry.ts'
import type { Runner, Workflow } from './workflow.ts'

/** Heartbeats come twice as often and more. */
const REPEAT_MS_MAX = 60_000

/** The runner as registered at `now`. */
export function registeredRunner(namespace: string, request: RegisterRequest, now: number): Runner {
  const { app, url, framework, runtime, sdkName, version, region, keyFingerprint } = request
  const told = { framework, runtime, sdkName, version, region, keyFingerprint }
  return {
    namespace,
    app,
    runnerId: request.runner ?? url,
    url,
    workflows: request.workflows.map(workflow => workflow.name),
    lastSeenAt: now,
    ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)),
  }
}

/** A workflow as registered at `now`; one without triggers gets the implicit trigger on its own name. */
export function registeredWorkflow(options: {
  namespace: string
  app: string
  registration: WorkflowRegistration
  field: string
  now: number
}): Workflow {
  const { namespace, app, registration, field, now } = options
  const { name, triggers, retry, onFailure } = registration
  const flowControl = flowControlOf(registration, field)
  const invokeTimeoutMs = flowControl?.timeouts?.invokeMs
  for (const [i, trigger] of (triggers ?? []).entries()) {
    if (trigger.if !== undefined) checkedExpression(`${field}.triggers[${i}].if`, trigger.if, 'condition')
    if (trigger.cron !== undefined) checkCron(`${field}.triggers[${i}].cron`, trigger.cron)
  }
  return {
    namespace,
    app,
    name,
    triggers: triggers && triggers.length > 0 ? triggers : [{ event: name }],
    retry: completeRetry(retry),
    onFailure: onFailure ?? false,
    updatedAt: now,
    ...(invokeTimeoutMs === undefined ? {} : { invokeTimeoutMs }),
    ...(flowControl === undefined ? {} : { flowControl }),
  }
}

/**
 * The changes of a registration. It replaces the runner's earlier one: a workflow that only that one served is
 * dropped. Heartbeats too ring the runs that were held for want of a runner: it may have been away unnoticed.
 */
export function registrationChanges(options: {
  runner: Runner
  workflows: readonly Workflow[]
  earlier: Runner | undefined
  /** The other runners of the app. */
  others: readonly Runner[]
}): Change[] {
  const { runner, workflows, earlier, others } = options
  const { namespace, app, lastSeenAt: now } = runner
  const served = new Set([...runner.workflows, ...others.flatMap(other => other.workflows)])
  const dropped = (earlier?.workflows ?? []).filter(name => !served.has(name))
  return [
    { type: 'app.seen', app: { namespace, name: app, createdAt: now } },
    {
      type: 'runner.registered',
      runner,
      ...(earlier && isRepeat(runner, earlier) ? { isRepeat: true } : {}),
    },
    ...workflows.map((workflow): Change => ({ type: 'workflow.registered', workflow })),
    ...dropped.map((name): Change => ({ type: 'workflow.dropped', namespace, app, name })),
    { type: 'app.runnerArrived', namespace, app, at: now },
  ]
}

/** A runner that comes back after a long time is news all the same: whoever holds runs for it should look again. */
function isRepeat(runner: Runner, earlier: Runner): boolean {
  const told = ({ lastSeenAt: _, ...rest }: Runner) =>
    JSON.stringify(
      Object.entries(rest)
        .filter(([, value]) => value !== undefined)
        .sort(),
    )
  return told(runner) === told(earlier) && runner.lastSeenAt - earlier.lastSeenAt < REPEAT_MS_MAX
}
