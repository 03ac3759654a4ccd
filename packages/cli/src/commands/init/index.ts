// `perdure init`: writes a project with a workflow, its test and a worker. `npm create perdure` runs it.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FIRST_EVENT } from '@perdure/protocol/first-run'
import type { Command } from 'commander'
import { UsageError } from '../../command-line/flags.ts'
import { packageFile } from '../../command-line/package-file.ts'

const TEMPLATE = fileURLToPath(packageFile('template/'))

/** Longest name of a project: npm's bound for a package. */
const NAME_CHARS_MAX = 214
const NAME = /^[a-z0-9][a-z0-9._-]*$/

/** Files that may already be in the folder: the files of an empty repository. */
const ALLOWED = new Set(['.git', '.gitattributes', '.github', 'LICENSE', 'README.md'])

/** Adds `perdure init` to the program. */
export function initCommand(program: Command, version: string): void {
  program
    .command('init')
    .description('make a project with a workflow, a test and a worker')
    .argument('[folder]', 'where to make it; the last part is its name', '.')
    .addHelpText('after', '\nExamples:\n  perdure init my-app\n  npm create perdure my-app')
    .action((folder: string) => {
      const home = resolve(folder)
      for (const line of init(home, version)) process.stdout.write(`${line}\n`)
    })
}

/** Writes the project and returns the lines to print. Throws UsageError, and writes nothing, if a file is in the way. */
function init(home: string, version: string): string[] {
  const name = basename(home).toLowerCase()
  if (!NAME.test(name) || name.length > NAME_CHARS_MAX) {
    throw new UsageError(
      `"${name}" cannot be the name of a package: use a to z, 0 to 9, ".", "_" and "-", at most ${NAME_CHARS_MAX}`,
    )
  }
  const others = existsSync(home) ? readdirSync(home).filter(file => !ALLOWED.has(file)) : []
  if (others.length > 0) {
    throw new UsageError(`the folder ${home} is not empty (${others.slice(0, 3).join(', ')}); name a new one`)
  }
  const files = projectFiles(name, version)
  for (const { path, text } of files) {
    const file = join(home, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const folder = relative(process.cwd(), home)
  return [
    ...files.map(({ path }) => `  ${join(folder, path)}`),
    '',
    'Next:',
    ...(folder === '' ? [] : [`  cd ${folder}`]),
    '  npm install',
    '  npm test                 # three days of a workflow, in milliseconds',
    '  npm run dev              # an engine and the worker; restarts when a file changes',
    '',
    'and in a second terminal:',
    `  npx perdure events send ${FIRST_EVENT.name} --data '${JSON.stringify(FIRST_EVENT.data)}'`,
    '  npx perdure runs watch RUN_ID',
  ]
}

/** The files of `template` with the project's name and this version filled in, in the order of their paths (with `/`). */
function projectFiles(name: string, version: string): { path: string; text: string }[] {
  const paths = readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => `${entry.parentPath}/${entry.name}`.slice(TEMPLATE.length).replaceAll('\\', '/').replace(/^\//, ''))
  return paths.sort().map(path => ({
    // A package leaves out files named .gitignore, so the template has no dot.
    path: path === 'gitignore' ? '.gitignore' : path,
    text: readFileSync(`${TEMPLATE}/${path}`, 'utf8').replaceAll('{{name}}', name).replaceAll('{{version}}', version),
  }))
}
