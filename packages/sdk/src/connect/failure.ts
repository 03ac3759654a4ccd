// Why a socket ended, as the error that people get, and whether trying on can help.

import { API_ERROR_STATUS, type ApiErrorCode, CLOSE_CODES } from '@perdure/protocol'
import { PerdureError } from '../errors.ts'

/** How a socket ended. */
export interface SocketEnd {
  readonly error: PerdureError
  /** The engine said no: it is not just away. */
  readonly refused: boolean
  /** WebSocket close code; 1006 without one. */
  readonly closeCode: number
}

/** What the engine's `error` frame said. */
export interface Complaint {
  readonly code: string
  readonly message: string
}

/** Nothing came back, or the connection broke. */
export function away(
  message: string,
  { closeCode = 1006, cause }: { closeCode?: number; cause?: unknown } = {},
) {
  return end({ code: 'unreachable', status: 0, message }, { refused: false, closeCode, cause })
}

/** The engine is not the one that this runner shares its signing key with. */
export function untrusted(message: string): SocketEnd {
  return end({ code: 'untrusted_engine', status: 0, message }, { refused: true, closeCode: 1006 })
}

/** The engine complained of the registration. */
export function refusedBy({ code, message }: Complaint, closeCode = 1006): SocketEnd {
  const status = API_ERROR_STATUS[code as ApiErrorCode] ?? 400
  const refused = status < 500 && status !== 429
  return end({ code, status, message }, { refused, closeCode })
}

/** The handshake was answered with a status instead of a socket. */
export function answeredWith(status: number): SocketEnd {
  const message = `The engine answered the handshake with status ${status}`
  const refused = status >= 400 && status < 500 && status !== 408 && status !== 429
  return end({ code: `http_${status}`, status, message }, { refused, closeCode: 1006 })
}

/** The engine closed the socket, perhaps after it had said why. */
export function closedWith(closeCode: number, reason: string, complaint: Complaint | undefined): SocketEnd {
  if (closeCode === CLOSE_CODES.auth) {
    return refusedBy(
      complaint ?? { code: 'unauthorized', message: 'The engine refuses the API key' },
      closeCode,
    )
  }
  if (closeCode === CLOSE_CODES.protocol) {
    const message = `The engine does not understand this runner${reason === '' ? '' : `: ${reason}`}`
    return refusedBy(complaint ?? { code: 'protocol_mismatch', message }, closeCode)
  }
  const why = reason === '' ? '' : `: ${reason}`
  return away(`The engine closed the connection (${closeCode}${why})`, { closeCode })
}

function end(
  problem: { code: string; status: number; message: string },
  { refused, closeCode, cause }: { refused: boolean; closeCode: number; cause?: unknown },
): SocketEnd {
  return { error: new PerdureError(problem, { cause }), refused, closeCode }
}
