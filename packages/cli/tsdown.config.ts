// The command in a few files, with nearly all it stands on: it starts with a third of the CPU that loading 500 modules takes. The
// engine stays a package of its own, and tsx too, which Node loads by its name.

import { resolve } from 'node:path'
import { defineConfig } from 'tsdown'
import { program } from '../../scripts/library/program.ts'

const here = import.meta.dirname

export default defineConfig({
  ...program({
    home: here,
    entry: {
      main: resolve(here, 'src/main.ts'),
      // `perdure dev` loads it into the worker's process.
      'exit-with-parent': resolve(here, 'src/commands/dev/exit-with-parent.ts'),
    },
    neverBundle: [/^@perdure\/engine/, 'tsx', 'bufferutil', 'utf-8-validate'],
  }),
  inputOptions: { resolve: { conditionNames: ['perdure-source', 'node', 'import', 'default'] } },
})
