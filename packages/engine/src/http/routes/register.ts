// `POST /register`: how runners come, and stay, known (contract §2.11, §9; decisions "Registration").

import { PROTOCOL_VERSION, type RegisterRequest } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { bodyOf } from '../body.ts'
import type { HttpContext } from '../context.ts'
import { type Handler, mount } from '../mount.ts'
import { sendJson } from '../reply.ts'
import { checkCharacters, checkName, validator } from '../validate.ts'

const checkShape = validator(operations.register.body.schema)

/** What a runner tells about itself: any of it may be empty. */
const METADATA = [
  'runtime',
  'language',
  'version',
  'framework',
  'sdkName',
  'region',
  'keyFingerprint',
] as const

export function registerRoutes(app: FastifyInstance, context: HttpContext): void {
  const answer: Handler<typeof operations.register> = async (request, reply) => {
    const registration = checkRegistration(bodyOf(request)?.value)
    const registered = await context.deps.registry.register(request.actor.namespace, registration)
    return sendJson(reply, 200, JSON.stringify(registered))
  }
  mount(app, context, operations.register, answer, { bodyLimit: context.limits.registerBodyMax })
}

export function checkRegistration(value: unknown): RegisterRequest {
  checkVersion(value)
  const request = checkShape(value)
  checkParts(request)
  checkName('url', request.url)
  checkUrl(request.url)
  return request
}

/** All but the URL: what a Connect runner's `runner.register` must pass too. */
export function checkParts(request: Omit<RegisterRequest, 'url'>): void {
  checkName('app', request.app)
  checkName('runner', request.runner)
  for (const field of METADATA) checkCharacters(field, request[field])
  for (const [i, workflow] of request.workflows.entries()) checkWorkflow(workflow, `workflows[${i}]`)
}

/** Before all else: a peer of another version may well send another shape (contract §9.3). */
export function checkVersion(value: unknown): void {
  const version = (value as { protocolVersion?: unknown } | null | undefined)?.protocolVersion
  if (version === undefined || version === PROTOCOL_VERSION) return
  throw new EngineError('protocol_mismatch', `protocolVersion must be ${PROTOCOL_VERSION}, or absent`, {
    details: { field: 'protocolVersion', supported: [PROTOCOL_VERSION] },
  })
}

function checkUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalid('url', 'must be an http or https URL')
  }
  // Runner listings show the URL, and invokes would not send them.
  if (url.username !== '' || url.password !== '') throw invalid('url', 'must not carry credentials')
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
