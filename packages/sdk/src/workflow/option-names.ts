// The names of the options of a workflow, and of the members of its policies. Called by `createWorkflow`.

import { isEventDefinition, type OptionNames, refuseUnknownOptions } from '@perdure/client/internal'
import { BUDGET_AMOUNT_MAX, matchFault, type RetryPolicy, type WorkflowRegistration } from '@perdure/protocol'
import type { FlowControl } from './flow-control.ts'

type One<T> = Exclude<T extends readonly (infer Item)[] ? Item : T, { readonly schema: unknown }>
/** The members of a policy; true for one without. */
type MembersOf<Policy> = [Extract<One<Policy>, object>] extends [never]
  ? true
  : OptionNames<Required<Extract<One<Policy>, object>>>
type Retention = NonNullable<WorkflowRegistration['retention']>
type Policies = Required<FlowControl & { retry: RetryPolicy; retention: Retention }>

const POLICIES = {
  retry: {
    maxAttempts: true,
    initialMs: true,
    factor: true,
    maxMs: true,
    jitter: true,
    maxElapsed: true,
    nonRetriable: true,
  },
  retention: { succeeded: true, failed: true, cancelled: true },
  concurrency: { limit: true, key: true, scope: true, hold: true },
  throttle: { limit: true, period: true, periodMs: true, burst: true, key: true },
  rateLimit: { limit: true, period: true, key: true },
  debounce: { period: true, key: true, timeout: true, mode: true },
  batch: { maxSize: true, timeout: true, key: true },
  singleton: { mode: true, key: true },
  idempotency: { key: true, ttl: true },
  priority: true,
  fairness: { key: true, weight: true },
  timeouts: { queue: true, run: true, invoke: true },
  cancelOn: { event: true, if: true, match: true, timeout: true },
} as const satisfies { [Name in keyof Policies]: MembersOf<Policies[Name]> }

const OPTIONS = {
  ...POLICIES,
  name: true,
  triggers: true,
  input: true,
  middleware: true,
  onFailure: true,
  onCancel: true,
  handlerRetries: true,
  whenExhausted: true,
  budget: true,
  description: true,
  tool: true,
  attributes: true,
  inheritAttributes: true,
}
const TRIGGER = { event: true, if: true, match: true, cron: true }

/** Throws a TypeError for an option, or a member of a policy or trigger, that does not exist or has the wrong form. */
export function checkOptionNames(options: { name?: unknown; triggers?: unknown }): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('createWorkflow takes an object of options: createWorkflow({ name, triggers }, handler)')
  }
  const what = options.name === undefined ? 'createWorkflow' : `Workflow "${String(options.name)}"`
  refuseUnknownOptions(what, options, OPTIONS)
  const given = { ...options } as Record<string, unknown>
  for (const [name, members] of Object.entries<object | true>({ ...POLICIES, triggers: TRIGGER })) {
    if (members === true) continue
    for (const one of [given[name] ?? []].flat()) {
      if (isEventDefinition(one)) continue
      if (typeof one !== 'object' || one === null) throw new TypeError(`${what}: ${formOf(name, one, members)}`)
      refuseUnknownOptions(`${what}: ${name}`, one, members)
      checkMatch(`${what}: ${name}`, (one as { match?: unknown }).match, name === 'triggers')
    }
  }
  const { priority } = given
  if (priority !== undefined && typeof priority !== 'string') {
    throw new TypeError(`${what}: priority must be a CEL expression, such as "event.data.priority"`)
  }
  if (given.budget !== undefined) checkBudget(what, given.budget)
  for (const name of ['onFailure', 'onCancel']) {
    if (given[name] !== undefined && typeof given[name] !== 'function')
      throw new TypeError(`${what}: ${name} must be a function`)
  }
}

/** Throws a TypeError for a bad match. */
function checkMatch(where: string, match: unknown, onlyValues: boolean): void {
  const fault = match === undefined ? undefined : matchFault(match, { onlyValues })
  if (fault !== undefined) throw new TypeError(`${where}.match ${fault}`)
}

/** Throws a TypeError for a budget with a limit that is not a number: the engine would refuse it when the runner registers. */
function checkBudget(what: string, budget: unknown): void {
  if (typeof budget !== 'object' || budget === null || Array.isArray(budget))
    throw new TypeError(`${what}: budget takes an object such as { usd: 5 } (also whenExceeded)`)
  for (const [name, value] of Object.entries(budget)) {
    if (value === undefined) continue
    if (name === 'whenExceeded') {
      if (value !== 'pause' && value !== 'fail')
        throw new TypeError(`${what}: budget.whenExceeded must be "pause" or "fail"`)
    } else if (!(typeof value === 'number' && value >= 0 && value <= BUDGET_AMOUNT_MAX))
      throw new TypeError(`${what}: budget.${name} must be a number from 0 to ${BUDGET_AMOUNT_MAX}`)
  }
}

/** The member that a bare value of a policy probably stands for. */
const BARE: Readonly<Record<string, string>> = {
  retry: 'maxAttempts',
  concurrency: 'limit',
  throttle: 'limit',
  rateLimit: 'limit',
  debounce: 'period',
  batch: 'maxSize',
  singleton: 'key',
  idempotency: 'key',
  fairness: 'key',
  timeouts: 'run',
  cancelOn: 'event',
  triggers: 'event',
}

/** Describes the object that a policy or a trigger needs instead of a bare value. */
function formOf(name: string, value: unknown, members: object): string {
  const member = BARE[name] as string
  const isUsable = ['string', 'number'].includes(typeof value)
  const example = `{ ${member}: ${isUsable ? JSON.stringify(value) : '…'} }`
  const others = Object.keys(members).filter(one => one !== member)
  return `${name} takes an object such as ${example}${others.length === 0 ? '' : ` (also ${others.join(', ')})`}`
}
