// An engine and an SDK of an earlier commit, 724905c5, which know neither callbacks nor later features: for tests of two
// versions side by side. Packed from the built packages, without their dependencies.

import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import pino from 'pino'
import { onCleanup } from '../cleanup.ts'
import { tempStoreFile } from '../temp.ts'

const PACKED = new URL('./packed/', import.meta.url)
/** Under `node_modules`, where the unpacked files find their imports. */
const UNPACKED = new URL('../../../node_modules/.cache/perdure-older/', import.meta.url)

type Sdk = Pick<typeof import('@perdure/sdk'), 'createWorkflow'> &
  Pick<typeof import('@perdure/sdk/connect'), 'connect'> &
  Pick<typeof import('@perdure/sdk/node'), 'serve'>
type EngineModule = typeof import('@perdure/engine')

/** Returns the address of an unpacked file. */
function unpack(name: string): string {
  mkdirSync(UNPACKED, { recursive: true })
  place('package.json', '{"type":"module"}')
  for (const file of readdirSync(PACKED))
    place(file.replace(/\.gz$/, ''), gunzipSync(readFileSync(new URL(file, PACKED))))
  return new URL(name, UNPACKED).href
}

/** Test files run side by side, and write the same files. */
function place(name: string, content: string | Buffer): void {
  const written = new URL(`${name}.${process.pid}`, UNPACKED)
  writeFileSync(written, content)
  renameSync(written, new URL(name, UNPACKED))
}

/** The SDK of the earlier commit. */
export async function olderSdk(): Promise<Sdk> {
  return (await import(unpack('sdk.js'))) as Sdk
}

/** Starts the engine of the earlier commit on a new store, until the test ends. */
export async function openOlderEngine(): Promise<{ url: string }> {
  const { createEngine, readConfig } = (await import(unpack('engine.js'))) as EngineModule
  const config = readConfig({ ENGINE_STORE: `sqlite:${tempStoreFile()}`, ENGINE_DRAIN_TIMEOUT: '1s' })
  const engine = await createEngine(config, pino({ level: 'silent' }))
  onCleanup(() => engine.stop())
  const url = await engine.app.listen({ host: '127.0.0.1', port: 0 })
  engine.start()
  return { url }
}
