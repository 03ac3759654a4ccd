// Times as text in the zone of the browser.

import { expect, test } from 'vitest'
import { agoText } from '../../../packages/console/src/ui/time.ts'

test('a day is that of the browser, as the exact time is', () => {
  const zone = process.env.TZ
  process.env.TZ = 'Asia/Tokyo'
  try {
    const at = Date.parse('2026-01-31T18:00:00Z')
    expect(agoText(at, at + 90 * 86_400_000)).toBe('2026-02-01')
  } finally {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  }
})
