// Decides a registration (docs/wire-protocol.md#register): the runner's row, its workflows with defaults filled in, and the
// workflows it no longer serves. Called by services/registry/register.

import {
  DELAY_MS_MAX,
  DURATION_FORMS,
  matchFault,
  parseDurationMs,
  type RegisterRequest,
  TERMINAL_STATUSES,
  type WorkflowRegistration,
} from '@perdure/protocol'
import { checkCron } from '../arrival/schedules.ts'
import type { Change } from '../model/change.ts'
import { invalid } from '../model/errors.ts'
import type { FlowControl } from '../model/flow-control.ts'
import type { Definition, Retention, Runner, StepLimit, Workflow } from '../model/workflow.ts'
import { RETENTION_MS_MAX } from '../run/retention.ts'
import { completeRetry } from '../run/retry.ts'
import { budgetOf } from './budget.ts'
import { definitionChanged, isSameDefinition } from './definition-history.ts'
import { stillDeleted, withoutDeleted } from './deletion.ts'
import { checkedExpression, flowControlOf } from './flow-control.ts'
import { inputSchemaOf } from './input-schema.ts'
import { definitionsOf, isOlder, newestOf } from './newest-definition.ts'
import { stepLimitsChanged, stepLimitsOf } from './step-limits.ts'

/** A registration within this time after the previous one is a heartbeat. Runners repeat it at least twice as often. */
const HEARTBEAT_GAP_MS_MAX = 60_000

/** The runner as registered at `now`. */
export function registeredRunner(namespace: string, request: RegisterRequest, now: number): Runner {
  const { app, url, framework, runtime, language, sdkName, version, region, keyFingerprint, features } = request
  const stepLimits = stepLimitsOf(request)
  const optional = { stepLimits, framework, runtime, language, sdkName, version, region, keyFingerprint, features }
  return {
    namespace,
    app,
    runnerId: request.runner ?? url,
    url,
    workflows: request.workflows.map(workflow => workflow.name),
    lastSeenAt: now,
    ...(request.sleeps ? { sleeps: true } : {}),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  }
}

/** A workflow as registered at `now`. Without a list of triggers it gets one for events of its own name. */
export function registeredWorkflow(options: {
  namespace: string
  app: string
  registration: WorkflowRegistration
  field: string
  now: number
}): Workflow {
  const { namespace, app, registration, field, now } = options
  const { name, triggers, retry, onFailure, cleanup, handlerRetries, whenExhausted, attributes, inheritAttributes } =
    registration
  const { description, tool } = registration
  const retention = retentionOf(registration, field)
  const budget = budgetOf(registration, field)
  const input = inputSchemaOf(registration, field)
  const flowControl = flowControlOf(registration, field)
  refuseInapplicable({ triggers, flowControl, field })
  const invokeTimeoutMs = flowControl?.timeouts?.invokeMs
  for (const [i, trigger] of (triggers ?? []).entries()) {
    const fault = trigger.match === undefined ? undefined : matchFault(trigger.match, { onlyValues: true })
    if (fault !== undefined) throw invalid(`${field}.triggers[${i}].match`, fault)
    if (trigger.if !== undefined) checkedExpression(`${field}.triggers[${i}].if`, trigger.if, 'condition')
    if (trigger.cron !== undefined) checkCron(`${field}.triggers[${i}].cron`, trigger.cron)
  }
  if (retry?.maxElapsed !== undefined && !((parseDurationMs(retry.maxElapsed) ?? Infinity) <= DELAY_MS_MAX))
    throw invalid(`${field}.retry.maxElapsed`, `must be a duration (${DURATION_FORMS}) of at most 100 years`)
  for (const [key, source] of Object.entries(attributes ?? {}))
    checkedExpression(`${field}.attributes.${key}`, source, 'attribute')
  return {
    namespace,
    app,
    name,
    triggers: triggers ?? [{ event: name }],
    retry: { ...completeRetry(retry), ...(retry?.maxAttempts === undefined ? {} : { setsAttempts: true }) },
    onFailure: onFailure ?? false,
    updatedAt: now,
    ...(cleanup ? { cleanup } : {}),
    ...(handlerRetries === undefined ? {} : { handlerRetries }),
    ...(whenExhausted === 'pause' ? { whenExhausted } : {}),
    ...(invokeTimeoutMs === undefined ? {} : { invokeTimeoutMs }),
    ...(flowControl === undefined ? {} : { flowControl }),
    ...(retention === undefined ? {} : { retention }),
    ...(budget === undefined ? {} : { budget }),
    ...(description ? { description } : {}),
    ...(input === undefined ? {} : { input }),
    ...(tool ? { tool } : {}),
    ...(attributes === undefined ? {} : { attributes }),
    ...(inheritAttributes === undefined ? {} : { inheritAttributes }),
  }
}

