// The child's side of the messages between a runner process and its parent, and the answers of the bare runner.

import type { Over } from './options.ts'
import { answer, type Invoke } from './workflows.ts'

/** How a runner registers with an engine. */
export interface Attaching {
  over: Over
  apiKey?: string | undefined
}

/** Messages from the parent to the runner. */
export type RunnerRequest = { kind: 'count' } | ({ kind: 'attach'; engineUrl: string } & Attaching) | { kind: 'detach' }

/** Messages from the runner to the parent: finished runs in one message per tick, and answers to requests. */
export type RunnerMessage =
  | { kind: 'listening'; port: number }
  | { kind: 'attached'; problem?: string }
  | { kind: 'finished'; runs: number[] }
  | { kind: 'counted'; passes: number; failed: number }

/** The number of invokes so far, and of those that were refused. */
export const counts = { passes: 0, failed: 0 }

let finished: number[] = []

export function tellParent(message: RunnerMessage): void {
  process.send?.(message)
}

/** Answers an invoke with `send`, and reports the end of its run. */
export function answerInvoke(invoke: Invoke, send: (status: number, body: string) => void): void {
  try {
    const { status, body, isLast, afterMs } = answer(invoke)
    const respond = () => {
      send(status, body)
      if (isLast) reportFinished(invoke.event.data.n)
    }
    if (afterMs === undefined) respond()
    else setTimeout(respond, afterMs)
  } catch (error) {
    // A 4xx fails the run at once, and a failed run fails the bench.
    counts.failed++
    send(400, JSON.stringify({ error: String(error) }))
  }
}

/** Reports that the last invoke of run `n` is answered. */
export function reportFinished(n: number): void {
  if (finished.length === 0) {
    setImmediate(() => {
      tellParent({ kind: 'finished', runs: finished })
      finished = []
    })
  }
  finished.push(n)
}

/** Answers the parent's requests. `attach` resolves with a function that closes the connection to the engine. */
export function obeyParent(attach: (engineUrl: string, how: Attaching) => Promise<() => void>): void {
  const attached: (() => void)[] = []
  process.on('message', (request: RunnerRequest) => {
    if (request.kind === 'count') tellParent({ kind: 'counted', ...counts })
    else if (request.kind === 'detach') for (const close of attached.splice(0)) close()
    else {
      attach(request.engineUrl, request).then(
        close => {
          attached.push(close)
          tellParent({ kind: 'attached' })
        },
        error => tellParent({ kind: 'attached', problem: String(error) }),
      )
    }
  })
  process.on('disconnect', () => process.exit(0))
}
