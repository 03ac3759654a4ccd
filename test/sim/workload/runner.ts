// A runner: it answers invokes by following the workflow and executing new steps, and misbehaves when a fault strikes. Every
// execution and every return makes a new token, so that two results can always be distinguished.

import { createHmac } from 'node:crypto'
import type { Faults } from '../core/faults.ts'
import { unitOf } from '../core/random.ts'
import { ensure } from '../core/violation.ts'
import type { CallbackPosts, SharedCallback } from './callback-posts.ts'
import { type Found, hashId, updateIdOf, type Walked, walk } from './handler.ts'
import { hasRollback, isLimited, type Node, type RunNode, type Sequence, type WorkflowSpec } from './program.ts'
import type { Pass, RunnerRecord } from './runner-record.ts'
import type { Answer, Checkpoint, CheckpointAck, LogLine, MemoEntry, Opcode, StepError } from './wire.ts'

export interface RunnerDeps {
  namespace: string
  app: string
  runnerId: string
  url: string
  workflows: readonly WorkflowSpec[]
  faults: Faults
  runnerRecord: RunnerRecord
  callbackPosts: CallbackPosts
  /** Epoch ms from which `sleepUntil` steps count. */
  startedAt: number
  /** A planted bug. */
  planted?: PlantedInRunner | undefined
}

/** The part of its answers that a runner omits, as if the engine ignored it. */
export type PlantedInRunner = 'no codes' | 'no policies'

export class SimRunner {
  readonly deps: RunnerDeps
  /** Whether the runner's address accepts connections. */
  up = true

  constructor(deps: RunnerDeps) {
    this.deps = deps
  }

