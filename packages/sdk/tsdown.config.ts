// Builds the published package (scripts/library/library.ts).

import { defineConfig } from 'tsdown'
import { library } from '../../scripts/library/library.ts'

export default defineConfig(
  library({
    home: import.meta.dirname,
    platform: 'node',
    browser: './src/browser.ts',
    flat: { '@perdure/protocol': ['../protocol/dist/index.d.ts'] },
  }),
)
