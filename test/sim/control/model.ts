// The reference model of control: the state of runs, steps, passes and the audit log after any history. It follows
// docs/state-machine.md and docs/concepts.md#pause-resume-cancel, as plainly as possible.

type Status = 'queued' | 'running' | 'waiting' | 'paused' | 'succeeded' | 'failed' | 'cancelled'
/** `Broken` is a StepRun that fails without a retry. */
export type Op = 'StepRun' | 'Broken' | 'Sleep' | 'WaitForEvent' | 'RunWorkflow'
export type Action = 'cancel' | 'pause' | 'resume' | 'replay' | 'retry-from-step'
export type Answer = { status: number; code?: string }

export interface ModelStep {
  name: string
  op: Op
  status: 'waiting' | 'succeeded' | 'failed' | 'cancelled'
  carried: boolean
  wakeAt: number
  child?: ModelRun
}

export interface ModelRun {
  /** The run's index in `runs`, the order of creation. */
  no: number
  status: Status
  createdAt: number
  replayOf?: ModelRun
  parent?: { run: ModelRun; step: ModelStep }
  steps: ModelStep[]
  /** Arrival times of the events that the run's waits have taken. */
  taken: Set<number>
  /** The pass in flight: the memo entry of each step, the number of settled entries, and the events among them. */
  pass?: { memo: Record<string, 'settled' | 'pending'>; settled: number; given: ReadonlySet<number> }
  passes: number
}

export const SLEEP_MS = 5000
const OK: Answer = { status: 200 }

export const isEnded = ({ status }: ModelRun) => ['succeeded', 'failed', 'cancelled'].includes(status)
const open = (run: ModelRun) => run.steps.filter(step => step.status === 'waiting')
const settled = (run: ModelRun) => run.steps.length - open(run).length

export class Model {
  readonly runs: ModelRun[] = []
  readonly audit: { action: string; run: ModelRun; newRun?: ModelRun }[] = []
  /** When each `go` arrived; no two arrive at the same time. */
  readonly events: number[] = []
  now: number
  #names = 0

  constructor(now: number) {
    this.now = now
  }

  /** The runs whose pass waits for an answer. */
  get underWay(): ModelRun[] {
    return this.runs.filter(run => run.pass)
  }

  start(): void {
    this.#create({})
    this.#send()
  }

  /** The names of the steps that a pass reports. They are new in every run. */
  newNames(ops: readonly Op[]): string[] {
    return ops.map(() => `step-${++this.#names}`)
  }

  answer(run: ModelRun, ops: readonly Op[], names: readonly string[]): void {
    const settledBefore = run.pass?.settled ?? 0
    const given = run.pass?.given ?? new Set()
    delete run.pass
    for (const [i, op] of ops.entries()) this.#record(run, op, { name: names[i] as string, given })
    if (ops.includes('Broken')) this.#end(run, 'failed')
    else {
      this.#settleSleeps(run, this.now)
      if (run.status !== 'paused') run.status = settled(run) > settledBefore ? 'queued' : 'waiting'
    }
    this.#send()
  }

  /** The handler returns, or the runner rejects the run. */
  answerLast(run: ModelRun, status: 'succeeded' | 'failed'): void {
    this.#end(run, status)
    this.#send()
  }

  /** A run with a pass in flight notices its timers only when the pass is answered. */
  advance(ms: number): void {
    this.now += ms
    for (const run of this.runs) {
      if (isEnded(run) || run.pass) continue
      const first = Math.min(...open(run).map(({ wakeAt }) => wakeAt))
      if (first > this.now) continue
      this.#settleSleeps(run, run.status === 'paused' ? this.now : first)
      if (run.status === 'waiting') run.status = 'queued'
    }
    this.#send()
  }

  /** One event settles all waits of each run. */
  deliver(): number {
    this.events.push(this.now)
    let woke = 0
    for (const run of this.runs) {
      const waits = open(run).filter(({ op }) => op === 'WaitForEvent')
      if (waits.length === 0) continue
      run.taken.add(this.now)
      for (const wait of waits) this.#wake(run, wait, 'succeeded')
      woke++
    }
    this.#send()
    return woke
  }

