// The child's side of the messages between a runner process and its parent.

import type { Over } from './options.ts'

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
