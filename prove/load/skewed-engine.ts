// An engine process whose wall clock a suite can set while the process runs.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EngineProcess, onCleanup } from '../../test/kit/index.ts'

const PRELOAD = new URL('../sabotage/skewed-clock.mjs', import.meta.url).href

export interface SkewedEngine {
  engine: EngineProcess
  /** Sets the clock this many ms ahead of the machine's clock, or behind it if negative. */
  setClock(offsetMs: number): void
}

export function skewedEngine(storeFile?: string): SkewedEngine {
  const directory = mkdtempSync(join(tmpdir(), 'perdure-clock-'))
  onCleanup(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'offset')
  const setClock = (offsetMs: number) => writeFileSync(file, String(offsetMs))
  setClock(0)
  const env = { NODE_OPTIONS: `--import=${PRELOAD}`, PERDURE_PROVE_CLOCK: file, ENGINE_LOG_LEVEL: 'silent' }
  const engine = new EngineProcess({ env, ...(storeFile === undefined ? {} : { storeFile }) })
  return { engine, setClock }
}
