// The bounds of Connect sockets. The hub takes overrides, so that tests can shrink them.

import { CONNECT_HEARTBEAT_MS, CONNECT_SILENCE_MS } from '@perdure/protocol'

export interface ConnectLimits {
  /** Most sockets in all; a further upgrade is answered 503. */
  socketsMax: number
  /** How long a socket may take to register. */
  registerMs: number
  /** A socket with this much unread gets no further invokes. */
  unreadHighBytes: number
  /** A socket with this much unread is closed: its runner sends requests without reading the answers. */
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

/** Unanswered heartbeats after which a timer closes the socket at the end of the allowed silence. */
export const UNANSWERED_HEARTBEATS_MAX = CONNECT_SILENCE_MS / CONNECT_HEARTBEAT_MS
/** How long the answer to the last of these heartbeats may take. */
export const HEARTBEAT_ANSWER_MS = 500
