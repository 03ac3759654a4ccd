// Concurrency, kept slots over sleeps and links, priorities, throttle and timeouts over random histories, with crashes between any two
// writes: the engine and a reference model must agree whenever the engine is idle. `PERDURE_SEEDS=1000` plays more of them,
// `PERDURE_SEED=n` only that one; a failure names its seed.

import { expect, it } from 'vitest'
import { isTerminal, type Run } from '../../../packages/engine/src/domain/model/run.ts'
import { Rng } from '../core/random.ts'
import { isOneSeed, seedsOf } from '../core/seeds.ts'
import type { WaitingPass } from '../core/waiting-passes.ts'
import type { CrashingEngine, Tamper } from './crashing-engine.ts'
import { expectNoticed, type History, type Planted, playHistory } from './histories.ts'
import {
  heldSlotsOf,
  type Limit,
  nextStart,
  type Payload,
  type Policies,
  priorityOf,
  slotsOf,
  throttleNameOf,
} from './holds-model.ts'

const SEEDS = seedsOf(60)
const STEPS = 45
const SECOND = 1000

it(`runs are held as the model says in ${SEEDS.length} histories`, {
  timeout: 180_000 + SEEDS.length * 500,
}, async () => {
  let runs = 0
  let links = 0
  for (const seed of SEEDS) {
    const { runCount, linkCount } = await play(seed)
    runs += runCount
    links += linkCount
  }
  console.info(`${SEEDS.length} histories, ${runs} runs, ${links} links`)
  expect(runs).toBeGreaterThan(SEEDS.length * 3)
  if (!isOneSeed) expect(links).toBeGreaterThan(5)
})

const PLANTED: readonly Planted[] = [
  {
    name: 'a slot leaked by a cancel',
    from: 22,
    tamper: ({ guards, changes }) => {
      const isCancel = changes.some(change => change.type === 'run.moved' && change.run.status === 'cancelled')
      return [{ guards, changes: changes.filter(({ type }) => !isCancel || type !== 'slots.freed') }]
    },
  },
  {
    name: 'two in a slot after a sleep',
    tamper: ({ guards, changes }) => {
      const slots = (run: Run) => run.holds?.slots?.map(({ kept: _, ...slot }) => slot)
      const forgetful = changes.map(change =>
        change.type === 'run.created' && change.run.holds?.slots
          ? { ...change, run: { ...change.run, holds: { ...change.run.holds, slots: slots(change.run) } } }
          : change,
      )
      return [{ guards, changes: forgetful as typeof changes }]
    },
  },
  {
    name: 'a link that lost its slot',
    tamper: ({ guards, changes }) => {
      const lost = changes.map(change => {
        if (change.type !== 'run.created' || change.run.continuedFrom === undefined) return change
        const { fromBirth: _, ...holds } = change.run.holds ?? {}
        return { ...change, run: { ...change.run, holds } }
      })
      return [{ guards, changes: lost as typeof changes }]
    },
  },
]

it.each(PLANTED)('notices $name', bug => expectNoticed(bug, seed => play(seed, bug.tamper)))

const play = (seed: number, tamper?: Tamper) =>
  playHistory(seed, engine => new Chronicle(engine, new Rng(seed, 'holds')), { tamper })

function workflowsOf(rng: Rng): Policies[] {
  // Workflows that share a slot have the same limit. With different limits each run would use its own.
  const shared = { app: rng.int(1, 3), namespace: rng.int(1, 4) }
  const limits = (count: number) => {
    // A run that kept one slot while waiting for another could wait forever, so all limits of a workflow hold the same way.
    const hold = rng.chance(0.4) ? { hold: 'run' as const } : {}
    return Array.from({ length: count }, (): Limit => {
      const scope = rng.pick(['workflow', 'app', 'namespace'] as const)
      const key = rng.pick(['event.data.a', 'event.data.b', undefined] as const)
      const limit = scope === 'workflow' ? rng.int(1, 3) : shared[scope]
      return { limit, scope, ...(key === undefined ? {} : { key }), ...hold }
    })
  }
  const timeouts = { queue: rng.int(5, 60) * SECOND, run: rng.int(5, 60) * SECOND }
  const throttle = (): NonNullable<Policies['throttle']> => ({
    limit: rng.int(1, 3),
    period: 6 * SECOND,
    burst: rng.int(0, 2),
    ...(rng.chance(0.3) ? { key: 'event.data.a' } : {}),
  })
  return [
    { name: 'one', concurrency: limits(1), ...(rng.chance(0.5) ? { priority: 'event.data.p' } : {}) },
    { name: 'two', concurrency: limits(2), priority: 'event.data.p' },
    { name: 'three', concurrency: limits(3), timeouts },
    { name: 'rated', throttle: throttle(), ...(rng.chance(0.5) ? { priority: 'event.data.p' } : {}) },
    {
      name: 'hasty',
      throttle: throttle(),
      priority: 'event.data.p',
      timeouts: { queue: rng.int(1, 9) * SECOND },
    },
    { name: 'both', throttle: throttle(), concurrency: limits(1), priority: 'event.data.p' },
  ]
}

