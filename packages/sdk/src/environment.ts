// Settings of the runner's environment (decisions, "Configuration") and what it runs on.

/** A non-blank environment variable, on any runtime. */
export function readEnvironment(
  name: 'ENGINE_URL' | 'ENGINE_API_KEY' | 'ENGINE_SIGNING_KEY' | 'ENGINE_REGION',
): string | undefined {
  const value = globalThis.process?.env?.[name]?.trim()
  return value === '' ? undefined : value
}

/** Signing keys: one, several, or a list separated by commas or spaces. */
export function parseKeys(value: string | readonly string[] | undefined): string[] {
  const keys = typeof value === 'string' ? value.split(/[\s,]+/) : (value ?? [])
  return keys.filter(key => key !== '')
}

/** Where the engine is: given, or `ENGINE_URL`, or its default address. Throws when that is no URL. */
export function engineUrl(given: string | undefined): string {
  const url = given ?? readEnvironment('ENGINE_URL') ?? 'http://127.0.0.1:4777'
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new TypeError(`The engine's URL (ENGINE_URL) is no http or https URL: ${url}`)
  }
  return url.replace(/\/+$/, '')
}

/** `runtime` of a registration. */
export function detectRuntime(): 'node' | 'bun' | 'deno' {
  if ('Bun' in globalThis) return 'bun'
  if ('Deno' in globalThis) return 'deno'
  return 'node'
}
