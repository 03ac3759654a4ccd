// `npm run docs`: writes the pages under `docs` that are made from the code.

import { writeFileSync } from 'node:fs'
import { httpApiPage } from './http-api-page.ts'

writeFileSync(new URL('../docs/http-api.md', import.meta.url), httpApiPage())
