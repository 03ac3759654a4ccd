// Runs the tests of one file, or only those with a name: `npm run test:one [PROJECT] FILE [NAME]`. Builds what the file needs first.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const PROJECTS = ['main', 'connect', 'postgres', 'console']

const args = process.argv.slice(2)
const given = PROJECTS.includes(args[0] ?? '') ? args.shift() : undefined
const [file, name] = args
if (file === undefined || !existsSync(file)) {
  console.error(
    `npm run test:one [PROJECT] FILE [NAME]: FILE is a test file, and is ${file ?? 'not given'}; PROJECT is one of ${PROJECTS.join(', ')}`,
  )
  process.exit(2)
}
const project = given ?? (file.endsWith('.browser.test.ts') ? 'console' : 'main')
const named = name === undefined ? [] : ['--testNamePattern', name]
const { status } = spawnSync('node_modules/.bin/vitest', ['run', '--project', project, file, ...named], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
