// `fencing`: an engine is frozen with passes in flight until its leases have run out, another engine ends the runs, and the
// frozen one continues with its late answers. It must change nothing (docs/promises.md#runs). Needs PostgreSQL, because a SQLite
// file has one owner.

import { fileURLToPath } from 'node:url'
import { violations } from '../../test/kit/engine/violations.ts'
import {
  discovered,
  EngineProcess,
  flow,
  freshSchema,
  type Gate,
  gate,
  type Handler,
  opcode,
  PlainRunner,
  type Reply,
  RunnerRecord,
  returned,
  run,
  type Seeded,
  unique,
  until,
  wait,
} from '../../test/kit/index.ts'
import { haveServers } from '../../test/servers.ts'
import type { Finding, Suite } from '../suite.ts'

const ZOMBIES_EACH = 100
/** Longer than a lease and the claims after it take, even on a busy machine. */
const TAKEN_OVER_MS_MAX = 90_000
/** Runs that the frozen engine drives to their end after it continues: its late answers come before them. */
const RUNS_AFTERWARDS = 5
const NAME = 'zombie'
const UNFENCED = fileURLToPath(new URL('../sabotage/unfenced-engine.ts', import.meta.url))

export const fencing: Suite = {
  proves: 'engines frozen beyond their leases (SIGSTOP): their late passes change nothing',
  unit: 'zombies',
  counts: { quick: 25, full: 500 },
  deadlineMs: { base: 240_000, each: 2000 },
  run: freezeEngines,
}

interface FreezeOptions {
  count: number
  random: Seeded
  /** False plants a bug in the frozen engine. */
  isFenceChecked?: boolean
}

export async function freezeEngines({ count, random, isFenceChecked = true }: FreezeOptions): Promise<Finding> {
  if (!(await haveServers())) return { counts: {}, problems: [], skipped: ['PostgreSQL cannot be reached'] }
  const store = await freshSchema()
  const env = { ENGINE_LOG_LEVEL: 'silent' }
  const unfenced = [process.execPath, '--conditions=perdure-source', '--import', 'tsx', UNFENCED]
  const frozen = await new EngineProcess({
    storeFile: store,
    env,
    ...(isFenceChecked ? {} : { program: unfenced }),
  }).start()
  const heir = await new EngineProcess({ storeFile: store, env }).start()
  const held = new Held(random)
  const record = new RunnerRecord()
  const runner = await new PlainRunner({
    app: NAME,
    runner: NAME,
    record,
    workflows: { [NAME]: held.handler },
  }).listen()
  for (const { api } of [frozen, heir]) await runner.register(api)
  const problems: string[] = []
  let zombies = 0
  let rounds = 0
  while (zombies < count) {
    const met = await freezeOnce({ frozen, heir, held, runs: Math.min(ZOMBIES_EACH, count - zombies) })
    problems.push(...met.problems)
    zombies += met.zombies
    rounds++
  }
  problems.push(...(await violations(store)).map(violation => JSON.stringify(violation)))
  return { counts: { zombies, freezes: rounds, passes: record.invokes.length }, problems }
}

/**
 * A workflow whose first pass waits for a signal, and answers late. Later passes continue: some runs end, others wait for an
 * event. Each pass answers differently, so that a late answer shows.
 */
class Held {
  readonly #random: Seeded
  #gate: Gate = gate()
  waiting = 0

  constructor(random: Seeded) {
    this.#random = random
  }

  readonly handler: Handler = async (invoke, record) => {
    const { isHeld, released } = invoke.event.data as Data
    if (invoke.pass > 1 || !isHeld) return (released ? WAITS(released) : ENDS)(invoke, record)
    const answers = [returned({ pass: 1 }), discovered([opcode('StepRun', 'late', { data: { pass: 1 } })])]
    const answer = answers[this.#random.between(0, answers.length - 1)] as Reply
    this.waiting++
    await this.#gate.opened
    return answer
  }

  close(): void {
    this.waiting = 0
    this.#gate = gate()
  }

  open(): void {
    this.#gate.open()
  }
}

interface Data {
  isHeld?: boolean
  /** The event that the run waits for; without one it ends. */
  released?: string
}

const ONLY = run('only', ({ pass }) => ({ pass }))
const RESULT = (_: unknown, { pass }: { pass: number }) => ({ pass })
const ENDS = flow([ONLY], RESULT)
const WAITS = (event: string) => flow([ONLY, wait('wait', event)], RESULT)

interface Freeze {
  frozen: EngineProcess
  heir: EngineProcess
  held: Held
  runs: number
}

async function freezeOnce({ frozen, heir, held, runs }: Freeze): Promise<{ problems: string[]; zombies: number }> {
  held.close()
  const event = unique('released')
  // For a run that has ended, the fence is not the only reason why it cannot change, so every second run waits.
  const data = (i: number): Data => (i % 2 === 0 ? { isHeld: true } : { isHeld: true, released: event })
  const sent = await Promise.all(
    Array.from({ length: runs }, (_, i) => frozen.api.send({ name: NAME, app: NAME, data: data(i) })),
  )
  await until(() => held.waiting === runs, { what: 'the passes of the engine that will be frozen' })
  frozen.signal('SIGSTOP')
  held.open()
  const before = new Map<string, string>()
  for (const [i, { runId }] of sent.entries()) {
    await heir.api.reaches(runId, i % 2 === 0 ? 'succeeded' : 'waiting', TAKEN_OVER_MS_MAX)
    before.set(runId, await stateOf(heir, runId))
  }
  frozen.signal('SIGCONT')
  for (let i = 0; i < RUNS_AFTERWARDS; i++) {
    const { runId } = await frozen.api.send({ name: NAME, app: NAME, data: {} })
    await frozen.api.succeeded(runId)
  }
  const problems: string[] = []
  for (const [runId, state] of before) {
    const now = await stateOf(heir, runId)
    if (now !== state) problems.push(`run ${runId} was ${state}, is ${now} after its engine went on`)
  }
  await heir.api.send({ name: event })
  for (const { runId } of sent) {
    const { result } = await heir.api.succeeded(runId)
    if ((result as { pass: number }).pass === 1) problems.push(`run ${runId} has the result of its late pass`)
  }
  return { problems, zombies: runs }
}

/** Returns the run with its steps, as the API shows them. */
async function stateOf({ api }: EngineProcess, runId: string): Promise<string> {
  const [run, steps] = [await api.get(`/runs/${runId}`), await api.get(`/runs/${runId}/steps`)]
  return `${run.text} ${steps.text}`
}
