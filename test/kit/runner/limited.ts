// Steps that wait for their turn at a limit, and the runner's own record of their starts, in which no engine takes part.

import type { Step } from './steps.ts'
import { stepId } from './wire.ts'

interface Start {
  /** Time by the clock of the runner. */
  at: number
  /** Run and step. */
  of: string
  key?: string
}

export interface LimitedOptions {
  key?: string
  /** The callback of the step, which fails with the error that this throws. */
  body?(start: { attempt: number; runId: string }): unknown
  /** The clock of the runner, by default the machine's clock. */
  now?(): number
}

export class Starts {
  readonly all: Start[] = []

  /** A step with a limit. Its runner must name the feature `step-limits`. */
  limited(name: string, limit: string, { key, body, now = Date.now }: LimitedOptions = {}): Step {
    return {
      name,
      make: async ({ ctx }) => {
        const {
          turns = [],
          stepAttempts = {},
          runId,
        } = ctx as typeof ctx & {
          turns?: string[]
          stepAttempts?: Record<string, number>
        }
        const ofKey = key === undefined ? {} : { key }
        if (!turns.includes(stepId(name))) return { op: 'StepLimit', limit, ...ofKey }
        this.all.push({ at: now(), of: `${runId} ${name}`, ...ofKey })
        const begunAt = performance.now()
        const measured = () => ({ offsetMs: 0, durationMs: Math.round(performance.now() - begunAt) })
        try {
          return {
            op: 'StepRun',
            data: await body?.({ attempt: stepAttempts[stepId(name)] ?? 1, runId }),
            ...measured(),
          }
        } catch (error) {
          const { message } = error as Error
          return { op: 'StepRun', error: { message }, catchable: true, retryAfterMs: 1, ...measured() }
        }
      },
    }
  }

  /** The highest number of starts in any window of this many milliseconds. */
  mostIn(periodMs: number, key?: string): number {
    const times = this.all
      .filter(start => start.key === key)
      .map(({ at }) => at)
      .sort((a, b) => a - b)
    let most = 0
    for (let first = 0, last = 0; last < times.length; last++) {
      while ((times[last] as number) - (times[first] as number) >= periodMs) first++
      most = Math.max(most, last - first + 1)
    }
    return most
  }
}
