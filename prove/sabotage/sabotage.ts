// The environment of an engine process with a planted bug, or of one that kills itself at a commit (`sqlite.mjs`).

export interface Sabotage {
  /** Commits are acknowledged without a sync. */
  PERDURE_PROVE_SYNC?: 'off'
  /** The process kills itself before or after the commit with that number: `before 7`. */
  PERDURE_PROVE_KILL?: string
  /** A file that gets a byte for each commit. */
  PERDURE_PROVE_COMMITS?: string
}

export function sabotage(bugs: Sabotage): Record<string, string> {
  const preload = new URL('./preload.mjs', import.meta.url).href
  return { ...bugs, NODE_OPTIONS: `--import=${preload}` }
}
