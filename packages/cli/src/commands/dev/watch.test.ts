// Which changes of real directories count as changes of the sources.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../../test/kit/until.ts'
import { watchSources } from './watch.ts'

function watched() {
  const directory = mkdtempSync(join(tmpdir(), 'perdure-watch-'))
  const changes: string[] = []
  for (const name of ['src/deep', 'node_modules/x', '.git', 'dist', '.perdure']) {
    mkdirSync(join(directory, name), { recursive: true })
  }
  const stop = watchSources({
    directory,
    onChange: file => void changes.push(file),
    onProblem: problem => void changes.push(problem),
  })
  onTestFinished(() => {
    stop()
    rmSync(directory, { recursive: true, force: true })
  })
  return { changes, stop, write: (name: string) => writeFileSync(join(directory, name), ''), directory }
}

test('reports changed sources in any directory, but not build output, dependencies or data', async () => {
  const { changes, write } = watched()
  for (const name of ['node_modules/x/a.js', '.git/a.js', 'dist/a.js', '.perdure/a.json', 'runs.log', 'a.db']) {
    write(name)
  }
  write('src/deep/a.ts')
  await until(() => changes.length > 0)
  expect(changes).toEqual(['src/deep/a.ts'])
})

test('reports changes within a short time once, with the first path', async () => {
  const { changes, write } = watched()
  for (const name of ['a.ts', 'b.mjs', '.env', 'src/c.json']) write(name)
  await until(() => changes.length > 0)
  write('d.tsx')
  await until(() => changes.length > 1)
  expect(changes).toEqual(['a.ts', 'd.tsx'])
})

test('follows directories that are created, removed and created again', async () => {
  const { changes, directory, write } = watched()
  /** How often one change is reported depends on the machine. */
  const reported = async (change: () => void) => {
    const before = changes.length
    change()
    await until(() => changes.length > before)
  }
  for (const _ of [1, 2]) {
    await reported(() => {
      mkdirSync(join(directory, 'new/below'), { recursive: true })
      write('new/below/a.ts')
    })
    await reported(() => rmSync(join(directory, 'new'), { recursive: true }))
  }
  expect(new Set(changes)).toEqual(new Set(['new/below/a.ts']))
})

test('reports nothing after it has stopped', async () => {
  const { changes, stop, write } = watched()
  write('a.ts')
  stop()
  const other = watched()
  other.write('b.ts')
  await until(() => other.changes.length > 0)
  expect(changes).toEqual([])
})
