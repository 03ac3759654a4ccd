// Describes why a socket ended: the error for the user, and whether the engine refused the runner. Called by the socket
// and the link.

import { PerdureError } from '@perdure/client'
import { parseJson } from '@perdure/client/internal'
import {
  API_ERROR_STATUS,
  type ApiErrorCode,
  CLOSE_CODES,
  type ForeignAnswer,
  foreignAnswer,
  foreignRemedy,
  keyRemedy,
} from '@perdure/protocol'
import { isRefusalStatus } from '../runner/state-log.ts'
import { fieldOf } from './frames.ts'

/** How a socket ended. */
export interface SocketEnd {
  readonly error: PerdureError
  /** Whether the engine refused the runner; otherwise it was only unreachable. */
  readonly refused: boolean
  /** WebSocket close code; 1006 when there was none. */
  readonly closeCode: number
}

/** The payload of the engine's `error` frame. */
export interface EngineError {
  readonly code: string
  readonly message: string
}

/** Reads the payload of an `error` frame. */
export function readError(payload: unknown): EngineError {
  return {
    code: String(fieldOf(payload, 'code') ?? 'internal'),
    message: String(fieldOf(payload, 'message') ?? 'The engine gave no reason'),
  }
}

/** The engine did not respond, or the connection broke. */
export function unreachable(message: string, rest: { closeCode?: number; cause?: unknown } = {}): SocketEnd {
  return end({ code: 'unreachable', status: 0, message }, { refused: false, ...rest })
}

/** The engine has no signing key of this runner. */
export function untrusted(message: string): SocketEnd {
  return end({ code: 'untrusted_engine', status: 0, message }, { refused: true })
}

/** The engine refused the registration with an `error` frame. */
export function registrationRefused({ code, message }: EngineError, closeCode?: number): SocketEnd {
  const status = API_ERROR_STATUS[code as ApiErrorCode] ?? 400
  const explained = code === 'unauthorized' ? `${message}${keyRemedy(true)}` : message
  return end({ code, status, message: explained }, { refused: isRefusalStatus(status), closeCode })
}

/** The handshake was answered with a status other than 101: by the engine, or by a proxy in front of it. */
export function handshakeRefused(answer: ForeignAnswer): SocketEnd {
  const { status } = answer
  const body = fieldOf(fieldOf(parseJson(answer.body), 'error'), 'message') ?? answer.body
  const message = `The WebSocket handshake was not accepted: ${foreignAnswer({ ...answer, body: String(body) })}${upgradeRemedy(answer)}`
  return end({ code: `http_${status}`, status, message }, { refused: isRefusalStatus(status) })
}

/** The message of an engine that got the handshake without its upgrade. */
const WITHOUT_UPGRADE = /must be an upgrade/

function upgradeRemedy({ status, body }: ForeignAnswer): string {
  if (WITHOUT_UPGRADE.test(body) || status === 426 || status === 501) {
    return ' A proxy in front of the engine drops the upgrade: it must forward the headers Upgrade and Connection, over HTTP/1.1'
  }
  return foreignRemedy(status)
}

/** The engine closed the socket, possibly after an `error` frame. */
export function closedByEngine(closeCode: number, reason: string, error: EngineError | undefined): SocketEnd {
  const why = reason === '' ? '' : `: ${reason}`
  if (closeCode === CLOSE_CODES.auth) {
    const unauthorized = { code: 'unauthorized', message: 'The engine refuses the API key' }
    return registrationRefused(error ?? unauthorized, closeCode)
  }
  if (closeCode === CLOSE_CODES.protocol) {
    const message = `The engine does not understand this runner${why}`
    return registrationRefused(error ?? { code: 'protocol_mismatch', message }, closeCode)
  }
  return unreachable(`The engine closed the connection (${closeCode}${why})`, { closeCode })
}

function end(
  problem: { code: string; status: number; message: string },
  { refused, closeCode = 1006, cause }: { refused: boolean; closeCode?: number | undefined; cause?: unknown },
): SocketEnd {
  return { error: new PerdureError(problem, { cause }), refused, closeCode }
}
