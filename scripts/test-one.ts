// Runs the tests of one file, or only those with a name: `npm run test:one FILE [NAME]`. Builds what the file needs first.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const [file, name] = process.argv.slice(2)
if (file === undefined || !existsSync(file)) {
  console.error(`npm run test:one FILE [NAME]: FILE is a test file, and is ${file === undefined ? 'not given' : file}`)
  process.exit(2)
}
const project = file.endsWith('.browser.test.ts') ? 'console' : 'main'
const named = name === undefined ? [] : ['--testNamePattern', name]
const { status } = spawnSync('node_modules/.bin/vitest', ['run', '--project', project, file, ...named], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
