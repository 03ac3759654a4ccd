// The bounds of Connect sockets. The hub takes overrides, so that tests can shrink them.

import { CONNECT_HEARTBEAT_MS, CONNECT_SILENCE_MS } from '@perdure/protocol'

const MIB = 1024 * 1024

export const CONNECT_LIMITS = {
  /** Most sockets in total; a further upgrade is answered 503. */
  socketsMax: 10_000,
  /** How long a socket may take to register. */
  registerMs: 10_000,
  /** A socket with this much unread gets no further invokes. */
  unreadHighBytes: 4 * MIB,
  /** A socket with this much unread is closed: its runner sends requests without reading the answers. */
  unreadBytesMax: 16 * MIB,
  /** How long a closing socket may take before it is destroyed. */
  closeMs: 1000,
}

export type ConnectLimits = typeof CONNECT_LIMITS

/** Number of unanswered heartbeats after which a timer closes the socket at the end of the allowed silence. */
export const UNANSWERED_HEARTBEATS_MAX = CONNECT_SILENCE_MS / CONNECT_HEARTBEAT_MS
/** How long the answer to the last of these heartbeats may take. */
export const HEARTBEAT_ANSWER_MS = 500
