// Loads the packages that the testing kit requires. Both are ES modules, so they are imported dynamically: this works
// from the CommonJS build of the kit, too. Called by test-engine.ts.

export type Packages = Awaited<ReturnType<typeof loadPackages>>

export async function loadPackages() {
  const [client, engine] = await Promise.all([import('@perdure/client'), import('@perdure/engine')])
  return { client, engine }
}
