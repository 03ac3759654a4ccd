// Random programs of waits against a model of the rule (docs/events.md#waits), SDK and engine together: pass by pass and with
// checkpoints in the testing kit, where the engine crashes at any point, and over HTTP, HTTP with checkpoints, and Connect.
// `PERDURE_SEEDS=1000` runs more programs, `PERDURE_SEED=n` others.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { createClient } from '@perdure/client'
import { createWorkflow, type Workflow } from '@perdure/sdk'
import { connect } from '@perdure/sdk/connect'
import { serve } from '@perdure/sdk/node'
import { testEngine } from '@perdure/sdk/testing'
import { describe, expect, test } from 'vitest'
import { onCleanup, scenario, unique } from '../../kit/index.ts'
import { type Seeded, seeded } from '../../kit/seeded.ts'
import { readHistory } from '../../kit/waits/history.ts'
import { Model } from '../../kit/waits/model.ts'
import { type Node, play, randomEvent, randomProgram } from '../../kit/waits/program.ts'

const count = Number(process.env.PERDURE_SEEDS ?? 8)
const first = Number(process.env.PERDURE_SEED ?? 1)
const seeds = Array.from({ length: count }, (_, i) => first + i)
/** More events than a program has waits. */
const SENDS_MAX = 400

interface Program {
  seed: number
  name: string
  prefix: string
  program: Node
  random: Seeded
}

const programs = (): Program[] =>
  seeds.map(seed => {
    const random = seeded(seed)
    const name = unique('waits')
    return { seed, name, prefix: `${name}.`, random, program: randomProgram(random) }
  })

interface Outside {
  send(name: string): Promise<unknown>
  /** Called at the end of a callback, before its result is stored. */
  crash?(): boolean
}

function workflowOf({ name, prefix, program }: Program, outside: Outside) {
  return createWorkflow({ name }, async ({ step }) => {
    const trace: string[] = []
    await play(program, '0', {
      step,
      prefix,
      trace,
      runCallback: async (leaf, path) => {
        for (const event of leaf.sends) await outside.send(prefix + event)
        for (let i = 0; i < leaf.turns; i++) await nextTurn()
        if (outside.crash?.()) return new Promise(() => {})
        return path
      },
    })
    return trace
  })
}

async function check({ seed, prefix, program }: Program, api: ReturnType<typeof createClient>, runId: string) {
  const { trace, problems } = new Model(program, await readHistory(api, runId, prefix))
  const run = await api.getRun({ id: runId })
  const shown = `seed ${seed}: ${JSON.stringify(program)}`
  expect(run.status, shown).toBe('succeeded')
  expect({ problems, trace: run.result }, shown).toEqual({ problems: [], trace })
}

describe.each([
  ['pass by pass', false],
  ['with checkpoints', true],
])('in the kit, %s', (_, checkpoints) => {
  test(`${count} programs from seed ${first}, with crashes`, { timeout: 60_000 + count * 1000 }, async () => {
    const all = programs()
    let crashes = 0
    let current = all[0] as Program
    const crash = () => {
      if (current.random.between(0, 5) > 0) return false
      crashes++
      engine.crash()
      return true
    }
    const send = (name: string) => engine.send(name).catch(ignoreCrash)
    const workflows = all.map(program => workflowOf(program, { send, crash }))
    const engine = await testEngine({ workflows, checkpoints })
    const ignoreCrash = (error: unknown) => {
      if (engine.isUp) throw error
    }
    onCleanup(() => engine.stop({ leaveRuns: true }))
    for (const program of all) {
      current = program
      await engine.send(program.name).catch(ignoreCrash)
      const isOver = async () => {
        if (!engine.isUp) await engine.restart()
        const [run] = await engine.runs({ workflow: program.name })
        return (await run?.status()) === 'succeeded'
      }
      for (let i = 0; i < SENDS_MAX; i++) {
        const over = await isOver().catch(ignoreCrash)
        if (over) break
        if (over === undefined) continue
        await send(program.prefix + randomEvent(program.random))
        if (engine.isUp && program.random.between(0, 9) === 0) engine.crash()
      }
      const [run] = await engine.runs({ workflow: program.name })
      await check(program, engine.api as never, run?.id as string)
    }
    console.log(`waits: ${count} programs, ${crashes} crashes`)
  })
})

type Open = (app: string, workflows: Workflow[]) => { close(): Promise<void>; ready: Promise<unknown> }
const real = await scenario({ realTime: true })
const log = () => undefined
const engineUrl = real.url
const overHttp =
  (checkpoints: boolean) =>
  async (app: string, workflows: Workflow[]): Promise<ReturnType<Open>> =>
    serve({ app, workflows, port: 0, engineUrl, signingKey: [], log, checkpoints })

describe.each<[string, (app: string, workflows: Workflow[]) => ReturnType<Open> | Promise<ReturnType<Open>>]>([
  ['HTTP', overHttp(false)],
  ['HTTP with checkpoints', overHttp(true)],
  ['Connect', (app, workflows) => connect({ app, workflows, engineUrl, log, handleSignals: false })],
])('over %s', (_, open) => {
  test(`${count} programs from seed ${first}`, { timeout: 60_000 + count * 1000 }, async () => {
    const all = programs()
    const send = (name: string) => real.api.send({ name })
    const runner = await open(
      unique('app'),
      all.map(program => workflowOf(program, { send })),
    )
    onCleanup(() => runner.close())
    await runner.ready
    const client = createClient({ url: real.url })
    for (const program of all) {
      const { runId } = await send(program.name)
      const isOver = async () => (await real.api.run(runId)).status === 'succeeded'
      for (let i = 0; i < SENDS_MAX && !(await isOver()); i++) await send(program.prefix + randomEvent(program.random))
      await check(program, client, runId)
    }
  })
})
