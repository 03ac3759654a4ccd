// The warnings of a registration (docs/wire-protocol.md#register): about parts that are accepted but may not mean what their
// author expects, and about other runners and apps. Called by services/registry/register.ts; the SDK prints them.

import type { RegisterRequest, WorkflowRegistration } from '@perdure/protocol'
import { RegisterRequestSchema, WorkflowRegistrationSchema } from '@perdure/protocol/schema'
import { doubtfulReads } from '../expressions/hints.ts'
import { matchesEvent } from '../expressions/matching.ts'
import type { Runner, Workflow } from '../model/workflow.ts'
import { ENDED_EVENTS } from '../run/later/ended-event.ts'
import { isEngineEvent } from '../text/name.ts'
import { newestOf } from './newest-definition.ts'
import { unknownMembers } from './unknown-members.ts'

/** Maximum names that a sentence lists; it gives the number of the others. */
const LISTED_MAX = 5
/** Maximum unknown fields that are named. */
const UNKNOWN_FIELDS_MAX = 20

/** Warns of parts of a registration that are accepted, but may not mean what their author expects. */
export function registrationWarnings(request: RegisterRequest): string[] {
  return [...unknownFields(request), ...request.workflows.flatMap(doubtful)]
}

/** Warns of workflows that stay deleted. */
export function deletionWarnings({ deletedWorkflows = [] }: Pick<Runner, 'deletedWorkflows'>): string[] {
  return deletedWorkflows.map(
    ({ name }) => `workflow "${name}" was deleted: it is registered again only when its definition changes`,
  )
}

/**
 * Warns of a live runner of the same app that has another definition of a workflow: two versions of the app are live, and
 * passes of one run may go to either.
 */
export function versionWarnings(runner: Runner, live: readonly Runner[]): string[] {
  const own = newestOf([runner])
  const differing = live.flatMap(peer => {
    const names = [...newestOf([peer])].flatMap(([name, { digest }]) => {
      const mine = own.get(name)
      return mine !== undefined && mine.digest !== digest ? [name] : []
    })
    return names.length === 0 ? [] : [{ peer, names }]
  })
  return differing.slice(0, LISTED_MAX).map(({ peer, names }) => {
    const version = peer.version === undefined ? '' : ` (version ${peer.version})`
    return (
      `two versions of app "${runner.app}" are live: runner "${peer.runnerId}"${version} has another definition of ` +
      `${listed(names)}. The newest definition applies, and runs go to both runners; stop the old runner unless a deployment is in progress`
    )
  })
}

/**
 * Warns of apps without a runner that have a workflow with the same name and a trigger on the same events, as after the
 * renaming of an app: their runs wait for a runner. `abandoned` are the workflows of such apps.
 */
export function renamedAppWarnings(registered: readonly Workflow[], abandoned: readonly Workflow[]): string[] {
  const namesByApp = new Map<string, string[]>()
  for (const workflow of registered) {
    const events = new Set(workflow.triggers.flatMap(({ event }) => event ?? []))
    for (const { app, name, triggers } of abandoned) {
      if (name !== workflow.name || !triggers.some(({ event }) => event !== undefined && events.has(event))) continue
      namesByApp.set(app, [...(namesByApp.get(app) ?? []), name])
    }
  }
  return [...namesByApp]
    .slice(0, LISTED_MAX)
    .map(
      ([app, names]) =>
        `app "${app}" has no runner, but it still starts ${listed(names)} on the same events; those runs wait for a runner. ` +
        `If this app replaces it, delete it: perdure apps delete ${app}`,
    )
}

function doubtful(workflow: WorkflowRegistration): string[] {
  const { name, triggers, cancelOn, concurrency, throttle, fairness } = workflow
  const of = `workflow "${name}":`
  const exact = (cancelOn ?? []).flatMap(({ event }, i) =>
    event.endsWith('*')
      ? [`${of} cancelOn[${i}].event: the * is not a wildcard here, so only an event named "${event}" cancels the run`]
      : [],
  )
  const starred = (triggers ?? []).flatMap(({ event = '' }, i) => {
    const at = event.indexOf('*')
    if (at === -1 || at === event.length - 1) return []
    const instead = at === 0 ? 'name each event' : `"${event.slice(0, at)}*" with an \`if\` over event.name selects`
    return [`${of} triggers[${i}].event: "${event}" has a * before its end, where it is not a wildcard; ${instead}`]
  })
  const unsent = (triggers ?? []).flatMap((trigger, i) =>
    isEngineEvent(trigger.event ?? '') && !ENDED_EVENTS.some(name => matchesEvent(trigger, name))
      ? [`${of} triggers[${i}].event: the engine never sends "${trigger.event}", only ${ENDED_EVENTS.join(', ')}`]
      : [],
  )
  const reads = expressionsOf(workflow).flatMap(([field, source]) =>
    doubtfulReads(source).map(doubt => `${of} ${field} ${doubt}`),
  )
  const unstarted =
    triggers?.length === 0
      ? [`${of} triggers: the list is empty, so only a direct start, a parent run or a redrive starts the workflow`]
      : []
  const noLimit = [concurrency ?? []].flat().length === 0 && !throttle
  const unlimited =
    fairness && noLimit
      ? [
          `${of} fairness: without \`concurrency\` or \`throttle\` no run waits for another one, so \`fairness\` has no effect`,
        ]
      : []
  return [...unstarted, ...starred, ...unsent, ...exact, ...unlimited, ...reads]
}

/** The expressions of a registration with their fields: conditions, keys, the priority and the attributes. */
function expressionsOf(workflow: WorkflowRegistration): [field: string, source: string][] {
  const found: [string, string][] = []
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      const field = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      const isExpression =
        name === 'if' || name === 'key' || field === 'priority' || field === 'fairness.weight' || path === 'attributes'
      if (typeof member === 'string' && isExpression) found.push([field, member])
      else visit(member, field)
    }
  }
  visit(workflow, '')
  return found
}

/** Fields that this engine does not know: misspelt ones, and fields of a later version. */
function unknownFields({ workflows, ...runner }: RegisterRequest): string[] {
  const found = unknownMembers(RegisterRequestSchema, runner, UNKNOWN_FIELDS_MAX).map(({ problem }) => problem)
  for (const workflow of workflows) {
    const unknown = unknownMembers(WorkflowRegistrationSchema, workflow, UNKNOWN_FIELDS_MAX - found.length)
    found.push(...unknown.map(({ problem }) => `workflow "${workflow.name}": ${problem}`))
  }
  return found
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, LISTED_MAX).map(name => JSON.stringify(name))
  const more = names.length > LISTED_MAX ? ` and ${names.length - LISTED_MAX} more` : ''
  return shown.join(', ') + more
}
