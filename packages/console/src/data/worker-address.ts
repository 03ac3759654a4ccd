// The addresses of workers. The Content-Security-Policy allows one Trusted Types policy, `perdure`: it only creates addresses of
// the console's own files.

interface Policy {
  createScriptURL(url: string): string
}
interface Policies {
  createPolicy(name: string, rules: Policy): Policy
}

/** The built files are in one folder. */
const ASSETS = new URL(/* @vite-ignore */ './', import.meta.url).href
let policy: Policy | undefined

/** Returns the address of a worker's file in the form that the browser accepts. `url` is the result of `?worker&url`. */
export function trustedWorkerUrl(url: string): string {
  const address = new URL(url, import.meta.url).href
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: Policies }
  if (!trustedTypes) return address
  policy ??= trustedTypes.createPolicy('perdure', { createScriptURL: ownScript })
  return policy.createScriptURL(address)
}

function ownScript(address: string): string {
  if (address.startsWith(ASSETS) && /^[\w-]+\.js$/.test(address.slice(ASSETS.length))) return address
  throw new TypeError('the only script addresses are those of the console')
}
