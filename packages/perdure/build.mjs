// Writes `dist`: for each subpath of `exports` four files of one line, which export what the package behind it exports, to
// ES modules and to CommonJS, each with its types.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const here = new URL('./', import.meta.url)
const { exports } = JSON.parse(readFileSync(new URL('package.json', here), 'utf8'))

const OF_THE_CLIENT = { client: '@perdure/client', react: '@perdure/client/react' }

/** The package that a subpath stands for. */
const behind = name => OF_THE_CLIENT[name] ?? `@perdure/sdk${name === 'index' ? '' : `/${name}`}`

mkdirSync(new URL('dist', here), { recursive: true })
for (const {
  import: { default: file },
} of Object.values(exports)) {
  const name = file.replace(/^\.\/dist\/(.*)\.js$/, '$1')
  const texts = {
    js: `export * from '${behind(name)}'\n`,
    'd.ts': `export * from '${behind(name)}'\n`,
    cjs: `module.exports = require('${behind(name)}')\n`,
    'd.cts': `export * from '${behind(name)}'\n`,
  }
  for (const [ending, text] of Object.entries(texts)) writeFileSync(new URL(`dist/${name}.${ending}`, here), text)
}
