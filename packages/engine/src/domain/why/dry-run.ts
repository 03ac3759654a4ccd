// Describes the effects that an event would have (docs/events.md#dry-runs): the decision of domain/arrival/fanout, with the
// result of each workflow's filter and policies. Called by services/event/dry-run.

import type { DryRunReply, DryRunWorkflow } from '@perdure/protocol'
import { type Fanout, type FanoutInput, scopedTo } from '../arrival/fanout.ts'
import { POLICY_FLAGS } from '../arrival/policy.ts'
import { EventSubject } from '../expressions/event-subject.ts'
import {
  type DroppingPolicy,
  dropKeyOf,
  evaluateNumber,
  keyOf,
  matchesEvent,
  unmetBy,
} from '../expressions/matching.ts'
import type { Change } from '../model/change.ts'
import { invariant } from '../model/errors.ts'
import type { FlowControl } from '../model/flow-control.ts'
import type { Workflow } from '../model/workflow.ts'
import { shownRunId } from '../text/ids.ts'
import type { JsonText } from '../text/json-text.ts'
import { nearestTo } from './nearest-names.ts'

/** The reply for an event whose dedupe id is taken: nothing would happen. */
export const WOULD_BE_DEDUPED: DryRunReply = { dryRun: true, deduped: true, waiters: 0, workflows: [] }

/** The reply for the decision of `fanout` on the same input. */
export function describeFanout(input: FanoutInput, decided: Fanout): DryRunReply {
  const subject = new EventSubject(input.event)
  return {
    dryRun: true,
    ...(decided.suspended ? { suspended: true } : {}),
    waiters: decided.woke,
    ...wakesOf(decided),
    ...waitedOf(decided),
    workflows: scopedTo(input).map(workflow => describe(workflow, subject, input.event.name, decided)),
    ...nearestTo(input.event, input.catalog),
    ...(decided.warnings.length === 0 ? {} : { warnings: decided.warnings }),
  }
}

/** Maximum runs that a reply names. */
const WAKES_MAX = 10

function wakesOf({ wakes }: Fanout): Pick<DryRunReply, 'wakes'> {
  return wakes.length === 0 ? {} : { wakes: wakes.slice(0, WAKES_MAX).map(({ runId }) => shownRunId(runId)) }
}

/** The number of runs that wait for the event's name, if the event would not wake all of them. */
function waitedOf({ woke, waited }: Fanout): Pick<DryRunReply, 'waited'> {
  return waited > woke ? { waited } : {}
}

function describe(workflow: Workflow, subject: EventSubject, eventName: string, decided: Fanout): DryRunWorkflow {
  const { name, app } = workflow
  const head = { workflow: name, app }
  const { trigger, missed } = triggerOf(workflow, subject, eventName)
  const entry = decided.triggered.find(entry => entry.workflow === name && entry.app === app)
  if (!entry) return { ...head, trigger, matches: false, ...(missed === undefined ? {} : { reason: missed }) }
  const cancels = cancelledOf(workflow, decided.changes)
  return {
    ...head,
    trigger,
    matches: true,
    outcome: POLICY_FLAGS.find(flag => entry[flag]) ?? 'run',
    ...(cancels.length === 0 ? {} : { cancels }),
    policies: policiesOf(workflow, subject),
  }
}

/** Ids of the runs of the workflow that the event would end. */
function cancelledOf({ name, app }: Workflow, changes: readonly Change[]): string[] {
  return changes.flatMap(change =>
    change.type === 'run.moved' &&
    change.run.status === 'cancelled' &&
    change.run.workflow === name &&
    change.run.app === app
      ? [change.run.id]
      : [],
  )
}

/** The first trigger that the event meets; else the first one with a matching name, and why the event does not meet it. */
function triggerOf(workflow: Workflow, subject: EventSubject, eventName: string): Met {
  const misses: Met[] = []
  for (const one of workflow.triggers.filter(one => matchesEvent(one, eventName))) {
    const { event = '', if: filter, match } = one
    const trigger = {
      event,
      ...(filter === undefined ? {} : { if: filter }),
      ...(match === undefined ? {} : { match }),
    }
    const missed = unmetBy(one, subject)
    if (!missed) return { trigger }
    const { unmet, error } = missed
    misses.push({
      trigger,
      missed: error ?? (typeof unmet === 'string' ? FALSE_FILTER : OTHER_VALUES),
    })
  }
  const [first] = misses
  invariant(first, `workflow ${workflow.name} has a trigger for ${eventName}`)
  return first
}

