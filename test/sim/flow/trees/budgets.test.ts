// Budgets of trees, over random histories with crashes between any two writes and passes that meet in every order
// (docs/budgets.md): at every moment the sums are those of the stored attempts, and a run is paused only for a limit that is
// exceeded. `PERDURE_SEEDS=1000` plays more of them, `PERDURE_SEED=n` only that one; a failure names its seed.

import { expect } from 'vitest'
import { isTerminal, type Run } from '../../../../packages/engine/src/domain/model/run.ts'
import type { Step } from '../../../../packages/engine/src/domain/model/step.ts'
import { seedsOf } from '../../core/seeds.ts'
import type { WaitingPass } from '../../core/waiting-passes.ts'
import { type Planted, RandomHistory, testHistories } from '../histories.ts'

const SEEDS = seedsOf(15)
const STEPS = 30
const SECOND = 1000
/** Longer than a lease and any backoff. */
const REST = 60 * SECOND
/** Number of answers that a tree needs to end, including retries. */
const TURNS_TO_REST = 12
/** The steps of each run, and the steps of a tree that start its children. */
const NAMES = ['s0', 's1', 's2', 's3']
const CHILDREN = ['c0', 'c1']
const LIMIT = 10

const PLANTED: readonly Planted[] = [
  {
    name: 'a spend that counts twice',
    tamper: ({ guards, changes }) => [
      { guards, changes: [...changes, ...changes.filter(({ type }) => type === 'budget.spent')] },
    ],
  },
  {
    name: 'a spend that is stored after its step',
    tamper: ({ guards, changes }) => {
      const spent = changes.filter(({ type }) => type === 'budget.spent')
      const rest = { guards, changes: changes.filter(({ type }) => type !== 'budget.spent') }
      return spent.length === 0 ? [rest] : [rest, { guards: [], changes: spent }]
    },
  },
  {
    name: 'a pause that does not rest on the limit',
    from: 7,
    tamper: ({ guards, changes }) => [{ guards: guards.filter(({ type }) => type !== 'limit'), changes }],
  },
]

testHistories({
  shows: 'budgets are exact',
  seeds: SEEDS,
  timeoutMs: 180_000 + SEEDS.length * 1000,
  salt: 'budgets',
  open: (engine, rng, seen) => new Trees(engine, rng, seen),
  meets: ['attempts', 'children', 'paused', 'raised', 'checkpoints', 'crashes'],
  planted: PLANTED,
})

type Attempt = Pick<Step, 'runId' | 'name' | 'attempt'>

/** The amount that an attempt spends, the same for every execution. */
const amountOf = (step: string, attempt: number) => ((step.charCodeAt(1) * 7 + attempt * 3) % 9) / 2

/** Whether the run had ended when the answer arrived. Its steps are not stored, and their spending counts for ten seconds. */
const isLate = ({ runId, name, attempt }: Attempt, { tree, steps }: { tree: Run[]; steps: Step[] }) =>
  tree.some(({ id, status }) => id === runId && isTerminal(status)) &&
  !steps.some(step => step.runId === runId && step.name === name && step.attempt >= attempt)

class Trees extends RandomHistory {
  /** The limits that a caller has set without an answer yet, by root run. */
  readonly #unanswered = new Map<string, number>()
  /** The steps that a pass has reported in checkpoints. */
  readonly #reported = new Map<WaitingPass, string[]>()
  /** The attempts in the answers of passes, once per answer. */
  readonly #executed: Attempt[] = []
  #runs: Run[] = []
  #steps: Step[] = []

  async play(): Promise<void> {
    const retry = { maxAttempts: 3, initialMs: 100 }
    const workflows = [
      { name: 'tree', retry, budget: { usd: LIMIT } },
      { name: 'leaf', retry },
    ]
    const registration = { app: 'app', url: 'http://runner/', workflows, features: ['budgets'] }
    await this.engine.request('POST', '/register', registration)
    await this.actAndLook(
      STEPS,
      () => this.#act(),
      () => this.#look(),
    )
    await this.#rest()
    expect(this.engine.errors).toEqual([])
  }

