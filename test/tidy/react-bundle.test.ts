// The size of what `perdure/react` adds to a page: React itself is a peer.

import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const GZIP_BYTES_MAX = 6 * 1024

test('the hooks take less than 6 KB of a bundle', async () => {
  const { outputFiles } = await build({
    entryPoints: [new URL('../../packages/client/src/react/index.ts', import.meta.url).pathname],
    bundle: true,
    minify: true,
    format: 'esm',
    conditions: ['perdure-source', 'browser'],
    external: ['react'],
    write: false,
  })
  const [bundle] = outputFiles
  expect(bundle?.text).toContain('streamNextOffset')
  expect(gzipSync(bundle?.contents ?? '').length).toBeLessThan(GZIP_BYTES_MAX)
})