/** Why an event does not meet a trigger, if the comparison worked. */
export const FALSE_FILTER = 'the filter is false'
export const OTHER_VALUES = 'the values of the event differ from the match'

interface Met {
  trigger: DryRunWorkflow['trigger']
  missed?: string
}

/** The policies that apply to a direct start, with the values of their keys. */
export type StartPolicies = Pick<NonNullable<DryRunWorkflow['policies']>, (typeof START_POLICIES)[number]>
const START_POLICIES = ['singleton', 'priority', 'concurrency', 'throttle'] as const

/** The policies of a workflow that refuse, hold or order a run started directly with this input. */
export function describeStart(workflow: Workflow, input: JsonText | undefined): StartPolicies {
  const policies = policiesOf(workflow, new EventSubject({ name: workflow.name, data: input }))
  return Object.fromEntries(START_POLICIES.flatMap(name => (policies[name] ? [[name, policies[name]]] : [])))
}

type PolicyViews = Required<NonNullable<DryRunWorkflow['policies']>>
type Policies = Required<FlowControl>

/**
 * The dry run's view of each policy, in the order in which the engine checks them; null: nothing is shown. The type demands an
 * entry for each policy.
 */
const POLICY_VIEWS: {
  readonly [P in keyof Policies]: P extends keyof PolicyViews
    ? (policy: Policies[P], workflow: Workflow, subject: EventSubject) => PolicyViews[P]
    : null
} = {
  idempotency: (policy, ...at) => dropKeyView('idempotency', policy, ...at),
  rateLimit: (policy, ...at) => ({ ...dropKeyView('rateLimit', policy, ...at), verdict: 'not asked' }),
  singleton: (policy, ...at) => ({ ...dropKeyView('singleton', policy, ...at), mode: policy.mode }),
  debounce: (policy, ...at) => dropKeyView('debounce', policy, ...at),
  batch: keyView,
  priority: (source, _, subject) => priorityView(source, subject),
  concurrency: (limits, ...at) =>
    limits.map(policy => ({ ...keyView(policy, ...at), limit: policy.limit, scope: policy.scope })),
  throttle: keyView,
  fairness: null,
  timeouts: null,
  // Shown as `cancels`.
  cancelOn: null,
}

/** The value of every key, even of policies that the event does not reach because an earlier one stops it. */
function policiesOf(workflow: Workflow, subject: EventSubject): NonNullable<DryRunWorkflow['policies']> {
  const { flowControl = {} } = workflow
  const views: Record<string, unknown> = {}
  for (const [name, view] of Object.entries(POLICY_VIEWS)) {
    const policy = flowControl[name as keyof FlowControl]
    if (view && policy !== undefined) views[name] = view(policy as never, workflow, subject)
  }
  return views
}

function keyView(policy: { key?: string }, workflow: Workflow, subject: EventSubject) {
  let error: string | undefined
  const report = (fault: { error: string }) => {
    error = fault.error
  }
  const key = keyOf(policy.key, { subject, workflow, report })
  return { key, ...(error === undefined ? {} : { error }) }
}

/** The view has no key if the policy does not apply to the event. */
function dropKeyView(name: DroppingPolicy, policy: { key?: string }, workflow: Workflow, subject: EventSubject) {
  let error: string | undefined
  const report = (fault: { error: string }) => {
    error = fault.error
  }
  const key = dropKeyOf(name, policy.key, { subject, workflow, report })
  return { ...(key === undefined ? {} : { key }), ...(error === undefined ? {} : { error }) }
}

function priorityView(source: string, subject: EventSubject): { value: number; error?: string } {
  const number = evaluateNumber(source, subject)
  return number.ok ? { value: number.value } : { value: 0, error: number.error }
}
