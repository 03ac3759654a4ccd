// The size that `perdure/react` and `perdure/ai` add to a page, without their peer dependencies.

import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const GZIP_BYTES_MAX = 6 * 1024

test.each([
  ['perdure/react', '../../packages/client/src/react/index.ts'],
  ['perdure/ai', '../../packages/sdk/src/ai/index.ts'],
])('%s takes less than 6 KB of a bundle', async (_, entry) => {
  const { outputFiles } = await build({
    entryPoints: [new URL(entry, import.meta.url).pathname],
    bundle: true,
    minify: true,
    format: 'esm',
    conditions: ['perdure-source', 'browser'],
    external: ['react', 'ai'],
    write: false,
  })
  const [bundle] = outputFiles
  expect(bundle?.text).toContain('streamNextOffset')
  expect(gzipSync(bundle?.contents ?? '').length).toBeLessThan(GZIP_BYTES_MAX)
})
