// `npm run release -- 1.2.3`: checks everything, gives all packages the version, writes the changelog, commits and tags.
// `publish --tag v1.2.3`, which the release workflow runs on the tag, publishes the packages. `--dry-run` changes nothing.

import { execFileSync, spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { nextChanges, writeChangelog } from './changes.ts'
import { currentVersion, isLater, packages, writeVersion } from './versions.ts'

const USAGE = `Usage:
  npm run release -- VERSION [--dry-run] [--check COMMAND]   commit and tag a version
  npm run release -- publish --tag vVERSION [--dry-run]      publish the packages of a tag`

const root = process.cwd()
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** A reason not to release. */
class Refusal extends Error {}

interface Options {
  isDryRun: boolean
  /** The command that must succeed. */
  check: string
}

function release(version: string, { isDryRun, check }: Options): void {
  const current = currentVersion(root)
  if (!isLater(version, current)) throw new Refusal(`the version ${version} does not follow ${current}`)
  const changed = git('status', '--porcelain')
  if (changed !== '') throw new Refusal(`the tree has changes that are not committed:\n${changed}`)
  if (git('tag', '--list', `v${version}`) !== '') throw new Refusal(`the tag v${version} exists`)
  const changes = nextChanges(root)
  if (changes === '') throw new Refusal('CHANGELOG.md has nothing under "## Next": nothing to release')
  say(`check: ${check}`)
  const { status } = spawnSync(check, { cwd: root, shell: true, stdio: 'inherit' })
  if (status !== 0) throw new Refusal(`the check is red: ${check}`)
  say(
    `\n${current} -> ${version}: ${packages(root)
      .map(({ manifest }) => manifest.name)
      .join(', ')}\n\n${changes}`,
  )
  if (isDryRun) {
    say('Dry run: nothing was changed.')
    return
  }
  writeVersion(root, version)
  writeChangelog(root, version, new Date().toISOString().slice(0, 10))
  git('commit', '--all', '--message', `Release ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `Release ${version}`)
  say(`Next: git push --follow-tags. The tag starts the release workflow, which publishes the packages.`)
}

function publish(tag: string | undefined, { isDryRun }: Options): void {
  const version = currentVersion(root)
  if (tag !== `v${version}`) throw new Refusal(`the packages have version ${version}, the tag is ${tag ?? 'missing'}`)
  for (const { folder, manifest } of packages(root)) {
    say(`${manifest.name} ${version}`)
    const args = ['publish', '--workspace', folder, ...(isDryRun ? ['--dry-run', '--provenance=false'] : [])]
    const { status } = spawnSync('npm', args, { cwd: root, stdio: 'inherit' })
    if (status !== 0) throw new Refusal(`${manifest.name} was not published; run the command again after mending it`)
  }
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' }, check: { type: 'string' }, tag: { type: 'string' } },
  })
  const options: Options = { isDryRun: values['dry-run'] ?? false, check: values.check ?? 'npm test' }
  const [command] = positionals
  try {
    if (command === undefined || positionals.length > 1) throw new Refusal(USAGE)
    if (command === 'publish') publish(values.tag, options)
    else release(command, options)
    return 0
  } catch (error) {
    if (!(error instanceof Error)) throw error
    process.stderr.write(`release: ${error.message}\n`)
    return 1
  }
}

process.exitCode = main()
