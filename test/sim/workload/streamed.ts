// The chunks that executions of steps write to output streams. `sim-appends.ts` sends them, and the checks use them.

import { unitOf } from '../core/random.ts'

const APPENDS_MAX = 5

/** An append of one execution. */
interface Append {
  stream: string
  chunks: readonly string[]
}

/** The appends of an execution, in order; some executions have none. Steps share one stream, and some also have another. */
export function appendsOf(token: string): readonly Append[] {
  const draw = (what: string) => unitOf(`${what} ${token}`)
  const count = draw('streams') < 0.4 ? 0 : 1 + Math.floor(draw('appends') * APPENDS_MAX)
  let chunks = 0
  return Array.from({ length: count }, (_, i) => ({
    stream: draw(`stream ${i}`) < 0.8 ? 'shared' : 'other',
    chunks: Array.from({ length: 1 + Math.floor(draw(`chunks ${i}`) * 2.5) }, () => `${token}|${chunks++}`),
  }))
}

/** All chunks of an execution in one stream, in order. */
export function chunksOf(token: string, stream: string): string[] {
  return appendsOf(token).flatMap(append => (append.stream === stream ? append.chunks : []))
}
