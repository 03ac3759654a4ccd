// What the engine's bundle is made of, and that the licences of all of it go with it.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { NOTICES_FILE, noticesOf } from '../../packages/engine/third-party-notices.ts'
import { tempStoreFile } from '../kit/index.ts'

const bundle = fileURLToPath(new URL('../../packages/engine/dist/bundle', import.meta.url))
const read = (name: string) => readFileSync(join(bundle, name), 'utf8')

/** The packages whose modules the bundler marks in its files. */
function bundledPackages(): Set<string> {
  const code = readdirSync(bundle).filter(name => name.endsWith('.js'))
  const marks = code.flatMap(name => read(name).match(/^\/\/#region .*node_modules\/\S+/gm) ?? [])
  return new Set(marks.map(mark => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(mark)?.[1] as string))
}

test('every package in the bundle is named, with its licence', () => {
  const notices = read(NOTICES_FILE)
  const titles = [...notices.matchAll(/^(\S+) \S+ \(.+\)\n-+\n\n(.+)/gm)].map(([, name, first]) => ({
    name,
    first,
  }))
  const packages = bundledPackages()
  expect(packages.size).toBeGreaterThan(50)
  expect([...packages].filter(name => !titles.some(title => title.name === name))).toEqual([])
  expect(titles.filter(({ first }) => first?.includes('comes without'))).toEqual([])
  expect(notices).toContain('Permission is hereby granted')
})

test('a package without any licence stops the build', () => {
  const directory = join(dirname(tempStoreFile()), 'node_modules', '@some', 'package')
  mkdirSync(directory, { recursive: true })
  const module = join(directory, 'deep', 'index.js')
  const describe = (license: object) =>
    writeFileSync(
      join(directory, 'package.json'),
      JSON.stringify({ name: '@some/package', version: '1.2.3', ...license }),
    )
  describe({})
  expect(() => noticesOf([module])).toThrow('@some/package is bundled and has no licence')
  describe({ license: 'MIT' })
  expect(noticesOf([module, `\0${module}?commonjs`, '/ours/src/main.ts'])).toContain(
    '@some/package 1.2.3 (MIT)\n',
  )
  writeFileSync(join(directory, 'readme.md'), '# Package\n\n## License\n\nAs told here.\n')
  expect(noticesOf([module])).toContain('As told here.')
  writeFileSync(join(directory, 'LICENCE'), 'The text.\r\nOf it.')
  expect(noticesOf([module])).toMatch(/\n\nThe text\.\nOf it\.\n$/)
})
