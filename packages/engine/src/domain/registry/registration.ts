// Decides a registration (docs/wire-protocol.md#register): the runner's row, its workflows with defaults filled in, and the
// workflows it no longer serves. Called by services/registry/register.

import type { RegisterRequest, WorkflowRegistration } from '@perdure/protocol'
import { RegisterRequestSchema, WorkflowRegistrationSchema } from '@perdure/protocol/schema'
import { checkCron } from '../arrival/schedules.ts'
import type { Change } from '../model/change.ts'
import type { Definition, Runner, Workflow } from '../model/workflow.ts'
import { completeRetry } from '../run/retry.ts'
import { definitionChanged, isSameDefinition } from './definition-history.ts'
import { stillDeleted, withoutDeleted } from './deletion.ts'
import { checkedExpression, flowControlOf } from './flow-control.ts'
import { definitionsOf, isOlder, newestOf } from './newest-definition.ts'
import { unknownMembers } from './unknown-members.ts'

/** A registration within this time of the previous one is a heartbeat. Runners repeat it at least twice as often. */
const HEARTBEAT_GAP_MS_MAX = 60_000

/** The runner as registered at `now`. */
export function registeredRunner(namespace: string, request: RegisterRequest, now: number): Runner {
  const { app, url, framework, runtime, language, sdkName, version, region, keyFingerprint, features } = request
  const optional = { framework, runtime, language, sdkName, version, region, keyFingerprint, features }
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

/** A workflow as registered at `now`. Without a list of triggers it has one for events of its own name. */
export function registeredWorkflow(options: {
  namespace: string
  app: string
  registration: WorkflowRegistration
  field: string
  now: number
}): Workflow {
  const { namespace, app, registration, field, now } = options
  const { name, triggers, retry, onFailure, handlerRetries, whenExhausted, attributes, inheritAttributes } =
    registration
  const flowControl = flowControlOf(registration, field)
  const invokeTimeoutMs = flowControl?.timeouts?.invokeMs
  for (const [i, trigger] of (triggers ?? []).entries()) {
    if (trigger.if !== undefined) checkedExpression(`${field}.triggers[${i}].if`, trigger.if, 'condition')
    if (trigger.cron !== undefined) checkCron(`${field}.triggers[${i}].cron`, trigger.cron)
  }
  for (const [key, source] of Object.entries(attributes ?? {}))
    checkedExpression(`${field}.attributes.${key}`, source, 'attribute')
  return {
    namespace,
    app,
    name,
    triggers: triggers ?? [{ event: name }],
    retry: completeRetry(retry),
    onFailure: onFailure ?? false,
    updatedAt: now,
    ...(handlerRetries === undefined ? {} : { handlerRetries }),
    ...(whenExhausted === 'pause' ? { whenExhausted } : {}),
    ...(invokeTimeoutMs === undefined ? {} : { invokeTimeoutMs }),
    ...(flowControl === undefined ? {} : { flowControl }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(inheritAttributes === undefined ? {} : { inheritAttributes }),
  }
}

/** Warns of workflows that stay deleted. */
export function deletionWarnings({ deletedWorkflows = [] }: Pick<Runner, 'deletedWorkflows'>): string[] {
  return deletedWorkflows.map(
    ({ name }) => `workflow "${name}": it was deleted, and is not registered again before its definition changes`,
  )
}

/** Warns of parts of a registration that are accepted, but may not mean what their author expects. */
export function registrationWarnings(request: RegisterRequest): string[] {
  const { workflows } = request
  const doubtful = workflows.flatMap(({ name, triggers, cancelOn }) => {
    const of = `workflow "${name}":`
    const wild = (cancelOn ?? []).flatMap(({ event }, j) =>
      event.endsWith('*')
        ? [`${of} cancelOn[${j}].event: only an event that is called "${event}" cancels, * and all`]
        : [],
    )
    return triggers?.length === 0
      ? [`${of} triggers: the list is empty, so nothing but a parent run starts the workflow`, ...wild]
      : wild
  })
  return [...unknownFields(request), ...doubtful]
}

/** Fields that this engine does not know: misspelt ones, and those of a later version. */
function unknownFields({ workflows, ...runner }: RegisterRequest): string[] {
  const found = unknownMembers(RegisterRequestSchema, runner, UNKNOWN_FIELDS_MAX).map(({ problem }) => problem)
  for (const workflow of workflows) {
    const unknown = unknownMembers(WorkflowRegistrationSchema, workflow, UNKNOWN_FIELDS_MAX - found.length)
    found.push(...unknown.map(({ problem }) => `workflow "${workflow.name}": ${problem}`))
  }
  return found
}

/** Further ones are not named. */
const UNKNOWN_FIELDS_MAX = 20

/**
 * The changes of a registration. It replaces the runner's earlier one: a workflow that only the earlier one served is
 * dropped. A repeated definition does not replace one that a present runner has registered since. A heartbeat too wakes the
 * runs that are held without a runner: the runner may have been away unnoticed. Runs of workflows that the runner does not
 * serve stay asleep, so that heartbeats do not wake them again and again for nothing.
 */
export function registrationChanges(options: {
  runner: Runner
  workflows: readonly Workflow[]
  earlier: Runner | undefined
  /** The other runners of the app, and those among them that are gone. */
  others: readonly Runner[]
  gone?: readonly Runner[]
  /** The present definition of the workflow. */
  known?: (name: string) => Workflow | undefined
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
    // The heartbeat of a runner whose workflows are all deleted does not bring its app back.
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
      definitionChanged(workflow, { before: known(workflow.name), runner: runnerId }),
    ]),
    ...dropped.map((name): Change => ({ type: 'workflow.dropped', namespace, app, name })),
    { type: 'app.runnerArrived', namespace, app, at: now, workflows: runner.workflows },
  ]
}

/** Whether the registration is a heartbeat. A runner that returns after a long time is news, so that held runs try it. */
function isRepeat(runner: Runner, earlier: Runner): boolean {
  const described = ({ lastSeenAt: _, instances: __, ...rest }: Runner) =>
    JSON.stringify(
      Object.entries(rest)
        .filter(([, value]) => value !== undefined)
        .sort(),
    )
  return described(runner) === described(earlier) && runner.lastSeenAt - earlier.lastSeenAt < HEARTBEAT_GAP_MS_MAX
}
