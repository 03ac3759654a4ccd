// The files of a new project: the files of `template`, with the project's name and this version filled in.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../command-line/package-file.ts'

const TEMPLATE = fileURLToPath(packageFile('template/'))

export interface TemplateFile {
  /** Path in the project, with `/`. */
  path: string
  text: string
}

/** The files of a project, in the order of their paths. */
export function projectFiles({ name, version }: { name: string; version: string }): TemplateFile[] {
  const paths = readdirSync(TEMPLATE, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => `${entry.parentPath}/${entry.name}`.slice(TEMPLATE.length).replaceAll('\\', '/').replace(/^\//, ''))
  return paths.sort().map(path => ({
    // A package leaves out files named .gitignore, so the template has no dot.
    path: path === 'gitignore' ? '.gitignore' : path,
    text: readFileSync(`${TEMPLATE}/${path}`, 'utf8').replaceAll('{{name}}', name).replaceAll('{{version}}', version),
  }))
}