  /** Executes what comes next without ending the pass; undefined if nothing comes next. */
  checkpoint(pass: Pass, seq: number, now: number): Checkpoint | undefined {
    const body = this.#body(pass)
    if (!body) return undefined
    this.#shareCallbacks(pass, body)
    const walked = walk(body, pass.memo)
    if (walked.flow.state !== 'suspended' || walked.found.length === 0) return undefined
    const lines = new Lines(walked.lines)
    return { seq, opcodes: this.#report(pass, walked, lines, now), logs: lines.all }
  }

  /** Processes the engine's answer to a checkpoint. */
  acked(pass: Pass, { opcodes }: Checkpoint, ack: CheckpointAck): void {
    for (const { id, ...carried } of ack.steps) {
      const asReported = carried.data === undefined && !carried.error && !carried.pending
      const entry = asReported ? { data: opcodes.find(opcode => opcode.id === id)?.data } : carried
      const known = pass.memo[id]
      // In the order of settling, as in a memo.
      if (known?.pending && !entry.pending) delete pass.memo[id]
      pass.memo[id] = entry
    }
  }

  /** Runs one pass, or the rest of it. */
  answer(pass: Pass, now: number): Answer {
    const { request } = pass
    const spec = this.#spec(pass)
    const body = this.#body(pass)
    if (!spec || !body) return json(404, { error: { message: `no workflow ${request.ctx.workflow}` }, logs: [] })
    this.#shareCallbacks(pass, body)
    const walked = walk(body, pass.memo)
    pass.isAnswered = true
    const lines = new Lines(walked.lines)
    pass.rootLines = lines.all.slice()
    if (unitOf(`throw ${pass.no}`) < spec.throwsOften) {
      return json(500, { error: { message: `pass ${pass.no} threw` }, logs: lines.all })
    }
    if (unitOf(`fatal ${pass.no}`) < spec.throwsFatallyOften) {
      const code = unitOf(`code ${pass.no}`) < 0.5 ? 'handler_failed' : 'nondeterministic'
      return this.#ended(pass, { message: `pass ${pass.no} threw for good`, code }, lines)
    }
    if (walked.flow.state === 'threw') {
      const { error, stepName } = walked.flow
      return this.#ended(pass, { ...error, code: 'step_failed', stepName }, lines)
    }
    if (walked.flow.state === 'done') return json(200, { ...this.#end(pass, spec), logs: lines.all })
    const opcodes = this.#report(pass, walked, lines, now)
    const last: LastSteps = { body, walked, opcodes, lines }
    const isEnd = this.#endsWithSteps(pass) && this.#goOn(pass, last, now)
    if (!isEnd) return json(206, { opcodes, logs: lines.all })
    pass.endedWith = [...new Set(opcodes.map(({ id }) => id))]
    return json(200, { ...this.#end(pass, spec), opcodes, logs: lines.all })
  }

  /** The result, or the data of the run that continues this one. */
  #end(pass: Pass, { links = 0 }: WorkflowSpec): { data: unknown } | { continueAs: { data: unknown } } {
    const { ctx, event } = pass.request
    const given = event.data as { link?: number } | null | undefined
    const link = given?.link ?? 0
    if (link < links && !ctx.onFailure && !ctx.cleanup) {
      pass.continuedWith = { ...given, link: link + 1 }
      return { continueAs: { data: pass.continuedWith } }
    }
    pass.returned = `${ctx.runId}|returned|${pass.no}`
    return { data: { token: pass.returned } }
  }

  #endsWithSteps({ request, memo }: Pass): boolean {
    if (!request.ctx.features?.includes('end-with-steps')) return false
    return !Object.values(memo).some(({ pending }) => pending) && this.deps.faults.strikes('endsWithSteps')
  }

  /**
   * Continues with results that are not stored yet, while no callback would begin. Adds the events and webhooks that come next
   * to the opcodes. Returns whether the handler returns then.
   */
  #goOn(pass: Pass, { body, walked, opcodes, lines }: LastSteps, now: number): boolean {
    const memo = { ...pass.memo }
    let { found } = walked
    let rootCount = walked.lines.length
    for (;;) {
      const results = new Map(opcodes.toReversed().map(opcode => [opcode.id, opcode]))
      if (!opcodes.every(settles) || !found.every(({ id }) => results.has(hashId(id)))) return false
      for (const { id } of found) memo[hashId(id)] = entryOf(results.get(hashId(id)) as Opcode)
      const next = walk(body, memo)
      for (const message of next.lines.slice(rootCount)) lines.add('@root', message)
      rootCount = next.lines.length
      pass.rootLines = lines.all.filter(({ scope }) => scope === '@root')
      if (next.flow.state === 'done') return true
      found = next.found
      const isQuiet = found.every(({ kind }) => kind === 'emit' || kind === 'webhook')
      if (next.flow.state === 'threw' || found.length === 0 || !isQuiet) return false
      opcodes.push(...found.map(node => this.#carryOutOnce(pass, node, lines, now)))
    }
  }

  /** The answer of a handler that ended with an error. */
  #ended(pass: Pass, error: StepError & { code: string }, lines: Lines): Answer {
    pass.gaveCode = error.code
    const { code: _, ...rest } = error
    return json(400, { error: this.deps.planted === 'no codes' ? rest : error, logs: lines.all })
  }

  #isLimited(pass: Pass, node: RunNode): boolean {
    const { cleanup, onFailure } = pass.request.ctx
    return !cleanup && !onFailure && isLimited(this.#spec(pass) ?? {}, node)
  }

  #isUndone(pass: Pass, node: RunNode): boolean {
    const { cleanup, onFailure } = pass.request.ctx
    return !cleanup && !onFailure && hasRollback(this.#spec(pass) ?? {}, node)
  }

  #spec({ request }: Pass): WorkflowSpec | undefined {
    return this.deps.workflows.find(({ name }) => name === request.ctx.workflow)
  }

  #body(pass: Pass): Sequence | undefined {
    const spec = this.#spec(pass)
    const { cleanup } = pass.request.ctx
    if (spec && cleanup) return rollbacksOf(cleanup)
    return pass.request.ctx.onFailure ? spec?.failureBody : spec?.body
  }

  /** The handler gives all its callbacks away when it starts. */
  #shareCallbacks(pass: Pass, body: Sequence): void {
    for (const node of leaves(body))
      if (node.kind === 'callback') this.deps.callbackPosts.shared(callbackOf(pass, node))
  }

  #report(pass: Pass, walked: Walked, lines: Lines, now: number): Opcode[] {
    const opcodes = this.#chosen(walked).map(node => this.#carryOutOnce(pass, node, lines, now))
    if (this.deps.faults.strikes('repeatedOpcodes')) opcodes.push(...this.#repeats(pass, opcodes))
    return opcodes
  }

