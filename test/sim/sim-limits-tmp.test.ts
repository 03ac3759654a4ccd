import { expect, test } from 'vitest'
import { simulate } from './core/simulate.ts'
test('limits', { timeout: 600_000 }, async () => {
  let failures = 0
  for (let seed = 1; seed <= Number(process.env.N ?? 60); seed++) {
    const { failure } = await simulate({ seed, off: new Set(), extras: ['limits'] } as never)
    if (failure) { failures++; console.log(seed, failure.violation.invariant, String(failure.violation.message ?? '').slice(0, 1500), JSON.stringify((failure.violation as never as { detail?: string }).detail ?? '').slice(0, 1500)) ; if (failures > 3) break }
  }
  expect(failures).toBe(0)
})
