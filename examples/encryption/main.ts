// `npm run example -- encryption`: a run whose values the engine cannot read, and whose keys change halfway.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createClient } from 'perdure'
import { startEngine, startRunner } from '../shared/processes.ts'
import { followRun, heading, note } from '../shared/show.ts'
import { encryption, readKeys } from './encryption.ts'
import { admitted, tested } from './workflows.ts'

const patient = { name: 'Ada Lovelace', complaint: 'insomnia' }
const finding = 'too much coffee'
const oldKey = `2026:${randomBytes(32).toString('base64')}`
const newKey = `2027:${randomBytes(32).toString('base64')}`

const engine = await startEngine()
const reader = createClient({ url: engine.url })
let runner = await startClinic(oldKey)
try {
  heading('An event, encrypted by its sender')
  const { runId, eventId = '' } = await sender(oldKey).send(admitted, patient)
  assert(runId !== undefined)
  note(`what the engine stores: ${JSON.stringify((await reader.getEvent({ id: eventId })).data)}`)

  for await (const frame of followRun(reader, runId)) {
    if (frame.kind !== 'step_status' || frame.name !== 'laboratory' || frame.status !== 'waiting') continue
    heading('The keys change: the new one encrypts, the old one still decrypts')
    await runner.stop()
    runner = await startClinic(`${newKey} ${oldKey}`)
    await sender(newKey).send(tested, { finding })
  }

  heading('The result, decrypted with the key')
  const { status, result } = await reader.getRun({ id: runId })
  assert.equal(status, 'succeeded')
  note(`as the engine stores it: ${JSON.stringify(result).slice(0, 60)}...`)
  const { transformInput } = encryption(readKeys(newKey))
  const opened = transformInput?.(result, { kind: 'child', name: 'stay' })
  note(JSON.stringify(opened))
  assert.deepEqual(opened, {
    chart: 'Ada Lovelace, insomnia',
    bill: 'To Ada Lovelace: too much coffee',
  })

  heading("The engine's files, searched for the patient's data")
  const stored = await storedBytes()
  assert(stored.includes('open-chart'), 'the names of steps are stored unencrypted')
  for (const word of ['Lovelace', 'insomnia', 'coffee']) {
    assert(!stored.includes(word), `"${word}" is in the store`)
    note(`"${word}": not found`)
  }
} finally {
  await runner.stop()
  await engine.stop()
}
process.stdout.write('\nall checks passed\n')

function startClinic(keys: string) {
  const env = { ENGINE_URL: engine.url, SEALING_KEYS: keys }
  return startRunner(new URL('./runner.ts', import.meta.url), env)
}

function sender(keys: string) {
  return createClient({ url: engine.url, middleware: [encryption(readKeys(keys))] })
}

/** Reads the database and its write-ahead log, which contains writes that are not in the database file yet. */
async function storedBytes(): Promise<Buffer> {
  const folder = dirname(engine.storeFile)
  const names = (await readdir(folder)).filter(name => name.startsWith(basename(engine.storeFile)))
  return Buffer.concat(await Promise.all(names.map(name => readFile(join(folder, name)))))
}
