// Text of payloads never becomes HTML or code in the console, because its sources use none of the ways to do that. The browser
// refuses them too, by the policy in packages/engine/src/http/console.

import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

const WAYS =
  /\b(?:innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|srcdoc|eval\(|new Function|javascript:)/

it('no source of the console makes HTML or code from text', () => {
  const sources = filesLike(/^packages\/console\/.*\.(tsx?|html)$/).filter(({ path }) => !/\.test\.tsx?$/.test(path))
  expect(sources.length).toBeGreaterThan(20)
  expect(sources.filter(({ text }) => WAYS.test(text)).map(({ path }) => path)).toEqual([])
})
