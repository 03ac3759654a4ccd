// Loads the packages that the testing kit requires. Both are ES modules, so they are imported dynamically: this works
// from the CommonJS build of the kit, too. Called by test-engine.ts.

export interface Packages {
  readonly client: typeof import('@perdure/client')
  readonly engine: typeof import('@perdure/engine')
}

export async function loadPackages(): Promise<Packages> {
  const [client, engine] = await Promise.all([import('@perdure/client'), import('@perdure/engine')])
  return { client, engine }
}
