// Recognises a Node that is too old, which would fail later with an error that explains nothing. Called by the command, the SDK's
// handlers and the testing kit, each before it loads the code that needs a newer one.

const OLDEST = [20, 19]

/**
 * Returns a sentence that the Node of this process is too old, with the remedy; undefined if it is not, and on other runtimes.
 */
export function oldNodeProblem(version = globalThis.process?.versions?.node): string | undefined {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
  if (!version || !isOld) return undefined
  return `Perdure needs Node ${OLDEST.join('.')} or newer, and this is Node ${version}: install a newer one (nodejs.org)`
}
