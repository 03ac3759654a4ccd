// Distinguishes errors of an unavailable PostgreSQL, or of the network to it, from errors of a wrong statement.

/** Classes of SQLSTATE: connection, resources, operator intervention, system error. */
const UNAVAILABLE_CLASSES: readonly string[] = ['08', '53', '57', '58']
/**
 * Lost races for locks, connections ended because they were idle in a transaction, a read-only server, and prepared statements
 * that are missing because a pooler exchanged the connection.
 */
const UNAVAILABLE: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '25P03', '25006', '26000', '42P05'])
const NETWORK = /^(E[A-Z]{3,}|Connection terminated|Query read timeout|timeout e)/

export function isUnavailable(error: unknown): boolean {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  if (typeof code !== 'string') return NETWORK.test(message) || /[Cc]onnection|[Tt]imeout/.test(message)
  if (/^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E'))
    return UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.includes(code.slice(0, 2))
  return NETWORK.test(code)
}

/** SQLSTATEs of a server that has no room for the write, while smaller writes may succeed. */
const NO_ROOM: ReadonlySet<string> = new Set(['53100', '53400'])

/** Whether the server refused a write because its disk is full. Its connection stays open, and nothing was written. */
export function lacksRoom(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && NO_ROOM.has(code)
}
