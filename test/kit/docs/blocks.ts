// The code blocks of the project's pages, for tests that run them.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Block {
  /** The page's path in the project. */
  page: string
  /** The line of the page on which the block begins. */
  line: number
  /** Empty for blocks without a language. */
  language: string
  code: string
}

/** The pages for people, generated ones included. */
export function pages(): string[] {
  const under = (folder: string) =>
    (readdirSync(join(root, folder), { recursive: true }) as string[])
      .filter(name => name.endsWith('.md') && !/node_modules|\bdist\b/.test(name))
      .map(name => `${folder}/${name}`)
  const own = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md']
  return [...own, ...under('docs'), ...under('examples'), ...under('packages')].sort()
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```([^\n]*)\n(.*?)^```/gms)].map(({ 1: language = '', 2: code = '', index }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    language,
    code,
  }))
}

export type Scope = Record<string, unknown>

/**
 * Runs a block of TypeScript with the names of the scope, and returns the names that it declares. `edit` makes the changes that
 * a test needs, such as a port that others may have taken.
 */
export async function runBlock({ code }: Block, scope: Scope = {}, edit = (text: string) => text): Promise<Scope> {
  const edited = edit(code)
  const declared = [...edited.matchAll(/^(?:export )?const (?:\{([^}]*)\}|(\w+))/gm)]
    .flatMap(([, list, name]) => name ?? (list as string).split(','))
    .map(name => name.trim())
  const plain = edited
    .replace(/^import \{([^}]*)\} from '([^']*)'/gm, (_, names: string, specifier: string) => {
      const values = names.split(',').filter(name => !name.trim().startsWith('type '))
      return `const {${values.join(',').replaceAll(' as ', ': ')}} = await load('${specifier}')`
    })
    .replace(/^export default /gm, 'const exported = ')
    .replace(/^export const /gm, 'const ')
  if (plain.includes('const exported = ')) declared.push('exported')
  const { code: script } = transformSync(
    `async function snippet() { ${plain}\nreturn { ${declared.join(', ')} } }\nreturn snippet()`,
    { loader: 'ts', target: 'es2022', supported: { 'top-level-await': true } },
  )
  const load = (specifier: string) => import(specifier)
  return new Function('load', ...Object.keys(scope), script)(load, ...Object.values(scope)) as Promise<Scope>
}