  act(action: Action, run: ModelRun | undefined, stepName: string): Answer {
    const refusal = this.#refusal(action, run, stepName)
    if (refusal || !run) return refusal ?? { status: 404, code: 'not_found' }
    let newRun: ModelRun | undefined
    if (action === 'cancel') this.#end(run, 'cancelled')
    else if (action === 'pause') run.status = 'paused'
    else if (action === 'resume') run.status = 'queued'
    else newRun = this.#fork(run, action === 'replay' ? undefined : stepName)
    this.audit.push({ action: action.replaceAll('-', '_'), run, ...(newRun ? { newRun } : {}) })
    this.#send()
    return OK
  }

  #refusal(action: Action, run: ModelRun | undefined, stepName: string): Answer | undefined {
    if (!run) return { status: 404, code: 'not_found' }
    if (action === 'resume') {
      return run.status === 'paused' ? undefined : { status: 409, code: 'run_not_paused' }
    }
    if (action === 'cancel' || action === 'pause') {
      return isEnded(run) ? { status: 409, code: 'run_terminal' } : undefined
    }
    if (!isEnded(run)) return { status: 409, code: 'run_not_finished' }
    const isKnown = action === 'replay' || run.steps.some(({ name }) => name === stepName)
    return isKnown ? undefined : { status: 404, code: 'step_not_found' }
  }

  #create(fields: Partial<ModelRun>): ModelRun {
    const { now, runs } = this
    const run: ModelRun = {
      no: runs.length,
      status: 'queued',
      createdAt: now,
      steps: [],
      taken: new Set(),
      passes: 0,
      ...fields,
    }
    runs.push(run)
    return run
  }

  /**
   * The fork carries the steps before the named one with their results, except cancelled steps and the step that ended the run.
   */
  #fork(source: ModelRun, stepName: string | undefined): ModelRun {
    const before = source.steps.slice(0, stepName === undefined ? 0 : source.steps.findIndex(isNamed(stepName)))
    const carried = before.filter(({ status, op }) => status !== 'cancelled' && op !== 'Broken')
    return this.#create({ replayOf: source, steps: carried.map(step => ({ ...step, carried: true })) })
  }

  #record(run: ModelRun, op: Op, { name, given }: { name: string; given: ReadonlySet<number> }): void {
    const step: ModelStep = { name, op, status: 'waiting', carried: false, wakeAt: Infinity }
    run.steps.push(step)
    if (op === 'StepRun') step.status = 'succeeded'
    if (op === 'Broken') step.status = 'failed'
    if (op === 'Sleep') step.wakeAt = this.now + SLEEP_MS
    if (op === 'RunWorkflow') step.child = this.#create({ parent: { run, step } })
    if (op === 'WaitForEvent') {
      // A wait also sees events between the run's creation and itself, except those in the memo of the pass.
      const event = this.events.find(at => at >= run.createdAt && !given.has(at))
      if (event === undefined) return
      run.taken.add(event)
      step.status = 'succeeded'
    }
  }

  #settleSleeps(run: ModelRun, until: number): void {
    for (const step of open(run)) if (step.wakeAt <= until) step.status = 'succeeded'
  }

  #wake(run: ModelRun, step: ModelStep, status: 'succeeded' | 'failed'): void {
    step.status = status
    if (run.status === 'waiting') run.status = 'queued'
  }

  /** Cancels open steps and children. A parent that still waits gets its answer. */
  #end(run: ModelRun, status: 'succeeded' | 'failed' | 'cancelled'): void {
    run.status = status
    delete run.pass
    for (const step of open(run)) {
      step.status = 'cancelled'
      if (step.child && !isEnded(step.child)) this.#end(step.child, 'cancelled')
    }
    const { parent } = run
    if (parent?.step.status !== 'waiting') return
    this.#wake(parent.run, parent.step, status === 'succeeded' ? 'succeeded' : 'failed')
  }

  /** There is always a runner, so a queued run is sent at once unless its pass from before a pause is still in flight. */
  #send(): void {
    for (const run of this.runs) {
      if (run.status !== 'queued' || run.pass) continue
      run.status = 'running'
      run.passes++
      const memo = run.steps.map(({ name, status }) => [name, status === 'waiting' ? 'pending' : 'settled'])
      run.pass = { memo: Object.fromEntries(memo), settled: settled(run), given: new Set(run.taken) }
    }
  }
}

const isNamed = (name: string) => (step: ModelStep) => step.name === name
