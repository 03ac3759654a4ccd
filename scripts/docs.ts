// `npm run docs`: writes the generated pages under `docs`.

import { writeFileSync } from 'node:fs'
import { httpApiPage } from './http-api-page.ts'
import { writeSdkPages } from './sdk-pages.ts'

writeFileSync(new URL('../docs/http-api.md', import.meta.url), httpApiPage())

const undocumented = await writeSdkPages()
if (undocumented.length > 0) console.warn(`Exported without a docstring:\n  ${undocumented.join('\n  ')}`)
