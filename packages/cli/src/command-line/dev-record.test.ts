// The commands in the folder of a `perdure dev` use its store and its address.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ran } from '../ran.testkit.ts'
import { recordDev, runningDev, storeOfDev } from './dev-record.ts'

function folder(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-record-')))
  vi.spyOn(process, 'cwd').mockReturnValue(directory)
  onTestFinished(() => {
    vi.restoreAllMocks()
    rmSync(directory, { recursive: true, force: true })
  })
  mkdirSync(join(directory, '.perdure'))
  return directory
}

const write = (directory: string, name: string) => writeFileSync(join(directory, '.perdure', name), '')

test('a record counts while its process runs', () => {
  const directory = folder()
  expect(runningDev()).toBeUndefined()
  const record = { pid: process.pid, url: 'http://127.0.0.1:1', store: 'sqlite:./x.db' }
  const remove = recordDev(record)
  expect(runningDev()).toEqual(record)
  remove()
  expect(runningDev(directory)).toBeUndefined()
  // Above the highest pid that systems give.
  recordDev({ ...record, pid: 2 ** 30 })
  expect(runningDev()).toBeUndefined()
  write(directory, 'dev.json')
  expect(runningDev()).toBeUndefined()
})

test('the store is that of the one that runs, else of an earlier one where perdure serve has none', () => {
  const directory = folder()
  expect(storeOfDev()).toBeUndefined()
  write(directory, 'dev.db')
  expect(storeOfDev()).toBe('sqlite:./.perdure/dev.db')
  write(directory, 'engine.db')
  expect(storeOfDev()).toBeUndefined()
  const remove = recordDev({ pid: process.pid, url: 'http://127.0.0.1:1', store: 'sqlite:./x.db' })
  expect(storeOfDev()).toBe('sqlite:./x.db')
  remove()
})

test('keys go into the store of perdure dev, and commands call its address; what is given wins', async () => {
  const directory = folder()
  for (const name of ['ENGINE_STORE', 'ENGINE_URL']) vi.stubEnv(name, undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const store = `sqlite:${join(directory, 'mine.db')}`
  recordDev({ pid: process.pid, url: 'http://127.0.0.1:9', store })
  const made = await ran(['keys', 'create', '--kind', 'read'])
  expect(made).toMatchObject({ code: 0, stderr: `using the store of perdure dev: ${store}\n` })
  expect((await ran(['keys', 'list', '--store', store])).stdout).toContain(' read ')
  expect(await ran(['apps'])).toMatchObject({ code: 3, stderr: expect.stringContaining('127.0.0.1:9') })
  vi.stubEnv('ENGINE_URL', 'http://127.0.0.1:7')
  expect(await ran(['apps'])).toMatchObject({ code: 3, stderr: expect.stringContaining('127.0.0.1:7') })
})
