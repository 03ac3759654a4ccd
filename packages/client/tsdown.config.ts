// Builds the published package (scripts/library/library.ts). Browsers run it too.

import { defineConfig } from 'tsdown'
import { library } from '../../scripts/library/library.ts'

export default defineConfig(
  library({
    home: import.meta.dirname,
    platform: 'neutral',
    flat: {
      './build/calls.d.ts': ['build/calls.d.ts'],
      '@perdure/protocol/portable': ['../protocol/dist/portable.d.ts'],
    },
  }),
)
