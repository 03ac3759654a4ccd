// Tests the checkers: every planted bug must make the simulation fail within a few seeds.

import { expect, it } from 'vitest'
import { PLANTED_BUGS } from './core/planted.ts'
import { PLANTED_IN_CALLBACKS } from './core/planted-callbacks.ts'
import { PLANTED_IN_EXTRAS } from './core/planted-extras.ts'
import { PLANTED_IN_REPORTS } from './core/planted-reports.ts'
import { PLANTED_IN_STARTS } from './core/planted-starts.ts'
import { PLANTED_IN_STREAMS } from './core/planted-streams.ts'
import { simulate } from './core/simulate.ts'

const SEEDS_MAX = 40
const NOTHING_OFF: ReadonlySet<string> = new Set()

const BUGS = [
  ...PLANTED_BUGS,
  ...PLANTED_IN_CALLBACKS,
  ...PLANTED_IN_REPORTS,
  ...PLANTED_IN_EXTRAS,
  ...PLANTED_IN_STARTS,
  ...PLANTED_IN_STREAMS,
]

it.each(BUGS)('$name', async ({ name, from = 1, ...bug }) => {
  for (let seed = from; seed <= SEEDS_MAX; seed++) {
    const { failure } = await simulate({ seed, off: NOTHING_OFF, ...bug })
    if (!failure) continue
    console.info(`${name}: seed ${seed}, "${failure.violation.invariant}"`)
    return
  }
  expect.unreachable(`${SEEDS_MAX} seeds did not notice: ${name}`)
})
