// Opens the connections of the HTTP transport. A machine that is gone answers no packet, so the time to connect is bounded
// separately from the time of the TLS handshake, which a busy runner may delay.

import type { Socket } from 'node:net'
import { buildConnector } from 'undici'

/** The kernel repeats the first packet of a connection after 1 s, and again no sooner than after 3 s. */
const UNANSWERED_MS_MAX = 2000
/** Idle time after which the kernel checks whether the other side is there: ten times, a second apart. */
const KEEP_ALIVE_IDLE_MS = 10_000

/** `onUnanswered`: the origin did not answer the packets of a connection. */
export function runnerConnector(timeoutMs: number, onUnanswered: (origin: string) => void): buildConnector.connector {
  // The type definitions lack the socket, which the connector returns.
  const open = buildConnector({ timeout: timeoutMs, keepAliveInitialDelay: KEEP_ALIVE_IDLE_MS }) as (
    ...args: Parameters<buildConnector.connector>
  ) => Socket
  return (target, callback) => {
    const socket = open(target, callback)
    let timer: NodeJS.Timeout | undefined
    const begin = () => {
      // If this process stood still, the answer may already have arrived: it is read first.
      timer = setTimeout(() => setImmediate(giveUp), UNANSWERED_MS_MAX)
    }
    const giveUp = () => {
      if (!socket.connecting) return
      onUnanswered(`${target.protocol}//${target.host ?? target.hostname}`)
      socket.destroy(new Error(`the host did not accept the connection within ${UNANSWERED_MS_MAX} ms`))
    }
    const end = () => clearTimeout(timer)
    // Resolving a name comes before the attempt, and has its own time limit.
    socket.once('connectionAttempt', begin).once('connect', end).once('close', end)
  }
}