  #carryOutOnce(pass: Pass, node: Found, lines: Lines, now: number): Opcode {
    const id = hashId(node.id)
    if (!pass.reported.has(id)) pass.reported.set(id, { node, at: now })
    if (node.kind === 'callback') this.deps.callbackPosts.reported(callbackOf(pass, node))
    return this.#carryOut(pass, node, { lines, now })
  }

  #chosen({ found }: Walked): Found[] {
    const { faults } = this.deps
    if (found.length < 2 || !faults.strikes('partialOpcodes')) return found
    return [faults.stream('partialOpcodes').pick(found)]
  }

  #carryOut(pass: Pass, node: Found, { lines, now }: { lines: Lines; now: number }): Opcode {
    if (node.kind === 'runWait') {
      const runId = this.deps.runnerRecord.awaitedBy(pass, hashId(node.id))
      return { op: 'WaitForRun', id: hashId(node.id), name: node.name, runId, timeoutMs: node.timeoutMs }
    }
    if (node.kind === 'reply') return replyOf(pass, node)
    if (node.kind !== 'run') return directive(node, pass.request.ctx.runId, this.deps.startedAt)
    const { runnerRecord } = this.deps
    const { runId, turns = [] } = pass.request.ctx
    const stepId = hashId(node.id)
    const limited = this.#isLimited(pass, node)
    if (limited && !turns.includes(stepId)) return { op: 'StepLimit', id: stepId, name: node.name, limit: 'vendor' }
    const before = runnerRecord.executions(runId, stepId)
    const token = `${runId}|${node.id}|${before.length + 1}`
    const failed = before.filter(execution => execution.failed).length < failuresOf(node, runId)
    const logged = Array.from({ length: node.logLines }, () => lines.add(node.name, token))
    const { features, stepAttempts = {} } = pass.request.ctx
    const attempt = stepAttempts[stepId] ?? 1
    runnerRecord.executed(pass, { stepId, token, failed, attempt, lines: logged, ...(limited && { startedAt: now }) })
    return {
      op: 'StepRun',
      id: stepId,
      name: node.name,
      ...(failed ? { error: { name: 'SimError', message: token } } : { data: { token } }),
      ...(failed && node.nonRetriable ? { retriable: false } : {}),
      ...(failed && node.retry && this.deps.planted !== 'no policies' ? { retry: node.retry } : {}),
      ...(node.catchable ? { catchable: true } : {}),
      ...(features?.includes('budgets') ? { spent: { tokens: tokensOf(runId, stepId, attempt) } } : {}),
      ...(!failed && this.#isUndone(pass, node) ? { rollback: true } : {}),
      ...(failed && node.retryAfterMs !== undefined ? { retryAfterMs: node.retryAfterMs } : {}),
    }
  }

  /** Repeated opcodes: of this answer, and of steps that are already in the memo, with results that must not count. */
  #repeats(pass: Pass, opcodes: readonly Opcode[]): Opcode[] {
    const stream = this.deps.faults.stream('repeatedOpcodes')
    const { request } = pass
    const body = leaves(this.#body(pass) ?? []).filter(node => node.kind !== 'runWait')
    const known = body.filter(node => pass.memo[hashId(node.id)] !== undefined)
    const repeated: Opcode[] = []
    if (opcodes.length > 0) repeated.push({ ...stream.pick(opcodes), ...forgedResult(stream.int(0, 1e9)) })
    if (known.length > 0) {
      const node = stream.pick(known)
      const forged = forgedResult(stream.int(0, 1e9))
      repeated.push(
        node.kind === 'run'
          ? { op: 'StepRun', id: hashId(node.id), name: node.name, ...forged }
          : node.kind === 'reply'
            ? { ...replyOf(pass, node), ...forged }
            : { ...directive(node, request.ctx.runId, this.deps.startedAt), ...forged },
      )
    }
    return repeated
  }
}

/** The handler of a cleanup run: the rollbacks of the run that it follows, the last step first, as docs/wire-protocol.md#cleanup says. */
function rollbacksOf({ steps }: NonNullable<Pass['request']['ctx']['cleanup']>): Sequence {
  const toUndo = Object.entries(steps).filter(([, { rollback }]) => rollback)
  return toUndo.reverse().map(([id, { name }]) => ({ kind: 'caught', body: [rollback(id, name)] }))
}

const rollback = (id: string, name: string): RunNode => ({
  kind: 'run',
  id: `rollback:${id}`,
  name: `rollback:${name}`,
  failures: [0, 0, 0, 1, 9],
  nonRetriable: false,
  catchable: true,
  logLines: 0,
})

/** Builds the report of a pass, which may be the last of its run. */
interface LastSteps {
  body: Sequence
  walked: Walked
  opcodes: Opcode[]
  lines: Lines
}

/** Whether the engine surely settles the step with this result. */
function settles({ op, error, retriable, catchable }: Opcode): boolean {
  if (op === 'StepRun') return error === undefined || (retriable === false && catchable === true)
  return op === 'Emit' || op === 'Webhook'
}

