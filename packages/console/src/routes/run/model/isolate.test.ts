// Texts of others in a sentence of the console.

import { expect, test } from 'vitest'
import { isolatedParts } from './isolate.ts'

const others = (sentence: string, message?: string) =>
  isolatedParts(sentence, message).flatMap(({ text, isOfOthers }) => (isOfOthers ? [text] : []))
const whole = (sentence: string, message?: string) =>
  isolatedParts(sentence, message)
    .map(({ text }) => text)
    .join('')

test.each([
  ['It succeeded after 18 ms.', undefined, []],
  ['Step “approval” waits for event “طلب.جديد”.', undefined, ['approval', 'طلب.جديد']],
  ['It failed in step “شحن”: تم “رفض” 12.5', 'تم “رفض” 12.5', ['شحن', 'تم “رفض” 12.5']],
  ['It failed: x', 'another message', []],
  ['Paused: no disk. Timers still settle.', 'no disk', ['no disk']],
  ['Step “” waits.', '', []],
])('%s keeps its words, and isolates those of others', (sentence, message, expected) => {
  expect(others(sentence, message)).toEqual(expected)
  expect(whole(sentence, message)).toBe(sentence)
})
