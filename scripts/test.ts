// Runs a part of the tests (test/part.ts) after the build, and the part's checks at the same time: most tests wait for a disk, a
// socket or a process, so the checks run while they wait. `npm test`, `test:rest` and `test:night` call it.

import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'

const CHECKS = {
  gate: ['lint', 'typecheck'],
  rest: ['check:packages'],
  night: ['lint', 'typecheck', 'check:packages'],
} as const
type Part = keyof typeof CHECKS

/** The file that gets a line for each failed test or check. */
const failures = process.env.PERDURE_FAILURES

interface Ended {
  code: number
  printed: string
}

/** Runs a command. Prints its output as it arrives, or returns it. */
function run(command: string, { quiet = false, env = {} } = {}): Promise<Ended> {
  const child = spawn(command, {
    shell: true,
    stdio: ['inherit', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
    env: { ...process.env, ...env },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', code => done({ code: code ?? 1, printed }))
  })
}

/** Runs the checks. Prints their output when all have ended, so that it does not mix with the lines of the tests. */
async function check(part: Part): Promise<Ended> {
  let all: Ended = { code: 0, printed: '' }
  for (const name of CHECKS[part]) {
    const { code, printed } = await run(`npm run -s ${name}`, { quiet: true })
    if (code !== 0 && failures !== undefined) appendFileSync(failures, `FAILED ${name}\n`)
    all = { code: all.code || code, printed: `${all.printed}${printed}${name}: ${code === 0 ? 'passed' : 'failed'}\n` }
  }
  return all
}

async function main(part: Part): Promise<number> {
  const build = await run('npm run -s build')
  if (build.code !== 0) return build.code
  const [checks, tests] = await Promise.all([check(part), run('vitest run', { env: { PERDURE_TESTS: part } })])
  process.stdout.write(checks.printed)
  return tests.code || checks.code
}

const part = process.argv[2]
if (part === undefined || !(part in CHECKS))
  throw new Error(`scripts/test.ts PART: PART is gate, rest or night, and is ${part}`)
process.exit(await main(part as Part))
