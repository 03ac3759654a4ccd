// Every example runs to its end with one command, and shows the output in its README. Each checks its own outcome.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { onCleanup } from '../../kit/cleanup.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The examples mostly wait. Only a few run at a time, so that each one's timing holds. */
const LANES = 3

/** Texts that each example must print; the slow ones go first. */
const shown: Record<string, readonly string[]> = {
  'nightly-report': ['nextRunAt', '"revenue"', 'night of'],
  approval: ['waiting   decision of ada', '409', 'callback_used', 'succeeded remind ada', 'ask grace', 'data.amount'],
  onboarding: ['{"deduped":true}', 'cancelled until day', 'mail of day 14'],
  'checkout-saga': ['"status":"shipped"', 'retrying  ship', 'succeeded rollback:charge', 'succeeded rollback:reserve'],
  'import-rows': ['held', '"batches":40,"imported":980,"rejected":20'],
  agent: ['The model is overloaded', 'turn 2: approval', 'out of turns'],
  chat: ['refund-order: output-denied', 'after:', 'of 4000 tokens are spent'],
  'webhook-bridge': ['verified run.succeeded', 'forged: 401', 'repeated: 202 {"deduped":true}'],
  encryption: ['The keys change', 'sealed'],
}
const names = Object.keys(shown)

async function run(...args: string[]): Promise<{ code: number | null; printed: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/shared/main.ts', ...args], {
    cwd: root,
    // Longer days than by default, so that a slow machine keeps up.
    env: { ...process.env, DAY_MS: '400' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onCleanup(() => child.kill('SIGTERM'))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, printed }
}

let free = LANES
const waiting: (() => void)[] = []
async function inLane<T>(use: () => Promise<T>): Promise<T> {
  if (free > 0) free--
  else await new Promise<void>(resolve => waiting.push(resolve))
  try {
    return await use()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
}

describe('the example', () => {
  test.concurrent.for(names)('%s does what its README says', { timeout: 120_000 }, async (name, { expect }) => {
    const { code, printed } = await inLane(() => run(name))
    expect(code, printed).toBe(0)
    for (const text of shown[name] ?? []) expect(printed).toContain(text)
  })
})

test('an unknown name is answered with the existing names', async () => {
  const { code, printed } = await run('nothing')
  expect(code).toBe(2)
  for (const name of names) expect(printed).toContain(name)
})

test('each example has a page of its own, with its command, in under 30 lines', () => {
  for (const name of names) {
    const readme = readFileSync(`${root}/examples/${name}/README.md`, 'utf8')
    expect(readme).toContain(`npm run example -- ${name}\n`)
    expect(readme.split('\n').length).toBeLessThan(30)
  }
})
