// `npm run example -- NAME`: runs one of the examples. Without a name it lists them.

import { existsSync, readdirSync } from 'node:fs'

const folder = new URL('../', import.meta.url)
const names = readdirSync(folder).filter(name => name !== 'shared' && existsSync(new URL(`${name}/main.ts`, folder)))
const name = process.argv[2]
if (name !== undefined && names.includes(name)) {
  await import(new URL(`${name}/main.ts`, folder).href)
} else {
  process.stderr.write(`npm run example -- NAME, with one of: ${names.join(' ')}\n`)
  process.exitCode = 2
}
