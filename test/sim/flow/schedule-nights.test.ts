// Schedules of workflows and of the API on nights when the clocks of 20 zones change: crashes between any two writes, two engines
// on one store, engines that are away for hours, wall clocks that are set, and clients that pause, delete, resume or fire a
// schedule at its instant. `PERDURE_SEEDS=1000` plays more histories, `PERDURE_SEED=n` only that one; a failure names its seed.

import { expect, it } from 'vitest'
import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { FlowRow } from '../../../packages/engine/src/domain/model/flow-row.ts'
import { changesOf, HOUR, MINUTE, ZONES } from '../../../packages/engine/src/domain/testkit/clock-changes.testkit.ts'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import { CrashingEngine, type Tamper } from './crashing-engine.ts'
import { expectNoticed, type Planted, playOn } from './histories.ts'
import { type NightCounts, NightHistory } from './schedule-nights-history.ts'

const SEEDS = seedsOf(ZONES.length)
const CHANGES = ZONES.map(changesOf)
const noCounts = (): NightCounts => ({ fired: 0, missed: 0, races: 0, lost: 0, won: 0, clocks: 0, crashes: 0 })

it(`each instant counts once in ${SEEDS.length} nights`, { timeout: 180_000 + SEEDS.length * 3000 }, async () => {
  const counts = noCounts()
  for (const seed of SEEDS) await play(seed, counts)
  console.info(`${SEEDS.length} nights`, counts)
  if (isOneSeed) return
  for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(SEEDS.length / 10)
})

const isFiring = ({ changes }: Unit) =>
  changes.some(({ type }) => type === 'event.recorded' || type === 'run.created') &&
  changes.some(({ type }) => type === 'flow.saved')
const isByClient = ({ changes }: Unit) => changes.some(({ type }) => type === 'control.recorded')
const withoutFlowGuards = ({ guards, changes }: Unit): Unit => ({
  guards: guards.filter(({ type }) => type !== 'flow'),
  changes,
})
const changed = (change: (row: FlowRow) => FlowRow, when: (unit: Unit) => boolean): Tamper => {
  return unit => {
    if (!when(unit)) return [unit]
    const changes = unit.changes.map(each => (each.type === 'flow.saved' ? { ...each, row: change(each.row) } : each))
    return [{ guards: unit.guards, changes }]
  }
}
/** Nights in which clocks are set. */
const isSet = (seed: number) => seed % 3 === 0
const PLANTED: readonly Planted[] = [
  { name: 'a firing overlooks what a client did', tamper: unit => [isFiring(unit) ? withoutFlowGuards(unit) : unit] },
  { name: 'a client overlooks a firing', tamper: unit => [isByClient(unit) ? withoutFlowGuards(unit) : unit] },
  {
    name: 'the schedule moves on in a commit before the arrival',
    from: 8,
    tamper: unit => {
      if (!isFiring(unit) || isByClient(unit)) return [unit]
      const isRow = ({ type }: { type: string }) => type === 'flow.saved'
      return [
        { guards: unit.guards, changes: unit.changes.filter(isRow) },
        { guards: [], changes: unit.changes.filter(change => !isRow(change)) },
      ]
    },
  },
  {
    name: 'the schedule moves on in a commit after the arrival',
    tamper: unit => {
      if (!isFiring(unit) || isByClient(unit)) return [unit]
      const isRow = ({ type }: { type: string }) => type === 'flow.saved'
      return [
        { guards: unit.guards, changes: unit.changes.filter(change => !isRow(change)) },
        { guards: [], changes: unit.changes.filter(isRow) },
      ]
    },
  },
  {
    name: 'the zone is forgotten',
    tamper: changed(
      row => ({ ...row, state: row.state.replace(/TZ=\S+ /, '') }),
      unit => !unit.changes.some(({ type }) => type === 'workflow.registered'),
    ),
  },
  {
    name: 'a pause forgets when the schedule fired last',
    from: 45,
    tamper: changed(row => ({ ...row, state: row.state.replace(/,"lastAt":\d+/, '') }), isByClient),
  },
  {
    name: 'what fired while the clock was ahead is forgotten',
    from: 57,
    tamper: changed(
      row => ({ ...row, state: row.state.replace(/,"firedAhead":\[[^\]]*\]/, '') }),
      () => true,
    ),
  },
]

it.each(PLANTED)('notices $name', bug => expectNoticed(bug, seed => play(seed, undefined, bug.tamper)))

/** Every simulated night begins some hours before the clocks change. */
async function play(seed: number, counts = noCounts(), tamper?: Tamper): Promise<void> {
  const rng = new Rng(seed, 'nights')
  const turns = rng.fork('turns')
  const change = rng.pick(CHANGES[seed % ZONES.length] ?? [])
  const startAt = change.at - 3 * HOUR + 5 * MINUTE
  const options = { tamper, startAt, turns: () => (turns.chance(0.3) ? turns.int(1, 30) : 0) }
  const first = await CrashingEngine.open(options)
  const engines = [first]
  const history = new NightHistory(engines, { rng, change, counts, mayBeSet: isSet(seed) })
  const night = async () => {
    history.transcript.push(change.zone)
    await history.begin()
    if (seed % 3 === 1) engines.push(await CrashingEngine.open({ ...options, beside: first }))
    await history.play()
  }
  await playOn(engines, seed, { transcript: history.transcript, play: night })
}
