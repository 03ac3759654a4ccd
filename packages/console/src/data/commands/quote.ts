// Words of a shell.

/** Returns a word for a shell: in single quotes unless it is plain. */
export function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
