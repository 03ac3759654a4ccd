// Generates `docs/sdk`, the reference of the SDK, from its docstrings: one page per entry of the package. `docs.ts`
// calls it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Application, Converter, type ProjectReflection } from 'typedoc'
import type { MarkdownApplication } from 'typedoc-plugin-markdown'

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Name of the page of the entry without a subpath. */
const ROOT = 'sdk'

const importedAs = (name: string) => (name === ROOT ? '@perdure/sdk' : `@perdure/sdk/${name}`)

/**
 * Options of TypeDoc and its Markdown plugin: plain tables, no navigation, no line numbers that every edit would
 * change.
 */
const LOOK = {
  plugin: ['typedoc-plugin-markdown'],
  readme: 'none',
  disableSources: true,
  excludeExternals: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeInternal: true,
  githubPages: false,
  router: 'module',
  entryFileName: 'README.md',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  hideGroupHeadings: false,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  pageTitleTemplates: { module: ({ name }: { name: string }) => importedAs(name) },
  tableColumnSettings: { hideInherited: true, hideSources: true },
  useCodeBlocks: true,
  formatWithPrettier: false,
} as const

/** Writes the pages. Returns the exported names without a docstring, each as `<entry>: <name>`. */
export async function writeSdkPages(): Promise<string[]> {
  const { exports } = JSON.parse(readFileSync(path('packages/sdk/package.json'), 'utf8')) as {
    exports: Record<string, { 'perdure-source': string }>
  }
  const sources = Object.entries(exports).map(
    ([subpath, conditions]) =>
      [subpath === '.' ? ROOT : subpath.slice(2), conditions['perdure-source'].slice(2)] as const,
  )
  const app = (await Application.bootstrapWithPlugins({
    ...LOOK,
    name: '@perdure/sdk',
    entryPoints: sources.map(([, source]) => path(`packages/sdk/${source}`)),
    tsconfig: path('packages/sdk/tsconfig.json'),
    skipErrorChecking: true,
    out: path('docs/sdk'),
    logLevel: 'Error',
  } as never)) as unknown as MarkdownApplication
  const names = new Map(sources.map(([name, source]) => [moduleOf(source), name]))
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => nameEntries(project, names))
  const project = await app.convert()
  if (!project) throw new Error('The SDK could not be read')
  await app.generateOutputs(project)
  for (const name of readdirSync(path('docs/sdk'))) mendAnchors(path(`docs/sdk/${name}`))
  return undocumented(project)
}

/**
 * Fixes links to headings: TypeDoc counts headings that it leaves out of the page, so a link to `#name-1` means the only heading
 * `name`.
 */
function mendAnchors(file: string): void {
  const page = readFileSync(file, 'utf8')
  const headings = page.toLowerCase().match(/^#+ .+$/gm) ?? []
  const mended = page.replace(/\]\(#(\w+)-1\)/g, (link, name) =>
    headings.filter(heading => heading.replace(/^#+ /, '') === name).length === 1 ? `](#${name})` : link,
  )
  if (mended !== page) writeFileSync(file, mended)
}

/** Returns TypeDoc's name for the module of a file under `src`. */
function moduleOf(source: string): string {
  return source.replace(/^src\//, '').replace(/(\/index)?\.ts$/, '')
}

/** Renames modules, and with them their pages, from their files to the subpaths that users import. */
function nameEntries(project: ProjectReflection, names: Map<string, string>): void {
  for (const module of project.children ?? []) {
    const name = names.get(module.name)
    if (name === undefined) throw new Error(`${module.name} is not an entry of the package`)
    module.name = name
  }
}

function undocumented(project: ProjectReflection): string[] {
  return (project.children ?? []).flatMap(module =>
    (module.children ?? [])
      .filter(child => !child.isReference() && !child.hasComment() && !hasSignatureComment(child))
      .map(child => `${importedAs(module.name)}: ${child.name}`),
  )
}

function hasSignatureComment({ signatures = [] }: { signatures?: { hasComment(): boolean }[] }): boolean {
  return signatures.some(signature => signature.hasComment())
}
