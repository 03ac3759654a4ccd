// Checks the payloads of `hello`, `runner.register` and `invoke.again` frames. A registration has the fields of `POST /register`
// except the `url` (docs/wire-protocol.md#frames). Called by peer.ts.

import type { ConnectRegister, RegisterRequest } from '@perdure/protocol'
import { ConnectRegisterSchema, HelloSchema, InvokeAgainSchema } from '@perdure/protocol/schema'
import { connectUrl } from '../../domain/model/connect-url.ts'
import { invalid } from '../../domain/model/errors.ts'
import { checkParts, checkVersion, namingWorkflow } from '../request/registration.ts'
import { checkCharacters, validator } from '../request/validate.ts'

const checkShape = validator(ConnectRegisterSchema, 'payload')
const checkHelloShape = validator(HelloSchema, 'payload')

/** The payload of an `invoke.again`. */
export const checkAgain = validator(InvokeAgainSchema, 'payload')

/** Throws the same errors as the HTTP route. */
export function checkConnectRegister(payload: unknown): ConnectRegister {
  checkVersion(payload)
  try {
    const register = checkShape(payload)
    checkParts(register)
    return register
  } catch (error) {
    throw namingWorkflow(error, payload)
  }
}

/** The instance that a `hello` names, if any. */
export function checkHello(payload: unknown = {}): string | undefined {
  checkVersion(payload)
  const { instance } = checkHelloShape(payload)
  checkCharacters('instance', instance)
  return instance
}

/**
 * Returns the registration in the form that the registry takes. `earlier` is the socket's last one: app and runner must stay the
 * same.
 */
export function registrationOf(
  register: ConnectRegister,
  options: { namespace: string; socketId: string; earlier: RegisterRequest | undefined },
): RegisterRequest {
  const { maxConcurrency: _, underWay: __, ...request } = register
  const { namespace, socketId, earlier } = options
  if (earlier && earlier.app !== request.app) throw invalid('app', `must stay "${earlier.app}" on this socket`)
  if (earlier && earlier.runner !== request.runner) throw invalid('runner', 'must stay the same on this socket')
  const url = connectUrl(namespace, request.app, request.runner ?? socketId)
  return { framework: 'connect', ...request, url }
}
