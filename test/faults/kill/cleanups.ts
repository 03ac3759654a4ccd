// Kills engines and runners with `kill -9` while runs are undone, and judges by the ledgers of the runners: a rollback whose
// result is stored is neither left out nor executed again (docs/steps.md#rollbacks).

import type { RunSummary } from '@perdure/protocol'
import {
  type Api,
  type EngineProcess,
  type Seeded,
  startEngine,
  stepId,
  tempStoreFile,
  unique,
  until,
} from '../../kit/index.ts'
import { readLedger, type SagaLine, SagaRunner, type SagaRunnerOptions } from '../../kit/runner/saga-runner.ts'
import { TcpProxy } from '../../kit/servers/tcp-proxy.ts'

const STEPS = 6
const RUNNERS = 2
/** Runs that fail and runs that are cancelled, before each kill. */
const SAGAS_OF_EACH = 2
/** Maximum of ledger lines between the start of the runs and the kill: somewhat fewer than two for each of their rollbacks. */
const LINES_MAX = 2 * SAGAS_OF_EACH * STEPS * 2 - 4
/** The lease of a killed engine must expire first. */
const ENDS_MS_MAX = 180_000

export interface CleanupKills {
  storeFile: string
  engines: number
  transport: SagaRunnerOptions['transport']
  kills: number
  random: Seeded
}

interface Saga {
  saga: string
  runId: string
  status: 'failed' | 'cancelled'
}

export async function killDuringCleanups(options: CleanupKills): Promise<{ summary: string; problems: string[] }> {
  const { kills, random, transport, storeFile } = options
  const engines = await Promise.all(Array.from({ length: options.engines }, () => startEngine({ storeFile })))
  const [first] = engines as [EngineProcess]
  const proxy = await TcpProxy.open(first.url, 80)
  const app = unique('saga')
  const ledger = `${tempStoreFile()}.ledger`
  const shared = { app, transport, engineUrl: proxy.urlOf(first.url), ledger, steps: STEPS }
  const runners = Array.from({ length: RUNNERS }, (_, i) => new SagaRunner({ ...shared, runner: `r${i}` }).start())
  for (const { api } of engines)
    await until(async () => ((await api.get(`/runners?app=${app}`)).json as unknown[]).length === RUNNERS)

  const killEngine = async (engine: EngineProcess) => {
    await engine.kill9()
    // A call that a runner has received but not begun would be a second execution next to the one for the next engine.
    for (const runner of runners) await runner.caughtUp()
    await engine.start()
    if (engine === first) proxy.leadTo(engine.url, 80)
  }
  const sagas: Saga[] = []
  const killed = { engines: 0, runners: 0 }
  for (let i = 0; i < kills; i++) {
    const { api } = engines[random.between(0, engines.length - 1)] as EngineProcess
    const enough = readLedger(ledger).length + random.between(1, LINES_MAX)
    sagas.push(...(await endRuns(api, app, i)))
    await until(() => readLedger(ledger).length >= enough, { what: 'rollbacks', deadlineMs: ENDS_MS_MAX })
    // The first two kills are one of each kind.
    const isEngine = i < 2 ? i === 0 : random.next() < 0.5
    killed[isEngine ? 'engines' : 'runners']++
    if (isEngine) await killEngine(engines[random.between(0, engines.length - 1)] as EngineProcess)
    else {
      const runner = runners[random.between(0, RUNNERS - 1)] as SagaRunner
      await runner.kill9()
      runner.start()
    }
  }
  const problems: string[] = []
  for (const saga of sagas) problems.push(...(await judge(first.api, saga, ledger)))
  const begun = readLedger(ledger).filter(({ what }) => what === 'began')
  const repeated = begun.length - new Set(begun.map(({ saga, name }) => `${saga} ${name}`)).size
  return { summary: JSON.stringify({ sagas: sagas.length, begun: begun.length, repeated, killed }), problems }
}

/** Starts runs, and ends them: some fail by themselves, the others are cancelled. */
async function endRuns(api: Api, app: string, round: number): Promise<Saga[]> {
  const sagas: Saga[] = []
  for (let i = 0; i < SAGAS_OF_EACH; i++)
    for (const status of ['failed', 'cancelled'] as const) {
      const saga = `${round}.${i}.${status}`
      const { runId } = await api.send({ name: app, data: { saga, fails: status === 'failed' } })
      sagas.push({ saga, runId, status })
    }
  for (const { runId, status } of sagas) {
    if (status === 'failed') continue
    await api.reaches(runId, 'waiting', ENDS_MS_MAX)
    await api.post(`/runs/${runId}/cancel`)
  }
  return sagas
}

async function judge(api: Api, { saga, runId, status }: Saga, ledger: string): Promise<string[]> {
  const cleanups = async () => (await api.get(`/runs?parentRunId=${runId}&kind=cleanup`)).json as RunSummary[]
  await until(async () => (await cleanups()).some(({ finishedAt }) => finishedAt !== undefined), {
    what: `the end of the cleanup of ${saga}`,
    deadlineMs: ENDS_MS_MAX,
  })
  const problems: string[] = []
  const differs = (what: string, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      problems.push(`${saga}: ${what} ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`)
  }
  const [cleanup, ...others] = (await cleanups()) as [RunSummary]
  differs('ends', [(await api.run(runId)).status, cleanup.status, others.length], [status, 'succeeded', 0])
  const wanted = Array.from({ length: STEPS }, (_, i) => `rollback:step ${STEPS - 1 - i}`)
  if (status === 'cancelled') wanted.unshift('tell')
  const steps = await api.steps(cleanup.id)
  differs(
    'stores',
    steps.map(({ name }) => name),
    wanted,
  )
  const lines = readLedger(ledger).filter(line => line.saga === saga)
  const begun = lines.filter(({ what }) => what === 'began')
  // An execution whose result was not stored is repeated, and the next rollback begins after that.
  differs(
    'executes',
    begun.filter(({ name }, i) => name !== begun[i - 1]?.name).map(({ name }) => name),
    wanted,
  )
  for (const { name, data } of steps) {
    const executions = lines.filter(line => line.name === name)
    differs(`the last execution of ${name}`, executions.at(-1)?.token, data)
    differs(`the end of ${name}`, executions.at(-1)?.what, 'done')
    const key = name === 'tell' ? '' : `${runId}:${stepId(name)}`
    differs(`the keys of ${name}`, [...new Set(executions.map((line: SagaLine) => line.key))], [key])
  }
  return problems
}
