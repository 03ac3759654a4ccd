// `npm run docs`: writes the generated pages under `docs`, then builds the site into `build/docs`. `npm run docs -- pages` only
// writes the pages.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { httpApiPages } from './http-api-pages.ts'
import { writeSdkPages } from './sdk-pages.ts'
import { buildSite } from './site/build.ts'

const folder = new URL('../docs/http-api/', import.meta.url)
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
for (const [file, text] of httpApiPages()) writeFileSync(new URL(file, folder), text)

const undocumented = await writeSdkPages()
if (undocumented.length > 0) console.warn(`Exported without a docstring:\n  ${undocumented.join('\n  ')}`)

if (!process.argv.includes('pages')) await buildSite()
