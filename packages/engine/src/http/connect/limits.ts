// The bounds of Connect sockets. The hub takes overrides, so that tests can shrink them.

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

/** Heartbeats that a peer may leave without any sign of life. */
export const SILENT_BEATS_MAX = 3