  async #act(): Promise<void> {
    const rng = this.rng
    const passes = [...this.engine.waiting]
    const trees = this.#runs.filter(({ workflow, status }) => workflow === 'tree' && !isTerminal(status))
    const paused = this.#runs.filter(({ status }) => status === 'paused')
    const count = this.#runs.filter(({ workflow }) => workflow === 'tree').length
    const withPass = passes.length > 0 ? 1 : 0
    const kind = rng.weighted({
      tree: count < 4 ? 6 : 0,
      answer: 20 * withPass,
      race: 25 * withPass,
      checkpoint: 10 * withPass,
      raise: trees.length > 0 ? 4 : 0,
      resume: paused.length > 0 ? 3 : 0,
      time: 5,
      crash: 2,
    })
    this.transcript.push(kind)
    switch (kind) {
      case 'tree':
        return void (await this.engine.request('POST', '/events', { name: 'tree' }))
      case 'answer':
        this.#answer(rng.pick(passes))
        return this.engine.settle()
      case 'race':
        for (const pass of passes) this.#answer(pass)
        // A limit may be raised while runs decide on the old one.
        return trees.length > 0 ? this.#raise(rng.pick(trees).id, rng.int(LIMIT, 4 * LIMIT)) : this.engine.settle()
      case 'checkpoint':
        return this.#checkpoint(rng.pick(passes))
      case 'raise':
        return this.#raise(rng.pick(trees).id, rng.int(1, 4 * LIMIT))
      case 'resume':
        return void (await this.engine.request('POST', `/runs/${rng.pick(paused).id}/resume`))
      case 'time':
        return this.engine.pass(rng.int(1, 8) * SECOND)
      default:
        this.note('crashes')
        return this.engine.crash()
    }
  }

  /** Sets the limit. A caller whose engine died repeats the call before looking at the waiting runs. */
  async #raise(root: string, usd: number): Promise<void> {
    this.#unanswered.set(root, usd)
    const answer = await this.engine.request('POST', `/runs/${root}/budget`, { usd })
    if (!answer) return
    this.#unanswered.delete(root)
    if (answer.status === 200) this.note('raised')
    else expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ error: { code: 'run_terminal' } })
  }

  /** The next attempt of the run, as the runner reports it. Undefined if the run has no step due. */
  #attempt({ runId, memo }: WaitingPass, without: readonly string[]): object | undefined {
    const name = NAMES.find(name => !(name in memo) && !without.includes(name))
    if (name === undefined) return undefined
    const known = this.#steps.find(step => step.runId === runId && step.name === name)
    const attempt = (known?.attempt ?? 0) + 1
    this.#executed.push({ runId, name, attempt })
    const spent = { usd: amountOf(name, attempt) }
    const end = this.rng.chance(0.3) ? { error: { message: 'no' } } : { data: name }
    return { op: 'StepRun', id: name, name, spent, ...end }
  }

  #answer(pass: WaitingPass): void {
    const run = this.#runs.find(({ id }) => id === pass.runId)
    const attempt = this.#attempt(pass, this.#reported.get(pass) ?? [])
    const children = run?.workflow === 'tree' ? CHILDREN.filter(name => !(name in pass.memo)) : []
    const opcodes: object[] = children.map(name => ({ op: 'RunWorkflow', id: name, name, childName: 'leaf' }))
    if (attempt) opcodes.push(attempt)
    const hasOpen = Object.values(pass.memo).some(({ pending }) => pending)
    if (opcodes.length > 0 || hasOpen || this.#reported.has(pass)) pass.answer(206, { opcodes, logs: [] })
    else pass.answer(200, { data: 'done', logs: [] })
  }

  async #checkpoint(pass: WaitingPass): Promise<void> {
    const reported = this.#reported.get(pass) ?? []
    const attempt = this.#attempt(pass, reported) as { name: string } | undefined
    if (!attempt) return
    this.#reported.set(pass, [...reported, attempt.name])
    const payload = { seq: reported.length + 1, logs: [], opcodes: [attempt] }
    if (await this.engine.orDeath(pass.checkpoint(payload))) this.note('checkpoints')
  }

  /** Every run continues until its tree is beyond a limit; with a higher limit, every run ends. */
  async #rest(): Promise<void> {
    await this.#goOn()
    for (const { id, status, waitingFor } of this.#runs) {
      const isStopped = isTerminal(status) || ['budget', 'child'].includes(waitingFor?.kind ?? '')
      expect(isStopped, `${id} is ${status}, ${JSON.stringify(waitingFor)}`).toBe(true)
    }
    for (const { id, workflow } of this.#runs) if (workflow === 'tree') await this.#raise(id, 1000)
    await this.#goOn()
    for (const { id, status } of this.#runs) expect(isTerminal(status), `${id} is ${status}`).toBe(true)
  }

  async #goOn(): Promise<void> {
    for (const [root, usd] of [...this.#unanswered]) await this.#raise(root, usd)
    for (let turn = 0; turn < TURNS_TO_REST; turn++) {
      await this.engine.pass(REST)
      await this.#look()
      for (const pass of [...this.engine.waiting]) this.#answer(pass)
      await this.engine.settle()
      await this.#look()
    }
  }

  async #look(): Promise<void> {
    const reads = this.engine.store.in('default')
    const listed = await reads.runs({ limit: 1000, dir: 'asc' })
    this.#runs = await Promise.all(listed.map(async ({ id }) => (await reads.run(id)) as Run))
    this.#steps = (await Promise.all(listed.map(({ id }) => reads.steps(id)))).flat()
    for (const run of this.#runs) {
      if (run.workflow === 'tree') await this.#checkSums(run.id)
      await this.#checkPause(run)
    }
  }

  async #checkSums(root: string): Promise<void> {
    const tree = this.#runs.filter(({ id, parentRunId }) => id === root || parentRunId === root)
    const steps = this.#steps.filter(({ runId }) => tree.some(({ id }) => id === runId))
    let usd = 0
    for (const { name, op, attempt } of steps)
      for (let n = 1; op === 'StepRun' && n <= attempt; n++) usd += amountOf(name, n)
    const lines = await this.engine.store.budgets([root])
    const spent = Object.fromEntries(lines.map(({ name, whole, billionths }) => [name, whole + billionths / 1e9]))
    const late = this.#executed.filter(attempt => isLate(attempt, { tree, steps }))
    const sums = late.reduce(
      (sums, { name, attempt }) => sums.flatMap(sum => [sum, sum + amountOf(name, attempt)]),
      [usd],
    )
    expect(sums, `what tree ${root} spent`).toContain(spent.usd)
    expect(spent, `what tree ${root} spent`).toEqual({ usd: spent.usd, steps: steps.length, runs: tree.length })
    this.note('attempts')
    if (tree.length > 1) this.note('children')
  }

  /** Checks that a run is paused only for an exceeded limit, unless the caller who raised the limit has no answer yet. */
  async #checkPause({ id, status, waitingFor }: Run): Promise<void> {
    if (status !== 'paused' || waitingFor?.budgetId === undefined || this.#unanswered.has(waitingFor.budgetId)) return
    const { budgetId, name } = waitingFor
    const line = (await this.engine.store.budgets([budgetId])).find(line => line.name === name)
    const { limit = Number.POSITIVE_INFINITY, whole = 0, billionths = 0 } = line ?? {}
    expect(whole + billionths / 1e9, `run ${id} is paused for its ${name}`).toBeGreaterThan(limit)
    this.note('paused')
  }
}
