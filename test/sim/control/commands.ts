// The commands of a control history. The model and the engine execute each command, and must agree after it.

import { type Arbitrary, type AsyncCommand, asyncModelRun, constantFrom, nat, oneof, record } from 'fast-check'
import { expect } from 'vitest'
import type { ControlledEngine } from './controlled-engine.ts'
import { type Action, isEnded, Model, type ModelRun, type Op, SLEEP_MS } from './model.ts'

/** The engine, and the ids of its runs by their number in the model. */
interface Real {
  engine: ControlledEngine
  ids: string[]
  /** Ended runs that were already compared. They never change, and are compared again at the end. */
  done: Set<number>
}

type Command = AsyncCommand<Model, Real>

const RUNS_MAX = 8
const UNKNOWN_RUN = 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV'

/** Time always advances a little first, so that nothing depends on the order within one millisecond. */
function command(
  text: string,
  options: {
    check?: (model: Pick<Model, 'runs' | 'underWay'>) => boolean
    run(model: Model, real: Real): Promise<void>
  },
): Command {
  return {
    check: model => options.check?.(model) ?? true,
    async run(model, real) {
      await passTime(model, real, 1)
      await options.run(model, real)
      await compare(model, real)
    },
    toString: () => text,
  }
}

async function passTime(model: Model, { engine }: Real, ms: number): Promise<void> {
  model.advance(ms)
  await engine.clock.advance(ms)
}

const start = command('an event starts a run', {
  check: model => model.runs.length < RUNS_MAX,
  async run(model, { engine, ids }) {
    model.start()
    const { status, body } = await engine.request('POST', '/events', { name: 'top' })
    expect(status).toBe(202)
    ids.push(body.runId)
  },
})

const deliver = command('an event arrives', {
  async run(model, { engine }) {
    const woke = model.deliver()
    expect((await engine.request('POST', '/events', { name: 'go' })).body).toMatchObject({ woke })
  },
})

const advance = (ms: number) => command(`${ms} ms pass`, { run: (model, real) => passTime(model, real, ms) })

/** A pass reports that it found these steps. */
function discover(ops: readonly Op[], pick: number): Command {
  return command(`pass ${pick} answers ${ops.join(' and ')}`, {
    check: model => model.underWay.length > 0 && model.runs.length < RUNS_MAX,
    async run(model, { engine, ids }) {
      const run = pickOf(model.underWay, pick) as ModelRun
      const names = model.newNames(ops)
      const known = model.runs.length
      model.answer(run, ops, names)
      const opcodes = ops.map((op, i) => ({ id: names[i], name: names[i], ...OPCODES[op] }))
      const runId = ids[run.no] as string
      await engine.answer(runId, 206, { opcodes, logs: [] })
      for (const { parent } of model.runs.slice(known)) {
        const { steps } = await engine.load(runId)
        ids.push(steps.find(({ name }) => name === parent?.step.name)?.childRunId as string)
      }
    },
  })
}

/** A pass ends its run. */
function end(status: 'succeeded' | 'failed', pick: number): Command {
  return command(`pass ${pick} ends its run as ${status}`, {
    check: model => model.underWay.length > 0,
    async run(model, { engine, ids }) {
      const run = pickOf(model.underWay, pick) as ModelRun
      model.answerLast(run, status)
      const [code, body] = status === 'succeeded' ? [200, { data: 1, logs: [] }] : [400, { logs: [] }]
      await engine.answer(ids[run.no] as string, code, body)
    },
  })
}

/** A control action on one of the runs, or on a run that does not exist. */
function act(action: Action, pick: number, pickStep: number): Command {
  const forks = action === 'replay' || action === 'retry-from-step'
  return command(`${action} run ${pick}, step ${pickStep}`, {
    check: model => model.runs.length < RUNS_MAX || !forks,
    async run(model, { engine, ids }) {
      const run = pickOf([...model.runs, undefined], pick)
      const step = pickOf([...(run?.steps.map(({ name }) => name) ?? []), 'unknown'], pickStep) as string
      const expected = model.act(action, run, step)
      const url = `/runs/${run ? ids[run.no] : UNKNOWN_RUN}/${action}`
      const { status, body } = await engine.request('POST', url, action === 'retry-from-step' ? { step } : undefined)
      expect({ status, code: body.error?.code }, url).toEqual({ code: undefined, ...expected })
      if (model.runs.length > ids.length) ids.push(body.id)
      else if (status === 200) expect(body.id).toBe(ids[run?.no as number])
    },
  })
}

