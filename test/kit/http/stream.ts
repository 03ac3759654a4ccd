// The HTTP interface on a store in memory, whose live topics the test notifies; and a reader of event streams over a real socket,
// which a test can slow down, disconnect or pause.

import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pino from 'pino'
import { onTestFinished } from 'vitest'
import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import { openSqliteStore } from '../../../packages/engine/src/adapters/sql/sqlite/store.ts'
import { readLimits } from '../../../packages/engine/src/config/limits.ts'
import type { Change } from '../../../packages/engine/src/domain/model/change.ts'
import type { HttpDeps } from '../../../packages/engine/src/http/access/deps.ts'
import { createApp } from '../../../packages/engine/src/http/app.ts'
import type { HttpLimits } from '../../../packages/engine/src/http/request/limits.ts'
import type { Store } from '../../../packages/engine/src/ports/store.ts'
import type { Reads } from '../../../packages/engine/src/ports/store-reads.ts'
import { KeyRing } from '../../../packages/engine/src/services/admin/keys.ts'
import { Live } from '../../../packages/engine/src/services/live/live.ts'

/** The interface on its own port, without the services that streams do not call. Closed when the test ends. */
export async function streamApp(limits: Partial<HttpLimits> = {}) {
  const clock = new VirtualClock()
  const logged: Record<string, unknown>[] = []
  const log = pino({ level: 'error' }, { write: line => logged.push(JSON.parse(line)) })
  const store: Store = await openSqliteStore({ file: ':memory:', log })
  const live = new Live()
  const keys = new KeyRing({ fixed: [], loopback: true })
  const openLimits = readLimits((_, fallback) => fallback)
  const deps: Partial<HttpDeps> = { store, live, keys, corsOrigins: [], openLimits, limits, clock, log }
  const app = createApp(deps as HttpDeps)
  onTestFinished(async () => {
    await app.close()
    await store.close()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    app,
    port: (app.server.address() as AddressInfo).port,
    clock,
    store,
    live,
    logged,
    /** Commits rows without notifying any stream. */
    seed: (...changes: Change[]) => store.commit({ guards: [], changes }),
    /** How many listeners the open streams have. */
    listeners: () => live.runs.size + live.moves.size + live.events.size,
  }
}

type Around = (read: () => Promise<unknown>, name: keyof Reads, args: unknown[]) => Promise<unknown>

/** Lets a test record, hold or break reads of the real store, except the one that resolves ids given by callers. */
export function aroundReads(store: Store, around: Around): void {
  const open = store.in.bind(store)
  store.in = namespace => {
    const reads = open(namespace)
    return new Proxy(reads, {
      get: (_, name: keyof Reads) => {
        const method = reads[name].bind(reads) as (...args: unknown[]) => Promise<unknown>
        return name === 'storedIds' ? method : (...args: unknown[]) => around(() => method(...args), name, args)
      },
    })
  }
}

/** Lets the event loop run until the condition holds, for 5 s at most. */
export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 5000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never held: ${condition}`)
    await nextTurn()
  }
}

export interface OpenStream {
  status: number
  headers: http.IncomingHttpHeaders
  /** Everything received so far. */
  text(): string
  /** Resolves when the text contains `part`. */
  saw(part: string): Promise<void>
  /** Resolves when the stream is over: true if it ended properly, false if it was cut. */
  over: Promise<boolean>
  /** Stops reading, as a slow client does, and continues. */
  pause(): void
  resume(): void
  disconnect(): void
}

/** Opens a real event stream. */
export function openStream(port: number, path: string, headers: Record<string, string> = {}): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path, headers, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      const over = new Promise<boolean>(done => {
        response.on('error', () => done(false)).on('close', () => done(response.complete))
      })
      resolve({
        status: response.statusCode as number,
        headers: response.headers,
        text: () => text,
        saw: part => eventually(() => text.includes(part)),
        over,
        pause: () => response.pause(),
        resume: () => response.resume(),
        disconnect: () => request.destroy(),
      })
    })
    request.on('error', reject)
  })
}
