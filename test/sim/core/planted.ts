// Planted bugs: most change what is committed. `planted.test.ts` shows that the simulation notices each of them: a checker that
// no bug can trigger would prove nothing.

import type { Change, Guard, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { PlantedInRunner } from '../workload/runner.ts'
import type { Extra } from './extras.ts'
import type { FaultKind } from './faults.ts'

export interface PlantedBug {
  name: string
  /** Returns the unit to commit in place of the given one. */
  tamper?(unit: Unit): Unit
  /** Durations use the wall clock. */
  durationsByWall?: true
  /** A wait looks back to the wall-clock time of its run's creation. */
  looksBackByWall?: true
  /** The part of their answers that runners omit, as if the engine ignored it. */
  runner?: PlantedInRunner
  /** Replaces a part of the engine, and returns a function that restores it. */
  install?(): () => void
  /** Faults without which the bug rarely shows. */
  always?: readonly FaultKind[]
  /** Extras without which the bug cannot show. */
  extras?: readonly Extra[]
  /** The first seed to play: the one that notices the bug soonest, until changes to the simulation alter its history. */
  from?: number
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  { name: 'a lost lease still commits', tamper: withoutGuards('run', 'steps') },
  {
    name: 'a control action overlooks what the owner did meanwhile',
    from: 33,
    tamper: withoutGuards('steps'),
    always: ['commitSlow'],
  },
  { name: 'an event overlooks a wait that began meanwhile', from: 4, tamper: withoutGuards('waiters') },
  { name: 'a wait overlooks an event that came meanwhile', from: 6, tamper: withoutGuards('events') },
  { name: 'durations go by a set clock', durationsByWall: true, always: ['clockSet'] },
  { name: 'a wait looks back by a set clock', from: 6, looksBackByWall: true, always: ['clockSet'] },
  { name: 'a dedupe id is not claimed', tamper: withoutGuards('dedupe') },
  { name: 'a wake is dropped', from: 4, tamper: without(change => change.type === 'step.woken') },
  {
    name: 'a cancel does not reach the children',
    from: 16,
    tamper: without(change => change.type === 'run.cancelRequested'),
  },
  { name: 'a child is not started', from: 14, tamper: without(change => isCreated(change) && isChild(change.run)) },
  {
    name: 'a failure has no follow-on run',
    from: 5,
    tamper: without(change => isCreated(change) && change.run.failure !== undefined),
  },
  {
    name: 'an event starts only some of its runs',
    from: 4,
    tamper: without(change => isCreated(change) && change.run.eventId !== undefined && change.run.app === 'mail'),
  },
  { name: 'an event is not logged', tamper: without(change => change.type === 'event.recorded') },
  { name: 'a delivery is not created', from: 13, tamper: without(change => change.type === 'delivery.created') },
  { name: 'an attempt is not appended', from: 13, tamper: without(change => change.type === 'delivery.attempted') },
  {
    name: 'a log line is lost',
    from: 13,
    tamper: without(change => change.type === 'log.written' && change.line.index > 0),
  },
  {
    name: 'only a part of a pass is stored',
    from: 5,
    tamper: without((change, i) => change.type === 'step.recorded' && i > 2),
  },
  {
    name: 'an emit happens twice',
    from: 13,
    tamper: alsoWith(change =>
      change.type === 'event.recorded' && change.event.source === 'emit'
        ? { ...change, event: { ...change.event, id: twin(change.event.id), triggered: [], woke: 0 } }
        : undefined,
    ),
  },
  {
    name: 'a follow-on run starts twice',
    from: 13,
    tamper: alsoWith(change =>
      isCreated(change) && change.run.failure !== undefined
        ? { ...change, run: { ...change.run, id: twin(change.run.id) } }
        : undefined,
    ),
  },
  {
    name: 'a log line is stored twice',
    tamper: alsoWith(change => {
      if (change.type !== 'log.written') return undefined
      const { line } = change
      return { ...change, line: { ...line, seq: line.seq + 100_000, dedupe: `${line.dedupe} again` } }
    }),
  },
  {
    name: 'a status frame is forgotten',
    tamper: changed(change => (change.type === 'run.moved' ? { ...change, frames: change.frames.slice(1) } : change)),
  },
  {
    name: 'a parked run forgets its timer',
    tamper: changed(change =>
      change.type === 'run.moved' && change.run.status === 'waiting'
        ? { ...change, run: { ...change.run, availableAt: undefined } }
        : change,
    ),
  },
  {
    name: 'a parked run wakes at the latest deadline',
    tamper: changed(change =>
      change.type === 'run.moved' && change.run.status === 'waiting' && change.run.availableAt !== undefined
        ? { ...change, run: { ...change.run, availableAt: change.run.availableAt + 1000 } }
        : change,
    ),
  },
  {
    name: 'a lease is kept at the end',
    tamper: changed(change =>
      change.type === 'run.moved' && change.run.finishedAt !== undefined
        ? { ...change, run: { ...change.run, leaseOwner: 'somebody' } }
        : change,
    ),
  },
  {
    name: 'a sleep is cut short',
    tamper: changed(change =>
      change.type === 'step.recorded' && change.step.op === 'Sleep' && change.step.wakeAt !== undefined
        ? { ...change, step: { ...change.step, wakeAt: change.step.wakeAt - 20 } }
        : change.type === 'run.moved' && change.run.waitingFor?.kind === 'sleep'
          ? { ...change, run: { ...change.run, availableAt: (change.run.availableAt ?? 0) - 20 } }
          : change,
    ),
  },
  { name: 'the policy of a step is ignored', from: 4, runner: 'no policies' },
  { name: 'the code of a runner is ignored', runner: 'no codes' },
  {
    name: 'a resume gives a spent step no new tries',
    from: 6,
    tamper: without(
      change =>
        change.type === 'step.moved' &&
        change.step.status === 'retrying' &&
        change.step.spentAt === change.step.attempt,
    ),
  },
  {
    name: 'an end is stored without the steps that came with it',
    from: 16,
    tamper: withEnd(changes => changes.filter(({ type }) => type !== 'step.recorded')),
    always: ['endsWithSteps'],
  },
  {
    name: 'a caught failure that came with the end is lost',
    from: 6,
    tamper: withEnd(changes =>
      changes.filter(change => change.type !== 'step.recorded' || change.step.status !== 'failed'),
    ),
    always: ['endsWithSteps'],
  },
  {
    name: 'a step comes after the end',
    from: 16,
    tamper: withEnd(changes =>
      changes.map(change =>
        change.type === 'step.recorded' ? { ...change, step: { ...change.step, seq: change.step.seq + 100 } } : change,
      ),
    ),
    always: ['endsWithSteps'],
  },
  {
    name: 'a result is lost',
    from: 11,
    tamper: changed(change =>
      change.type === 'run.moved' && change.run.result !== undefined
        ? { ...change, run: { ...change.run, result: undefined } }
        : change,
    ),
  },
]

function without(drops: (change: Change, index: number) => boolean) {
  return ({ guards, changes }: Unit): Unit => ({
    guards,
    changes: changes.filter((change, i) => !drops(change, i)),
  })
}

function withoutGuards(...types: Guard['type'][]) {
  return ({ guards, changes }: Unit): Unit => ({
    guards: guards.filter(({ type }) => !types.includes(type)),
    changes,
  })
}

function alsoWith(twinOf: (change: Change) => Change | undefined) {
  return ({ guards, changes }: Unit): Unit => ({
    guards,
    changes: changes.flatMap(change => [change, twinOf(change)].filter(each => each !== undefined)),
  })
}

/** Changes the units in which a run succeeds. */
function withEnd(change: (changes: readonly Change[]) => Change[]) {
  return ({ guards, changes }: Unit): Unit => {
    const isEnd = changes.some(one => one.type === 'run.moved' && one.run.status === 'succeeded')
    return { guards, changes: isEnd ? change(changes) : changes }
  }
}

function changed(change: (change: Change) => Change) {
  return ({ guards, changes }: Unit): Unit => ({ guards, changes: changes.map(change) })
}

function isCreated(change: Change): change is Extract<Change, { type: 'run.created' }> {
  return change.type === 'run.created'
}

function isChild(run: { parentRunId?: string; failure?: unknown }): boolean {
  return run.parentRunId !== undefined && run.failure === undefined
}

/** The same id with another last character. */
function twin(id: string): string {
  return `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
}
