// One line names a Node version that is too old. The test changes the version before the program is loaded, because the check
// must come before everything that needs the newer Node.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const PROBLEM = 'Perdure needs Node 20.19 or newer, and this is Node 18.20.8: install a newer one (nodejs.org)'
const OLD = `data:text/javascript,${encodeURIComponent(
  `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })`,
)}`
const packages = fileURLToPath(new URL('../../../packages', import.meta.url))

function ran(args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise(resolve => {
    const { NODE_OPTIONS: _, ...env } = process.env
    execFile(process.execPath, ['--import', OLD, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

test.each([
  ['cli/bin/perdure.js', ['--version']],
  ['perdure/bin/perdure.js', ['dev']],
  ['create-perdure/bin/create-perdure.js', ['/dev/null/nowhere']],
])('the command %s says so in one line', async (file, args) => {
  const expected = { code: 2, stdout: '', stderr: `perdure: ${PROBLEM}\n` }
  expect(await ran([`${packages}/${file}`, ...args])).toEqual(expected)
})

test('runners and the testing kit say so', async () => {
  const program = `
    import { createHandler, createWorkflow } from '${packages}/sdk/dist/index.js'
    import { connect } from '${packages}/sdk/dist/connect.js'
    import { testEngine } from '${packages}/sdk/dist/testing.js'
    const workflows = [createWorkflow({ name: 'w' }, () => 1)]
    const options = { app: 'shop', workflows }
    for (const start of [() => createHandler(options), () => connect(options), () => testEngine(workflows)])
      await Promise.resolve().then(start).catch(error => console.log(String(error)))`
  const { stdout } = await ran(['--input-type=module', '--eval', program])
  expect(stdout.trim().split('\n')).toEqual([
    `ConfigError: ${PROBLEM}`,
    `ConfigError: ${PROBLEM}`,
    `TestingError: ${PROBLEM}`,
  ])
})
