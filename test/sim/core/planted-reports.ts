// Planted bugs of reports over HTTP: each replaces a method of the engine, and so breaks one rule of
// docs/wire-protocol.md#checkpoints-over-http. `planted.test.ts` shows that the simulation fails for every one of them.

import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { Checkpoints, type Taken } from '../../../packages/engine/src/services/pass/checkpoint.ts'
import { HttpCheckpoints, type ReportingPass } from '../../../packages/engine/src/services/pass/http-checkpoints.ts'
import { hashId } from '../workload/handler.ts'
import type { Checkpoint } from '../workload/wire.ts'
import type { PlantedBug } from './planted.ts'

export const PLANTED_IN_REPORTS: readonly PlantedBug[] = [
  {
    name: 'the token of an older pass opens the newer one',
    from: 4,
    always: ['httpCheckpoints', 'reportRepeated'],
    install() {
      const newest = new Map<string, ReportingPass>()
      return replace(HttpCheckpoints.prototype, 'open', open => {
        return function (this: HttpCheckpoints, pass) {
          newest.set(pass.runId, pass)
          const take = (payload: string) => (newest.get(pass.runId) ?? pass).take(payload)
          return { ...open.call(this, { ...pass, take }), close() {} }
        }
      })
    },
  },
  {
    name: 'a report that comes again is stored again',
    from: 14,
    always: ['httpCheckpoints', 'reportRepeated'],
    install() {
      let count = 1000
      return replace(Checkpoints.prototype, 'takeOverHttp', take => {
        return async function (this: Checkpoints, payload) {
          const report = JSON.parse(payload) as Checkpoint
          const taken = await take.call(this, JSON.stringify({ ...report, seq: ++count }))
          if (taken.kind !== 'stored') return taken
          return { ...taken, ack: taken.ack.replace(/^\{"seq":\d+/, `{"seq":${report.seq}`) }
        }
      })
    },
  },
  {
    name: 'a report is acknowledged before it is stored',
    always: ['httpCheckpoints', 'commitFails'],
    install: () =>
      replace(Checkpoints.prototype, 'takeOverHttp', take => {
        return async function (this: Checkpoints, payload) {
          const stored = take.call(this, payload)
          const { seq, opcodes } = JSON.parse(payload) as Checkpoint
          if (!opcodes.every(({ op, error }) => op === 'StepRun' && !error)) return stored
          return { kind: 'stored', ack: JSON.stringify({ seq, steps: opcodes.map(({ id }) => ({ id })) }) }
        }
      }),
  },
  {
    name: 'an answer does not wait for the report before it',
    always: ['httpCheckpoints', 'answerFirst', 'commitSlow'],
    install: () =>
      replace(Checkpoints.prototype, 'over', over => {
        return async function (this: Checkpoints) {
          over.call(this).catch(() => {})
        }
      }),
  },
  { ...afterTheEnd((pass, payload) => pass.take(payload)), name: 'a report after the end of its run is taken' },
  {
    ...afterTheEnd(async (pass, payload) => {
      const report = JSON.parse(payload) as Checkpoint
      const opcodes = [{ op: 'StepRun', id: hashId('late'), name: 'late', data: 1 }]
      // With a seq that is already used, the report would be a repeat.
      await pass.take(JSON.stringify({ ...report, seq: report.seq + 1000, opcodes }))
      return { kind: 'obsolete' }
    }),
    name: 'a report after the end of its run is refused, and its step is stored',
  },
]

/**
 * The token of the last pass stays valid, the pass takes further reports, and the run's fence does not check what they store.
 * `takeLate` answers each report.
 */
function afterTheEnd(takeLate: (pass: ReportingPass, payload: string) => Promise<Taken>): Omit<PlantedBug, 'name'> {
  let ended = new Set<string>()
  let late = new Set<string>()
  return {
    always: ['httpCheckpoints', 'reportRepeated', 'answerFirst', 'reportSlow'],
    install() {
      ended = new Set()
      late = new Set()
      const underWay = new WeakMap<Checkpoints, Promise<unknown>>()
      const restore = [
        replace(HttpCheckpoints.prototype, 'open', open => {
          return function (this: HttpCheckpoints, pass) {
            let isClosed = false
            const take: ReportingPass['take'] = async payload => {
              if (isClosed && !ended.has(pass.runId)) return { kind: 'obsolete' }
              if (!isClosed) return pass.take(payload)
              late.add(pass.runId)
              return takeLate(pass, payload)
            }
            const close = () => {
              isClosed = true
            }
            return { ...open.call(this, { ...pass, take }), close }
          }
        }),
        replace(Checkpoints.prototype, 'takeOverHttp', take => {
          return function (this: Checkpoints, payload) {
            const taken = take.call(this, payload)
            underWay.set(this, taken)
            return taken
          }
        }),
        replace(Checkpoints.prototype, 'over', () => {
          return async function (this: Checkpoints) {
            await underWay.get(this)
          }
        }),
      ]
      return () => {
        for (const each of restore) each()
      }
    },
    tamper({ guards, changes }: Unit): Unit {
      for (const change of changes)
        if (change.type === 'run.moved' && change.run.finishedAt !== undefined) ended.add(change.run.id)
      return { guards: guards.filter(guard => !('runId' in guard && late.has(guard.runId))), changes }
    },
  }
}

/** Replaces a method, and returns a function that restores it. */
export function replace<Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
  make: (original: Target[Name]) => Target[Name],
): () => void {
  const original = target[name]
  target[name] = make(original)
  return () => {
    target[name] = original
  }
}
