// Checks a registration: the body of `POST /register`, and the payload of a Connect runner's `runner.register` frame
// (docs/wire-protocol.md#register).

import { NAME_CHARS_MAX, PROTOCOL_VERSION, type RegisterRequest } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { checkCharacters, checkName, checkUrl, validator } from './validate.ts'

// Runners register as soon as an engine listens.
const checkShape = validator(operations.register.body.schema, 'body', { atStart: true })

/** Optional fields about the runner; each may be empty. */
const METADATA = ['runtime', 'language', 'version', 'framework', 'sdkName', 'region', 'keyFingerprint'] as const

/** Checks the body of `POST /register`. Throws `invalid_request` or `protocol_mismatch` naming the field. */
export function checkRegistration(value: unknown): RegisterRequest {
  checkVersion(value)
  const request = checkShape(value)
  checkParts(request)
  checkUrl(request.url)
  return request
}

/** Checks all fields but the URL, which a Connect runner does not send. */
export function checkParts(request: Omit<RegisterRequest, 'url'>): void {
  checkName('app', request.app)
  checkName('runner', request.runner)
  checkName('instance', request.instance)
  for (const field of METADATA) checkCharacters(field, request[field])
  for (const [i, workflow] of request.workflows.entries()) checkWorkflow(workflow, `workflows[${i}]`)
}

/** Runs first: a peer of another version may send another shape (docs/wire-protocol.md#versions). */
export function checkVersion(value: unknown): void {
  const version = (value as { protocolVersion?: unknown } | null | undefined)?.protocolVersion
  if (version === undefined || version === PROTOCOL_VERSION) return
  throw new EngineError('protocol_mismatch', `protocolVersion must be ${PROTOCOL_VERSION}, or absent`, {
    details: { field: 'protocolVersion', supported: [PROTOCOL_VERSION] },
  })
}

function checkWorkflow(workflow: RegisterRequest['workflows'][number], path: string): void {
  checkName(`${path}.name`, workflow.name)
  for (const [i, { event, cron }] of (workflow.triggers ?? []).entries()) {
    const trigger = `${path}.triggers[${i}]`
    if ((event === undefined) === (cron === undefined)) {
      throw invalid(trigger, 'must have either event or cron')
    }
    checkName(`${trigger}.event`, event)
    checkName(`${trigger}.cron`, cron)
  }
}

const OF_WORKFLOW = /^workflows\[(\d+)\]\.?/

/**
 * Returns an error about a workflow of the registration with the workflow's name instead of its index, if the workflow has a
 * name; `details.field` keeps the index, for programs. Returns any other error unchanged.
 */
export function namingWorkflow(error: unknown, registration: unknown): unknown {
  if (!(error instanceof EngineError)) return error
  const [found, index] = OF_WORKFLOW.exec(error.message) ?? []
  if (found === undefined) return error
  const { workflows } = registration as { workflows: readonly { name?: unknown }[] }
  const name = workflows[Number(index)]?.name
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARS_MAX) return error
  const message = `workflow ${JSON.stringify(name)}: ${error.message.slice(found.length)}`
  return new EngineError(error.code, message, { ...(error.details && { details: error.details }), cause: error })
}
