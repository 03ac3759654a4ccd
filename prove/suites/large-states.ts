// `large-states`: many runs of 14 MB of state each, at once, on a heap of 512 MB. The engine does not die: runs that do not fit
// wait, and short runs of others overtake them (docs/limits.md#memory).

import { type ChildProcess, spawn } from 'node:child_process'
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onCleanup } from '../../test/kit/cleanup.ts'
import { violations } from '../../test/kit/engine/violations.ts'
import { type Api, EngineProcess, unique, until } from '../../test/kit/index.ts'
import { freePort } from '../../test/kit/servers/free-port.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const RUNNER = fileURLToPath(new URL('../load/large-runner.ts', import.meta.url))
const HEAP_MB = 512
const STEPS = 16
const STEP_CHARS = 900_000
const SHORT_EVERY_MS = 50
const SHORT_P99_MS_MAX = 2000
const SENT_AT_ONCE = 20
/** Maximum average time of one large run, and the additional time for all. */
const ENDS_MS = { base: 120_000, each: 5_000 }

export const largeStates: Suite = {
  proves: 'runs of 14 MB of state at once on a heap of 512 MB: no death, and short runs p99 under 2 s meanwhile',
  unit: 'runs',
  counts: { quick: 34, full: 200 },
  deadlineMs: { base: 600_000, each: 12_000 },
  run: driveLarge,
}

async function driveLarge({ count }: Order): Promise<Finding> {
  const counts: Record<string, number> = { runs: 0 }
  const problems: string[] = []
  for (const transport of ['http', 'connect']) {
    const found = await driveOver(transport, count)
    counts.runs = (counts.runs ?? 0) + found.ended
    counts.deaths = (counts.deaths ?? 0) + found.deaths
    counts[`${transport} seconds`] = Math.round(found.ms / 1000)
    counts[`${transport} short runs`] = found.short.length
    counts[`${transport} short p99 ms`] = found.p99
    counts[`${transport} large reads answered`] = found.read
    problems.push(...found.problems.map(problem => `${transport}: ${problem}`))
  }
  return { counts, problems }
}

