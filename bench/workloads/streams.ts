// EVENTS, STREAMS and READERS: events and runs of one namespace, together with filters, open streams and readers.

import { Api } from '../load/api.ts'
import { Loop, measured } from '../load/loop.ts'
import { closeReaders, openReaders } from '../load/readers.ts'
import { Runs, verify } from '../load/runs.ts'
import { percentiles } from '../measure/latency.ts'
import { cpuFigures, type Figures, type Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { databaseName } from '../rig/store.ts'
import { BENCH_APP, SEQUENCE_3, SEQUENCE_50 } from '../rig/workflows.ts'

const WARM_UP_SECONDS = 1
const TRIGGERS = [1, 100, 1000]
/** Policies without a key, and therefore with one row. */
const ONE_ROW = {
  'one debounce': { debounce: { period: '1h' } },
  'one batch': { batch: { maxSize: 100, timeout: '1h' } },
}

/** Posts events that start nothing, this many at a time, and measures a window of them. */
async function eventLoad(rig: Rig, inFlight: number, data: object, namespace?: string) {
  const api = new Api(rig.engine.url, namespace === undefined ? {} : { namespace })
  const body = JSON.stringify({ name: 'bench.event', data })
  const loop = new Loop(inFlight, async () => {
    const { status, text } = await api.call('POST', '/events', body)
    if (status !== 202) throw new Error(`POST /events: ${status} ${text}`)
    return 0
  })
  await loop.measure(WARM_UP_SECONDS)
  const window = await measured(rig, () => loop.measure(rig.options.seconds))
  await loop.stop()
  await api.close()
  return { ...window, problems: loop.problems }
}

/**
 * Measures how many events per second are accepted, that is, durable, when every event evaluates many CEL filters that do not
 * match.
 */
export async function events(options: BenchOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const { title, workflows, note } of eventWorkloads()) {
    const outcome = await onRig(options, { kind: 'none' }, async rig => {
      const api = new Api(rig.engine.url)
      await api.post('/register', { app: BENCH_APP, url: 'http://127.0.0.1:9/invoke', workflows })
      await api.close()
      const { runs, runsPerS, cpu, problems } = await eventLoad(rig, 64, { kind: 'none', total: 1000 })
      return {
        title: `events taken, ${title}`,
        figures: { events: { 'events/s': runsPerS }, ...cpuFigures(cpu, runs) },
        notes: [`a run is an event here; ${note}`],
        problems,
      }
    })
    outcomes.push(outcome)
  }
  return outcomes
}

function eventWorkloads() {
  const filtered = TRIGGERS.map(count => ({
    title: `${count} triggers with a CEL filter`,
    workflows: Array.from({ length: count }, (_, i) => ({
      name: `work-${i}`,
      triggers: [{ event: 'bench.event', if: `event.data.kind == "k${i}" && event.data.total > 100` }],
    })),
    note: 'no filter matches, so nothing is started',
  }))
  const collected = Object.entries(ONE_ROW).map(([title, policy]) => ({
    title,
    workflows: [{ name: 'work', triggers: [{ event: 'bench.event' }], ...policy }],
    note: 'all of them change one row',
  }))
  return [...filtered, ...collected]
}

const STREAMS = 5000
const STREAM_PATHS = ['/runs/stream', '/events/stream']
const STREAM_ROUNDS = 2
const OWN = 'own'
/** Namespaces of the idle streams. */
const OTHERS = Array.from({ length: 50 }, (_, i) => `other-${i}`)

/**
 * Measures the cost of an event while thousands of streams are open that it does not concern, and while all of them belong to its
 * namespace.
 */
export function idleStreams(options: BenchOptions): Promise<Outcome> {
  return onRig(options, { kind: 'none', namespaces: [OWN, ...OTHERS] }, async rig => {
    const figures: Record<string, Figures> = {}
    const problems: string[] = []
    const measure = async (name: string, namespaces: readonly string[]) => {
      const requests = Array.from({ length: namespaces.length === 0 ? 0 : STREAMS }, (_, at) => ({
        path: STREAM_PATHS[at % STREAM_PATHS.length] as string,
        namespace: namespaces[at % namespaces.length] as string,
      }))
      const sockets = await openReaders(rig.engine.url, requests)
      const { runs, runsPerS, cpu, ...load } = await eventLoad(rig, 16, { n: 1 }, OWN)
      closeReaders(sockets)
      problems.push(...load.problems)
      figures[name] = {
        'events/s': runsPerS,
        'us of the main thread an event': ((cpu.shares[0]?.mainSeconds ?? Number.NaN) * 1e6) / runs,
        'others % of the machine': 100 * cpu.othersShare,
      }
    }
    for (let round = 1; round <= STREAM_ROUNDS; round++) {
      await measure(`no stream, round ${round}`, [])
      await measure(`${STREAMS} of others, round ${round}`, OTHERS)
    }
    await measure(`${STREAMS} of its own`, [OWN])
    const title = `events beside ${STREAMS} open streams, on ${databaseName(options)}`
    const notes = ['half of the streams are /runs/stream, half /events/stream; the events start nothing']
    return { title, figures, notes, problems }
  })
}