interface Seen {
  run: Run
  policies: Policies
  data: Payload
  /** The position of its event in the log. */
  position: number
}

class Chronicle implements History {
  readonly transcript: string[] = []
  runCount = 0
  linkCount = 0
  readonly #engine: CrashingEngine
  readonly #rng: Rng
  readonly #workflows: Policies[]
  #crashed = false
  #seen: Seen[] = []

  constructor(engine: CrashingEngine, rng: Rng) {
    this.#engine = engine
    this.#rng = rng
    this.#workflows = workflowsOf(rng)
    this.transcript.push(JSON.stringify(this.#workflows))
  }

  async play(): Promise<void> {
    const workflows = this.#workflows.map(workflow => ({ ...workflow, triggers: [{ event: workflow.name }] }))
    const features = ['continue-as']
    await this.#engine.request('POST', '/register', { app: 'app', url: 'http://runner/', workflows, features })
    for (let step = 0; step < STEPS; step++) await this.#step()
    await this.#finishAll()
  }

  async #step(): Promise<void> {
    const engine = this.#engine
    const before = this.#seen
    const kind = this.#rng.weighted({
      send: 40,
      end: 18,
      continue: 8,
      park: 10,
      fail: 4,
      pass: 10,
      pause: 5,
      resume: 5,
      cancel: 4,
      crash: 3,
    })
    const diesSoon = this.#rng.chance(0.06)
    if (diesSoon) {
      this.#crashed = true
      engine.crashAtWrite(this.#rng.int(1, 6), this.#rng.chance(0.5))
      this.transcript.push('dies soon')
    }
    await this.#do(kind, before)
    const after = await this.#runs()
    this.#seen = after
    this.#check(after)
    const isOneThing = kind !== 'crash' && kind !== 'pass' && !diesSoon
    if (isOneThing) checkOrder(before, after)
    if (!diesSoon && kind !== 'crash') checkLineOrder(before, after)
    engine.spare()
  }

  async #do(kind: string, seen: Seen[]): Promise<void> {
    const engine = this.#engine
    const rng = this.#rng
    const pass = engine.waiting.size > 0 ? rng.pick([...engine.waiting]) : undefined
    const chosen = seen.length > 0 ? rng.pick(seen) : undefined
    this.transcript.push(`${kind} ${pass?.runId.slice(-4)} ${chosen?.run.id.slice(-4)} at ${engine.clock.now() % 1e7}`)
    switch (kind) {
      case 'send':
        return void (await engine.request('POST', '/events', {
          name: rng.pick(this.#workflows).name,
          data: {
            a: rng.pick(['x', 'y']),
            b: rng.pick(['x', 'y', 'z']),
            p: rng.int(-2, 2),
          } satisfies Payload,
        }))
      case 'end':
        return this.#answer(pass, 200, { data: 1, logs: [] })
      case 'continue':
        return this.#continue(pass, seen)
      case 'park':
        return this.#answer(pass, 206, { opcodes: [sleep(pass, rng.int(1, 20) * SECOND)], logs: [] })
      case 'fail':
        return this.#answer(pass, 500, { error: { message: 'no' }, logs: [] })
      case 'pass':
        return engine.pass(rng.int(1, 12) * SECOND)
      case 'crash':
        this.#crashed = true
        return engine.crash()
      default: {
        if (!chosen) return
        return void (await engine.request('POST', `/runs/${chosen.run.id}/${kind}`))
      }
    }
  }