const OPCODES: Record<Op, Record<string, unknown>> = {
  StepRun: { op: 'StepRun', data: 1 },
  Broken: { op: 'StepRun', error: { message: 'broken' }, retriable: false },
  Sleep: { op: 'Sleep', sleepMs: SLEEP_MS },
  WaitForEvent: { op: 'WaitForEvent', eventName: 'go', timeoutMs: 86_400_000 },
  RunWorkflow: { op: 'RunWorkflow', childName: 'kid' },
}

const pick = nat({ max: 7 })
const discovered = constantFrom<Op[]>(
  ['StepRun'],
  ['StepRun', 'StepRun'],
  ['Sleep'],
  ['WaitForEvent'],
  ['RunWorkflow'],
  ['Sleep', 'WaitForEvent'],
  ['RunWorkflow', 'StepRun'],
  ['WaitForEvent', 'RunWorkflow', 'WaitForEvent'],
  ['Broken', 'StepRun'],
)
const action = constantFrom<Action>('cancel', 'pause', 'resume', 'replay', 'retry-from-step')

const answers = record({ ops: discovered, pick }).map(({ ops, pick }) => discover(ops, pick))
const acts = record({ action, pick, step: pick }).map(({ action, pick, step }) => act(action, pick, step))

/** Every kind of command. fast-check draws from the entries evenly. */
export const commands: Arbitrary<Command>[] = [
  constantFrom(start),
  answers,
  answers,
  acts,
  acts,
  acts,
  oneof(
    constantFrom(deliver),
    constantFrom(1, 1000, SLEEP_MS).map(advance),
    record({ status: constantFrom('succeeded' as const, 'failed' as const), pick }).map(({ status, pick }) =>
      end(status, pick),
    ),
  ),
]

/** Plays one history, compares everything once more at its end, and cancels what is left. */
export async function play(history: Iterable<Command>, engine: ControlledEngine): Promise<void> {
  const model = new Model(engine.clock.now())
  const real: Real = { engine, ids: [], done: new Set() }
  await asyncModelRun(() => ({ model, real }), history)
  real.done.clear()
  await compare(model, real)
  await compareLists(model, real)
  expect(engine.errors).toEqual([])
  for (const run of model.runs) {
    if (!isEnded(run)) await act('cancel', run.no, 0).run(model, real)
  }
}

/** The passes in flight with their memos, and every run with its steps. */
async function compare(model: Model, { engine, ids, done }: Real): Promise<void> {
  const runs = model.runs.filter(({ no }) => !done.has(no))
  const loaded = await Promise.all(runs.map(({ no }) => engine.load(ids[no] as string)))
  const found = {
    passes: [...engine.waiting]
      .map(({ runId, memo }) => [ids.indexOf(runId), carried(memo)] as const)
      .sort(([a], [b]) => a - b),
    runs: loaded.map(({ run, steps }) => ({
      status: run.status,
      replayOf: run.replayOf,
      parentRunId: run.parentRunId,
      steps: steps.map(({ name, status, carried = false }) => `${name} ${status} ${carried}`),
      passes: engine.sent.get(run.id) ?? 0,
    })),
  }
  const expected = {
    passes: model.underWay.map(({ no, pass }) => [no, pass?.memo]),
    runs: runs.map(({ status, replayOf, parent, steps, passes }) => ({
      status,
      replayOf: replayOf && ids[replayOf.no],
      parentRunId: parent && ids[parent.run.no],
      steps: steps.map(({ name, status, carried }) => `${name} ${status} ${carried}`),
      passes,
    })),
  }
  expectSame(found, expected)
  for (const run of runs) if (isEnded(run)) done.add(run.no)
}

/** The model knows every run, and the audit log agrees entry by entry. */
async function compareLists({ runs, audit }: Model, { engine, ids }: Real): Promise<void> {
  const listed = (await engine.request('GET', '/runs?limit=200')).body as { id: string }[]
  expect(listed.map(({ id }) => id).sort(), 'all runs').toEqual(runs.map(({ no }) => ids[no] as string).sort())
  const entries = (await engine.request('GET', '/control-actions?limit=1000')).body as Record<string, string>[]
  expect(
    entries.reverse().map(({ action, runId, newRunId }) => ({ action, runId, newRunId })),
    'audit log',
  ).toEqual(
    audit.map(({ action, run, newRun }) => ({
      action,
      runId: ids[run.no],
      newRunId: newRun && ids[newRun.no],
    })),
  )
}

/** Compares JSON first, because a detailed comparison would take most of the time. */
function expectSame(found: object, expected: object): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) expect(found).toEqual(expected)
}

function carried(memo: Record<string, { pending?: boolean }>): Record<string, string> {
  return Object.fromEntries(Object.entries(memo).map(([name, { pending }]) => [name, pending ? 'pending' : 'settled']))
}

function pickOf<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % list.length]
}
