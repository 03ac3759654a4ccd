// An engine in memory for one run of a random workflow. A list of choices decides everything that is not deterministic: which
// callback ends, which step settles, when a frame is read, where the runner is killed, and which passes know that the last steps
// may come with the end.

import { NonRetriableError } from '@perdure/client'
import type { CheckpointedStep, CleanupContext, MemoEntry, Opcode, RunnerLogLine } from '@perdure/protocol'
import type { CheckpointReceipt, CheckpointReport } from '../../pass/checkpoints.ts'
import { Cancellation } from '../../run/cancellation.ts'
import { createHandler, type Handler } from '../../runner/handler.ts'
import { createWorkflow } from '../../workflow/create-workflow.ts'
import type { Answer } from '../answer.ts'
import { CALLBACKS } from '../engine.testkit.ts'
import { type EngineStep, followed, isSettling, outcomeOf, SETTLED_OUTSIDE } from './engine-step.testkit.ts'
import { mayBeCutOff, type Node, opsOf, play, type StepNode } from './program.testkit.ts'

/** Whether the passes know `end-with-steps`. */
export type EndsWithSteps = 'never' | 'always' | 'mixed'
export type Mode = 'passes' | 'checkpoints' | 'mixed'

interface PassUnderWay {
  cancellation: Cancellation
  reported: Set<string>
  /** Functions that end the running callbacks. */
  gates: (() => void)[]
  report?: { report: CheckpointReport; resolve: (receipt: CheckpointReceipt) => void }
  receipt?: CheckpointReceipt
  answer?: Answer
  /** How many results the handler had seen when the engine stopped the pass. */
  stoppedAt?: number
}

const KILLS_MAX = 5
/** More turns than a random workflow has steps. */
const TURNS_MAX = 1000
const ATTEMPTS_MAX = 5
const ACTIONS_MAX = 2000

interface RandomRunOptions {
  mode: Mode
  choices: readonly number[]
  endsWithSteps: EndsWithSteps
  /** The run that this run cleans up after. */
  cleanup?: CleanupContext
}

export class RandomRun {
  /** The step calls and results of the handler, pass by pass. */
  readonly traces: string[][] = []
  readonly warnings: string[] = []
  readonly rootLines: string[] = []
  readonly stepLines: string[] = []
  readonly executed = new Set<string>()
  /** Callbacks that began before a result that the handler had used was stored. */
  readonly tooEarly: string[] = []
  /** The number of steps that were stored with the end. */
  endedWith = 0
  result: unknown
  readonly #newRunner: () => Handler
  #handler: Handler
  readonly #steps = new Map<string, EngineStep>()
  readonly #executions = new Map<string, number>()
  readonly #committed = new Set<string>()
  /** Paths of the stored steps that their opcodes name. */
  readonly #stored = new Set<string>()
  readonly #mayBeCutOff: ReadonlySet<string>
  /** Paths of steps whose log lines were stored without them. */
  readonly #cutOff = new Set<string>()
  readonly #ops: ReadonlyMap<string, StepNode['op']>
  readonly #endsWithSteps: EndsWithSteps
  readonly #choices: readonly number[]
  readonly #mode: Mode
  #choice = 0
  #seq = 0
  #kills = 0
  #pass: PassUnderWay | undefined

  readonly #cleanup: CleanupContext | undefined

  constructor(program: Node, { mode, choices, endsWithSteps, cleanup }: RandomRunOptions) {
    this.#cleanup = cleanup
    this.#mode = mode
    this.#endsWithSteps = endsWithSteps
    this.#ops = opsOf(program)
    this.#mayBeCutOff = mayBeCutOff(program)
    this.#choices = choices
    const workflow = createWorkflow({ name: 'flow' }, ({ step, ctx }) => {
      const trace: string[] = []
      this.traces.push(trace)
      return play(program, '0', {
        step,
        ctx,
        runCallback: (path, node) => {
          this.executed.add(path)
          ctx.logger.info(`${path}/${this.#executions.get(path) ?? 0}`)
          return this.#callback(path, node)
        },
        rollback: (path, node) => this.#rollback(path, node),
        note: line => {
          trace.push(line)
          ctx.logger.info(line)
        },
      })
    })
    this.#newRunner = () => createHandler({ app: 'tests', workflows: [workflow], signingKey: [] })
    this.#handler = this.#newRunner()
  }