function entryOf({ op, data, error }: Opcode): MemoEntry {
  if (op !== 'StepRun') return { data: null }
  return error ? { error } : { data }
}

/** How many attempts of the step fail in this run. */
function failuresOf(node: RunNode, runId: string): number {
  return node.failures[Math.floor(unitOf(`${runId} ${node.id}`) * node.failures.length)] as number
}

/** The tokens that an attempt spends, the same for every execution. */
export function tokensOf(runId: string, stepId: string, attempt: number): number {
  return 1 + Math.floor(unitOf(`spend ${runId} ${stepId} ${attempt}`) * 1000)
}

/** A result that no execution returned. */
function forgedResult(no: number): { data: unknown } {
  return { data: { token: `forged ${no}` } }
}

type Reply = Extract<Found, { kind: 'reply' }>

/** The answer to an update: the place of its step. */
function replyOf({ memo, request }: Pass, node: Reply): Opcode {
  const updateId = updateIdOf(node, memo) as string
  const data = { run: request.ctx.runId, step: node.id }
  return { op: 'ReplyToUpdate', id: hashId(node.id), name: node.name, updateId, data }
}

function directive(
  node: Exclude<Found, RunNode | Reply | { kind: 'runWait' }>,
  runId: string,
  startedAt: number,
): Opcode {
  const head = { id: hashId(node.id), name: node.name }
  const data = { run: runId, step: node.id }
  switch (node.kind) {
    case 'sleep':
      return { op: 'Sleep', ...head, sleepMs: node.ms }
    case 'sleepUntil':
      return { op: 'SleepUntil', ...head, sleepUntilMs: startedAt + node.atMs }
    case 'wait':
      return {
        op: 'WaitForEvent',
        ...head,
        eventName: node.eventName,
        ...(node.timeoutMs === undefined ? {} : { timeoutMs: node.timeoutMs }),
      }
    case 'callback':
      return {
        op: 'WaitForCallback',
        ...head,
        ...(node.timeoutMs === undefined ? {} : { timeoutMs: node.timeoutMs }),
      }
    case 'signalWait':
      return { op: 'WaitForSignal', ...head, signal: node.signal, timeoutMs: node.timeoutMs }
    case 'emit':
      return { op: 'Emit', ...head, eventName: node.eventName, data }
    case 'child':
      return {
        op: 'RunWorkflow',
        ...head,
        childName: node.workflow,
        childData: data,
        ...(node.app === undefined ? {} : { childApp: node.app }),
      }
    case 'start': {
      const { workflow, key, ifRunning, delayMs } = node
      return {
        op: 'StartRun',
        ...head,
        workflow,
        data,
        ...(key === undefined ? {} : { key }),
        ...(ifRunning === undefined ? {} : { ifRunning }),
        ...(delayMs === undefined ? {} : { delayMs }),
      }
    }
    case 'webhook':
      return { op: 'Webhook', ...head, webhookUrl: node.url, data }
  }
}

/** The URL of a callback, derived as in docs/wire-protocol.md#callbacks. */
function callbackOf({ namespace, request }: Pass, { id }: Found): SharedCallback {
  const { runId, callbackUrl, callbackKey } = request.ctx
  const given = callbackUrl !== undefined && callbackKey !== undefined
  ensure(given, 'an invoke has the key of the callbacks', () => JSON.stringify(request.ctx), [runId])
  const stepId = hashId(id)
  const url = `${callbackUrl}${stepId}.${createHmac('sha256', callbackKey).update(stepId).digest('hex')}`
  return { namespace, runId, stepId, url }
}

/** Every step of the tree. */
export function leaves(body: Sequence): Found[] {
  return body.flatMap((node: Node): Found[] => {
    if (node.kind === 'log') return []
    if (node.kind === 'caught') return leaves(node.body)
    return node.kind === 'all' || node.kind === 'race' ? node.branches.flatMap(leaves) : [node]
  })
}

/** The log lines of a pass, counted per scope. */
class Lines {
  readonly all: LogLine[] = []

  constructor(rootMessages: readonly string[]) {
    for (const message of rootMessages) this.add('@root', message)
  }

  add(scope: string, message: string): LogLine {
    const index = this.all.filter(line => line.scope === scope).length
    const line: LogLine = { level: 'info', message, scope, index }
    this.all.push(line)
    return line
  }
}

function json(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body) }
}
