import { describe, expect, it } from 'vitest'
import { parseRetryAfterMs, RETRY_AFTER_MS_MAX } from './retry-after.ts'

const NOW = Date.UTC(2030, 0, 6, 8, 49, 0)

describe('parseRetryAfterMs', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5000],
    ['86400', RETRY_AFTER_MS_MAX],
    ['86401', RETRY_AFTER_MS_MAX],
    ['9'.repeat(400), RETRY_AFTER_MS_MAX],
    ['Sun, 06 Jan 2030 08:49:37 GMT', 37_000],
    ['Sunday, 06-Jan-30 08:49:37 GMT', 37_000],
    ['Sun Jan  6 08:49:37 2030', 37_000],
    ['Mon, 07 Jan 2030 08:00:00 GMT', 83_460_000],
    ['Wed, 01 Jan 2031 00:00:00 GMT', RETRY_AFTER_MS_MAX],
    ['Sun, 06 Jan 2030 08:48:59 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('%j', (header, ms) => expect(parseRetryAfterMs(header, NOW)).toBe(ms))

  it.each([
    undefined,
    '',
    ' ',
    'soon',
    '-5',
    '1.5',
    '1e3',
    '0x10',
    '5 minutes',
    '2030-01-06T08:49:37Z',
    'Sun, 06 Jan 2030 08:49:37',
    'Sun, 06 Foo 2030 08:49:37 GMT',
    'Sun, 06 Jan 2030 28:49:37 GMT',
    '120, 130',
  ])('%j cannot be read', header => expect(parseRetryAfterMs(header, NOW)).toBeUndefined())
})