  async #answer(pass: WaitingPass | undefined, status: number, body: unknown): Promise<void> {
    pass?.answer(status, body)
    await this.#engine.settle()
  }

  /** A link that keeps a slot is never held: it has no position in the log by which others could precede it. */
  async #continue(pass: WaitingPass | undefined, seen: readonly Seen[]): Promise<void> {
    const found = seen.find(({ run }) => run.id === pass?.runId)
    if (!found?.policies.concurrency?.[0]?.hold || found.policies.throttle) return
    await this.#answer(pass, 200, { continueAs: { data: found.data }, logs: [] })
  }

  async #runs(): Promise<Seen[]> {
    const { store } = this.#engine
    const page = await store.in('default').runs({ limit: 1000, dir: 'asc' })
    const loaded = await Promise.all(page.map(async ({ id }) => (await store.loadRun(id))?.run as Run))
    this.runCount = loaded.length
    this.linkCount = loaded.filter(({ continuedFrom }) => continuedFrom !== undefined).length
    const log = await store.in('default').events({ limit: 1000 })
    const positions = new Map(log.map(({ event, position }) => [event.id, position]))
    return loaded.map(run => ({
      run,
      policies: this.#workflows.find(({ name }) => name === run.workflow) as Policies,
      data: JSON.parse(run.input as string) as Payload,
      position: positions.get(run.eventId as string) as number,
    }))
  }

  #check(seen: Seen[]): void {
    const now = this.#engine.clock.now()
    const driven = new Set([...this.#engine.waiting].map(({ runId }) => runId))
    const taken = new Map<string, number>()
    const own = new Map<string, string[]>()
    for (const { run, policies, data } of seen) {
      const hasBegun = run.startedAt !== undefined || run.continuedFrom !== undefined
      const isBetween = hasBegun && !isTerminal(run.status)
      const held = heldSlotsOf(policies, data, { isDriven: driven.has(run.id), isBetween })
      own.set(run.id, held)
      for (const slot of held) taken.set(slot, (taken.get(slot) ?? 0) + 1)
      expect(run.leaseOwner !== undefined, `${run.id} is leased while it is driven`).toBe(driven.has(run.id))
    }
    for (const { run, policies, data } of seen) {
      const slots = [...slotsOf(policies, data)]
      const ownSlots = new Set(own.get(run.id))
      for (const [slot, limit] of slots)
        if (ownSlots.has(slot)) expect(taken.get(slot), `runs in ${slot}`).toBeLessThanOrEqual(limit)
      if (driven.has(run.id)) continue
      if (run.status === 'queued') {
        const isFull = slots.some(([slot, limit]) => !ownSlots.has(slot) && (taken.get(slot) ?? 0) >= limit)
        const { kind } = run.waitingFor ?? {}
        // A run needs no slot to wait in a throttle's start queue.
        const isInLine = policies.throttle !== undefined && kind === 'throttle'
        if (!isInLine) expect([run.id, kind, isFull]).toEqual([run.id, 'concurrency', true])
      }
      checkTimeout(run, policies, now)
    }
    for (const line of linesOf(seen)) checkThrottle(line, now, this.#crashed)
  }

  /** Answers every pass until nothing is left. No run is forgotten, and no slot is held at rest. */
  async #finishAll(): Promise<void> {
    for (const { run } of await this.#runs()) {
      if (run.status === 'paused') await this.#engine.request('POST', `/runs/${run.id}/resume`)
    }
    for (let turns = 0; turns < 400; turns++) {
      const [pass] = this.#engine.waiting
      if (pass) await this.#answer(pass, 200, { data: 1, logs: [] })
      else if ((await this.#runs()).every(({ run }) => isTerminal(run.status))) break
      else await this.#engine.pass(SECOND)
    }
    const left = (await this.#runs()).filter(
      ({ run }) =>
        !isTerminal(run.status) || run.leaseOwner || run.waitsForSlot || run.startQueue || run.leasedWithoutSlots,
    )
    expect(left.map(({ run }) => [run.id, run.status, run.waitingFor])).toEqual([])
    expect(this.#engine.errors).toEqual([])
  }
}

function sleep(pass: WaitingPass | undefined, sleepMs: number) {
  const id = `${Object.keys(pass?.memo ?? {}).length}`.padStart(40, '0')
  return { op: 'Sleep', id, name: 'nap', sleepMs }
}

/** Among runs that share all their slots, higher priority starts first, then the earlier position in the log. */
function checkOrder(before: Seen[], after: Seen[]): void {
  const now = new Map(after.map(seen => [seen.run.id, seen.run]))
  const held = before.filter(({ run }) => run.waitingFor?.kind === 'concurrency')
  const key = ({ policies, data }: Seen) => JSON.stringify([...slotsOf(policies, data)].sort())
  for (const passed of held.filter(({ run }) => now.get(run.id)?.waitingFor?.kind === 'concurrency')) {
    for (const started of held.filter(seen => now.get(seen.run.id)?.leaseOwner !== undefined)) {
      if (key(passed) !== key(started)) continue
      expect(byRank(started, passed), `${started.run.id} started before ${passed.run.id}`).toBeLessThan(0)
    }
  }
}

function checkTimeout(run: Run, { timeouts }: Policies, now: number): void {
  const timeout = run.startedAt === undefined ? timeouts?.queue : timeouts?.run
  const deadline = timeout === undefined ? undefined : (run.startedAt ?? run.createdAt) + timeout
  const timedOut = run.error?.code === 'timeout'
  if (deadline === undefined) expect(timedOut, `${run.id} has no timeout`).toBe(false)
  else if (isTerminal(run.status)) {
    expect(run.finishedAt, `${run.id} ended in time`).toBeLessThanOrEqual(deadline)
    expect(timedOut, `${run.id} timed out`).toBe(run.finishedAt === deadline && timedOut)
  } else expect(now, `${run.id} has timed out`).toBeLessThan(deadline)
}

/** Runs that share a throttle, by age. */
function linesOf(seen: readonly Seen[]): Seen[][] {
  const lines = new Map<string, Seen[]>()
  for (const one of seen) {
    const name = throttleNameOf(one.policies, one.data)
    if (name !== undefined) lines.set(name, [...(lines.get(name) ?? []), one])
  }
  return [...lines.values()]
}

function isHeldByThrottle({ run }: Seen): boolean {
  return run.status === 'queued' && run.waitingFor?.kind === 'throttle'
}

function byRank(one: Seen, other: Seen): number {
  const rank = ({ policies, data }: Seen) => priorityOf(policies, data)
  return rank(other) - rank(one) || one.position - other.position
}

/**
 * There are never more starts than the rate allows. The first run of a start queue has missed no allowed start, and wakes for the
 * next.
 */
function checkThrottle(line: Seen[], now: number, crashed: boolean): void {
  const throttle = line[0]?.policies.throttle as NonNullable<Policies['throttle']>
  const starts = line.flatMap(({ run }) => run.startedAt ?? []).sort((a, b) => a - b)
  const most = throttle.limit + throttle.burst
  for (let i = most; i < starts.length; i++) {
    const tookMs = (starts[i] as number) - (starts[i - most] as number)
    expect(tookMs, 'a window of one period').toBeGreaterThanOrEqual(throttle.period)
  }
  const [first] = line.filter(isHeldByThrottle).sort(byRank)
  if (!first) return
  const { id, availableAt = Number.POSITIVE_INFINITY } = first.run
  expect(availableAt, `${id} is first in line`).toBeGreaterThan(now)
  expect(availableAt, `${id} is called`).toBeLessThanOrEqual(now + throttle.period / throttle.limit)
  // A crash may cost a start.
  if (crashed) return
  const free = nextStart(throttle, starts)
  expect(free, `${id} has no free start before it`).toBeGreaterThan(now)
  expect(availableAt, `${id} is called for the next start`).toBeLessThanOrEqual(free)
}

/** Among the runs of a start queue that need no slot, the first ones have started. */
function checkLineOrder(before: Seen[], after: Seen[]): void {
  const now = new Map(after.map(seen => [seen.run.id, seen]))
  for (const line of linesOf(before)) {
    const held = line.filter(seen => isHeldByThrottle(seen) && !seen.policies.concurrency)
    const left = held.filter(({ run }) => isHeldByThrottle(now.get(run.id) as Seen)).sort(byRank)[0]
    if (!left) continue
    for (const started of held.filter(({ run }) => now.get(run.id)?.run.startedAt !== undefined)) {
      expect(byRank(started, left), `${started.run.id} started before ${left.run.id}`).toBeLessThan(0)
    }
  }
}
