// Facts about the machine that the figures depend on: processor, Node, other load, and the cost of a durable write on
// the file system of the databases.

import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { type Percentiles, percentiles } from '../measure/latency.ts'

export interface Machine {
  cpus: number
  model: string
  node: string
  loadAverage: number
  fileSystem: string
  fsyncMs: Percentiles
}

const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs (a commit costs nothing here)',
  2035054128: 'overlayfs',
}
const SYNCS = 200
const BLOCK_BYTES = 4096

export function describeMachine(dir: string): Machine {
  const { type } = statfsSync(dir)
  return {
    cpus: availableParallelism(),
    model: cpus()[0]?.model ?? 'unknown',
    node: process.version,
    loadAverage: loadavg()[0] ?? Number.NaN,
    fileSystem: FILE_SYSTEMS[type] ?? `type ${type}`,
    fsyncMs: measureSync(dir),
  }
}

/** Measures how long it takes to append a block and wait until it is on disk. */
function measureSync(dir: string): Percentiles {
  const path = join(dir, `perdure-bench-sync-${process.pid}`)
  const file = openSync(path, 'w')
  const block = Buffer.alloc(BLOCK_BYTES)
  const times: number[] = []
  for (let i = 0; i < SYNCS; i++) {
    const from = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    times.push(performance.now() - from)
  }
  closeSync(file)
  rmSync(path)
  return percentiles(times)
}
