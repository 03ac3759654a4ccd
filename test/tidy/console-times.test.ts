// The console formats times with its own functions (packages/console/src/ui/time.ts), the same in every locale. A locale's text
// cut to its first characters is "1:04:" in some locales.

import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

it('no source of the console writes a time in the form of a locale', () => {
  const sources = filesLike(/^packages\/console\/src\/.*\.tsx?$/)
  expect(sources.length).toBeGreaterThan(20)
  expect(sources.filter(({ text }) => /\.toLocale\w*String\(/.test(text)).map(({ path }) => path)).toEqual([])
})