  /** Runs passes until the run ends, or for this many actions. */
  async drive(actionsMax = ACTIONS_MAX): Promise<void> {
    for (let count = 0; count < actionsMax; count++) {
      await turns(this.#pass ? 5 : 0)
      const actions = this.#pass ? await this.#actionsOf(this.#pass) : this.#idleActions()
      if (actions.length === 0) throw new Error(`The run hangs after ${count} actions`)
      const ended = (actions[this.#choose(actions.length)] as () => boolean | undefined)()
      if (ended) return
    }
    if (actionsMax === ACTIONS_MAX) throw new Error(`The run did not end within ${ACTIONS_MAX} actions`)
    this.#pass?.cancellation.cancel()
  }

  followed(status: CleanupContext['status']): CleanupContext {
    return followed(this.#steps.values(), status)
  }

  /** Runs a pass on the stored memo, like a later replay: the pass discovers nothing new. */
  async replay(): Promise<Answer> {
    for (const step of this.#steps.values()) if (step.state === 'due') step.state = 'backoff'
    return this.#handler.invoke(JSON.parse(JSON.stringify(this.#request())))
  }

  get committed(): ReadonlySet<string> {
    return this.#committed
  }

  #choose(count: number): number {
    return (this.#choices[this.#choice++] ?? 0) % count
  }

  /** A pass takes a turn for each result that it returns: a pass that has nothing to choose yet continues for a while. */
  async #actionsOf(pass: PassUnderWay): Promise<(() => boolean | undefined)[]> {
    for (let waited = 0; ; waited++) {
      const actions = this.#passActions(pass)
      if (actions.length > 0 || waited === TURNS_MAX) return actions
      await turns(1)
    }
  }

  /** Progress comes first and faults last, because the first choice is taken when the list of choices has ended. */
  #passActions(pass: PassUnderWay): (() => boolean | undefined)[] {
    const actions: (() => boolean | undefined)[] = []
    if (pass.answer) actions.push(() => this.#answered(pass, pass.answer as Answer))
    pass.gates.forEach((open, i) => {
      actions.push(() => {
        pass.gates.splice(i, 1)
        open()
        return false
      })
    })
    if (pass.receipt) actions.push(() => this.#deliver(pass))
    else if (pass.report) actions.push(() => this.#checkpoint(pass))
    actions.push(...this.#outside())
    if (this.#kills < KILLS_MAX) actions.push(() => this.#kill(pass))
    return actions
  }

  #idleActions(): (() => boolean | undefined)[] {
    const outside = this.#outside()
    const start = () => this.#start()
    return outside.length === 0 ? [start] : [...outside, start]
  }

  /** Timers, events and children: each parked step may settle, each failed step may become due. */
  #outside(): (() => boolean | undefined)[] {
    const actions: (() => boolean | undefined)[] = []
    for (const step of this.#steps.values()) {
      if (step.state === 'parked') actions.push(() => this.#settle(step, step.outcome))
      if (step.state === 'backoff')
        actions.push(() => {
          step.state = 'due'
          return false
        })
    }
    return actions
  }

  #start(): undefined {
    const settled = [...this.#steps.values()].filter(({ state }) => state === 'settled')
    const pass: PassUnderWay = {
      cancellation: new Cancellation(),
      reported: new Set(settled.map(({ id }) => id)),
      gates: [],
    }
    this.#pass = pass
    const checkpointed = this.#mode === 'checkpoints' || (this.#mode === 'mixed' && this.#choose(2) === 0)
    const checkpoint = (report: CheckpointReport) =>
      new Promise<CheckpointReceipt>(resolve => {
        if (pass.report) throw new Error('Two reports are under way')
        pass.report = { report, resolve }
      })
    const knows = this.#endsWithSteps === 'always' || (this.#endsWithSteps === 'mixed' && this.#choose(2) === 0)
    const request = JSON.parse(JSON.stringify(this.#request(knows ? ['end-with-steps'] : [])))
    this.#handler
      .invoke(request, { cancellation: pass.cancellation, ...(checkpointed && { checkpoint }) })
      .then(answer => {
        pass.answer = answer
      })
  }

  #request(features: readonly string[] = []) {
    const steps: Record<string, MemoEntry> = {}
    const rows = [...this.#steps.values()].sort((a, b) => a.seq - b.seq)
    for (const { id, state, entry } of rows) if (state === 'settled') steps[id] = entry
    for (const { id, state } of rows) if (state === 'parked' || state === 'backoff') steps[id] = { pending: true }
    const known = [...features, 'cleanup']
    const run = { runId: this.#cleanup ? 'run_2' : 'run_1', cleanup: this.#cleanup }
    const ctx = { ...run, workflow: 'flow', attempt: 1, app: 'tests', runner: '', features: known, ...CALLBACKS }
    return { event: { name: 'flow' }, steps, ctx }
  }

  #rollback(path: string, node: StepNode): string | Promise<string> {
    return this.#callback(undoneAs(path), { ...node, failures: fails(path) ? Number.POSITIVE_INFINITY : node.failures })
  }

  #callback(path: string, node: StepNode): string | Promise<string> {
    if (this.#cutOff.has(path)) throw new NonRetriableError(`${path} ran again after it was cut off`)
    if (this.#committed.has(path)) throw new NonRetriableError(`${path} ran again after it was stored`)
    const seen = this.#resultsOf(this.traces.at(-1) ?? []).filter(
      one => this.executed.has(one) && !this.#stored.has(one),
    )
    if (seen.length > 0) this.tooEarly.push(`${path} after ${seen}`)
    const execution = this.#executions.get(path) ?? 0
    this.#executions.set(path, execution + 1)
    const end = () => {
      if (execution >= node.failures) return path
      if (node.failures >= ATTEMPTS_MAX) throw new NonRetriableError(`${path} fails`)
      throw new Error(`${path} fails`)
    }
    if (node.quick) return end()
    const pass = this.#pass as PassUnderWay
    return new Promise<void>(resolve => pass.gates.push(resolve)).then(end)
  }

  /** The engine commits a report, and its receipt is under way. */
  #checkpoint(pass: PassUnderWay): undefined {
    const { report } = pass.report as NonNullable<PassUnderWay['report']>
    const before = this.#seq
    this.#store(JSON.parse(report.opcodes), JSON.parse(report.logs))
    const news = [...this.#steps.values()]
      .filter(step => step.seq > before || (step.state === 'settled' && !pass.reported.has(step.id)))
      .sort((a, b) => a.seq - b.seq)
    for (const { id, state } of news) if (state === 'settled') pass.reported.add(id)
    const steps = news.map((step): CheckpointedStep => {
      const { id, op, state, entry, seq } = step
      if (state !== 'settled') return { id, pending: true }
      return { id, ...(op === 'StepRun' && seq > before && !entry.error ? {} : entry) }
    })
    pass.receipt = { steps, ...(this.#choose(12) === 11 && { stop: true }) }
  }

  #deliver(pass: PassUnderWay): undefined {
    const { report, receipt } = pass
    delete pass.report
    delete pass.receipt
    if (receipt?.stop) pass.stoppedAt = this.traces.at(-1)?.length ?? 0
    report?.resolve(JSON.parse(JSON.stringify(receipt)))
  }

  /** Kills the runner: everything that is not stored is lost. */
  #kill(pass: PassUnderWay): undefined {
    this.#kills++
    this.#pass = undefined
    this.traces.push(this.#storedPart(this.traces.pop() ?? []))
    pass.cancellation.cancel()
    this.#handler = this.#newRunner()
  }

  /** Paths of the steps whose results a handler got. */
  #resultsOf(trace: readonly string[]): string[] {
    return trace.flatMap(line => /^(\S+) (gave|threw) /.exec(line)?.[1]?.split(',') ?? [])
  }

  /** The part of a trace that a later pass must repeat: up to the first result that is not stored. */
  #storedPart(trace: string[]): string[] {
    const isStored = (path: string) =>
      this.#stored.has(path) || SETTLED_OUTSIDE.has(this.#ops.get(path) as StepNode['op'])
    const end = trace.findIndex(line => this.#resultsOf([line]).some(path => !isStored(path)))
    return end < 0 ? trace : trace.slice(0, end)
  }

  #answered(pass: PassUnderWay, { status, body }: Answer): boolean {
    this.#pass = undefined
    const { data, opcodes = [], logs, error } = JSON.parse(body)
    if (status === 400 && this.#cleanup && error.name === 'CleanupError') {
      this.result = error.stepName
      return true
    }
    if (status !== 200 && status !== 206) throw new Error(`The pass was answered ${status}: ${body}`)
    if (pass.report) throw new Error('The pass was answered with a report under way')
    if (pass.stoppedAt !== undefined && this.traces.at(-1)?.length !== pass.stoppedAt)
      throw new Error('The handler went on after it was stopped')
    const known = this.#seq
    this.#store(opcodes, logs)
    if (status === 200) {
      for (const opcode of opcodes as Opcode[])
        if (!isSettling(opcode)) throw new Error(`The run ended with ${JSON.stringify(opcode)}`)
      this.endedWith += opcodes.length
      this.result = data
      return true
    }
    const open = [...this.#steps.values()].filter(({ state }) => state !== 'settled')
    const isNew = [...this.#steps.values()].some(({ id, state }) => state === 'settled' && !pass.reported.has(id))
    // A stopped run is continued by the next pass.
    const wakes = open.length > 0 || isNew || this.#seq > known || pass.stoppedAt !== undefined
    if (!wakes) throw new Error('Nothing would ever wake the run')
    return false
  }

  #store(opcodes: readonly Opcode[], logs: readonly RunnerLogLine[]): void {
    for (const opcode of opcodes) {
      const known = this.#steps.get(opcode.id)
      if (known && known.state !== 'due') continue
      this.#apply(opcode, known)
    }
    for (const { scope, index, message } of logs) {
      if (scope === '@replay') this.warnings.push(message)
      else if (scope !== '@root') this.#storeStepLine(message, opcodes)
      else if (index >= this.rootLines.length) {
        if (index > this.rootLines.length) throw new Error(`Line ${index} comes after ${this.rootLines.length}`)
        this.rootLines.push(message)
      }
    }
  }

  /**
   * A line stored without its step would be stored again when the step is repeated. A step that was cut off is never repeated.
   */
  #storeStepLine(message: string, opcodes: readonly Opcode[]): void {
    const [path] = message.split('/')
    const isReported = opcodes.some(
      one => one.op === 'StepRun' && (one.data === path || one.error?.message === `${path} fails`),
    )
    if (!isReported && !this.#mayBeCutOff.has(path as string))
      throw new Error(`A line of ${path} was sent without its step`)
    if (!isReported) this.#cutOff.add(path as string)
    this.stepLines.push(message)
  }

  #apply(opcode: Opcode, known: EngineStep | undefined): void {
    const step: EngineStep = known ?? {
      id: opcode.id,
      op: opcode.op,
      name: opcode.name,
      state: 'parked',
      entry: {},
      attempts: 0,
      seq: 0,
      outcome: outcomeOf(opcode),
    }
    this.#steps.set(opcode.id, step)
    step.seq = ++this.#seq
    if (opcode.op === 'Emit') this.#stored.add(opcode.eventName)
    if (opcode.op === 'Webhook') this.#stored.add(opcode.webhookUrl.replace('https://example.com/', ''))
    if (opcode.op === 'Emit' || opcode.op === 'Webhook') this.#settle(step, { data: { id: opcode.id } })
    if (opcode.op !== 'StepRun') return
    step.attempts++
    if (!opcode.error) {
      if (opcode.rollback) step.rollback = true
      if (typeof opcode.data === 'string') this.#committed.add(opcode.data)
      if (typeof opcode.data === 'string') this.#stored.add(opcode.data)
      this.#settle(step, { data: opcode.data ?? null })
    } else if (opcode.retriable !== false && step.attempts < ATTEMPTS_MAX) step.state = 'backoff'
    else {
      this.#stored.add(opcode.error.message.replace(/ fails$/, ''))
      this.#settle(step, { error: opcode.error })
    }
  }

  #settle(step: EngineStep, entry: MemoEntry): undefined {
    Object.assign(step, { state: 'settled', entry, seq: ++this.#seq })
  }
}

/** The result of the rollback of a step. */
export const undoneAs = (path: string) => `undo ${path}`
/** Whether the rollback of a step fails for good. */
export const fails = (path: string) => path.endsWith('.2')

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(resolve => setImmediate(resolve))
}
