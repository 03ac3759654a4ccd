// Cron expressions in words.

import { expect, test } from 'vitest'
import { cronWords } from './cron-words.ts'

test.each([
  ['* * * * *', 'every minute'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['*/1 * * * *', 'every minute'],
  ['0 * * * *', 'every hour'],
  ['30 * * * *', 'every hour at 30 past'],
  ['0 */2 * * *', 'every 2 hours'],
  ['TZ=Europe/Berlin 5 9 * * *', 'every day at 09:05'],
  ['0 9 * * 1-5', 'Monday to Friday at 09:00'],
  ['0 9 * * 1,4', 'every Monday, Thursday at 09:00'],
  ['0 0 1 * *', 'on day 1 of the month at 00:00'],
  ['0 9 * * 0,7', 'every Sunday at 09:00'],
  // The last span of an hour or a day would be shorter.
  ['*/45 * * * *', undefined],
  ['15 */5 * * *', undefined],
  // Better no sentence than a wrong one.
  ['0 9 1 * 1', undefined],
  ['0 9 * 2 *', undefined],
  ['0 9-17 * * *', undefined],
  ['0 0 9 * * *', undefined],
])('%s is %s', (cron, words) => {
  expect(cronWords(cron)).toBe(words)
})
