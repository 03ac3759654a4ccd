// The bounds of Connect sockets. The hub takes overrides, so that tests can shrink them.

import { CONNECT_HEARTBEAT_MS, CONNECT_SILENCE_MS } from '@perdure/protocol'

export interface ConnectLimits {
  /** Sockets in all; beyond it an upgrade is answered 503. */
  socketsMax: number
  /** How long a socket may take to register. */
  registerMs: number
  /** With so much unread a socket is sent no further invokes, */
  unreadHighBytes: number
  /** and with so much it is cut: its peer asks without reading the answers. */
  unreadBytesMax: number
  /** How long a closing socket may take before it is destroyed. */
  closeMs: number
}

const MIB = 1024 * 1024

export const CONNECT_LIMITS: ConnectLimits = {
  socketsMax: 10_000,
  registerMs: 10_000,
  unreadHighBytes: 4 * MIB,
  unreadBytesMax: 16 * MIB,
  closeMs: 1000,
}

/** Heartbeats without any sign of life after which the end of the silence that a peer may keep is watched for. */
export const SILENT_BEATS_MAX = CONNECT_SILENCE_MS / CONNECT_HEARTBEAT_MS
/** What the answer to the last of them may take. */
export const ANSWER_MS = 500
