// Takes interim answers (1xx) out of what comes over a connection. A server may send any number of them before the one
// that counts (RFC 9110, 15.2), while undici takes a 100 that nobody asked for as the end of the connection. Every pool's
// connections go through here.

import type { Socket } from 'node:net'

/** No status line is shorter; this much of it tells the status. */
const STATUS_BYTES = 'HTTP/1.1 100 '.length
/** 101 is final: what follows it is no HTTP. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/
const HEAD_END = '\r\n\r\n'
/** An interim answer beyond this is left to undici, which refuses it. */
const HEAD_BYTES_MAX = 16_384
const NOTHING = Buffer.alloc(0)

/**
 * The socket, which reads as if no interim answer had come. For one request at a time, written as a whole: what is
 * written begins the next.
 */
export function withoutInterim<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket)
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  /** What has come of the head of an answer; undefined from the one that counts on, until the next request. */
  let head: Buffer | undefined = NOTHING
  socket.write = (...args: unknown[]) => {
    head ??= NOTHING
    return write(...args)
  }
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size) as Buffer | null
      // Node itself asks for 0 bytes, to set the reading going.
      if (chunk === null || size !== undefined || head === undefined) return chunk
      const rest = skipped(head.length === 0 ? chunk : Buffer.concat([head, chunk]))
      head = isOpen(rest) ? rest : undefined
      if (head === undefined) return rest
    }
  }
  return socket
}

/** What is behind the interim answers that are complete. */
function skipped(bytes: Buffer): Buffer {
  let rest = bytes
  while (isInterim(rest)) {
    const end = rest.indexOf(HEAD_END)
    if (end < 0) break
    rest = rest.subarray(end + HEAD_END.length)
  }
  return rest
}

/** Whether more must come before it is known, or over, what the answer is. */
function isOpen(rest: Buffer): boolean {
  return rest.length < STATUS_BYTES || (isInterim(rest) && rest.length <= HEAD_BYTES_MAX)
}

function isInterim(bytes: Buffer): boolean {
  return INTERIM.test(bytes.toString('latin1', 0, STATUS_BYTES))
}