function retentionOf({ retention = {} }: WorkflowRegistration, field: string): Retention | undefined {
  const kept: Retention = {}
  for (const status of TERMINAL_STATUSES) {
    const given = retention[status]
    if (given === undefined) continue
    const ms = parseDurationMs(given)
    if (ms === undefined || ms <= 0 || ms > RETENTION_MS_MAX)
      throw invalid(
        `${field}.retention.${status}`,
        `must be a duration (${DURATION_FORMS}) over 0, of at most 100 years`,
      )
    kept[status] = ms
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

/** The policies that apply only to events (docs/flow-control.md#what-applies-to-what). */
const OF_EVENTS = ['rateLimit', 'debounce', 'batch', 'idempotency'] as const satisfies (keyof FlowControl)[]

/**
 * Throws `invalid_request` naming a part of the registration that can never apply. Without a list of triggers there is one
 * trigger, for an event.
 */
function refuseInapplicable(of: {
  triggers: WorkflowRegistration['triggers']
  flowControl: FlowControl | undefined
  field: string
}): void {
  const { triggers, flowControl = {}, field } = of
  for (const [i, { cron, ...trigger }] of (triggers ?? []).entries()) {
    const condition = (['if', 'match'] as const).find(name => trigger[name] !== undefined)
    if (cron !== undefined && condition !== undefined)
      throw invalid(
        `${field}.triggers[${i}].${condition}`,
        'cannot apply to a cron: check in the handler, or use an event trigger',
      )
  }
  if (triggers === undefined || triggers.some(({ event }) => event !== undefined)) return
  const policy = OF_EVENTS.find(name => flowControl[name] !== undefined)
  if (policy)
    throw invalid(`${field}.${policy}`, 'can never apply: it is for events, and the workflow has no event trigger')
}

/**
 * The changes of a registration. It replaces the runner's earlier one: a workflow that only the earlier one served is dropped.
 * A repeated definition does not replace one that a present runner has registered since. A heartbeat too wakes the runs that
 * are held without a runner: the runner may have been away unnoticed. Runs of workflows that the runner does not serve are not
 * woken, so that heartbeats do not wake them repeatedly for nothing.
 */
export function registrationChanges(options: {
  runner: Runner
  workflows: readonly Workflow[]
  earlier: Runner | undefined
  /** The other runners of the app, and which of them are gone. */
  others: readonly Runner[]
  gone?: readonly Runner[]
  /** The present definition of the workflow. */
  known?: (name: string) => Workflow | undefined
  /** The present limits of the app, by name. */
  stepLimits?: ReadonlyMap<string, StepLimit>
}): Change[] {
  const { workflows, earlier, others, gone = [], known = () => undefined } = options
  const { namespace, app, lastSeenAt: now } = options.runner
  const definitions = definitionsOf(workflows, { earlier, others, now })
  const registered: Runner = { ...options.runner, definitions }
  const deleted = stillDeleted(registered, earlier)
  const runner = withoutDeleted(deleted ? { ...registered, deletedWorkflows: deleted } : registered)
  const isClaimed = new Set(runner.workflows)
  let newest: ReturnType<typeof newestOf> | undefined
  const defined = workflows.filter((workflow, i) => {
    if (!isClaimed.has(workflow.name)) return false
    const current = known(workflow.name)
    if (current === undefined) return true
    if (isSameDefinition(workflow, current)) return false
    newest ??= newestOf(others.filter(other => !gone.includes(other)))
    return !isOlder(definitions[i] as Definition, newest.get(workflow.name))
  })
  const served = new Set([...runner.workflows, ...others.flatMap(other => other.workflows)])
  const dropped = (earlier?.workflows ?? []).filter(name => !served.has(name))
  const seen: Change = { type: 'app.seen', app: { namespace, name: app, createdAt: now } }
  const { runnerId } = runner
  return [
    // If all workflows of a runner are deleted, its heartbeat does not bring its app back.
    ...(deleted && runner.workflows.length === 0 ? [] : [seen]),
    ...((earlier?.deletedWorkflows?.length ?? 0) === (deleted?.length ?? 0)
      ? []
      : [{ type: 'runner.workflowsDeleted' as const, namespace, app, runnerId, deletedWorkflows: deleted ?? [] }]),
    {
      type: 'runner.registered',
      runner,
      ...(earlier && isRepeat(runner, earlier) ? { isRepeat: true } : {}),
    },
    ...defined.flatMap((workflow): Change[] => [
      { type: 'workflow.registered', workflow },
      ...limitsChanged(known(workflow.name), workflow),
      definitionChanged(workflow, { before: known(workflow.name), runner: runnerId }),
    ]),
    ...stepLimitsChanged(runner, {
      earlier,
      others: others.filter(other => !gone.includes(other)),
      known: options.stepLimits,
    }),
    ...dropped.map((name): Change => ({ type: 'workflow.dropped', namespace, app, name })),
    { type: 'app.runnerArrived', namespace, app, at: now, workflows: runner.workflows },
  ]
}

/** Wakes the runs that wait for a slot of a workflow whose limits change: some may start, or none. */
function limitsChanged(before: Workflow | undefined, after: Workflow): Change[] {
  const limits = ({ flowControl }: Workflow) => JSON.stringify(flowControl?.concurrency)
  if (!before || limits(before) === limits(after)) return []
  const { namespace, app, name, updatedAt: at } = after
  return [{ type: 'workflow.limited', namespace, app, name, at }]
}

/** Whether the registration is a heartbeat. A runner that returns after a long time is not: held runs must try it. */
function isRepeat(runner: Runner, earlier: Runner): boolean {
  const described = ({ lastSeenAt: _, instances: __, ...rest }: Runner) =>
    JSON.stringify(
      Object.entries(rest)
        .filter(([, value]) => value !== undefined)
        .sort(),
    )
  return described(runner) === described(earlier) && runner.lastSeenAt - earlier.lastSeenAt < HEARTBEAT_GAP_MS_MAX
}
