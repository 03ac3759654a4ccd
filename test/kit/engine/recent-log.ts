// The newest log lines of a test's engines. A failed test prints them (close-opened.ts).

const LINES_MAX = 100

let recent: string[] = []

/** Keeps what an engine logs, one line or several. */
export function noteLog(text: string): void {
  recent.push(...text.trimEnd().split('\n'))
  if (recent.length > 2 * LINES_MAX) recent = recent.slice(-LINES_MAX)
}

/** Returns the newest lines and forgets them. */
export function takeLog(): string[] {
  return recent.splice(0).slice(-LINES_MAX)
}
