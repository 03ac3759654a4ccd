// APPENDS: steps that write to output streams, each stream with a reader: the time from a write to its reader, the engine's CPU,
// and the bytes on disk.

import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/kit/until.ts'
import { Api } from '../load/api.ts'
import { Loop, measured } from '../load/loop.ts'
import { closeReaders } from '../load/readers.ts'
import { Runs } from '../load/runs.ts'
import { type CpuUse, secondsOf } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import { cpuFigures, type Figures, type Outcome } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { databaseName } from '../rig/store.ts'
import { BENCH_APP, SEQUENCE_3, WRITER, WRITER_STREAM } from '../rig/workflows.ts'

interface Load {
  writers: number
  /** The pause between two chunks of a writer. */
  everyMs: number
  isRead: boolean
}

/** The load of the budgets: 100 streams of 50 chunks a second. */
const HUNDRED: Load = { writers: 100, everyMs: 20, isRead: true }
const LOADS: Readonly<Record<string, Load>> = {
  '1 writer': { writers: 1, everyMs: 20, isRead: true },
  '100 writers': HUNDRED,
  '100 without readers': { ...HUNDRED, isRead: false },
  '1,000 writers': { writers: 1000, everyMs: 200, isRead: true },
}
/** Runs of W1 in flight that use about half of the engine's capacity. */
const HALF_LOAD = 4
/**
 * Chunks of 4 bytes, like a model's tokens, and the number of rounds: a later round uses the pages that the merges of an earlier
 * one freed.
 */
const TOKENS = 10_000
const TOKEN_WRITERS = 20
const TOKEN_ROUNDS = 4

export async function appends(options: BenchOptions): Promise<Outcome> {
  const setup = { kind: 'sdk', over: options.over.at(-1) ?? 'checkpoints' } as const
  const outcome = await onRig(options, setup, async rig => {
    const figures: Record<string, Figures> = {}
    const runs = new Runs(rig, SEQUENCE_3)
    await measureWriters(rig, HUNDRED, 1)
    const loop = new Loop(HALF_LOAD, () => runs.one())
    await loop.measure(1)
    const { runsPerS } = await loop.measure(options.seconds)
    figures['runs alone'] = { 'runs/s': runsPerS }
    for (const [name, load] of Object.entries(LOADS)) {
      if (!load.isRead) continue
      const [{ figures: ofLoad }, beside] = await besideLoop(loop, () => measureWriters(rig, load, options.seconds))
      // The engine also spends CPU on the runs.
      delete ofLoad['engine us/chunk']
      figures[`${name}, runs`] = { ...ofLoad, 'runs/s': beside }
    }
    await loop.stop()
    await runs.close()
    for (const [name, load] of Object.entries(LOADS)) {
      const { cpu, chunks, figures: ofLoad } = await measureWriters(rig, load, options.seconds)
      figures[name] = ofLoad
      if (load === HUNDRED) Object.assign(figures, cpuFigures(cpu, chunks))
    }
    return {
      title: `output streams with a reader each, over ${setup.over}, on ${databaseName(options)}`,
      figures,
      notes: ['a run is a chunk in the rows of CPU, with its reader; those rows are of 100 writers'],
      problems: loop.problems,
    }
  })
  if (options.store === undefined) outcome.figures['bytes on disk'] = await measureBytes(options, setup)
  return outcome
}

/** Resolves with the result of the work, and the runs per second of the loop during it. */
async function besideLoop<T>(loop: Loop, work: () => Promise<T>): Promise<[T, runsPerS: number]> {
  const [before, from] = [loop.done, performance.now()]
  const result = await work()
  return [result, ((loop.done - before) * 1000) / (performance.now() - from)]
}

interface Measured {
  figures: Figures
  chunks: number
  cpu: CpuUse
}

