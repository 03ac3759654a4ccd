// The engine's bundle: its packages, their licences, and the dependencies of the published packages.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { NOTICES_FILE, noticesOf } from '../../../scripts/library/third-party-notices.ts'
import { tempStoreFile } from '../../kit/index.ts'

const packages = fileURLToPath(new URL('../../../packages', import.meta.url))
const bundle = join(packages, 'engine/dist/bundle')
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

test('a package in the bundle is not installed beside it', () => {
  const { dependencies } = JSON.parse(readFileSync(join(packages, 'engine/package.json'), 'utf8'))
  const packed = bundledPackages()
  expect(Object.keys(dependencies).filter(name => packed.has(name))).toEqual([])
  // The engine's declarations refer to the protocol's. The bundler leaves out the other dependencies.
  const code = readdirSync(bundle).filter(name => name.endsWith('.js'))
  const imports = code.flatMap(name => read(name).match(/(?<=\b(?:from |import\())"[@a-z][^"]*(?=")/g) ?? [])
  const needed = new Set(['@perdure/protocol', ...imports.map(name => name.slice(1)).filter(name => !isBuiltin(name))])
  expect([...needed].sort()).toEqual(Object.keys(dependencies).sort())
})

test('packages are published without what only builds need', () => {
  const published = ['cli', 'client', 'engine', 'protocol', 'sdk'].map(name => `--workspace=packages/${name}`)
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts', ...published]
  const output = execFileSync('npm', args, { cwd: dirname(packages), encoding: 'utf8', stdio: 'pipe' })
  const packed = JSON.parse(output) as { name: string; files: { path: string }[] }[]
  expect(packed).toHaveLength(published.length)
  for (const { name, files } of packed) {
    expect(files.length, name).toBeGreaterThan(3)
    // The template of a project has a test of its own.
    const ours = files.filter(({ path }) => !path.startsWith('template/'))
    expect(
      ours.filter(({ path }) => /tsbuildinfo|\.test\.|testkit/.test(path)),
      name,
    ).toEqual([])
  }
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
  expect(noticesOf([module, `\0${module}?commonjs`, '/ours/src/main.ts'])).toContain('@some/package 1.2.3 (MIT)\n')
  writeFileSync(join(directory, 'readme.md'), '# Package\n\n## License\n\nAs written here.\n')
  expect(noticesOf([module])).toContain('As written here.')
  writeFileSync(join(directory, 'LICENCE'), 'The text.\r\nOf it.')
  expect(noticesOf([module])).toMatch(/\n\nThe text\.\nOf it\.\n$/)
})
