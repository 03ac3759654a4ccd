// The published testing kit (`@perdure/sdk/testing`) depends on no test framework: it works under `node:test`, and in a plain
// script, ESM or CommonJS. The script ends by itself because nothing is left open.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const PATIENCE_MS = 25_000

async function node(...args: string[]): Promise<string> {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  const options = { cwd: root, env, timeout: PATIENCE_MS }
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(error => {
    throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`)
  })
  return stdout
}

const SCRIPT = `
async function main() {
  const sleeper = createWorkflow({ name: 'sleeper' }, async ({ step }) => {
    await step.sleep('nap', '90d')
    return step.run('wake', () => 'awake')
  })
  const engine = await testEngine([sleeper])
  const run = await engine.start(sleeper)
  await engine.advance('90d')
  console.log(await run.result())
  await engine.stop()
}
main()`

test('it works under node:test', async () => {
  const file = 'test/scenario/sdk/testing.entry.ts'
  const printed = await node('--import', 'tsx', '--test-reporter=tap', '--test', file)
  expect(printed).toMatch(/# pass 3\n# fail 0/)
})

test('it works in a plain ESM script, which then ends', async () => {
  const imports = `import { createWorkflow } from '@perdure/sdk'\nimport { testEngine } from '@perdure/sdk/testing'`
  expect(await node('--input-type=module', '-e', imports + SCRIPT)).toBe('awake\n')
})

test('it works in a plain CommonJS script, which then ends', async () => {
  const imports = `const { createWorkflow } = require('@perdure/sdk')\nconst { testEngine } = require('@perdure/sdk/testing')`
  expect(await node('--no-warnings', '--input-type=commonjs', '-e', imports + SCRIPT)).toBe('awake\n')
})

test("the SDK's main entry does not load the engine", async () => {
  const script = `require('@perdure/sdk'); console.log(Object.keys(require.cache).some(file => /fastify|sqlite/.test(file)))`
  expect(await node('--no-warnings', '--input-type=commonjs', '-e', script)).toBe('false\n')
})
