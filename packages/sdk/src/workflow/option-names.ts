// The names of the options of a workflow, and of the members of its policies. Called by `createWorkflow`.

import type { RetryPolicy } from '@perdure/protocol'
import { isEventDefinition } from '../schema/event.ts'
import { type OptionNames, refuseUnknownOptions } from '../schema/known-options.ts'
import type { FlowControl } from './flow-control.ts'

type One<T> = Exclude<T extends readonly (infer Item)[] ? Item : T, { readonly schema: unknown }>
/** The members of a policy; true for one without. */
type MembersOf<Policy> = [Extract<One<Policy>, object>] extends [never]
  ? true
  : OptionNames<Required<Extract<One<Policy>, object>>>
type Policies = Required<FlowControl & { retry: RetryPolicy }>

const POLICIES = {
  retry: { maxAttempts: true, initialMs: true, factor: true, maxMs: true, jitter: true },
  concurrency: { limit: true, key: true, scope: true },
  throttle: { limit: true, period: true, periodMs: true, burst: true, key: true },
  rateLimit: { limit: true, period: true, key: true },
  debounce: { period: true, key: true, timeout: true, mode: true },
  batch: { maxSize: true, timeout: true, key: true },
  singleton: { mode: true, key: true },
  idempotency: { key: true, ttl: true },
  priority: true,
  timeouts: { queue: true, run: true, invoke: true },
  cancelOn: { event: true, if: true },
} as const satisfies { [Name in keyof Policies]: MembersOf<Policies[Name]> }

const OPTIONS = {
  ...POLICIES,
  name: true,
  triggers: true,
  input: true,
  middleware: true,
  onFailure: true,
  handlerRetries: true,
  whenExhausted: true,
  attributes: true,
  inheritAttributes: true,
}
const TRIGGER = { event: true, if: true, cron: true }

/** Throws a TypeError for an option, or a member of a policy or trigger, that does not exist. */
export function checkOptionNames(options: { name?: unknown; triggers?: unknown }): void {
  const what = `Workflow "${String(options?.name)}"`
  refuseUnknownOptions(what, options, OPTIONS)
  const given = { ...options } as Record<string, unknown>
  for (const [name, members] of Object.entries<object | true>({ ...POLICIES, triggers: TRIGGER })) {
    if (members === true) continue
    for (const one of [given[name] ?? []].flat()) {
      if (typeof one !== 'object' || one === null || isEventDefinition(one)) continue
      refuseUnknownOptions(`${what}: ${name}`, one, members)
    }
  }
}
