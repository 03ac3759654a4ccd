// The build of a program: its code in a few files, with nearly all it stands on. Used by the tsdown.config.ts of the engine and of
// the command.

import type { UserConfig } from 'tsdown'
import { thirdPartyNotices } from './third-party-notices.ts'

export interface Program {
  /** Folder of the package. */
  home: string
  entry: Record<string, string>
  /** Packages that are loaded as they are installed. */
  neverBundle: readonly (string | RegExp)[]
  plugins?: readonly { name: string }[]
}

/** The configuration that bundles a program into `dist/bundle`, with the licences of what is in it. */
export function program({ home, entry, neverBundle, plugins = [] }: Program): UserConfig {
  return {
    cwd: home,
    entry,
    outDir: 'dist/bundle',
    // Files are replaced, not taken away first: processes that start meanwhile find them.
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
    plugins: [thirdPartyNotices, ...plugins],
    checks: { pluginTimings: false },
    deps: { alwaysBundle: [/.*/], neverBundle: [...neverBundle] },
  }
}