const READERS = [100, 1000]
const READERS_WARM_UP_SECONDS = 3
const RUNS_OF_50 = 9

/**
 * Measures the cost of runs while streams that show them are read. Each figure stands next to one without readers, taken right
 * before it.
 */
export function readers(options: BenchOptions): Promise<Outcome> {
  return onRig(options, {}, async rig => {
    const besideReaders = await w1BesideReaders(rig)
    const ofRun = await oneRunBesideReaders(rig)
    return {
      title: `runs beside readers of streams, on ${databaseName(options)}`,
      figures: { ...besideReaders.figures, ...ofRun },
      notes: ['the readers are sockets of the bench process and share the machine with engine, runner and load'],
      problems: besideReaders.problems,
    }
  })
}

async function w1BesideReaders(rig: Rig): Promise<{ figures: Record<string, Figures>; problems: string[] }> {
  const { url: origin } = rig.engine
  const runs = new Runs(rig, SEQUENCE_3)
  const loop = new Loop(100, () => runs.one())
  await loop.measure(READERS_WARM_UP_SECONDS)
  const rate = async () => {
    const { cpu, ...window } = await measured(rig, () => loop.measure(rig.options.seconds))
    return { ...window, mainUs: ((cpu.shares[0]?.mainSeconds ?? Number.NaN) * 1e6) / window.runs }
  }
  const figures: Record<string, Figures> = {}
  for (const path of ['/runs/stream', '/stream?topics=runs']) {
    for (const count of READERS) {
      const alone = await rate()
      const sockets = await openReaders(origin, Array(count).fill({ path }))
      const bytesRead = () => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0)
      const before = bytesRead()
      const beside = await rate()
      const bytes = bytesRead() - before
      closeReaders(sockets)
      figures[`${count} of ${path}`] = {
        'runs/s without': alone.runsPerS,
        'runs/s with': beside.runsPerS,
        '% lost': 100 * (1 - beside.runsPerS / alone.runsPerS),
        'us of the main thread a run without': alone.mainUs,
        'us of the main thread a run with': beside.mainUs,
        'MB/s to the readers': bytes / beside.seconds / 1e6,
      }
    }
  }
  await loop.stop()
  await runs.close()
  return { figures, problems: [...loop.problems, ...(await verify(origin, [runs]))] }
}

/** Measures one run of 50 steps with readers of its own stream. */
async function oneRunBesideReaders(rig: Rig): Promise<Record<string, Figures>> {
  const { url: origin } = rig.engine
  const api = new Api(origin)
  let n = 1e9
  /** Starts a run that has hardly begun when it is paused. A run that ends before it is paused is left out. */
  const pausedRun = async (): Promise<string> => {
    for (;;) {
      const event = { name: SEQUENCE_50.name, app: BENCH_APP, data: { n: ++n } }
      const { runId } = await api.post<{ runId: string }>('/events', event)
      if ((await api.call('POST', `/runs/${runId}/pause`)).status < 300) return runId
    }
  }
  /** Returns the time from the start of a run, when all of its readers are connected, to its end. */
  const watchedRun = async (count: number): Promise<number> => {
    const id = await pausedRun()
    const sockets = await openReaders(origin, Array(count).fill({ path: `/runs/${id}/stream` }))
    const from = Date.now()
    await api.post(`/runs/${id}/resume`)
    await api.untilSucceeded(id)
    const { finishedAt } = await api.get<{ finishedAt: string }>(`/runs/${id}`)
    closeReaders(sockets)
    return Date.parse(finishedAt) - from
  }
  for (let i = 0; i < RUNS_OF_50; i++) await watchedRun(0)
  const figures: Record<string, Figures> = {}
  for (const count of READERS) {
    const [alone, beside] = [[] as number[], [] as number[]]
    for (let i = 0; i < RUNS_OF_50; i++) {
      alone.push(await watchedRun(0))
      beside.push(await watchedRun(count))
    }
    const [without, withReaders] = [percentiles(alone).p50, percentiles(beside).p50]
    const more = 100 * (withReaders / without - 1)
    figures[`${count} of one run of 50 steps`] = { 'ms without': without, 'ms with': withReaders, '% more': more }
  }
  await api.close()
  return figures
}
