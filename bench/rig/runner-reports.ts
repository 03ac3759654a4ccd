// The child's side of the messages between a runner process and its parent.

import type { Over } from './options.ts'

/** How a runner registers with an engine. */
export interface Attaching {
  over: Over
  apiKey?: string | undefined
}

/** Messages from the parent to the runner. */
export type RunnerRequest = { kind: 'count' } | ({ kind: 'attach'; engineUrl: string } & Attaching) | { kind: 'detach' }

/** Messages from the runner to the parent: finished and parked runs in one message per tick, and answers to requests. */
export type RunnerMessage =
  | { kind: 'listening'; port: number }
  | { kind: 'attached'; problem?: string }
  | { kind: 'left'; finished: number[]; parked: number[] }
  | { kind: 'counted'; passes: number; failed: number }

/** The number of invokes so far, and of those that were refused. */
export const counts = { passes: 0, failed: 0 }

let left = { finished: [] as number[], parked: [] as number[] }

export function tellParent(message: RunnerMessage): void {
  process.send?.(message)
}

/** Reports that run `n` has left the load's loop. */
export function reportLeft(what: 'finished' | 'parked', n: number): void {
  if (left.finished.length + left.parked.length === 0) {
    setImmediate(() => {
      tellParent({ kind: 'left', ...left })
      left = { finished: [], parked: [] }
    })
  }
  left[what].push(n)
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
