// Bounds the registered data of one namespace (docs/limits.md#bounds): a registration that adds something is refused when the
// namespace would then exceed a bound. A registration that adds nothing is never refused, so every runner can renew its own.
// Called by services/registry/register.

import type { Change, Counted, Guard } from '../model/change.ts'
import { EngineError } from '../model/errors.ts'
import type { App, Runner, Workflow } from '../model/workflow.ts'

/** All registered data of a namespace. */
export interface Kept {
  apps: number
  workflows: number
  triggers: number
  runners: number
  bytes: number
}

export interface RegistrationLimits {
  apps: number
  workflows: number
  triggers: number
  runners: number
  /** Bytes of one registration, or of all registered data of a namespace. */
  registrationBytes: number
  catalogBytes: number
}

/** The registrations of a namespace, as the catalog has them. */
interface Registered {
  kept: Readonly<Kept>
  apps: ReadonlyMap<string, App>
  workflow(app: string, name: string): Workflow | undefined
  runner(app: string, runnerId: string): Runner | undefined
}

/** The parts of `Kept` that guards count. */
const COUNTED = ['apps', 'workflows', 'runners'] as const satisfies readonly Counted[]

const KEPT_BYTES = new WeakMap<object, number>()

/** Bytes of a registered runner or workflow as JSON. */
export function keptBytes(registered: Runner | Workflow): number {
  let bytes = KEPT_BYTES.get(registered)
  if (bytes === undefined) {
    // The instances of a runner change, and a heartbeat must not be refused for that.
    bytes = Buffer.byteLength(JSON.stringify({ ...registered, instances: undefined, hasLeft: undefined }))
    KEPT_BYTES.set(registered, bytes)
  }
  return bytes
}

/**
 * Throws when the changes of a registration add something for which the namespace has no room. Returns the guards that protect
 * the counts against other registrations committed at the same time; bytes and triggers are counted without guards.
 */
export function roomGuards(
  { changes, workflows }: { changes: readonly Change[]; workflows: readonly Workflow[] },
  registered: Registered,
  limits: RegistrationLimits,
): Guard[] {
  const added = addedBy(changes, registered)
  const { kept } = registered
  for (const [what, count] of Object.entries(added) as [keyof Kept, number][]) {
    const most = what === 'bytes' ? limits.catalogBytes : limits[what]
    if (count > 0 && kept[what] + count > most) throw full(what, most)
  }
  const runners = changes.flatMap(change => (change.type === 'runner.registered' ? change.runner : []))
  const bytes = [...runners, ...workflows].reduce((sum, each) => sum + keptBytes(each), 0)
  if (added.bytes > 0 && bytes > limits.registrationBytes) throw tooLarge(limits.registrationBytes)
  const namespace = runners[0]?.namespace ?? ''
  return COUNTED.flatMap(type => {
    if (added[type] <= 0) return []
    return { type, namespace, most: limits[type] - added[type] }
  })
}

/** How much the changes add to the registered data; negative if they reduce it. */
function addedBy(changes: readonly Change[], registered: Registered): Kept {
  const added = { apps: 0, workflows: 0, triggers: 0, runners: 0, bytes: 0 }
  const addWorkflow = (before: Workflow | undefined, after: Workflow | undefined) => {
    added.workflows += Number(after !== undefined) - Number(before !== undefined)
    added.triggers += (after?.triggers.length ?? 0) - (before?.triggers.length ?? 0)
    added.bytes += (after ? keptBytes(after) : 0) - (before ? keptBytes(before) : 0)
  }
  for (const change of changes) {
    if (change.type === 'app.seen') added.apps += registered.apps.has(change.app.name) ? 0 : 1
    else if (change.type === 'workflow.registered') {
      const { workflow } = change
      addWorkflow(registered.workflow(workflow.app, workflow.name), workflow)
    } else if (change.type === 'workflow.dropped') {
      addWorkflow(registered.workflow(change.app, change.name), undefined)
    } else if (change.type === 'runner.registered') {
      const { runner } = change
      const before = registered.runner(runner.app, runner.runnerId)
      added.runners += before ? 0 : 1
      added.bytes += keptBytes(runner) - (before ? keptBytes(before) : 0)
    }
  }
  return added
}

const NAMES: Record<keyof Kept, { of: string; setting: string }> = {
  apps: { of: 'apps', setting: 'ENGINE_APP_LIMIT' },
  workflows: { of: 'workflows', setting: 'ENGINE_WORKFLOW_LIMIT' },
  triggers: { of: 'triggers of workflows', setting: 'ENGINE_TRIGGER_LIMIT' },
  runners: { of: 'runners', setting: 'ENGINE_RUNNER_LIMIT' },
  bytes: { of: 'bytes of registrations', setting: 'ENGINE_CATALOG_BYTES' },
}

/** The error of a registration for which the namespace has no room. The number of runners falls by itself, so they may wait. */
export function full(what: keyof Kept, limit: number): EngineError {
  const { of, setting } = NAMES[what]
  const code = what === 'runners' ? 'rate_limited' : 'invalid_request'
  const message = `a namespace keeps at most ${limit} ${of} (${setting}), and this registration would exceed that`
  return new EngineError(code, message, {
    details: { field: what === 'runners' ? 'runner' : 'workflows', limit, setting },
  })
}

function tooLarge(limit: number): EngineError {
  const setting = 'ENGINE_REGISTRATION_BYTES'
  const message = `workflows and the fields of the runner may have at most ${limit} bytes (${setting}), including defaults`
  return new EngineError('invalid_request', message, { details: { field: 'workflows', limit, setting } })
}