/** Starts the writers, opens a reader of each stream, and measures a window in which all of them write. */
async function measureWriters(rig: Rig, { writers, everyMs, isRead }: Load, seconds: number): Promise<Measured> {
  const api = new Api(rig.engine.url)
  const endAt = Date.now() + 3000 + writers * 10 + seconds * 1000
  const ids = await start(api, writers, { everyMs, endAt })
  const readers = await Promise.all(ids.map(id => Reader.open(rig.engine.url, id)))
  await until(() => readers.every(({ chunks }) => chunks > 0))
  if (!isRead) closeReaders(readers.map(({ socket }) => socket))
  for (const reader of readers) reader.latenciesMs.length = 0
  const before = await chunksOf(api, ids)
  const window = await measured(rig, () => new Loop(0, async () => 0).measure((endAt - Date.now() - 200) / 1000))
  const chunks = (await chunksOf(api, ids)) - before
  const latenciesMs = readers.flatMap(reader => reader.latenciesMs)
  for (const id of ids) await api.untilSucceeded(id)
  closeReaders(readers.map(({ socket }) => socket))
  await api.close()
  const { p50, p99, max } = percentiles(latenciesMs)
  const engineUs = (secondsOf(window.cpu, 'engine') * 1e6) / chunks
  const latency: Figures = isRead ? { 'p50 ms': p50, 'p99 ms': p99, 'max ms': max } : {}
  const figures = { ...latency, 'chunks/s': chunks / window.seconds, 'engine us/chunk': engineUs }
  return { figures, chunks, cpu: window.cpu }
}

/** Returns the number of chunks that the streams of the runs have so far. */
async function chunksOf(api: Api, ids: readonly string[]): Promise<number> {
  const lists = await Promise.all(ids.map(id => api.get<{ chunks: number }[]>(`/runs/${id}/streams`)))
  return lists.reduce((sum, [stream]) => sum + (stream?.chunks ?? 0), 0)
}

/** Starts runs of the writing workflow. */
function start(api: Api, count: number, data: object): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const { runId } = await api.post<{ runId: string }>('/events', { name: WRITER, app: BENCH_APP, data })
      return runId
    }),
  )
}

/** Returns how many bytes the store grows for each payload byte, in a first round of streams and in later ones. */
async function measureBytes(options: BenchOptions, setup: Parameters<typeof onRig>[1]): Promise<Figures> {
  const sizeAfter = async (rounds: number) => {
    const { bytes } = await onRig(options, setup, async rig => {
      const api = new Api(rig.engine.url)
      for (let round = 0; round < rounds; round++) {
        const ids = await start(api, TOKEN_WRITERS, { tokens: TOKENS })
        for (const id of ids) await api.untilSucceeded(id)
        // Rows are merged after the end of a run.
        await pause(2000)
      }
      await api.close()
      await rig.stopEngines()
      return { bytes: rig.diskBytes }
    })
    return bytes
  }
  const [empty, first, last] = [await sizeAfter(0), await sizeAfter(1), await sizeAfter(TOKEN_ROUNDS)]
  const payload = 4 * TOKENS * TOKEN_WRITERS
  return {
    'a payload byte, first round': (first - empty) / payload,
    'a payload byte, later rounds': (last - first) / (payload * (TOKEN_ROUNDS - 1)),
  }
}

/** Reads one stream. Its chunks are the times at which they were written. */
class Reader {
  chunks = 0
  readonly latenciesMs: number[] = []
  readonly socket: Socket
  #pending = ''

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#take(text))
  }

  static open(origin: string, runId: string): Promise<Reader> {
    const { hostname, port } = new URL(origin)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => resolve(new Reader(socket)))
      socket.on('error', reject)
      const path = `/runs/${runId}/streams/${WRITER_STREAM}?live=sse&offset=-1`
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    })
  }

  #take(text: string): void {
    const now = performance.timeOrigin + performance.now()
    const all = this.#pending + text
    const end = all.lastIndexOf('\n') + 1
    this.#pending = all.slice(end)
    for (const [, writtenAt] of all.slice(0, end).matchAll(/"chunk":"([\d.]+)"/g)) {
      this.chunks++
      this.latenciesMs.push(now - Number(writtenAt))
    }
  }
}
