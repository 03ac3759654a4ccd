// The build of a program: its code in a few files, with nearly all its dependencies. Used by the tsdown.config.ts of the engine
// and of the command.

import type { UserConfig } from 'tsdown'
import { thirdPartyNotices } from './third-party-notices.ts'

export interface Program {
  /** Folder of the package. */
  home: string
  entry: Record<string, string>
  /** Packages that are not bundled but loaded from their installation. */
  neverBundle: readonly (string | RegExp)[]
  plugins?: readonly { name: string }[]
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes the few characters of the output that are not ASCII: Node then decodes it in half the time. */
const ascii = {
  name: 'perdure-ascii',
  generateBundle(_options: unknown, bundle: Record<string, { type: string; code?: string }>): void {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = file.code?.replace(/[\u0080-\uffff]/g, escaped)
    }
  },
}

/** Returns the configuration that bundles a program into `dist/bundle`, with the licences of its contents. */
export function program({ home, entry, neverBundle, plugins = [] }: Program): UserConfig {
  return {
    cwd: home,
    entry,
    outDir: 'dist/bundle',
    // Files are replaced, not removed first, so that processes that start during a build find them.
    clean: false,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    hash: false,
    fixedExtension: false,
    dts: false,
    report: false,
    logLevel: 'error',
    outputOptions: { comments: false },
    plugins: [thirdPartyNotices, ascii, ...plugins],
    checks: { pluginTimings: false },
    deps: { alwaysBundle: [/.*/], neverBundle: [...neverBundle] },
  }
}
