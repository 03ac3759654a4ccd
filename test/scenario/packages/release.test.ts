// `npm run release` on a separate small repository: what it refuses, what a dry run does not change, and what it writes.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { onCleanup } from '../../kit/index.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const COPIED = [
  ...['packages/engine/src/base/version.ts', 'packages/sdk/src/runner/registration.ts', 'package-lock.json'],
  ...['deploy/kubernetes/engine/engine.yaml', 'deploy/kubernetes/sqlite/sqlite.yaml'],
  ...['Dockerfile', 'examples/order/package.json'],
  ...readdirSync(join(root, 'packages')).map(name => `packages/${name}/package.json`),
]

const HEAD = '# Changelog\n\n## Next\n\n'
const OLDER = '## 0.0.9 (2020-01-01)\n\n- Older.\n'

/** A repository with our manifests and one change entry, everything committed. */
function repository(): { home: string; git(...args: string[]): string } {
  const home = mkdtempSync(join(tmpdir(), 'perdure-release-'))
  onCleanup(() => rmSync(home, { recursive: true, force: true }))
  for (const path of COPIED) cpSync(join(root, path), join(home, path))
  writeFileSync(join(home, 'CHANGELOG.md'), `${HEAD}- Many runs are cancelled at once.\n\n${OLDER}`)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: home,
      encoding: 'utf8',
    })
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Begin')
  return { home, git }
}

function release(home: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const tsx = join(root, 'node_modules/tsx/dist/loader.mjs')
  return spawnSync(process.execPath, ['--import', tsx, join(root, 'scripts/release/main.ts'), ...args], {
    cwd: home,
    encoding: 'utf8',
  })
}

const version = (home: string, name: string) =>
  (JSON.parse(readFileSync(join(home, `packages/${name}/package.json`), 'utf8')) as { version: string }).version

test('refuses a tree with changes, a red check, a version that does not follow, and a release without an entry', () => {
  const { home, git } = repository()
  expect(release(home, '0.1.0', '--check', 'true').stderr).toContain('0.1.0 does not follow 0.1.0')
  expect(release(home, 'next', '--check', 'true').stderr).toContain('next does not follow')
  expect(release(home, '0.2.0', '--check', 'exit 3')).toMatchObject({
    status: 1,
    stderr: 'release: the check is red: exit 3\n',
  })
  writeFileSync(join(home, 'new.txt'), '')
  expect(release(home, '0.2.0', '--check', 'true').stderr).toMatch(/changes that are not committed:\n\?\? new.txt/)
  rmSync(join(home, 'new.txt'))
  writeFileSync(join(home, 'CHANGELOG.md'), `${HEAD}${OLDER}`)
  git('commit', '--quiet', '--all', '--message', 'Take it back')
  expect(release(home, '0.2.0', '--check', 'true').stderr).toContain('CHANGELOG.md has nothing under "## Next"')
  expect(git('status', '--porcelain')).toBe('')
})

test('a dry run says what would happen and changes nothing; the release writes, commits and tags it', () => {
  const { home, git } = repository()
  const dry = release(home, '0.2.0', '--dry-run', '--check', 'true')
  expect(dry.stdout).toMatch(/0\.1\.0 -> 0\.2\.0: .*@perdure\/protocol.*@perdure\/cli.*perdure\n/)
  expect(dry.stdout).toContain('- Many runs are cancelled at once.')
  expect([git('status', '--porcelain'), git('tag'), version(home, 'sdk')]).toEqual(['', '', '0.1.0'])

  expect(release(home, '0.2.0', '--check', 'true')).toMatchObject({ status: 0 })
  expect(git('status', '--porcelain')).toBe('')
  expect(git('tag').trim()).toBe('v0.2.0')
  expect(git('log', '-1', '--format=%s').trim()).toBe('Release 0.2.0')
  for (const path of COPIED) {
    if (!dirname(path).startsWith('deploy/kubernetes'))
      expect(readFileSync(join(home, path), 'utf8')).not.toMatch(/perdure\/\w+": "0\.1\.0"/)
  }
  expect(readFileSync(join(home, 'packages/engine/src/base/version.ts'), 'utf8')).toContain("ENGINE_VERSION = '0.2.0'")
  expect(readFileSync(join(home, 'Dockerfile'), 'utf8')).toContain('image.version=0.2.0')
  expect(readFileSync(join(home, 'CHANGELOG.md'), 'utf8')).toMatch(
    /^# Changelog\n\n## Next\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- Many runs are cancelled at once\.\n\n## 0\.0\.9/,
  )
  expect(release(home, 'publish', '--tag', 'v0.1.0').stderr).toContain(
    'the packages have version 0.2.0, the tag is v0.1.0',
  )
})