async function driveOver(transport: string, count: number) {
  const engine = new EngineProcess({
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`, ENGINE_LOG_LEVEL: 'error' },
    // The runners find a restarted engine at the same address.
    args: ['--port', String(await freePort())],
  })
  const keeper = await keepUp(engine)
  const { api } = engine
  const [large, short] = [unique('large'), unique('short')]
  const runners = [
    startRunner(engine.url, { transport, app: large, steps: STEPS, chars: STEP_CHARS }),
    startRunner(engine.url, { transport, app: short, steps: 1, chars: 1 }),
  ]
  await until(async () => ((await api.get('/runners')).json as unknown[]).length === 2, { what: 'the runners' })
  const load = new ShortLoad(api, short)
  const began = performance.now()
  const ids: string[] = []
  for (let i = 0; i < count; i += SENT_AT_ONCE) {
    const some = Array.from({ length: Math.min(SENT_AT_ONCE, count - i) }, () => sendOnce(api, large))
    ids.push(...(await Promise.all(some)))
  }
  const problems: string[] = []
  const ended = async () => ((await api.get(`/runs?app=${large}&status=succeeded&limit=200`)).json as unknown[]).length
  const deadlineMs = ENDS_MS.base + ENDS_MS.each * count
  const isOver = async () => (await ended().catch(() => 0)) >= count
  await until(isOver, { what: 'the end of the large runs', deadlineMs }).catch(error => problems.push(error.message))
  const ms = performance.now() - began
  const times = await load.stop()
  const read = await readSlowly(engine.url, ids, large)
  keeper.stop()
  problems.push(...load.problems)
  if (keeper.deaths > 0) problems.push(`the engine died ${keeper.deaths} times: ${keeper.reason}`)
  const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY
  if (p99 > SHORT_P99_MS_MAX) problems.push(`short runs took ${p99} ms at p99`)
  for (const id of ids) {
    const { status, result } = await api.run(id)
    if (status !== 'succeeded' || result !== STEPS * STEP_CHARS) problems.push(`run ${id} is ${status}`)
  }
  await engine.sigterm()
  for (const runner of runners) runner.kill('SIGKILL')
  problems.push(...(await violations(`sqlite:${engine.storeFile}`)).map(violation => JSON.stringify(violation)))
  return { ended: ids.length, deaths: keeper.deaths, ms, short: times, p99, read, problems }
}

/** Number of reads of large answers that begin at once. Their data is not read for a while. */
const READERS = 80
const UNREAD_MS = 8000

/**
 * Lets many clients read steps and bundles of large runs, and search all payloads, at once and slowly. Resolves with the number
 * of complete answers; the others were refused.
 */
async function readSlowly(url: string, ids: readonly string[], app: string): Promise<number> {
  const pathOf = (i: number) => {
    const run = `/runs/${ids[i % ids.length]}`
    return [`${run}/steps?limit=1000`, `${run}/bundle`, `/runs?app=${app}&q=nowhere&deep=1&limit=200`][i % 3] as string
  }
  const statuses = await Promise.all(Array.from({ length: READERS }, (_, i) => readLate(url + pathOf(i))))
  return statuses.filter(status => status === 200).length
}

/** Returns the status of an answer that is read late; undefined if the connection breaks. */
function readLate(url: string): Promise<number | undefined> {
  return new Promise(resolve => {
    const sent = request(url, response => {
      response.on('error', () => resolve(undefined)).on('end', () => resolve(response.statusCode))
      setTimeout(() => response.resume(), UNREAD_MS)
    })
    sent.on('error', () => resolve(undefined)).end()
  })
}

/** Starts the engine, and restarts it whenever it dies. */
async function keepUp(engine: EngineProcess) {
  const keeper = {
    deaths: 0,
    reason: '',
    isOver: false,
    stop() {
      keeper.isOver = true
    },
  }
  const watch = () => {
    void engine.exit.then(async ({ code, signal, stderr }) => {
      if (keeper.isOver) return
      keeper.deaths++
      keeper.reason = `${code ?? signal} ${/FATAL ERROR: .*|Error: .*/.exec(stderr)?.[0] ?? stderr.slice(0, 200)}`
      await engine.start()
      watch()
    })
  }
  await engine.start()
  watch()
  return keeper
}

function startRunner(
  url: string,
  { transport, app, steps, chars }: { transport: string; app: string; steps: number; chars: number },
): ChildProcess {
  const args = ['--max-old-space-size=6144', '--conditions=perdure-source', '--import', 'tsx', RUNNER]
  const child = spawn(process.execPath, args, {
    env: {
      ...process.env,
      ENGINE_URL: url,
      RUNNER_TRANSPORT: transport,
      RUNNER_APP: app,
      RUNNER_STEPS: String(steps),
      RUNNER_CHARS: String(chars),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onCleanup(() => void child.kill('SIGKILL'))
  return child
}

/** Sends an event until the engine, which may be down, accepts it. */
async function sendOnce(api: Api, app: string): Promise<string> {
  for (;;) {
    const sent = await api.send({ app, name: app }).catch(() => undefined)
    if (sent) return sent.runId
    await pause(50)
  }
}

/** Starts a short run every few ms, and measures how long each takes from its event to its end. */
class ShortLoad {
  readonly problems: string[] = []
  readonly #api: Api
  readonly #app: string
  readonly #runs: Promise<string>[] = []
  readonly #loop: Promise<void>
  #isOver = false

  constructor(api: Api, app: string) {
    this.#api = api
    this.#app = app
    this.#loop = this.#send()
  }

  /** Resolves with the times in ms, the shortest first. */
  async stop(): Promise<number[]> {
    this.#isOver = true
    await this.#loop
    const times: number[] = []
    for (const runId of await Promise.all(this.#runs)) {
      const { createdAt, finishedAt = '' } = await this.#api.succeeded(runId)
      times.push(Date.parse(finishedAt) - Date.parse(createdAt))
    }
    return times.sort((a, b) => a - b)
  }

  async #send(): Promise<void> {
    while (!this.#isOver) {
      this.#runs.push(sendOnce(this.#api, this.#app))
      await pause(SHORT_EVERY_MS)
    }
  }
}
