// What a registration means: the runner's row, its workflows with defaults filled in, and what it no longer serves
// (contract §2.11, decisions "Registration, routing, wire").

import type { RegisterRequest, WorkflowRegistration } from '@perdure/protocol'
import { checkCron } from '../arrival/schedules.ts'
import type { Change } from '../model/change.ts'
import type { Definition, Runner, Workflow } from '../model/workflow.ts'
import { completeRetry } from '../run/retry.ts'
import { checkedExpression, flowControlOf } from './flow-control.ts'
import { definitionsOf, isOlder, newestOf } from './newest-definition.ts'

/** Heartbeats come twice as often and more. */
const HEARTBEAT_GAP_MS_MAX = 60_000

/** The runner as registered at `now`. */
export function registeredRunner(namespace: string, request: RegisterRequest, now: number): Runner {
  const { app, url, framework, runtime, language, sdkName, version, region, keyFingerprint } = request
  const told = { framework, runtime, language, sdkName, version, region, keyFingerprint }
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

/** A workflow as registered at `now`; one that does not speak of triggers gets the implicit one on its own name. */
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
    triggers: triggers ?? [{ event: name }],
    retry: completeRetry(retry),
    onFailure: onFailure ?? false,
    updatedAt: now,
    ...(invokeTimeoutMs === undefined ? {} : { invokeTimeoutMs }),
    ...(flowControl === undefined ? {} : { flowControl }),
  }
}

/** What is taken as it was sent, and may mean something else than its author thought. */
export function registrationWarnings({ workflows }: RegisterRequest): string[] {
  return workflows.flatMap(({ triggers, cancelOn }, i) => {
    const field = `workflows[${i}]`
    const wild = (cancelOn ?? []).flatMap(({ event }, j) =>
      event.endsWith('*')
        ? [`${field}.cancelOn[${j}].event: only an event that is called "${event}" cancels, * and all`]
        : [],
    )
    return triggers?.length === 0
      ? [`${field}.triggers: the list is empty, so nothing but a parent run starts the workflow`, ...wild]
      : wild
  })
}

/**
 * The changes of a registration. It replaces the runner's earlier one: a workflow that only that one served is
 * dropped. What it repeats changes no definition that a runner which is still there has registered since. Heartbeats too
 * ring the runs that were held for want of a runner: it may have been away unnoticed.
 */
export function registrationChanges(options: {
  runner: Runner
  workflows: readonly Workflow[]
  earlier: Runner | undefined
  /** The other runners of the app, and those of them that have gone. */
  others: readonly Runner[]
  gone?: readonly Runner[]
  /** The workflow as it is defined now. */
  known?: (name: string) => Workflow | undefined
}): Change[] {
  const { workflows, earlier, others, gone = [], known = () => undefined } = options
  const { namespace, app, lastSeenAt: now } = options.runner
  const definitions = definitionsOf(workflows, { earlier, others, now })
  const runner = { ...options.runner, definitions }
  let newest: ReturnType<typeof newestOf> | undefined
  const defined = workflows.filter((workflow, i) => {
    const current = known(workflow.name)
    if (current === undefined) return true
    if (isSame(workflow, current)) return false
    newest ??= newestOf(others.filter(other => !gone.includes(other)))
    return !isOlder(definitions[i] as Definition, newest.get(workflow.name))
  })
  const served = new Set([...runner.workflows, ...others.flatMap(other => other.workflows)])
  const dropped = (earlier?.workflows ?? []).filter(name => !served.has(name))
  return [
    { type: 'app.seen', app: { namespace, name: app, createdAt: now } },
    {
      type: 'runner.registered',
      runner,
      ...(earlier && isRepeat(runner, earlier) ? { isRepeat: true } : {}),
    },
    ...defined.map((workflow): Change => ({ type: 'workflow.registered', workflow })),
    ...dropped.map((name): Change => ({ type: 'workflow.dropped', namespace, app, name })),
    { type: 'app.runnerArrived', namespace, app, at: now },
  ]
}

/** A heartbeat repeats definitions word for word: those need no write, and keep their `updatedAt`. */
function isSame(workflow: Workflow, known: Workflow): boolean {
  return JSON.stringify({ ...workflow, updatedAt: known.updatedAt }) === JSON.stringify(known)
}

/** A runner that comes back after a long time is news all the same: whoever holds runs for it should look again. */
function isRepeat(runner: Runner, earlier: Runner): boolean {
  const told = ({ lastSeenAt: _, ...rest }: Runner) =>
    JSON.stringify(
      Object.entries(rest)
        .filter(([, value]) => value !== undefined)
        .sort(),
    )
  return told(runner) === told(earlier) && runner.lastSeenAt - earlier.lastSeenAt < HEARTBEAT_GAP_MS_MAX
}
